"""Tell time that a process used, or slept away, from time in which a busy machine did not let it run.

A time limit is stretched by the time that other processes took, and that a compiler took, to so many times itself at
most.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path

MOST = 10
"""A time limit is stretched to this many times itself at most: one process among nine others gets a tenth of a core."""

COMPILING = 30.0
"""Seconds for which a cell or a question may keep a compiler busy without using up its time."""

_FRESH = 0.1
"""Seconds for which it is known well enough what processes have used: to ask takes milliseconds."""

_sampled: "dict[int, _Sample]" = {}

_PRESSURE, _PROCESSORS = "/proc/pressure/cpu", "/proc/stat"
_GROUPS, _OWN_GROUP = Path("/sys/fs/cgroup"), "/proc/self/cgroup"
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

    That is no longer than any process of this machine waited, and no more than the part of the processors' time that
    others had. What processes lose by waiting for each other's turns, or do not use, nobody took from them.

    Args:
        root: The process.
    """
    pressed, before = stalled(), _sample(root)

    def lost() -> float:
        since = _sample(root) - before
        return max(0.0, min(stalled() - pressed, since.others()))

    return lost


@dataclass(frozen=True)
class _Sample:
    """Times up to a moment, or between two.

    Args:
        clock: Seconds.
        idle: Seconds in which the processors that this process may use had nothing to do, in sum.
        group: Processor seconds of a control group around this process, if there is a quota for it.
        own: Processor seconds of the processes in question.
    """

    clock: float
    idle: float
    group: float
    own: float

    def __sub__(self, other: "_Sample") -> "_Sample":
        return _Sample(*(mine - theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def others(self) -> float:
        """Seconds that others had, as if they had had every processor in them: of the machine, and of the quota."""
        cores, limit = processors(), quota()
        group = max(self.group, self.own) if limit else self.own
        outside = (cores * self.clock - self.idle - group) / cores
        return outside + ((group - self.own) / limit.processors if limit else 0.0)


def _sample(root: int) -> _Sample:
    kept = _sampled.get(root)
    if kept is None or _monotonic() - kept.clock >= _FRESH:
        _sampled.clear()  # of a worker that is gone nothing has to be known
        limit = quota()
        kept = _Sample(_monotonic(), idle(), limit.used() if limit else 0.0, spent(root))
        _sampled[root] = kept
    return kept


def processors() -> int:
    """The number of processors that this process may use."""
    return len(_own_processors()) or os.cpu_count() or 1


def _own_processors() -> set[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def idle() -> float:
    """Seconds in which the processors that this process may use had nothing to do, in sum; 0 where nothing says so."""
    own, ticks = {f"cpu{number}" for number in _own_processors()}, 0
    with contextlib.suppress(OSError, ValueError, IndexError), open(_PROCESSORS, encoding="ascii") as file:
        for line in file:
            if line.startswith("cpu") and line.partition(" ")[0] in own:
                ticks += sum(map(int, line.split()[4:6]))  # nothing to do, or only to wait for a disk
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0


@dataclass(frozen=True)
class Quota:
    """The part of a machine's processor time that a control group around this process gets, as in many containers.

    Args:
        group: The group's folder.
        processors: So many processors' time at most.
    """

    group: Path
    processors: float

    def used(self) -> float:
        """Processor seconds of the group."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            return int((self.group / "cpu.stat").read_text().split()[1]) / 1e6
        return 0.0


@cache
def quota() -> Quota | None:
    """The smallest quota among the control groups around this process; None if none is smaller than its processors."""
    found: list[Quota] = []
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(_OWN_GROUP).read_text().splitlines()
        own = _GROUPS / next(line[4:] for line in lines if line.startswith("0::/"))
        for folder in (own, *own.parents):
            with contextlib.suppress(OSError, ValueError):  # "max 100000" is no quota
                used, period = map(int, (folder / "cpu.max").read_text().split())
                found.append(Quota(folder, used / period))
    least = min(found, key=lambda each: each.processors, default=None)
    return least if least and least.processors < processors() else None


def spent(root: int) -> float:
    """Processor seconds of a process and of all below it, with those that have ended; 0 where nothing says so.

    A process that has ended is in here as long as nobody has waited for it, and in its parent's account afterwards.
    """
    ticks = sum(sum(map(int, said[11:15])) for said in _below(root).values())
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0


def at_work(root: int) -> bool:
    """Whether any thread of the processes below one computes, or waits for a processor or a disk.

    True where nothing says so.
    """
    return not _TASKS.is_dir() or any(
        state in {"R", "D"} for pid in _below(root) if pid != root for state in _states(pid)
    )


def _states(pid: int) -> Iterator[str]:
    """What each thread of a process does, in one letter."""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"{_TASKS}/{pid}/task"):
            with contextlib.suppress(OSError, IndexError):
                yield _status(f"{_TASKS}/{pid}/task/{task}")[0]


def _below(root: int) -> dict[int, list[str]]:
    """A process and all below it, and what the system says of each, from its state on."""
    found, waiting, children = {}, [root], _children if _lists_children() else _scanned().get
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError, IndexError):  # it has ended meanwhile
            found[pid] = _status(f"{_TASKS}/{pid}")
        waiting += children(pid) or ()
    return found


@cache
def _lists_children() -> bool:
    """Whether the system lists the children of a thread: to look through all processes takes milliseconds."""
    return Path(f"{_TASKS}/{os.getpid()}/task/{os.getpid()}/children").exists()


def _children(pid: int) -> list[int]:
    """The children of a process, as the system lists them for each of its threads."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"{_TASKS}/{pid}/task"):
            with contextlib.suppress(OSError), open(f"{_TASKS}/{pid}/task/{task}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def _scanned() -> dict[int, list[int]]:
    """The children of each process of the machine, by what each of them says of its parent."""
    children: dict[int, list[int]] = {}
    for name in os.listdir(_TASKS) if _TASKS.is_dir() else ():
        with contextlib.suppress(OSError, ValueError, IndexError):  # no process, or one that has ended meanwhile
            children.setdefault(int(_status(f"{_TASKS}/{int(name)}")[1]), []).append(int(name))
    return children


def _status(folder: str) -> list[str]:
    with open(f"{folder}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def waited(process: int | str = "self") -> float:
    """Seconds that a process waited for a processor: that of its threads which waited longest."""
    longest = 0.0
    try:
        for task in (_TASKS / str(process) / "task").iterdir():
            longest = max(longest, int((task / "schedstat").read_text().split()[1]) / 1e9)
    except (OSError, ValueError, IndexError):
        return longest
    return longest
