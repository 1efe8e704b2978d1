"""One cycle of the learning rate, up and down, for a whole training."""

from __future__ import annotations

import math
from collections.abc import Sequence

from minigrad.optim.optimizer import Group, Optimizer
from minigrad.optim.scheduler import LRScheduler


class OneCycleLR(LRScheduler):
    """Raises the rate to max_lr and lowers it far below where it began; the momentum goes the other way.

    Call `step` after each batch.

    Args:
        optimizer: Whose groups are scheduled.
        max_lr: The highest rate, or one for each group.
        total_steps: How many steps the cycle has. None takes epochs * steps_per_epoch.
        epochs: Epochs of training, if total_steps is None.
        steps_per_epoch: Batches of an epoch, likewise.
        pct_start: The part of the steps in which the rate rises.
        anneal_strategy: "cos" for half a cosine from one rate to the other, "linear" for a line.
        cycle_momentum: Whether to change the momentum, or the first of Adam's betas.
        base_momentum: The momentum at the highest rate.
        max_momentum: The momentum at the beginning and at the end.
        div_factor: The rate starts at max_lr / div_factor.
        final_div_factor: It ends at the first rate / final_div_factor.
        three_phase: Whether it falls to the first rate as long as it rose, and then to the last one.

    Raises:
        ValueError: If there is no number of steps, a setting is out of range, or `step` goes beyond the last one.

    Source: Smith and Topin, "Super-convergence: very fast training of neural networks using large learning rates",
    2018.

    >>> optimizer = minigrad.optim.SGD([minigrad.zeros(2, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> schedule, rates = minigrad.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=5, pct_start=0.4), []
    >>> for _ in range(4):
    ...     rates += schedule.get_last_lr()
    ...     schedule.step()
    ...
    >>> [round(rate, 4) for rate in rates]
    [0.04, 1.0, 0.75, 0.25]
    """

    knows_groups = True

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float = 0.85,
        max_momentum: float = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
    ) -> None:
        super().__init__(optimizer)
        groups = optimizer.param_groups
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("OneCycleLR: give total_steps, or both epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        if total_steps < 1 or not 0.0 <= pct_start <= 1.0 or anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"OneCycleLR: {total_steps} steps, pct_start {pct_start} and anneal_strategy {anneal_strategy!r}; it "
                "needs at least one step, a part between 0 and 1, and 'cos' or 'linear'"
            )
        highest = [max_lr] * len(groups) if isinstance(max_lr, int | float) else list(max_lr)
        if len(highest) != len(groups):
            raise ValueError(f"OneCycleLR: {len(highest)} rates for {len(groups)} groups of parameters")
        if cycle_momentum and not all("momentum" in group or "betas" in group for group in groups):
            raise ValueError("OneCycleLR: the optimizer has no momentum to change; give cycle_momentum=False")
        self.total_steps, self.anneal_strategy, self.cycle_momentum = total_steps, anneal_strategy, cycle_momentum
        self.base_lrs = [rate / div_factor for rate in highest]
        first = pct_start * total_steps - 1.0
        self._ends = [first, 2.0 * first, total_steps - 1.0] if three_phase else [first, total_steps - 1.0]
        middle: list[list[float]] = [[rate] for rate in self.base_lrs] if three_phase else [[] for _ in groups]
        self._rates = [
            [low, high, *between, low / final_div_factor]
            for low, high, between in zip(self.base_lrs, highest, middle, strict=True)
        ]
        self._momenta = [max_momentum, base_momentum, max_momentum] + [max_momentum] * three_phase
        for number, group in enumerate(groups):
            group["initial_lr"] = self.base_lrs[number]
            group["lr"] = self._next(group, number)

    def _next(self, group: Group, number: int) -> float:
        if self.last_epoch > self.total_steps:
            raise ValueError(f"OneCycleLR: step {self.last_epoch} of a cycle that has {self.total_steps}")
        if self.cycle_momentum:
            momentum = self._at(self._momenta)
            group.update({"betas": (momentum, *group["betas"][1:])} if "betas" in group else {"momentum": momentum})
        return self._at(self._rates[number])

    def _at(self, heights: list[float]) -> float:
        """Return the value of this step, on the way from one height to the next."""
        phase = next((i for i, end in enumerate(self._ends) if self.last_epoch <= end), len(self._ends) - 1)
        start, end = self._ends[phase - 1] if phase else 0.0, self._ends[phase]
        before, after = heights[phase : phase + 2]
        part = (self.last_epoch - start) / (end - start) if end != start else 1.0
        if self.anneal_strategy == "linear":
            return before + (after - before) * part
        return after + (before - after) / 2.0 * (1.0 + math.cos(math.pi * part))
