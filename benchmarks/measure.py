"""Timing programs side by side: interleaved runs, so that a slow moment of the machine hits every peer."""

from __future__ import annotations

import gc
import os
import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Comparison",
    "Load",
    "Samples",
    "available_memory",
    "compare",
    "interleave",
    "peak_memory",
    "process_memory",
]

QUIET = 0.10  # the share of the machine that others may use during a sample
BATCH = 0.25  # seconds; the load of the machine is known to a hundredth of a second


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


def process_memory() -> dict[str, int]:
    """Return the bytes that this process holds now, and the most that it ever held."""
    lines = (line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    held = {key: int(value.split()[0]) * 1024 for key, value in lines if key in ("VmRSS", "VmHWM")}
    return {"now": held["VmRSS"], "peak": held["VmHWM"]}


def available_memory() -> int:
    """Return the bytes that programs can still take."""
    lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    return int(lines["MemAvailable"].split()[0]) * 1024


# --- programs that use every core: time on the clock, taken while the machine does nothing else ----------------


@dataclass(frozen=True)
class Samples:
    """Seconds of one run of each program, round by round.

    Attributes:
        seconds: For each program, one number a round.
        is_quiet: Whether the machine did nothing else meanwhile.
    """

    seconds: dict[str, list[float]]
    is_quiet: bool

    def time(self, name: str) -> float:
        """The middle one of a program's times."""
        return statistics.median(self.seconds[name])

    def ratio(self, ours: str, theirs: str) -> tuple[float, float, float]:
        """The lower quartile, the median and the upper quartile of the rounds' ratios of two programs' times."""
        ratios = [a / b for a, b in zip(self.seconds[ours], self.seconds[theirs], strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        return low, middle, high


class Load:
    """How much of the machine's time others use, from the kernel's counts.

    Args:
        own: the process ids whose time is our own
    """

    def __init__(self, own: Sequence[int]) -> None:
        self._own = [Path(f"/proc/{process}/stat") for process in own]
        self._known = Path("/proc/stat").exists()
        self._ticks = os.sysconf("SC_CLK_TCK") if self._known else 100
        self._start = self._read()

    def others(self) -> float:
        """Return the share of all cores that others used since the last call; 0 where it cannot be known."""
        before, self._start = self._start, self._read()
        elapsed, busy = (now - then for now, then in zip(self._start, before, strict=True))
        return max(0.0, busy / (elapsed * (os.cpu_count() or 1))) if elapsed else 0.0

    def _read(self) -> tuple[float, float]:
        if not self._known:
            return time.perf_counter(), 0.0
        user, nice, system, _idle, _wait, *rest = map(int, Path("/proc/stat").read_text().split()[1:9])
        own = [file.read_text().rsplit(")", 1)[1].split() for file in self._own]
        spent = sum(int(fields[11]) + int(fields[12]) for fields in own)
        return time.perf_counter(), (user + nice + system + sum(rest) - spent) / self._ticks


def interleave(
    programs: Mapping[str, Callable[[], float]],
    load: Load,
    seconds: float = 3.0,
    rounds: tuple[int, int] = (7, 41),
) -> Samples:
    """Run programs in turns until enough samples were taken while nothing else ran.

    Args:
        programs: Each runs once or more and returns the seconds of one run.
        load: Says what else the machine does.
        seconds: How long to take samples; up to five times as long on a busy machine.
        rounds: How many quiet rounds are enough in that time, and how many are enough at any time.

    Returns:
        The quiet rounds; the quietest ones where there are too few.
    """
    least, most = rounds
    batches: list[tuple[float, list[dict[str, float]]]] = []
    start = time.perf_counter()
    while True:
        batches.append(_batch(programs, load, sum(len(batch) for _, batch in batches)))
        elapsed = time.perf_counter() - start
        quiet = sum(len(batch) for share, batch in batches if share <= QUIET)
        if quiet >= most or (elapsed > seconds and quiet >= least) or elapsed > 5 * seconds:
            break
    kept: list[dict[str, float]] = []
    for share, batch in sorted(batches, key=lambda each: each[0]):
        if share <= QUIET or len(kept) < least:
            kept += batch
    return Samples({name: [each[name] for each in kept] for name in programs}, is_quiet=quiet >= least)


def _batch(
    programs: Mapping[str, Callable[[], float]], load: Load, number: int
) -> tuple[float, list[dict[str, float]]]:
    """Run rounds for a moment; return the share of the machine that others used meanwhile, and the rounds' times."""
    load.others()
    batch: list[dict[str, float]] = []
    start = time.perf_counter()
    while not batch or time.perf_counter() - start < BATCH:
        order = list(programs)
        turn = (number + len(batch)) % len(order)
        times = {}
        for name in order[turn:] + order[:turn]:
            times[name] = programs[name]()
        batch.append(times)
    return load.others(), batch
