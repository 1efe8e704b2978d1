"""The processes of a session, as the warm parent sees them: who they are, what they take, and how all of them end.

Ten times a second the warm parent looks at a session's files, and at the memory that its processes have to
themselves.
"""

import contextlib
import os
import signal
from pathlib import Path

__all__ = ["inhabitants", "memory_of", "running", "sweep"]

_PROC = Path("/proc")


def sweep(child: int, how: str) -> None:
    """Kill all that descends from a session.

    Args:
        child: The session's first process.
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
    if not _PROC.exists():
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
    _reap()


def inhabitants() -> set[int]:
    """The processes of a session. Empty where there is no /proc."""
    if os.getpid() != 1:
        return _descendants()
    with contextlib.suppress(OSError):
        return {int(name) for name in os.listdir(_PROC) if name.isdigit()} - {1}
    return set()


def running(pids: set[int]) -> set[int]:
    """Those that have not ended yet."""
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError, IndexError):
            state = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
            if state not in "ZX":
                found.add(pid)
    return found


def memory_of(pids: set[int]) -> int:
    """Bytes that processes have to themselves, beside what each of them has of this one since it was forked."""
    own = _private("self")
    return sum(max(0, _private(str(pid)) - own) for pid in pids)


def _private(pid: str) -> int:
    """Bytes of a process that are no file's: a mapping that processes share counts for each of them that uses it."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = (_PROC / pid / "status").read_text().splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
    return 0


def _doomed() -> set[int]:
    """The processes below this one, all of them stopped: one that runs could fork while the others are looked for."""
    known: set[int] = set()
    while new := _descendants() - known:
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


def _descendants() -> set[int]:
    """All processes below this one, orphans included: it is their reaper. Empty where there is no /proc."""
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
