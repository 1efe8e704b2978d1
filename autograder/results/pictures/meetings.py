"""Iterations of a parallel loop, or threads of a GPU, that meet in one element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.library.speaking import Told, told
from autograder.results.pictures.paper import CHARACTER, MARGIN, document, label, text

SHOWN = 3
"""Meetings in one picture."""

LOOKED_AT = 20
"""Findings among which they are sought."""

MAX_WHO = 40
"""Characters of who meets, such as `thread (31, 31) of block (127, 127)`."""

_ROW, _ACROSS = 62.0, 120.0
_ACTS: tuple[Told, ...] = ("reads", "writes", "atomically updates")


def collisions(found: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Describe meetings; None if there is none.

    Args:
        found: Findings as `minigrad.debug.Report.meetings` gives them; who met is an iteration's number, or a thread.
    """
    meetings = []
    for each in found[:LOOKED_AT]:
        acts = list(each["acts"])
        if len(acts) == 2 and set(acts) <= {*_ACTS}:
            element = f"{label(each['array'])}[{', '.join(label(i) for i in list(each['index'])[:4])}]"
            ends = [_who(each[end]) for end in ("first", "second")]
            meetings.append([element, *ends, *acts])
    if not meetings:
        return None
    meetings = [each for number, each in enumerate(meetings) if each not in meetings[:number]][:SHOWN]
    said = sum(len(element) + len(one) + len(two) for element, one, two, *_ in meetings)
    return {"kind": "collisions", "meetings": meetings, "said": said}


def _who(said: Any) -> str:
    name = label(said, MAX_WHO)
    return f"iteration {name}" if name.isdecimal() else name


def words(picture: Mapping[str, Any]) -> list[str]:
    """The picture as lines of text."""
    return [
        told(f"{told(one)} {told(first)} {element}, and {told(two)} {told(second)} it")
        for element, one, two, first, second in picture["meetings"]
    ]


def svg(picture: Mapping[str, Any]) -> str:
    """The picture: who meets to the left, the element in a red frame to the right."""
    meetings = picture["meetings"]
    left = max(len(name) for _, one, two, *_ in meetings for name in (one, two)) * CHARACTER + 18.0
    right = max(len(element) for element, *_ in meetings) * CHARACTER + 22.0
    parts = []
    for row, (element, one, two, *acts) in enumerate(meetings):
        y, x = MARGIN + row * _ROW, MARGIN + left + _ACROSS
        middle = y + 23.0
        for name, how, at in zip((one, two), acts, (y, y + 26.0), strict=True):
            parts.append(f'<rect class="mg-cell" x="{MARGIN}" y="{at:.1f}" width="{left:.1f}" height="20" rx="10"/>')
            parts.append(text(MARGIN + left / 2, at + 14.0, told(name)))
            x0, y0, x1, y1 = MARGIN + left, at + 10.0, x - 8.0, middle + (-4.0 if at == y else 4.0)
            if how == "reads":
                x0, y0, x1, y1 = x - 1.0, y1, x0 + 8.0, y0
            parts.append(f'<path class="mg-way" d="M{x0:.1f},{y0:.1f}L{x1:.1f},{y1:.1f}"/>{_head(x0, y0, x1, y1)}')
            side = -6.0 if at == y else 14.0
            parts.append(text(MARGIN + left + _ACROSS / 2, (at + 10.0 + middle) / 2 + side, told(how), "mg-small"))
        size = f'x="{x:.1f}" y="{middle - 13.0:.1f}" width="{right:.1f}" height="26" rx="4"'
        parts.append(f'<rect class="mg-cell" {size}/><rect class="mg-bad" {size}/>')
        parts.append(text(x + right / 2, middle + 4.0, element))
    width = MARGIN + left + _ACROSS + right + MARGIN
    return document(width, len(meetings) * _ROW + MARGIN, told("Where they collide"), "; ".join(words(picture)), parts)


def _head(x0: float, y0: float, x1: float, y1: float) -> str:
    """The head of an arrow that comes from the first point."""
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    tip = (x1 + 7.0 * dx, y1 + 7.0 * dy)
    sides = [(x1 - 4.0 * dy * s, y1 + 4.0 * dx * s) for s in (1.0, -1.0)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (tip, *sides))
    return f'<polygon points="{points}" fill="#8c959f"/>'
