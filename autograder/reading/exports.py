"""A notebook that was exported, as a script or as a web page, and handed in like that: its code cells.

Nothing of an archive is unpacked to the disk.
"""

from __future__ import annotations

import html
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Container, Iterator
from pathlib import PurePosixPath

from autograder.common.marker import exercise_of, marked_lines, named_on
from autograder.common.python_text import definitions_only
from autograder.reading.student_files import MAX_CODE

SUFFIXES = frozenset({".py", ".txt", ".json", ".html", ".htm", ".zip", ""})
"""Endings of files that hold a notebook and are not called one."""

# A name of no encoding, an unknown compression, a password, wrong checksums, a damaged stream.
DAMAGED = (
    *(zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError),
    *(zlib.error, lzma.LZMAError, struct.error),
)

MAX_MEMBERS = 200
MAX_LISTED = 10_000
"""Entries of an archive that holds nothing but a student's work."""

_ENTRY = b"PK\x01\x02"
MAX_BLOCKS = 2_001
MAX_SCRIPT = 2_000_000
"""Characters of a script that is read; it has no outputs, and the course's notebooks have fifty thousand."""

_MARK = re.compile(r"^# (?:In ?\[[ \d*]*\]:?|%%.*)\s*$|^#%%.*$")
_CODE = re.compile(r'<div class="[^"<>]{0,200}\bhl-(?:ipython|python)[^"<>]{0,200}">\s{0,9}<pre>')
_TAG = re.compile(r"<[^<>]*>")


def is_archive(data: bytes) -> bool:
    """Return whether a file's bytes are those of a zip archive."""
    return data.startswith(b"PK\x03\x04")


def is_page(text: str) -> bool:
    """Return whether a text is a web page."""
    return text.lstrip()[:15].lower().startswith(("<!doctype html", "<html"))


def is_script(text: str) -> bool:
    """Return whether a text is a Python script that holds exercises, of a length that somebody may have written."""
    if len(text) > MAX_SCRIPT:
        return False
    return not text.lstrip().startswith(("{", "[")) and any(True for _ in marked_lines(text))


def members(data: bytes, room: int, suffixes: Container[str]) -> Iterator[tuple[str, bytes]]:
    """Names and contents of files in a zip archive, as many as there is room for; nothing is written anywhere.

    Args:
        data: The archive.
        room: Bytes that its files may have together.
        suffixes: The endings of the files that are unpacked, in small letters.

    Raises:
        ValueError: If the archive cannot be read.
    """
    if data.count(_ENTRY) > MAX_LISTED:
        raise ValueError(f"the archive has more than {MAX_LISTED:,} files")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist()[:MAX_MEMBERS]:
                path = PurePosixPath(info.filename)
                hidden = any(part.startswith((".", "__MACOSX")) and part != ".." for part in path.parts)
                if info.is_dir() or hidden or path.suffix.lower() not in suffixes:
                    continue
                with archive.open(info) as member:
                    content = member.read(room + 1)
                if len(content) > room:  # whatever size it says it has
                    return
                room -= len(content)
                yield info.filename, content
    except DAMAGED as error:
        raise ValueError(f"the archive cannot be read ({type(error).__name__})") from error


def script_cells(text: str) -> list[str]:
    """The cells of a script: between the marks of an export, else from one exercise to its check.

    Other text of a script without marks is examples: of those, the definitions alone, as far as code is read at all.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if any(_MARK.match(line) for line in lines):
        return _parted(lines, lambda line: _MARK.match(line) is not None, kept=False)
    parts = _parted(lines, lambda line: bool(named_on(line)) or line.startswith("check("), kept=True)
    cells, room = [], MAX_CODE
    for part in parts:
        if exercise_of(part):
            cells.append(part)
        elif (room := room - len(part)) >= 0:
            cells.append(definitions_only(part).strip("\n"))
    return [cell for cell in cells if cell]


def _parted(lines: list[str], is_edge: Callable[[str], bool], *, kept: bool) -> list[str]:
    cells: list[list[str]] = [[]]
    for line in lines:
        if is_edge(line):
            cells.append([line] if kept else [])
        else:
            cells[-1].append(line)
    texts = ("\n".join(cell).strip("\n") for cell in cells)
    return [text for text in texts if text.strip()]


def page_cells(text: str) -> list[str]:
    """The code cells of a web page that nbconvert made of a notebook; other code of a page has no `hl-` class."""
    cells: list[str] = []
    end = 0
    while (match := _CODE.search(text, end)) and len(cells) < MAX_BLOCKS:
        end = text.find("</pre>", match.end())
        if end < 0:
            break
        cells.append(html.unescape(_TAG.sub("", text[match.end() : end])).strip("\n"))
    return [cell for cell in cells if cell.strip()]
