"""Pictures of counter-examples: made of plain data by the grader, never by a student's process.

A hidden test describes a picture by one of the functions here, and what comes out is plain data that a report keeps.
`as_svg` draws it, `as_words` says the same as text. In a picture what came of the student's code is marked where it
is wrong; the right value does not stand in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.results.pictures import arrays, graphs, meetings
from autograder.results.pictures.arrays import aligned, array, steps, together, view
from autograder.results.pictures.graphs import graph, order
from autograder.results.pictures.meetings import collisions

__all__ = [
    "aligned", "array", "as_svg", "as_words", "collisions", "graph", "order", "said", "steps", "together", "view",
]  # fmt: skip

_SVG = {"arrays": arrays.svg, "graph": graphs.svg, "collisions": meetings.svg}
_WORDS = {"arrays": arrays.words, "graph": graphs.words, "collisions": meetings.words}
_DAMAGED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def as_svg(picture: Mapping[str, Any] | None) -> str:
    """The picture as an SVG element that holds no script and asks for nothing; empty if there is none to draw."""
    if picture is None:
        return ""
    try:
        return _SVG[picture["kind"]](picture)
    except _DAMAGED:  # kept in a file that someone has edited
        return ""


def as_words(picture: Mapping[str, Any] | None) -> list[str]:
    """The picture as lines of text; none if there is none to draw."""
    if picture is None:
        return []
    try:
        return _WORDS[picture["kind"]](picture)
    except _DAMAGED:
        return []


def said(picture: Mapping[str, Any] | None) -> int:
    """Return how many characters of a picture the student's process has chosen."""
    return int(picture["said"]) if picture is not None else 0
