"""Tell time that a process used, or slept away, from time in which a busy machine did not let it run.

A time limit is stretched by the time that other processes took, and that a compiler took, to so many times itself at
most.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["COMPILING", "MOST", "Patience", "kept_waiting", "spent", "stalled", "waited"]

MOST = 10
"""A time limit is stretched to this many times itself at most: one process among nine others gets a tenth of a core."""

COMPILING = 30.0
"""Seconds for which a cell or a question may keep a compiler busy without using up its time."""

_FRESH = 0.1
"""Seconds for which it is known well enough what processes have used: to ask takes milliseconds."""

_sampled: dict[int, tuple[float, int]] = {}

_PRESSURE = "/proc/pressure/cpu"
_monotonic = time.monotonic
_TASKS = Path("/proc")


class Patience:
    """Time that ends `seconds` from now, and later for as long as the machine keeps processes waiting.

    Args:
        seconds: The limit.
        lost: Says how many seconds have been lost to waiting, since some moment.
        before: Its present reading, if that is known.
        free: Says how many seconds since now count against no limit, such as those of a compiler.
    """

    def __init__(
        self,
        seconds: float,
        lost: Callable[[], float],
        before: float | None = None,
        free: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.seconds, self._free = seconds, free
        self._begun, self._lost, self._before = _monotonic(), lost, lost() if before is None else before
        self._given = 0.0

    @property
    def end(self) -> float:
        """When it ends, as far as is known, on the clock `time.monotonic`."""
        return self._begun + self.seconds + self._given

    def left(self, enough: float = 0.0) -> float:
        """Seconds to its end, which has come when there are none.

        Args:
            enough: Where there are more seconds than this, it is not asked how many more have been lost to waiting.
        """
        left = self.end - _monotonic()
        if left > enough:
            return left
        free = self._free()
        lost = min(self._lost() - self._before, (MOST - 1) * (self.seconds + free))
        self._given = max(self._given, free + lost)
        return max(0.0, self.end - _monotonic())


def stalled() -> float:
    """Seconds in which some process of this machine waited for a processor; 0 where the system does not count them."""
    try:
        with open(_PRESSURE, encoding="ascii") as file:
            return int(file.readline().rpartition("total=")[2]) / 1e6
    except (OSError, ValueError):
        return 0.0


def kept_waiting(root: int) -> Callable[[], float]:
    """Says how long others have kept a process and those below it waiting, since now: what `Patience` gives back.

    Processes that wait for each other's turns keep every core busy themselves; of the time that passes, what they
    have had of all cores is not lost.

    Args:
        root: The process.
    """
    begun, pressed, had, cores = _monotonic(), stalled(), spent(root), os.cpu_count() or 1

    def lost() -> float:
        unused = _monotonic() - begun - (spent(root) - had) / cores
        return max(0.0, min(stalled() - pressed, unused))

    return lost


def spent(root: int) -> float:
    """Processor seconds of a process and of all below it, with those that have ended; 0 where nothing says so."""
    sampled, ticks = _sampled.get(root, (-_FRESH, 0))
    if _monotonic() - sampled >= _FRESH:
        ticks = _ticks_below(root)
        _sampled.clear()  # of a worker that is gone nothing has to be known
        _sampled[root] = _monotonic(), ticks
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0


def _ticks_below(root: int) -> int:
    ticks, children = {}, dict[int, list[int]]()
    for name in os.listdir(_TASKS) if _TASKS.is_dir() else ():
        try:
            with open(f"{_TASKS}/{int(name)}/stat", encoding="utf-8", errors="replace") as file:
                said = file.read().rpartition(")")[2].split()
        except (OSError, ValueError):  # no process, or one that has ended meanwhile
            continue
        ticks[int(name)] = sum(map(int, said[11:15]))
        children.setdefault(int(said[1]), []).append(int(name))
    total, waiting = 0, [root]
    while waiting:
        total += ticks.get(waiting[-1], 0)
        waiting += children.get(waiting.pop(), [])
    return total


def waited(process: int | str = "self") -> float:
    """Seconds that a process waited for a processor: that of its threads which waited longest."""
    longest = 0.0
    try:
        for task in (_TASKS / str(process) / "task").iterdir():
            longest = max(longest, int((task / "schedstat").read_text().split()[1]) / 1e9)
    except (OSError, ValueError, IndexError):
        return longest
    return longest
