"""Open a file that a student handed in: whatever it is, it is read in bounded time and memory, or refused."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

MAX_BYTES = 20_000_000
"""Largest notebook that is read; pictures in its outputs count."""

MAX_WITH_OUTPUTS = 100_000_000
"""Largest notebook whose outputs are left out to read the rest; what nbgrader hands in at most."""

MAX_CODE = 200_000
"""Most characters of code that are read of a notebook; the course's have an eighth of that, with every answer."""

_OUTPUTS = re.compile(rb'(\s*)"outputs": \[\r?\n?$')


class Unreadable(Exception):
    """A file that cannot be graded; the message is the sentence for its author."""


def one_line(name: str) -> str:
    """A file's name without what would steer a terminal, break a line or fit into no file."""
    return " ".join("".join(each if each.isprintable() else " " for each in name).split())


def is_id(name: str) -> bool:
    """Return whether a text can be a student's id: the name of a folder, which leads nowhere else and can be shown."""
    return bool(name.strip()) and name.isprintable() and not name.startswith(".") and not set(name) & {"/", "\\"}


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """Read a regular file of bounded size, without following a link or waiting for a pipe.

    Raises:
        Unreadable: If it is anything else.
    """
    name = one_line(path.name)
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise Unreadable(too_large(name, size, limit))
        data = file.read(limit + 1)
    if len(data) > limit:  # it grew while it was read
        raise Unreadable(too_large(name, len(data), limit))
    return data


def _opened(path: Path) -> IO[bytes]:
    name = one_line(path.name)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise Unreadable(f"{name} is a link, not a file; hand in the file itself") from error
        raise Unreadable(f"{name} cannot be opened ({error.strerror})") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unreadable(f"{name} is not a regular file; hand in the notebook itself")
    return os.fdopen(descriptor, "rb")


def without_outputs(path: Path) -> bytes:
    """Read a notebook file; the outputs of one that is too large are left out, line by line, as Jupyter writes them.

    Raises:
        Unreadable: If it cannot be read, or is too large without its outputs.
    """
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if not MAX_BYTES < size <= MAX_WITH_OUTPUTS:
            return read_bytes(path)
        data = b"".join(_lines_without_outputs(file))
    if len(data) > MAX_BYTES:
        raise Unreadable(too_large(one_line(path.name), size, MAX_BYTES))
    return data


def _lines_without_outputs(file: IO[bytes]) -> Iterator[bytes]:
    room, indent = MAX_BYTES, None
    for line in file:
        if indent is None and (opening := _OUTPUTS.match(line)):
            indent = opening[1]
            continue
        if indent is not None:
            if not line.startswith(indent + b"]"):
                continue
            line = indent + b'"outputs": []' + line[len(indent) + 1 :]
            indent = None
        room -= len(line)
        yield line
        if room < 0:
            return


def too_large(name: str, size: int, limit: int) -> str:
    """The sentence for a file that is too large."""
    return (
        f"{name} has {size / 1e6:.1f} MB; at most {limit / 1e6:g} MB are read: clear the outputs and hand it in again"
    )
