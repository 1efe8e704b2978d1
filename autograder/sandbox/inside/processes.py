"""The processes of a session, as its relay sees them: who they are, what they take, and how all of them end.

Ten times a second the relay looks at a session's files, at the memory that its processes have to themselves, and at how
many of them compute at once.
"""

import contextlib
import os
import signal
from pathlib import Path

__all__ = ["hold_back", "inhabitants", "memory_of", "running", "sweep"]

_PROC = Path("/proc")
_BUSY = 4  # tasks that may compute at once: a kernel's two threads, and whoever waits for them
_LAST = 19  # the lowest priority there is
# What a process has to itself: pages, those swapped out, huge ones, and the tables that say where its pages are.
_COUNTED = ("RssAnon:", "RssShmem:", "VmSwap:", "HugetlbPages:", "VmPTE:")


def sweep(child: int, how: str) -> None:
    """Kill all that descends from a session.

    Args:
        child: The session's first process, 0 if it is gone.
        how: "all" where this process may signal nothing but its own descendants (checked), else "descendants".
    """
    if how == "all":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGKILL)
        _reap()
        return
    for pid in _doomed():
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    if child and not _PROC.exists():
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
    _reap()


def running(pids: set[int]) -> set[int]:
    """Those that have not ended yet."""
    return {pid for pid in pids if _state(_PROC / str(pid)) not in {"", "Z", "X"}}


def memory_of(pids: set[int]) -> int:
    """Bytes that processes have to themselves, beside what each of them has of this one since it was forked."""
    own = _private("self")
    return sum(max(0, _private(str(pid)) - own) for pid in pids)


def _private(pid: str) -> int:
    """Bytes of a process that are no file's: a mapping that processes share counts for each of them that uses it."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = (_PROC / pid / "status").read_text().splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(_COUNTED))
    return 0


def hold_back(pids: set[int]) -> None:
    """Let others go first once more than a few tasks of a session compute at the same time.

    Many tasks have no larger share than one then. Where the kernel groups tasks by session, all of these are one group
    already: none of them may begin another.
    """
    tasks = {task for pid in pids for task in _tasks(pid)}
    if sum(_state(task) == "R" for task in tasks) <= _BUSY:
        return
    for task in tasks:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, int(task.name), _LAST)


def _tasks(pid: int) -> list[Path]:
    with contextlib.suppress(OSError):
        return list((_PROC / str(pid) / "task").iterdir())
    return []


def _state(task: Path) -> str:
    """One letter: R for a process or thread that computes or could. None of one that is gone."""
    with contextlib.suppress(OSError, IndexError):
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    return ""


def _doomed() -> set[int]:
    """The processes below this one, all of them stopped: one that runs could fork while the others are looked for."""
    known: set[int] = set()
    while new := inhabitants() - known:
        for pid in new:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
        known |= new
    return known


def _reap() -> None:
    """Reap until no child is left; all of them have been killed, so each of them ends."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def inhabitants() -> set[int]:
    """The processes of a session: all below this one, orphans included, whose reaper it is. Empty without /proc."""
    parents: dict[int, int] = {}
    for entry in _PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
    found: set[int] = set()
    below = [os.getpid()]
    while below:
        above = below.pop()
        children = {pid for pid, parent in parents.items() if parent == above} - found
        found |= children
        below += children
    return found
