"""Files that are written whole or not at all, and a lock for those that two programs change."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


class Busy(OSError):
    """Another program has held the lock for too long."""


def write(path: Path, content: bytes) -> bool:
    """Write a file, and the folders that it lies in; leave it alone if it says the same already.

    Returns:
        Whether the file changed.

    >>> import pathlib, tempfile
    >>> from minigrad.machine import files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files.write(pathlib.Path(folder) / "new" / "note.txt", b"text")
    ...     (pathlib.Path(folder) / "new" / "note.txt").read_text()
    True
    'text'
    """
    if path.is_file() and path.read_bytes() == content:
        return False
    path.resolve().parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content)
    return True


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write into, which takes the place of another when the block ends, and none if it fails.

    At every moment there is the old file or the new one, whole, also after a crash. A link stays one: the file that it
    leads to is replaced. Permissions stay.
    """
    path = path.resolve()
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    # A browser's drive keeps a file as what its name says that it is, and goes on so when the name changes.
    suffix = path.suffix if sys.platform == "emscripten" else ""
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(aside, mode)  # mkstemp makes it private
        os.replace(aside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise


def _umask() -> int:
    if sys.platform == "emscripten":  # it answers 0o777, with which nobody could read what is written
        return 0o022
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def locked(path: Path, seconds: float = 5.0) -> Iterator[None]:
    """Let one program at a time into the block; the lock ends with the block, or with the program.

    Args:
        path: The lock's own file, which stays behind, empty.
        seconds: How long to wait for others.

    Raises:
        Busy: If another program held it for that long.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    with path.open("a+b") as file:
        while not _taken(file):
            if time.monotonic() > end:
                raise Busy(f"{path} has been locked by another program for {seconds:g} s")
            time.sleep(0.02)
        yield  # closing the file ends the lock


def _taken(file: IO[bytes]) -> bool:
    """Try to lock an open file, as the system at hand does it."""
    if sys.platform == "emscripten":  # it has no locks; of two open notebooks, one may forget a check of the other
        return True
    try:
        try:
            import fcntl
        except ImportError:  # Windows
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
