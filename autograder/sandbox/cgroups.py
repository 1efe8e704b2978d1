"""A memory and process bound for a whole sandbox, where the system has given this process a part of cgroup v2.

Limits on a process bind each process by itself. A control group binds all of a sandbox together, whatever they do, and
the kernel counts what they hold. A session's relay reads that account, and says in words what was too much; where there
is none, it adds up what the processes hold. A part of the tree is had by `systemd-run --user --scope -p Delegate=yes
autograder ...`, or in a container that passes it on.
"""

import contextlib
import errno
import os
import shutil
import time
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path

from autograder.sandbox.inside.account import Account
from autograder.sandbox.model import Limits

ADVICE = "`systemd-run --user --scope -p Delegate=yes autograder ...` gives it one, where systemd runs"
_GRADER = "minigrad-grader"
_LIBRARY_MB = 1024  # what the warm parent and the library may take before there is a session
_SLACK = 20  # by one part in so many a session exceeds its memory before the kernel ends it, where its relay is late
_NEEDED = {"memory", "pids"}
_TRIES, _PAUSE = 50, 0.02  # about a second: processes that are killed leave their group a moment later
_numbers = count(1)


@dataclass(frozen=True)
class Group:
    """A control group for one sandbox.

    Args:
        path: Its folder.
        descriptors: The files of its account, once they are open.
    """

    path: Path
    descriptors: list[int] = field(default_factory=list)

    def entering(self, command: list[str]) -> list[str]:
        """A command that enters the group before it becomes `command`: whatever it starts is in the group too."""
        shell = shutil.which("sh") or "/bin/sh"
        return [shell, "-c", 'echo $$ > "$0" && exec "$@"', str(self.path / "cgroup.procs"), *command]

    def open(self) -> list[int]:
        """Open what `Account` reads, for the sandbox to inherit: the files are not shown there."""
        self.descriptors.extend(os.open(self.path / name, os.O_RDONLY) for name in Account.FILES)
        return self.descriptors

    def settle(self, limits: Limits) -> None:
        """Bound the memory to what is held now, by the library, and to what a session may have beside it."""
        most = limits.total_mb << 20
        with contextlib.suppress(OSError):
            held = Account(self.descriptors).held()
            (self.path / "memory.max").write_text(str(held + most + most // _SLACK))

    def remove(self) -> None:
        """End what is left in the group, and remove it."""
        while self.descriptors:
            os.close(self.descriptors.pop())
        with contextlib.suppress(OSError):
            (self.path / "cgroup.kill").write_text("1")
        for _ in range(_TRIES):
            try:
                self.path.rmdir()
                return
            except OSError as error:
                if error.errno != errno.EBUSY:
                    return
            time.sleep(_PAUSE)


def make_group(limits: Limits, proc: Path = Path("/proc"), mounts: tuple[str, ...] = ()) -> Group | None:
    """A group with the bounds of these limits; None where there is none to be had."""
    base = _base(proc, mounts)
    if isinstance(base, str):
        return None
    path = base / f"minigrad-sandbox-{os.getpid()}-{next(_numbers)}"
    try:
        path.mkdir()
        (path / "memory.max").write_text(str((limits.total_mb + _LIBRARY_MB) << 20))
        (path / "pids.max").write_text(str(limits.processes + 8))
        with contextlib.suppress(OSError):  # not every kernel counts swap
            (path / "memory.swap.max").write_text("0")
    except OSError:
        Group(path).remove()
        return None
    return Group(path)


def describe_groups(proc: Path = Path("/proc"), mounts: tuple[str, ...] = ()) -> str:
    """In a sentence: who counts what a session holds, the kernel or its relay; and why it is not the kernel."""
    base = _base(proc, mounts)
    if not isinstance(base, str):
        return f"memory and processes of a session: counted and bounded by the kernel, in a control group below {base}"
    return f"memory of a session: the pages of its processes are counted, ten times a second or more; {base}"


@cache
def _base(proc: Path, mounts: tuple[str, ...]) -> Path | str:
    """The folder to make groups in, or why there is none. This process moves into a leaf of its own, as is required."""
    places = mounts or ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
    root = next((Path(place) for place in places if Path(place, "cgroup.controllers").is_file()), None)
    if root is None:
        return "this system has no cgroup v2"
    try:
        own = next(line[3:] for line in (proc / "self/cgroup").read_text().splitlines() if line.startswith("0::"))
        folder = root / own.strip("/")
        if folder.name == _GRADER:  # a process that was started by one which has moved already
            folder = folder.parent
        missing = _NEEDED - set((folder / "cgroup.controllers").read_text().split())
        if missing:
            return f"cgroup v2 offers no {' and no '.join(sorted(missing))} controller here"
        if set((folder / "cgroup.subtree_control").read_text().split()) >= _NEEDED:
            return folder if os.access(folder, os.W_OK) else f"its control group is not its own; {ADVICE}"
        return _take_over(folder)
    except (OSError, StopIteration) as error:
        return f"its control group cannot be used ({getattr(error, 'strerror', None) or 'it has none'}); {ADVICE}"


def _take_over(folder: Path) -> Path | str:
    """Pass controllers on to groups below; a group that does so may hold no process itself."""
    inside = (folder / "cgroup.procs").read_text().split()
    if inside != [str(os.getpid())] or not os.access(folder, os.W_OK):
        return f"its control group is not its own; {ADVICE}"
    leaf = folder / _GRADER
    leaf.mkdir(exist_ok=True)
    (leaf / "cgroup.procs").write_text(str(os.getpid()))
    try:
        (folder / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError:
        (folder / "cgroup.procs").write_text(str(os.getpid()))
        raise
    return folder
