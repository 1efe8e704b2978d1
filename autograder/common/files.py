"""Files that are written whole or not at all.

A file is renamed into place when it is on the disk.

After SIGKILL, or a crash of the machine, a file holds its old text or its new one, never a part.

`minigrad.machine.files` keeps a file's permissions and waits for no one. The grader's files are for others to read
(0644), and are locked while they are written, so that `atomic.sweep` can tell those that a killed process left.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from autograder.common.atomic import PREFIX, lock, unlock


def write(path: Path, content: str | bytes, mode: int = 0o644) -> bool:
    """Write a file aside and rename it into place; leave it alone if it says the same already.

    At every moment there is the old file or the new one, whole, also after a crash of the machine.

    Args:
        path: The file.
        content: Its text or bytes.
        mode: Its permissions; as a rule others read what the grader writes.

    Returns:
        Whether the file changed.
    """
    content = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    _replace(path, content, mode)
    return True


def rewrite(path: Path, content: bytes) -> None:
    """Give a file other content, aside and renamed; its permissions stay."""
    _replace(path, content, path.stat().st_mode & 0o777)


def _replace(path: Path, content: bytes, mode: int) -> None:
    aside, held = _new(path)
    try:
        put(aside, content, path)
        aside.chmod(mode)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    finally:
        unlock(held)


def put(path: Path, content: bytes, becomes: Path | None = None) -> None:
    """Write a file that is on the disk when this returns: a name given to it later never leads to an empty one.

    Args:
        path: Where it is written.
        content: Its content.
        becomes: The name that it is going to have, which an error tells.
    """
    with _flushed(path, becomes or path) as file:
        file.write(content)


def copy(source: Path, path: Path) -> None:
    """Copy a file, however large, as `put` writes one."""
    with source.open("rb") as given, _flushed(path, path) as file:
        shutil.copyfileobj(given, file)


@contextmanager
def _flushed(path: Path, name: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno and error.filename is None:
            error.filename = str(name)  # a disk that is full does not say for whom
        raise


def _new(path: Path) -> tuple[Path, int]:
    """An empty file beside another one, and what holds it."""
    while True:  # someone may sweep it away before it is locked
        handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f"{PREFIX}{path.name}.")
        os.close(handle)
        held = lock(Path(aside))
        if held is not None:
            return Path(aside), held
