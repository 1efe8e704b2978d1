"""The processes of a session, as its relay sees them: who they are, what they take, and how all of them end.

Ten times a second, and more often as a session comes nearer to its limit, the relay looks at the session's files, at
the memory that it holds, and at how many of its tasks compute at once.
"""

import contextlib
import ctypes
import os
import signal
import struct
import time

_PROC = "/proc"
_CAPABILITIES_VERSION = 0x20080522
_BUSY = 4  # tasks that may compute at once: a kernel's two threads, and whoever waits for them
_STANDSTILL = 0.1  # seconds that a process gets to stop; longer than it takes to fork one with a GiB
_LAST = 19  # the lowest priority there is
# A process's pages whoever else has them too, those swapped out, huge ones, and the tables that say where they are.
_WHOLE, _TABLES = (b"RssAnon:", b"RssShmem:", b"VmSwap:", b"HugetlbPages:", b"VmPTE:"), (b"VmPTE:",)
# A process's pages, each divided by the number of processes that have it.
_SHARE = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:", b"Shared_Hugetlb:", b"Private_Hugetlb:")
_AREA, _AREA_OF_ANCESTOR = 512, 64  # bytes with which the kernel describes an area; of each ancestor it keeps some, too


def become_nobody(uid: int | None) -> None:
    """Become a user without any capability; None to stay who this is."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        # Only what could be inherited is left of root's capabilities; it goes as well.
        ctypes.CDLL(None).capset(struct.pack("=Ii", _CAPABILITIES_VERSION, 0), bytes(24))


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
    for pid in _stopped():
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    if child and not os.path.exists(_PROC):
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
    _reap()


def running(pids: set[int]) -> set[int]:
    """Those that have not ended yet, as long as any of their threads goes on."""
    return {pid for pid in pids if any(_state(task) not in {"", "Z", "X"} for task in _tasks(pid))}


def memory_of(pids: set[int], most: int, first: int) -> int:
    """Bytes that a session holds, beside what it still shares with its relay and the warm parent.

    Each page counts once, and from the moment that a process of the session writes to it, whoever it was inherited
    from. To find that takes 10 ms for each GiB, in which the session has to stand still. So the sum of what each
    process has, which is never less, is asked for first, and is the answer if it is no more than `most`.

    Args:
        pids: The session's processes.
        most: The limit.
        first: The process that was forked here, whose description may still be closed.

    Raises:
        PermissionError: If another one hides what it has.
    """
    whole = [_said(pid, "status", _WHOLE) for pid in pids]
    if all(whole) and sum(whole) <= most:  # what one that has gone had may be another's now
        return sum(whole)
    pids = _standing()
    try:
        if not _said("self", "smaps_rollup", (b"Pss_Anon:",)):  # an older kernel
            return sum(_said(pid, "status", _WHOLE) for pid in pids)
        own = _said("self", "smaps_rollup", (b"Anonymous:", b"Swap:"))
        # Of a page of the relay and of the warm parent that n others have too, 1/(n + 2) is the relay's share, and
        # n/(n + 2) are theirs.
        inherited = max(0, own - 2 * _said("self", "smaps_rollup", (b"Pss_Anon:", b"SwapPss:")))
        return max(0, sum(_share(pid, own if pid == first else None) for pid in pids) - inherited)
    finally:
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)


def _share(pid: int, own: int | None) -> int:
    """Bytes of a process, each page divided by the number of processes that have it; more, if that is closed so far."""
    try:
        return _said(pid, "smaps_rollup", _SHARE) + _said(pid, "status", _TABLES)
    except PermissionError:
        if own is None:
            raise
        return max(1, _said(pid, "status", _WHOLE) - own)


def _said(pid: int | str, file: str, names: tuple[bytes, ...]) -> int:
    """The sum of some lines of a file about a process's memory, in bytes; 0 of one that is gone.

    Its first thread may have ended, and has no memory then. Any other thread has all of it.
    """
    for task in _tasks(pid):
        try:
            lines = _read(f"{task}/{file}").splitlines()
        except PermissionError:
            raise
        except OSError:
            continue
        if found := [int(line.split()[1]) << 10 for line in lines if line.startswith(names)]:
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
            with open(f"{task}/maps", "rb", buffering=0) as file:
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


def hold_back(pids: set[int]) -> int:
    """Let others go first once more than a few tasks of a session compute at the same time; return the number of tasks.

    Many tasks have no larger share than one then. Where the kernel groups tasks by session, all of these are one group
    already: none of them may begin another.
    """
    tasks = {task for pid in pids for task in _tasks(pid)}
    if sum(_state(task) == "R" for task in tasks) <= _BUSY:
        return len(tasks)
    for task in tasks:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, int(task.rpartition("/")[2]), _LAST)
    return len(tasks)


def _tasks(pid: int | str) -> list[str]:
    """The folders of a process's threads."""
    with contextlib.suppress(OSError):
        return [f"{_PROC}/{pid}/task/{name}" for name in os.listdir(f"{_PROC}/{pid}/task")]
    return []


def _state(folder: str) -> str:
    """One letter: R for a process or thread that computes or could. None of one that is gone."""
    with contextlib.suppress(OSError, IndexError):
        return _status(folder)[0].decode()
    return ""


def _status(folder: str) -> list[bytes]:
    """What the kernel says of a process or thread, from its state on."""
    return _read(f"{folder}/stat").rpartition(b")")[2].split()


def _read(path: str) -> bytes:
    """A short file of /proc. All that is opened ten times a second is opened without ceremony.

    Raises:
        OSError: If there is none.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 1 << 14)
    finally:
        os.close(descriptor)


def _stopped() -> set[int]:
    """The processes below this one, all of them stopped: one that runs could fork while the others are looked for."""
    known: set[int] = set()
    while new := inhabitants() - known:
        for pid in new:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
        known |= new
    return known


def _standing() -> set[int]:
    """The processes below this one, all of which have come to a standstill, as far as they do so at once.

    One that is about to fork goes on after the signal until it has a child; in between its pages are shared with
    someone who is not found yet.
    """
    end = time.monotonic() + _STANDSTILL
    while True:
        pids = _stopped()
        stand = all(_state(task) in {"", *"TtZX"} for pid in pids for task in _tasks(pid)) and inhabitants() <= pids
        if stand or time.monotonic() > end:
            return pids
        time.sleep(0.001)


def _reap() -> None:
    """Reap until no child is left; all of them have been killed, so each of them ends."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def inhabitants() -> set[int]:
    """The processes of a session that have not ended: all below this one, orphans included, whose reaper it is.

    Empty without /proc.
    """
    children: dict[int, set[int]] = {}
    ended = set()
    for name in os.listdir(_PROC) if os.path.isdir(_PROC) else ():
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid, said = int(name), _status(f"{_PROC}/{name}")
            children.setdefault(int(said[1]), set()).add(pid)
            if said[0] in {b"Z", b"X"} and int(said[17]) <= 1:  # of one that goes on, the first thread may have ended
                ended.add(pid)
    found: set[int] = set()
    below = [os.getpid()]
    if os.getppid() == 1:  # gVisor knows no reaper but the first process, which has no child beside this one
        children[os.getpid()] = children.get(os.getpid(), set()) | children.get(1, set()) - {os.getpid()}
    while below:
        new = children.get(below.pop(), set()) - found
        found |= new
        below += new
    return found - ended
