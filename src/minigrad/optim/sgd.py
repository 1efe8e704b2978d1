"""Gradient descent, with or without momentum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.optim.in_place import descend, update
from minigrad.optim.optimizer import Group, Optimizer, Parameters
from minigrad.tensors import Tensor


class SGD(Optimizer):
    """Moves each parameter against its gradient.

    With g the gradient plus weight_decay times the parameter, and momentum m:
    velocity = m * velocity + (1 - dampening) * g (at first g itself), and the parameter loses lr * velocity; with
    nesterov it loses lr * (g + m * velocity).

    Args:
        params: The parameters, pairs of names and parameters, or groups with settings, see `Optimizer`.
        lr: The learning rate.
        momentum: How much of the velocity a step keeps.
        dampening: How much of a gradient the velocity does not take.
        weight_decay: How strongly parameters are drawn to 0.
        nesterov: Whether to look ahead along the velocity.
        maximize: Whether to move with the gradient instead.
        foreach: Of PyTorch, without effect, like fused.
        differentiable: Of PyTorch. True is refused.
        fused: Of PyTorch, without effect.

    Source: Sutskever, Martens, Dahl and Hinton, "On the importance of initialization and momentum in deep learning",
    2013.

    >>> weight = minigrad.nn.Parameter(minigrad.tensor([1.0]))
    >>> optimizer = minigrad.optim.SGD([weight], lr=0.1)
    >>> (weight * 3.0).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.7])
    """

    _rule: Callable[..., None]

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _check(self, group: Group) -> None:
        super()._check(group)
        self._check_range(group, "momentum", 0.0)
        if group["nesterov"] and (group["momentum"] <= 0.0 or group["dampening"] != 0.0):
            raise ValueError("SGD: nesterov needs a momentum above 0 and no dampening")

    def _update_all(self, params: list[Tensor], group: Group) -> None:
        if group["momentum"] == 0.0 and not group["weight_decay"]:
            params = descend(params, -group["lr"] if group["maximize"] else group["lr"])  # quickly, most of them
        super()._update_all(params, group)

    def _update(self, p: Tensor, grad: Tensor, group: Group) -> None:
        lr, momentum, decay = group["lr"], group["momentum"], group["weight_decay"]
        if momentum == 0.0:
            update(_descend, (p, grad), lr, decay)
            return
        state = self.state.setdefault(p, {})
        velocity = state.get("momentum_buffer")
        take = 1.0 - group["dampening"]
        if velocity is None:
            velocity = state["momentum_buffer"] = p.detach().clone().zero_()
            take = 1.0  # the velocity starts as the first gradient, whole
        update(self._rule, (p, grad, velocity), lr, decay, momentum, take, group["nesterov"])


def _descend(p: Any, grad: Any, lr: float, decay: float) -> None:
    if decay:
        grad = grad + decay * p
    p -= lr * grad


def momentum_step(
    p: Any, grad: Any, velocity: Any, lr: float, decay: float, momentum: float, take: float, nesterov: bool
) -> None:
    """Take a step with momentum, in place."""
    if decay:
        grad = grad + decay * p
    velocity *= momentum
    velocity += grad if take == 1.0 else take * grad
    p -= lr * (grad + momentum * velocity if nesterov else velocity)


SGD._rule = staticmethod(momentum_step)
