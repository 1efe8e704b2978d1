"""Adam, and Adam with weight decay of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from minigrad.optim.in_place import update
from minigrad.optim.optimizer import Group, Optimizer, Parameters
from minigrad.tensors import Tensor


class Adam(Optimizer):
    """Moves each element by its mean gradient over the root of its mean squared gradient.

    Args:
        params: The parameters, pairs of names and parameters, or groups with settings, see `Optimizer`.
        lr: The learning rate: about the length of a step.
        betas: How much of the two means a step keeps.
        eps: Added to the root.
        weight_decay: How strongly parameters are drawn to 0, by way of the gradient.
        amsgrad: Of PyTorch. True is refused.
        foreach: Of PyTorch, without effect, like capturable and fused.
        maximize: Whether to move with the gradient instead.
        capturable: Of PyTorch, without effect.
        differentiable: Of PyTorch. True is refused.
        fused: Of PyTorch, without effect.
        decoupled_weight_decay: Whether weight decay acts on the parameters directly, as in AdamW.

    Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, algorithm 1.

    >>> weight = minigrad.nn.Parameter(minigrad.tensor([1.0]))
    >>> optimizer = minigrad.optim.Adam([weight], lr=0.1)
    >>> (weight * 3.0).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.9])
    """

    _rule: Callable[..., None]

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "differentiable": differentiable,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _check(self, group: Group) -> None:
        super()._check(group)
        self._check_range(group, "eps", 0.0)
        for beta in group["betas"]:
            self._check_range({"betas": beta}, "betas", 0.0, below=1.0)

    def _update(self, p: Tensor, grad: Tensor, group: Group) -> None:
        state = self.state.get(p)
        if state is None:
            zeros = p.detach().clone().zero_()
            state = self.state[p] = {"step": 0, "exp_avg": zeros, "exp_avg_sq": zeros.clone()}
        state["step"] += 1
        arrays = (p, grad, state["exp_avg"], state["exp_avg_sq"])
        settings = [group[key] for key in ("lr", "betas", "eps", "weight_decay", "decoupled_weight_decay")]
        update(self._rule, arrays, state["step"], *settings)


class AdamW(Adam):
    """Adam with weight decay that draws the parameters to 0 directly, instead of by way of the gradient.

    Args:
        params: The parameters, pairs of names and parameters, or groups with settings, see `Optimizer`.
        lr: The learning rate.
        betas: How much of the two means a step keeps.
        eps: Added to the root.
        weight_decay: A step multiplies parameters by 1 - lr * weight_decay first.
        amsgrad: Of PyTorch. True is refused.
        maximize: Whether to move with the gradient instead.
        foreach: Of PyTorch, without effect, like capturable and fused.
        capturable: Of PyTorch, without effect.
        differentiable: Of PyTorch. True is refused.
        fused: Of PyTorch, without effect.

    Source: Loshchilov and Hutter, "Decoupled weight decay regularization", 2019, algorithm 2.

    >>> weight = minigrad.nn.Parameter(minigrad.tensor([1.0]))
    >>> optimizer = minigrad.optim.AdamW([weight], lr=0.1, weight_decay=0.5)
    >>> (weight * 3.0).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.85])
    """

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            maximize=maximize,
            differentiable=differentiable,
            decoupled_weight_decay=True,
        )


def adam_step(
    p: Any,
    grad: Any,
    mean: Any,
    square: Any,
    step: int,
    lr: float,
    betas: tuple[float, float],
    eps: float,
    decay: float,
    decoupled: bool,
) -> None:
    """Take a step by the running means, in place."""
    beta1, beta2 = betas
    if decay and decoupled:
        p *= 1.0 - lr * decay
    elif decay:
        grad = grad + decay * p
    mean *= beta1
    mean += (1.0 - beta1) * grad
    square *= beta2
    square += (1.0 - beta2) * (grad * grad)
    divisor = square**0.5
    # Both means start at 0. Dividing by 1 - beta^step makes up for it.
    divisor *= 1.0 / math.sqrt(1.0 - beta2**step)
    divisor += eps
    p -= lr / (1.0 - beta1**step) * (mean / divisor)


Adam._rule = staticmethod(adam_step)
