"""Atomic changes: files are made aside and renamed into place; a lock, which ends with its process, names the owner.

A process that is killed leaves unfinished files. The next run has to tell them from the files of another run that is
still at work. A process's number does not tell, since numbers come round again and mean nothing in another container.
So the owner holds a lock on a file (flock), which the kernel releases however the owner ends.

Names of things aside begin with `.new-` or `.tidy-`. Each run first sweeps away, or puts back, what nobody holds. A
sandbox's view is held in the same way.

So a process that SIGKILL ends at any moment leaves either the old file or the new one, and never a half.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where no class is graded: nothing is locked there, and nothing swept
    fcntl = None  # type: ignore[assignment]

PREFIX = ".new-"
"""The beginning of the names of unfinished things."""

_LOCK = ".lock"
_NONE = -1
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}
"""Errors of systems that have no locks; any other error says that something is wrong."""


class Aside:
    """A folder in which something is made; it is removed at the end, with whatever was not renamed out of it.

    Args:
        parent: Where it is to lie; on the file system of the place that what is made there will take.
        prefix: How its name begins.

    Raises:
        OSError: If it cannot be made, or locked on a system that has locks; then nothing is left of it.
    """

    def __init__(self, parent: Path, prefix: str = PREFIX) -> None:
        parent.mkdir(parents=True, exist_ok=True)
        held = None
        while held is None:  # someone may sweep it away before it is locked
            self.folder = Path(tempfile.mkdtemp(dir=parent, prefix=prefix))
            try:
                held = lock(self.folder / _LOCK)
            except BaseException:
                with contextlib.suppress(OSError):  # `remove` would open files, of which there may be too many
                    (self.folder / _LOCK).unlink(missing_ok=True)
                    self.folder.rmdir()
                raise
        self._held = held

    def __enter__(self) -> Path:
        return self.folder

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder."""
        try:
            remove(self.folder)
        finally:
            held, self._held = self._held, _NONE
            unlock(held)


def lock(path: Path) -> int | None:
    """Lock a file, which is made if need be; None if someone else has it, or has removed it meanwhile.

    Returns:
        The argument of `unlock`; the end of the process does as well.

    Raises:
        OSError: If a system that has locks cannot lock it, such as where too many files are open or the disk is full.
    """
    try:
        held = _take(path)
    except (BlockingIOError, FileNotFoundError):
        return None
    except OSError as error:
        if error.errno in _NO_LOCKS:  # nothing is ever swept on such a system
            return _NONE
        raise
    try:
        if os.path.samestat(os.fstat(held), os.stat(path)):
            return held
    except FileNotFoundError:
        pass
    except BaseException:
        os.close(held)
        raise
    os.close(held)
    return None


def unlock(held: int) -> None:
    """Give a lock back."""
    if held != _NONE:
        os.close(held)


def sweep(paths: Iterable[Path], rescue: Callable[[Path], None] = lambda path: None) -> int:
    """Remove what a process has left that was killed; leave alone what a living one is at.

    Args:
        paths: Files and folders that lie aside.
        rescue: Is called with each of them before it is removed.

    Returns:
        How many were removed.
    """
    count = 0
    for path in [path for path in paths if not path.is_symlink()]:
        try:
            held = _take(path / _LOCK if path.is_dir() else path)
        except OSError:
            continue
        try:
            rescue(path)
            remove(path)
            count += 1
        finally:
            os.close(held)
    return count


def _take(path: Path) -> int:
    """Open a file and lock it.

    Raises:
        BlockingIOError: If someone else has it.
        OSError: If it cannot be opened, or locked.
    """
    if fcntl is None:
        raise OSError(errno.ENOSYS, "this system has no locks")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def remove(path: Path) -> None:
    """Remove a file or a folder, however deep folders nest in it: `shutil.rmtree` calls itself for each of them."""
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
    elif shutil.which("rm"):
        _rm(path)
        if path.exists():  # a folder that came read-only
            subprocess.run(["chmod", "-R", "u+rwX", "--", str(path)], check=False, stderr=subprocess.DEVNULL)
            _rm(path)
    else:
        shutil.rmtree(path, ignore_errors=True)


def _rm(path: Path) -> None:
    subprocess.run(["rm", "-rf", "--", str(path)], check=False, stderr=subprocess.DEVNULL)
