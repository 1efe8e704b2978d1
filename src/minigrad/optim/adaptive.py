"""Optimizers that divide a gradient by the root of squared gradients before it: RMSprop, Adagrad and Adadelta."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.optim.in_place import update
from minigrad.optim.optimizer import Group, Optimizer, Parameters
from minigrad.tensors import Tensor


class RMSprop(Optimizer):
    """Moves each element by its gradient over the root of its mean squared gradient.

    Args:
        params: The parameters, pairs of names and parameters, or groups with settings, see `Optimizer`.
        lr: The learning rate.
        alpha: How much of the mean a step keeps.
        eps: Added to the root.
        weight_decay: How strongly parameters are drawn to 0, by way of the gradient.
        momentum: How much of the velocity a step keeps.
        centered: Whether the square of the mean gradient is taken from the mean square: so it is a variance.
        capturable: Of PyTorch, without effect, like foreach.
        foreach: Of PyTorch, without effect.
        maximize: Whether to move with the gradient instead.
        differentiable: Of PyTorch. True is refused.

    Source: Tieleman and Hinton, "Lecture 6.5: RMSProp", COURSERA: Neural networks for machine learning, 2012; Graves,
    "Generating sequences with recurrent neural networks", 2013, equations 38 to 41, for centered.

    >>> weight = minigrad.nn.Parameter(minigrad.tensor([1.0]))
    >>> optimizer = minigrad.optim.RMSprop([weight], lr=0.01, alpha=0.75)
    >>> (weight * 3.0).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.98])
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _check(self, group: Group) -> None:
        super()._check(group)
        for setting in ("alpha", "eps", "momentum"):
            self._check_range(group, setting, 0.0)

    def _update(self, p: Tensor, grad: Tensor, group: Group) -> None:
        state = self.state.get(p)
        if state is None:
            zeros = p.detach().clone().zero_()
            state = self.state[p] = {"step": 0, "square_avg": zeros}
            if group["centered"]:
                state["grad_avg"] = zeros.clone()
            if group["momentum"] > 0.0:
                state["momentum_buffer"] = zeros.clone()
        state["step"] += 1
        kept = [name for name in ("grad_avg", "momentum_buffer") if name in state]
        arrays = (p, grad, state["square_avg"], *[state[name] for name in kept])
        settings = (group["lr"], group["alpha"], group["eps"], group["weight_decay"], group["momentum"])
        update(_FORMS[tuple(kept)], arrays, *settings)


def _plain(p: Any, grad: Any, square: Any, lr: float, alpha: float, eps: float, decay: float, momentum: float) -> None:
    grad = _decayed(p, grad, decay)
    _take_in(square, grad * grad, alpha)
    p -= lr * (grad / (square**0.5 + eps))


def _with_velocity(
    p: Any, grad: Any, square: Any, velocity: Any, lr: float, alpha: float, eps: float, decay: float, momentum: float
) -> None:
    grad = _decayed(p, grad, decay)
    _take_in(square, grad * grad, alpha)
    velocity *= momentum
    velocity += grad / (square**0.5 + eps)
    p -= lr * velocity


def _centered(
    p: Any, grad: Any, square: Any, mean: Any, lr: float, alpha: float, eps: float, decay: float, momentum: float
) -> None:
    grad = _decayed(p, grad, decay)
    _take_in(square, grad * grad, alpha)
    _take_in(mean, grad, alpha)
    p -= lr * (grad / ((square - mean * mean) ** 0.5 + eps))


def _centered_with_velocity(
    p: Any,
    grad: Any,
    square: Any,
    mean: Any,
    velocity: Any,
    lr: float,
    alpha: float,
    eps: float,
    decay: float,
    momentum: float,
) -> None:
    grad = _decayed(p, grad, decay)
    _take_in(square, grad * grad, alpha)
    _take_in(mean, grad, alpha)
    velocity *= momentum
    velocity += grad / ((square - mean * mean) ** 0.5 + eps)
    p -= lr * velocity


_FORMS: dict[tuple[str, ...], Callable[..., None]] = {
    (): _plain,
    ("momentum_buffer",): _with_velocity,
    ("grad_avg",): _centered,
    ("grad_avg", "momentum_buffer"): _centered_with_velocity,
}
"""The rules by what is kept of a parameter beside its mean square."""


def _decayed(p: Any, grad: Any, decay: float) -> Any:
    return grad + decay * p if decay else grad


def _take_in(mean: Any, value: Any, alpha: float) -> None:
    mean *= alpha
    mean += (1.0 - alpha) * value


class Adagrad(Optimizer):
    """Moves each element by its gradient over the root of the sum of all its squared gradients.

    Args:
        params: The parameters, pairs of names and parameters, or groups with settings, see `Optimizer`.
        lr: The learning rate.
        lr_decay: A step divides the rate by 1 + (steps before it) * lr_decay.
        weight_decay: How strongly parameters are drawn to 0, by way of the gradient.
        initial_accumulator_value: What the sums start from.
        eps: Added to the root.
        foreach: Of PyTorch, without effect, like fused.
        maximize: Whether to move with the gradient instead.
        differentiable: Of PyTorch. True is refused.
        fused: Of PyTorch, without effect.

    Source: Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic optimization",
    2011.

    >>> weight = minigrad.nn.Parameter(minigrad.tensor([1.0]))
    >>> optimizer = minigrad.optim.Adagrad([weight], lr=0.1)
    >>> (weight * 3.0).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.9])
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "eps": eps,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _check(self, group: Group) -> None:
        super()._check(group)
        for setting in ("lr_decay", "initial_accumulator_value", "eps"):
            self._check_range(group, setting, 0.0)

    def _update(self, p: Tensor, grad: Tensor, group: Group) -> None:
        state = self.state.get(p)
        if state is None:
            start = p.detach().clone().fill_(group["initial_accumulator_value"])
            state = self.state[p] = {"step": 0, "sum": start}
        rate = group["lr"] / (1.0 + state["step"] * group["lr_decay"])
        state["step"] += 1
        update(_divide_by_all, (p, grad, state["sum"]), rate, group["eps"], group["weight_decay"])


def _divide_by_all(p: Any, grad: Any, total: Any, rate: float, eps: float, decay: float) -> None:
    grad = _decayed(p, grad, decay)
    total += grad * grad
    p -= rate * (grad / (total**0.5 + eps))


class Adadelta(Optimizer):
    """Moves each element by its gradient times the root of its mean squared moves over that of its squared gradients.

    So a move has the parameter's unit, and no learning rate has to be found.

    Args:
        params: The parameters, pairs of names and parameters, or groups with settings, see `Optimizer`.
        lr: A factor of the moves.
        rho: How much of the two means a step keeps.
        eps: Added below both roots.
        weight_decay: How strongly parameters are drawn to 0, by way of the gradient.
        foreach: Of PyTorch, without effect, like capturable.
        capturable: Of PyTorch, without effect.
        maximize: Whether to move with the gradient instead.
        differentiable: Of PyTorch. True is refused.

    Source: Zeiler, "ADADELTA: an adaptive learning rate method", 2012, algorithm 1.

    >>> weight = minigrad.nn.Parameter(minigrad.tensor([1.0]))
    >>> optimizer = minigrad.optim.Adadelta([weight], rho=0.0, eps=16.0)
    >>> (weight * 3.0).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([-1.4])
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _check(self, group: Group) -> None:
        super()._check(group)
        self._check_range(group, "eps", 0.0)
        if not 0.0 <= group["rho"] <= 1.0:
            raise ValueError(f"Adadelta: rho is {group['rho']}; it must be between 0 and 1")

    def _update(self, p: Tensor, grad: Tensor, group: Group) -> None:
        state = self.state[p]
        if not state:
            zeros = p.detach().clone().zero_()
            state.update(step=0, square_avg=zeros, acc_delta=zeros.clone())
        state["step"] += 1
        settings = [group[key] for key in ("lr", "rho", "eps", "weight_decay")]
        update(_in_its_unit, (p, grad, state["square_avg"], state["acc_delta"]), *settings)


def _in_its_unit(p: Any, grad: Any, square: Any, moves: Any, lr: float, rho: float, eps: float, decay: float) -> None:
    grad = _decayed(p, grad, decay)
    _take_in(square, grad * grad, rho)
    move = (moves + eps) ** 0.5 / (square + eps) ** 0.5 * grad
    _take_in(moves, move * move, rho)
    p -= lr * move
