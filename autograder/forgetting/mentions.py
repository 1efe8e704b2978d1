"""A search for a student's names in files, whatever their format: for backups, archives, notes and pages."""

from __future__ import annotations

import html
import json
import os
import re
import sqlite3
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

_LETTER = rb"[0-9A-Za-z\x80-\xff]"
_SQLITE = b"SQLite format 3\0"


def tells(name: str) -> bool:
    """Return whether finding a name says anything: a short one, or a short number, stands in many files by chance."""
    return len(name) >= (5 if name.isdigit() else 3)


class Mentions:
    """Finds files that contain one of some names as a whole word, in any case; compressed content is not looked into.

    Args:
        names: The names. Those that say nothing are not searched for.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = [name for name in names if tells(name)]
        ways = {way for name in self._names for way in (name, json.dumps(name)[1:-1], html.escape(name), quote(name))}
        words = b"|".join(re.escape(way.encode()) for way in sorted(ways))
        pattern = rb"(?<!" + _LETTER + rb")(?:" + words + rb")(?!" + _LETTER + rb")"
        self._pattern = re.compile(pattern, re.IGNORECASE) if words else None

    def is_in(self, path: Path) -> bool:
        """Return whether the content of a file names the student; a link, a pipe or an unreadable file does not."""
        if self._pattern is None:
            return False
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                return False
            content = path.read_bytes()
        except OSError:
            return False
        if content.startswith(_SQLITE):  # its fields stand side by side, with nothing between them
            return _has_row(path, self._names)
        return self._pattern.search(content) is not None

    def below(self, place: Path, left_out: Collection[Path]) -> Iterator[Path]:
        """Yield the files below a folder that name the student in their content, or in their path from there.

        Args:
            place: The folder.
            left_out: Folders and files that are not looked into.
        """
        folders = [place]
        while folders:  # a student's folders may nest as deep as they like
            folder = folders.pop()
            with suppress(OSError):
                content = sorted(path for path in folder.iterdir() if path not in left_out)
                folders += filter(_is_folder, content)
                yield from (path for path in content if not _is_folder(path) and self._finds(path, place))

    def _finds(self, path: Path, place: Path) -> bool:
        is_called = self._pattern is not None and self._pattern.search(os.fsencode(path.relative_to(place)))
        return bool(is_called) or self.is_in(path)


def _is_folder(path: Path) -> bool:
    """Return whether a path is a folder itself, and no link to one."""
    return path.is_dir() and not path.is_symlink()


def _has_row(path: Path, names: Iterable[str]) -> bool:
    """Return whether a copy of a gradebook has a student of one of these ids."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        return any(database.execute("select 1 from student where id = ?", [name]).fetchone() for name in names)
    return False
