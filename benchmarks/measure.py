"""Timing programs side by side: interleaved runs, so that a slow moment of the machine hits every peer."""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Comparison", "compare", "peak_memory"]


@dataclass(frozen=True)
class Comparison:
    """What interleaved runs of two programs took.

    Attributes:
        ours: Seconds, one for each round.
        theirs: Likewise, for the peer.
    """

    ours: list[float]
    theirs: list[float]

    @property
    def ratios(self) -> list[float]:
        """How many times quicker ours was, in each round."""
        return [b / a for a, b in zip(self.ours, self.theirs, strict=True)]

    @property
    def ratio(self) -> float:
        """The middle one of the ratios."""
        return statistics.median(self.ratios)


def compare(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> Comparison:
    """Run two programs in turns, each first in every other round, after one run of each that is not counted."""
    ours(), theirs()
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    for number in range(rounds):
        turn = [("ours", ours), ("theirs", theirs)]
        for name, program in turn if number % 2 == 0 else turn[::-1]:
            seconds[name].append(_seconds(program))
    return Comparison(seconds["ours"], seconds["theirs"])


def _seconds(program: Callable[[], object]) -> float:
    # Garbage of the last run is not charged to this one; collections during the run are, as users meet them.
    gc.collect()
    # Time of this thread on the processor, which what else runs on the machine does not lengthen.
    start = time.thread_time()
    program()
    return time.thread_time() - start


def peak_memory(program: Callable[[], object]) -> int:
    """Return the most bytes that Python objects of one run took at the same time."""
    gc.collect()
    tracemalloc.start()
    try:
        program()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
