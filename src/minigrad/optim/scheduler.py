"""The base of all schedules: what changes the learning rates of an optimizer's groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minigrad.optim.optimizer import Group, Optimizer


class LRScheduler:
    """Sets the learning rate of every group of an optimizer. Call `step` after each epoch.

    A rule changes the rate that it finds, so that several schedules may work on one optimizer.

    Args:
        optimizer: Whose groups are scheduled.

    Attributes:
        base_lrs: The rates at the beginning.
        last_epoch: How often `step` has been called.

    >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = minigrad.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    >>> schedule.step()
    >>> optimizer.param_groups[0]["lr"]
    0.5
    """

    def __init__(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(self).__name__} schedules an optimizer, got a {type(optimizer).__name__}")
        self.optimizer = optimizer
        self.last_epoch = 0
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]

    def step(self) -> None:
        """Go on to the next epoch.

        >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
        >>> schedule = minigrad.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> schedule.step()
        >>> schedule.step()
        >>> optimizer.param_groups[0]["lr"]
        0.25
        """
        self._check_groups()
        self.last_epoch += 1
        for number, group in enumerate(self.optimizer.param_groups):
            group["lr"] = self._next(group, number)

    knows_groups: bool = False
    """Whether a rule needs what was noted of each group when the schedule was made."""

    def _check_groups(self) -> None:
        """Refuse a group that was added later, for a rule that knows nothing of it."""
        known, groups = len(self.base_lrs), len(self.optimizer.param_groups)
        if self.knows_groups and groups != known:
            raise ValueError(
                f"{type(self).__name__}: the optimizer has {groups} groups of parameters, and had {known} when the "
                "schedule was made; make the schedule after add_param_group"
            )

    def _next(self, group: Group, number: int) -> float:
        """Return the rate of a group for the epoch that begins."""
        raise TypeError(f"{type(self).__name__} does not define the next rate")

    def get_last_lr(self) -> list[float]:
        """Return the current rate of each group.

        >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
        >>> minigrad.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5).get_last_lr()
        [1.0]
        """
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the schedule. Functions are not part of it.

        >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
        >>> minigrad.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5).state_dict()
        {'last_epoch': 0, 'base_lrs': [1.0]}
        """
        return {"last_epoch": self.last_epoch, "base_lrs": list(self.base_lrs)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from the state of another schedule. The optimizer's rates are loaded with the optimizer.

        >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0)
        >>> old, new = (minigrad.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5) for _ in range(2))
        >>> old.step()
        >>> new.load_state_dict(old.state_dict())
        >>> new.get_last_lr()
        [0.5]
        """
        self.last_epoch = int(state_dict["last_epoch"])
        self.base_lrs = [float(lr) for lr in state_dict["base_lrs"]]
