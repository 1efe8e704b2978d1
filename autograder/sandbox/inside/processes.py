"""The processes of a session, as its relay sees them: who they are, what they take, and how all of them end.

Ten times a second the relay looks at a session's files, at the memory that its processes have to themselves, and at how
many of them compute at once.
"""

import contextlib
import os
import signal
from pathlib import Path

__all__ = ["descriptions_of", "hold_back", "inhabitants", "memory_of", "running", "sweep"]

_PROC = Path("/proc")
_BUSY = 4  # tasks that may compute at once: a kernel's two threads, and whoever waits for them
_LAST = 19  # the lowest priority there is
# What a process has to itself: pages, those swapped out, huge ones, and the tables that say where its pages are.
_COUNTED = ("RssAnon:", "RssShmem:", "VmSwap:", "HugetlbPages:", "VmPTE:")
_AREA, _AREA_OF_ANCESTOR = 512, 64  # bytes with which the kernel describes an area; of each ancestor it keeps some, too


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
    """Those that have not ended yet, as long as any of their threads goes on."""
    return {pid for pid in pids if any(_state(task) not in {"", "Z", "X"} for task in _tasks(pid))}


def memory_of(pids: set[int]) -> int:
    """Bytes that processes have to themselves, beside what each of them has of this one since it was forked."""
    own = _private("self")
    return sum(max(0, _private(pid) - own) for pid in pids)


def _private(pid: int | str) -> int:
    """Bytes of a process that are no file's: a mapping that processes share counts for each of them that uses it.

    Its first thread may have ended, and has no memory then. Any other thread has all of it.
    """
    for task in _tasks(pid):
        with contextlib.suppress(OSError, ValueError, IndexError):
            lines = (task / "status").read_text().splitlines()
            found = [int(line.split()[1]) * 1024 for line in lines if line.startswith(_COUNTED)]
            if found:
                return sum(found)
    return 0


def descriptions_of(pids: set[int], first: int) -> int:
    """Bytes with which the kernel describes the memory of processes, whether or not there are pages in it.

    A process may cut its memory into tens of thousands of areas, and each fork copies what is known of each of them
    for each ancestor.

    Args:
        pids: The processes.
        first: The one that was forked here, whose description may still be closed.

    Raises:
        PermissionError: If another one hides its description.
    """
    each = _AREA + _AREA_OF_ANCESTOR * len(pids)
    return each * sum(_areas(pid, closed=pid == first) for pid in pids)


def _areas(pid: int, closed: bool) -> int:
    """The number of areas of a process's memory; 0 of one that is gone, or closed where it may be."""
    for task in _tasks(pid):
        try:
            with (task / "maps").open("rb", buffering=0) as file:
                found = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 16), b""))
        except PermissionError:
            if not closed:
                raise
        except OSError:
            continue
        else:
            if found:
                return found
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


def _tasks(pid: int | str) -> list[Path]:
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
