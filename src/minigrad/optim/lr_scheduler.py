"""Schedules: learning rates that change from epoch to epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from minigrad.machine.first_use import first_use
from minigrad.optim.one_cycle import OneCycleLR
from minigrad.optim.optimizer import Group, Optimizer
from minigrad.optim.plateau import ReduceLROnPlateau
from minigrad.optim.scheduler import LRScheduler

__all__ = [
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "ReduceLROnPlateau",
    "StepLR",
]

if not TYPE_CHECKING:  # names that are not there are errors of mypy's
    __getattr__, __dir__ = first_use(__name__, {})


class StepLR(LRScheduler):
    """Multiplies the rate by gamma every step_size epochs.

    Args:
        optimizer: Whose groups are scheduled.
        step_size: Epochs from one drop to the next.
        gamma: The factor.

    >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule, rates = minigrad.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5), []
    >>> for _ in range(5):
    ...     rates += schedule.get_last_lr()
    ...     schedule.step()
    ...
    >>> rates
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        if step_size < 1:
            raise ValueError(f"StepLR: step_size is {step_size}; it must be at least 1")
        super().__init__(optimizer)
        self.step_size = step_size
        self.gamma = gamma

    def _next(self, group: Group, number: int) -> float:
        rate: float = group["lr"]
        return rate if self.last_epoch % self.step_size else rate * self.gamma


class MultiStepLR(LRScheduler):
    """Multiplies the rate by gamma at each of several epochs.

    Args:
        optimizer: Whose groups are scheduled.
        milestones: The epochs; one that stands there twice counts twice.
        gamma: The factor.

    >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule, rates = minigrad.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5), []
    >>> for _ in range(4):
    ...     rates += schedule.get_last_lr()
    ...     schedule.step()
    ...
    >>> rates
    [1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1) -> None:
        super().__init__(optimizer)
        self.milestones = sorted(milestones)
        self.gamma = gamma

    def _next(self, group: Group, number: int) -> float:
        rate: float = group["lr"]
        return rate * self.gamma ** self.milestones.count(self.last_epoch)


class LinearLR(LRScheduler):
    """Changes the rate in equal steps from one share of it to another, as in a warm-up.

    Args:
        optimizer: Whose groups are scheduled.
        start_factor: The share at the beginning, above 0 and at most 1.
        end_factor: The share at the end, from 0 to 1.
        total_iters: Epochs from one to the other.

    >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule, rates = minigrad.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2), []
    >>> for _ in range(4):
    ...     rates += schedule.get_last_lr()
    ...     schedule.step()
    ...
    >>> rates
    [0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3.0, end_factor: float = 1.0, total_iters: int = 5
    ) -> None:
        if not 0.0 < start_factor <= 1.0 or not 0.0 <= end_factor <= 1.0:
            raise ValueError(f"LinearLR: factors {start_factor} and {end_factor}; the first is above 0, none above 1")
        super().__init__(optimizer)
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        for group in optimizer.param_groups:
            group["lr"] *= start_factor

    def _next(self, group: Group, number: int) -> float:
        rate: float = group["lr"]
        if self.last_epoch > self.total_iters:
            return rate
        return rate * self._share(self.last_epoch) / self._share(self.last_epoch - 1)

    def _share(self, epoch: int) -> float:
        way = self.end_factor - self.start_factor
        return self.start_factor + way * epoch / self.total_iters


class ExponentialLR(LRScheduler):
    """Multiplies the rate by gamma after every epoch.

    Args:
        optimizer: Whose groups are scheduled.
        gamma: The factor.

    >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule, rates = minigrad.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5), []
    >>> for _ in range(3):
    ...     rates += schedule.get_last_lr()
    ...     schedule.step()
    ...
    >>> rates
    [1.0, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        super().__init__(optimizer)
        self.gamma = gamma

    def _next(self, group: Group, number: int) -> float:
        rate: float = group["lr"]
        return rate * self.gamma


class CosineAnnealingLR(LRScheduler):
    """Lowers the rate along half a cosine from its first value to eta_min, and raises it again behind that.

    Args:
        optimizer: Whose groups are scheduled.
        T_max: Epochs to the lowest rate.
        eta_min: The lowest rate.

    Source: Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", 2017, equation 5.

    >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule, rates = minigrad.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2), []
    >>> for _ in range(3):
    ...     rates += schedule.get_last_lr()
    ...     schedule.step()
    ...
    >>> [round(rate, 4) for rate in rates]
    [1.0, 0.5, 0.0]
    """

    knows_groups = True

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:  # noqa: N803 - PyTorch's name
        if T_max < 1:
            raise ValueError(f"CosineAnnealingLR: T_max is {T_max}; it must be at least 1")
        super().__init__(optimizer)
        self.T_max = T_max
        self.eta_min = eta_min

    def _next(self, group: Group, number: int) -> float:
        before, now = self._height(self.last_epoch - 1), self._height(self.last_epoch)
        if before < 1e-12:  # at the lowest point no factor tells how high the rate was
            return self.eta_min + (self.base_lrs[number] - self.eta_min) * now
        return self.eta_min + float(group["lr"] - self.eta_min) * now / before

    def _height(self, epoch: int) -> float:
        return (1.0 + math.cos(math.pi * epoch / self.T_max)) / 2.0


class LambdaLR(LRScheduler):
    """Sets the rate to its first value times a function of the epoch.

    Args:
        optimizer: Whose groups are scheduled.
        lr_lambda: The function, or a list of functions, one for each group.

    >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = minigrad.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1.0 / (1.0 + epoch))
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    knows_groups = True

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]
    ) -> None:
        super().__init__(optimizer)
        groups = len(optimizer.param_groups)
        self.lr_lambdas = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"LambdaLR: {len(self.lr_lambdas)} functions for {groups} groups of parameters")
        for number, group in enumerate(optimizer.param_groups):
            group["lr"] = self._next(group, number)

    def _next(self, group: Group, number: int) -> float:
        return self.base_lrs[number] * self.lr_lambdas[number](self.last_epoch)
