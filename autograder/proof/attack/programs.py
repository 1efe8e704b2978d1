"""The attacks, read from `families/*.toml`: a file for each family, a table for each attack.

An attack's keys are its fields (`tries`, `honest`, `naive`, ...) and pieces of text. The text that is handed in is the
piece `text`, or the one that `frame` names, where `<<name>>` stands for another piece, indented as it stands there. The
table `each` holds what every attack of the family has unless it says otherwise: shared beginnings, frames, fields.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from textwrap import indent
from typing import Any

from autograder.proof.attack.model import ARITHMETIC, LESSON, RIGHT, WRONG, Attack, Files, Link, Released, cells

REACHED = "REACHED-FROM-INSIDE"
"""The word that a program says if it got what it wanted, and that no report may hold."""

_TELL = "def add(x, y):\n    raise refusal\n\n\nmul = neg = add"
"""Answers that raise what a program met with, where a report would show it."""

_PLACE = re.compile(r"^( *)<<([\w-]+)>>|<<([\w-]+)>>", re.MULTILINE)
_COMMON = {
    **{"wrong": WRONG, "right": RIGHT, "reached": repr(REACHED), "tell": _TELL},
    **{"frame": "text", "exercise": ARITHMETIC, "lesson": LESSON},
}


def read(family: str, made: Mapping[str, Callable[[Released], Files]] | None = None, **more: str) -> Iterator[Attack]:
    """Yield the attacks of a family.

    Args:
        family: Its name.
        made: By the names of attacks that are no programs, what makes their files.
        more: Further pieces, which no file spells out.
    """
    found = tables(family)
    assert found.keys() >= (made or {}).keys(), "each that is made has a table"
    for name, own in found.items():
        pieces = own | more
        text = filled(pieces[pieces["frame"]], pieces)
        options = {field: pieces[field] for field in ("lesson", "honest", "naive", "keeps") if field in pieces}
        if pieces.get("draft"):
            yield Attack(name, pieces["tries"], lambda _: {}, exercise=pieces["exercise"], text=text, **options)
            continue
        added = [filled(each, pieces) for each in pieces.get("added", ())]
        beside = {file: _content(held) for file, held in pieces.get("files", {}).items()}
        program = cells(text, *added, exercise=pieces["exercise"], lesson=pieces["lesson"], beside=beside)
        yield Attack(name, pieces["tries"], (made or {}).get(name, program), **options)


def _content(held: str | dict[str, str]) -> bytes | Link:
    return held.encode() if isinstance(held, str) else Link(held["link"])


@cache
def tables(family: str) -> dict[str, dict[str, Any]]:
    """Return the attacks of a family as they are written, by name, each with what all of them share."""
    source = files(__package__).joinpath("families", f"{family}.toml")
    found = tomllib.loads(source.read_text(encoding="utf-8"))
    shared = _COMMON | found.pop("each")
    return {name: shared | own for name, own in found.items()}


def filled(text: str, pieces: Mapping[str, Any]) -> str:
    """Put pieces into the places of a text that name them."""

    def piece(place: re.Match[str]) -> str:
        return indent(filled(str(pieces[place[2] or place[3]]).strip("\n"), pieces), place[1] or "")

    return _PLACE.sub(piece, text).strip("\n")
