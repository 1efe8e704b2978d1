"""The steps of optimizers are quick forms of those of `minigrad.training`: the same, in place."""

from __future__ import annotations

from typing import Any

from minigrad import training
from minigrad.machine import overrides
from minigrad.optim import adam, sgd


def _sgd_step(
    p: Any, grad: Any, velocity: Any, lr: float, decay: float, momentum: float, take: float, nesterov: bool
) -> None:
    """Take the step of `training.sgd_step`, a student's where one is installed."""
    grad = grad + decay * p
    moved, new = training.sgd_step(p, take * grad, velocity, lr, momentum)
    p[...] = p - lr * (grad + momentum * new) if nesterov else moved
    velocity[...] = new


def _adam_step(
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
    """Take the step of `training.adam_step`, a student's where one is installed."""
    if decay and not decoupled:
        grad, decay = grad + decay * p, 0.0
    new = training.adam_step(p, grad, mean, square, step, lr, betas, eps, decay)
    for old, value in zip((p, mean, square), new, strict=True):
        old[...] = value


_steps = ((sgd.SGD, sgd.momentum_step, _sgd_step), (adam.Adam, adam.adam_step, _adam_step))
for _optimizer, _quick, _written in _steps:
    overrides.twin(_optimizer, "_rule", staticmethod(_quick), specified=staticmethod(_written), unless=("training",))
