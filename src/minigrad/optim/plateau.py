"""Learning rates that fall when a number has stopped improving."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from minigrad.optim.optimizer import Group, Optimizer
from minigrad.optim.scheduler import LRScheduler


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the rate by a factor when a number, such as the loss of validation, has stopped improving.

    Args:
        optimizer: Whose groups are scheduled.
        mode: "min" if the number is to become small, "max" if it is to become large.
        factor: The factor, below 1.
        patience: How many epochs without improvement are borne.
        threshold: How much better counts as better.
        threshold_mode: "rel": by that part of the best number; "abs": by that much.
        cooldown: How many epochs after a change are not counted.
        min_lr: The lowest rate, or one for each group.
        eps: A change by less is not made.

    Raises:
        ValueError: If a setting is out of range.

    >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = minigrad.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     schedule.step(loss)
    ...
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0.0,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(optimizer)
        if factor >= 1.0 or mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"ReduceLROnPlateau: factor {factor}, mode {mode!r} and threshold_mode {threshold_mode!r}; they must "
                "be below 1, 'min' or 'max', and 'rel' or 'abs'"
            )
        groups = len(optimizer.param_groups)
        self.knows_groups = not isinstance(min_lr, int | float)  # one rate serves groups, too, that are added later
        self.min_lrs = [float(min_lr)] * groups if isinstance(min_lr, int | float) else list(min_lr)
        if len(self.min_lrs) != groups:
            raise ValueError(f"ReduceLROnPlateau: {len(self.min_lrs)} lowest rates for {groups} groups of parameters")
        self.mode, self.factor, self.patience, self.eps = mode, factor, patience, eps
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = 0

    def step(self, metrics: Any = None) -> None:
        """Look at the number of this epoch, and lower the rate if it has not improved for long.

        Args:
            metrics: The number, or a tensor of one element.

        Raises:
            TypeError: If there is none.

        >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
        >>> schedule = minigrad.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
        >>> schedule.step(1.0)
        >>> schedule.step(1.0)
        >>> schedule.get_last_lr()
        [0.1]
        """
        if metrics is None:
            raise TypeError("ReduceLROnPlateau: step needs the number that is to improve, as in step(loss)")
        self._check_groups()
        current = float(metrics)
        self.last_epoch += 1
        if self._is_better(current):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for number, group in enumerate(self.optimizer.param_groups):
                group["lr"] = self._next(group, number)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def _is_better(self, current: float) -> bool:
        sign = 1.0 if self.mode == "min" else -1.0
        if self.threshold_mode == "rel":
            return sign * current < sign * self.best * (1.0 - sign * self.threshold)
        return sign * current < sign * self.best - self.threshold

    def _next(self, group: Group, number: int) -> float:
        old = float(group["lr"])
        new = max(old * self.factor, self.min_lrs[number if self.knows_groups else 0])
        return new if old - new > self.eps else old

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the schedule."""
        return super().state_dict() | {name: getattr(self, name) for name in self._COUNTED}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from the state of another schedule.

        >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
        >>> old, new = (minigrad.optim.lr_scheduler.ReduceLROnPlateau(optimizer) for _ in range(2))
        >>> old.step(3.0)
        >>> new.load_state_dict(old.state_dict())
        >>> new.best
        3.0
        """
        super().load_state_dict(state_dict)
        for name in self._COUNTED:
            setattr(self, name, state_dict[name])

    _COUNTED = ("best", "num_bad_epochs", "cooldown_counter")
