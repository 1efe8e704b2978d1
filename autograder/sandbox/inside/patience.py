"""Tell time that a process used, or slept away, from time in which a busy machine did not let it run."""

import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["Patience", "stalled", "waited"]

MOST = 4
"""A time limit is stretched to this many times itself at most."""

_PRESSURE = "/proc/pressure/cpu"
_monotonic = time.monotonic
_TASKS = Path("/proc")


class Patience:
    """Time that ends `seconds` from now, and later for as long as the machine keeps processes waiting.

    Args:
        seconds: The limit.
        lost: Says how many seconds have been lost to waiting, since some moment.
        before: What it says now, if that is known.
    """

    def __init__(self, seconds: float, lost: Callable[[], float], before: float | None = None) -> None:
        self.seconds = seconds
        self._begun, self._lost, self._before = _monotonic(), lost, lost() if before is None else before
        self._given = 0.0

    @property
    def end(self) -> float:
        """When it ends, as far as is known, on the clock `time.monotonic`."""
        return self._begun + self.seconds + self._given

    def left(self) -> float:
        """Seconds to its end, which has come when there are none."""
        left = self.end - _monotonic()
        if left > 0:
            return left
        self._given = max(self._given, min(self._lost() - self._before, (MOST - 1) * self.seconds))
        return max(0.0, self.end - _monotonic())


def stalled() -> float:
    """Seconds in which some process of this machine waited for a processor; 0 where the system does not count them."""
    try:
        with open(_PRESSURE, encoding="ascii") as file:
            return int(file.readline().rpartition("total=")[2]) / 1e6
    except (OSError, ValueError):
        return 0.0


def waited(process: int | str = "self") -> float:
    """Seconds that a process waited for a processor: that of its threads which waited longest."""
    longest = 0.0
    try:
        for task in (_TASKS / str(process) / "task").iterdir():
            longest = max(longest, int((task / "schedstat").read_text().split()[1]) / 1e9)
    except (OSError, ValueError, IndexError):
        return longest
    return longest
