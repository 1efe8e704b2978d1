"""A copy of a folder that its owner may change while it is read.

A student owns the folder that was handed in, and may put a link into the place of a folder at any moment, such as one
to the answers. A check before reading does not help: the link may come after it. So every folder is opened once,
without following a link, and what is in it is reached through that open folder only.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from autograder.reading.handed_in import MAX_DEPTH, MAX_FILES, MAX_READ

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1 << 20


def snapshot(source: Path, target: Path) -> None:
    """Copy a folder, in bounded depth, number of files and bytes; hidden ones are left out.

    A link, a pipe, and a file that is too large leave something of their kind and size in the copy, so that whoever
    reads the copy says of it what is true of the original. So does what cannot be opened.

    Args:
        source: The folder; its last part is no link.
        target: The copy, which does not exist yet.

    Raises:
        OSError: If the source is no folder, or cannot be read.
    """
    _Copying().copy(os.open(source, _FOLDER), target)


class _Copying:
    """One copy, with what it may still take."""

    def __init__(self) -> None:
        self._files, self._room = MAX_FILES, MAX_READ

    def copy(self, folder: int, target: Path, depth: int = 0) -> None:
        """Copy an open folder, and close it; files first, as they are the nearest."""
        try:
            target.mkdir()
            for is_folder, name in sorted(self._entries(folder)):
                if (is_folder and depth >= MAX_DEPTH) or not self._files:
                    continue
                try:
                    inner = os.open(name, _FOLDER if is_folder else _FILE, dir_fd=folder)
                except OSError:
                    _stand_in(os.stat(name, dir_fd=folder, follow_symlinks=False), target / name)
                    continue
                if is_folder:
                    self.copy(inner, target / name, depth + 1)
                else:
                    self._copy_file(inner, target / name)
        finally:
            os.close(folder)

    @staticmethod
    def _entries(folder: int) -> Iterator[tuple[bool, str]]:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    yield entry.is_dir(follow_symlinks=False), entry.name

    def _copy_file(self, descriptor: int, target: Path) -> None:
        self._files -= 1
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                os.mkfifo(target)
                return
            with target.open("wb") as copy:
                for chunk in iter(lambda: file.read(min(_CHUNK, self._room)), b""):
                    copy.write(chunk)
                    self._room -= len(chunk)
                if copy.tell() < status.st_size:
                    copy.truncate(status.st_size)  # a hole, which takes no room


def _stand_in(status: os.stat_result, target: Path) -> None:
    """Leave something that cannot be opened either."""
    if stat.S_ISREG(status.st_mode):
        target.touch(mode=0)
    else:
        target.symlink_to("nowhere")
