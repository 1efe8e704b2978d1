"""The readable part of a notebook file that is not quite JSON: another encoding, conflict marks, half a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Conflict = tuple[str, str]
"""The two versions of a text that git could not merge."""

_OURS, _BASE, _BETWEEN, _THEIRS = "<<<<<<<", "|||||||", "=======", ">>>>>>>"
_CELL = re.compile(r'\{\s*"(?:cell_type|attachments|id|metadata|source|execution_count)"\s*:')

MAX_CELLS_FOUND = 2_001
"""One more than are read, so that whoever reads them knows that there are more."""

MOST_AGAIN = 4
"""The bound on reading a damaged text in vain, in multiples of its length, in looking for where the damage ends."""

MAX_HOLES = 100
"""Places that may be damaged; to say where JSON ends, Python counts the lines before."""


def decode(data: bytes) -> tuple[str, str]:
    """The text of a file, and what was strange about its encoding.

    A byte that is none of its encoding becomes a replacement character: the rest of the file is as good as it was.
    """
    encoding = json.detect_encoding(data)
    if not encoding.startswith("utf-8"):
        return data.decode(encoding, "replace"), f"the file was encoded as {encoding[:6].upper()}, not UTF-8"
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", "replace")
    # An old editor for Windows writes one byte for each letter: then nothing beyond ASCII is UTF-8.
    if all(each == "\ufffd" for each in text if not each.isascii()):
        return data.decode("cp1252", "replace"), "the file was encoded as Windows-1252, not UTF-8"
    return text, "the file holds bytes that are not UTF-8; what they stood for is lost"


def has_marks(text: str) -> bool:
    """Return whether a text may hold git's conflict marks."""
    return _OURS in text and _BETWEEN in text and _THEIRS in text


def sides(text: str) -> Conflict | None:
    """The two versions of a text with git's conflict marks in it, or None if there is no whole conflict."""
    ours: list[str] = []
    theirs: list[str] = []
    state, conflicts = "", 0
    for line in text.split("\n"):
        mark = line[:7] if len(line) == 7 or line[7:8] in (" ", "\r") else ""
        if mark == _OURS and not state:
            state = _OURS
        elif mark == _BASE and state == _OURS:
            state = _BASE
        elif mark == _BETWEEN and state in (_OURS, _BASE):
            state = _BETWEEN
        elif mark == _THEIRS and state == _BETWEEN:
            state, conflicts = "", conflicts + 1
        else:
            if state in ("", _OURS):
                ours.append(line)
            if state in ("", _BETWEEN):
                theirs.append(line)
    return ("\n".join(ours), "\n".join(theirs)) if conflicts and not state else None


def whole_cells(text: str) -> list[Mapping[str, Any]]:
    """The cells that can be read of a notebook's text which is damaged somewhere, or ends in the middle."""
    return list(_whole_cells(text))


def _whole_cells(text: str) -> Iterator[Mapping[str, Any]]:
    decoder = json.JSONDecoder(strict=False)
    position, holes, found, room = 0, 0, 0, MOST_AGAIN * len(text)
    while found < MAX_CELLS_FOUND and holes < MAX_HOLES and room > 0 and (match := _CELL.search(text, position)):
        try:
            item, position = decoder.raw_decode(text, match.start())
        except (json.JSONDecodeError, RecursionError) as error:
            holes += 1
            room -= _read_to(error, text) - match.start()
            position = match.end()
            continue
        if isinstance(item, dict) and ("source" in item or "input" in item):
            found += 1
            yield item


def _read_to(error: json.JSONDecodeError | RecursionError, text: str) -> int:
    """The place to which a text was read in vain at most; of a string without an end Python says where it begins."""
    if isinstance(error, json.JSONDecodeError) and not error.msg.startswith("Unterminated"):
        return error.pos
    return len(text)
