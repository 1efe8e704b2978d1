"""Quick forms of the steps of `minigrad.training` that optimizers take: the same, in place."""

from __future__ import annotations

import math
from typing import Any

from minigrad import optim
from minigrad.machine import overrides

SHOWS = ("training.sgd_step", "training.adam_step")


def descend(
    p: Any, grad: Any, velocity: Any, lr: float, decay: float, momentum: float, take: float, nesterov: bool
) -> None:
    """Take the step of `training.sgd_step`."""
    if decay:
        grad = grad + decay * p
    velocity *= momentum
    velocity += grad if take == 1.0 else take * grad
    p -= lr * (grad + momentum * velocity if nesterov else velocity)


def adapt(
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
    """Take the step of `training.adam_step`."""
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


overrides.twin(optim.SGD, "_rule", staticmethod(descend), unless=("training",))
overrides.twin(optim.Adam, "_rule", staticmethod(adapt), unless=("training",))
