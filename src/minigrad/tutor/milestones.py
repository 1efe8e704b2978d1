"""Milestones: what a student's own library can do for the first time, kept as a page with its date and a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from minigrad.errors import MinigradError
from minigrad.exercises.lesson_files import FOLDER, working_folder
from minigrad.exercises.telling import language, told
from minigrad.machine.files import write
from minigrad.tutor.keeping import Part, now

__all__ = ["TITLES", "Reached", "milestone", "reached"]

Picture = TypeVar("Picture")

TITLES = {
    "spiral": "A spiral, told apart by your own engine",
    "xor": "The network of lesson 03, in four tensors",
    "digits": "Handwritten digits, read by your network",
    "poem": "A poem by your language model",
}
"""The milestones in the order of the course, each with what it is."""

_PAGE = """<!DOCTYPE html><html lang="{language}"><head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }}
pre {{ white-space: pre-wrap }} img, svg {{ max-width: 100% }}</style></head>
<body><main><h1>{title}</h1>
<p>{reached}</p>{picture}</main></body></html>
"""


@dataclass(frozen=True)
class Reached:
    """When a milestone was reached first, in UTC."""

    at: str


def _made(fields: Mapping[str, Any]) -> Reached:
    return Reached(str(fields["at"]))


_MILESTONES = Part("milestones", _made)


def milestone(id: str, picture: Picture) -> Picture:
    """Keep that a milestone is reached, with a picture; return the picture, so that the cell shows it.

    The first date stays, and the last picture. Without a working folder nothing is kept.

    Args:
        id: "spiral", "xor", "digits" or "poem".
        picture: What Jupyter would show, or a text.

    Raises:
        MinigradError: If there is no such milestone.

    >>> minigrad.milestone("poem", "Shall I compare thee")
    'Shall I compare thee'
    """
    if id not in TITLES:
        raise MinigradError(f"milestone({id!r}): the milestones are {', '.join(TITLES)}")
    _MILESTONES.change(id, lambda before: before or Reached(now()))
    found = reached().get(id)
    if found is not None:
        at, page = found
        date, tongue = told(f"Reached on {at[:10]}."), language().replace("_", "-")
        text = _PAGE.format(title=escape(told(TITLES[id])), reached=date, picture=_as_html(picture), language=tongue)
        try:
            write(page, text.encode())
            print(told(f"A milestone: {TITLES[id]}. The page of it is {page}"))
        except OSError as error:
            print(told(f"A milestone: {TITLES[id]}. Its page {page} could not be written: {error.strerror or error}."))
    return picture


def reached(start: Path | None = None) -> dict[str, tuple[str, Path]]:
    """Return the milestones that were reached, in the course's order: when first, in UTC, and where the page is."""
    folder, known = working_folder(start), _MILESTONES.read(start)
    if folder is None:
        return {}
    return {id: (known[id].at, folder / FOLDER / "milestones" / f"{id}.html") for id in TITLES if id in known}


def _as_html(picture: object) -> str:
    if isinstance(picture, str):
        return f"<pre>{escape(picture)}</pre>"
    drawn = getattr(picture, "_repr_html_", None)
    return str(drawn()) if drawn else f"<pre>{escape(str(picture))}</pre>"
