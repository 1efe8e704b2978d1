"""Poems that come with the library, all in the public domain: their authors died before 1830."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_TEXTS = Path(__file__).with_name("texts")


class Poem(NamedTuple):
    r"""A poem.

    Attributes:
        title: Its title.
        author: Its author's name.
        text: Its lines, parted by ``"\n"``.
    """

    title: str
    author: str
    text: str


def poems(name: str) -> list[Poem]:
    """Return one of the collections that come with the library.

    Args:
        name: "sonnets": the 154 sonnets of William Shakespeare, in English, 94,000 characters. "songs": 29 songs of
            William Blake, with no character that the sonnets have not, 14,000 characters. "quatrains": 128 quatrains of
            the Tang dynasty by 49 poets known by name and one unknown, in Chinese, with lines of 5 or of 7 characters.

    Raises:
        ValueError: If there is no such collection.

    >>> first = minigrad.data.poems("sonnets")[0]
    >>> first.author, first.text[:41]
    ('William Shakespeare', 'From fairest creatures we desire increase')
    """
    file = _TEXTS / f"{name}.txt"
    if not file.is_file():
        known = ", ".join(sorted(path.stem for path in _TEXTS.glob("*.txt")))
        raise ValueError(f"poems: there is no collection {name!r}; choose one of {known}")
    found = []
    for paragraph in file.read_text(encoding="utf-8").strip().split("\n\n"):
        head, _, text = paragraph.partition("\n")
        title, _, author = head.partition("|")
        found.append(Poem(title, author, text))
    return found
