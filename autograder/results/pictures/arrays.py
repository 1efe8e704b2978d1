"""Arrays side by side: which element was read for which, where a step along an axis leads, how shapes are aligned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograder.library.speaking import told
from autograder.results.pictures.paper import CHARACTER, LINE, MARGIN, document, label, text

MAX_CELLS = 48
"""Elements of an array that can be told apart in a picture."""

_HEIGHT = 24.0


def array(
    name: str, values: Any, wanted: Any = None, *, note: str = "", came: bool = False, axes: bool = True
) -> dict[str, Any]:
    """Describe an array.

    Args:
        name: Its name.
        values: Its elements, in nested lists or a NumPy array; the last axis runs across, the others down.
        wanted: The right value, for an array that came; it is compared, and not kept.
        note: The text below it, such as its strides.
        came: Whether it came of the student's code.
        axes: Whether rows and columns are numbered.

    Raises:
        ValueError: If it has too many elements for a picture, or none, or is the name of an error.
    """
    if isinstance(values, str):
        raise ValueError(f"{values[:40]!r} is a word in the place of an array")
    elements = np.array(values, dtype=object)
    if not 0 < elements.size <= MAX_CELLS:
        raise ValueError(f"an array of {elements.size} elements cannot be drawn")
    rows = elements.reshape(-1, elements.shape[-1] if elements.ndim else 1)
    cells = [[label(value) for value in row] for row in rows.tolist()]
    wrong: list[list[int]] = []
    if wanted is not None:
        right = np.array(wanted, dtype=object)
        if right.shape == elements.shape:
            right = right.reshape(rows.shape)
            wrong = [[i, j] for (i, j), value in np.ndenumerate(rows) if not _same(value, right[i, j])]
        else:
            wrong = [[i, j] for i, j in np.ndindex(*rows.shape)]
    numbers = [",".join(map(str, index)) for index in np.ndindex(*elements.shape[:-1])] if axes else []
    return {"name": name, "cells": cells, "wrong": wrong, "note": note, "came": came, "rows": numbers}


def _same(value: Any, right: Any) -> bool:
    if isinstance(value, int | float) and isinstance(right, int | float):
        return bool(abs(value - right) <= 1e-6 * max(1.0, abs(right))) or (value != value and right != right)
    return bool(value == right)


def together(
    *shown: Mapping[str, Any], beside: bool = False, used: Sequence[int] = (), note: str = ""
) -> dict[str, Any] | None:
    """Describe a picture of arrays; None if nothing in it is wrong.

    Args:
        shown: The arrays, from top to bottom.
        beside: Whether names stand beside the arrays, which are aligned at their last axes then.
        used: Elements of the first array that are shaded.
        note: The text below the picture.
    """
    if not any(each["wrong"] for each in shown):
        return None
    said = sum(len(cell) for each in shown if each["came"] for row in each["cells"] for cell in row)
    return {"kind": "arrays", "arrays": [dict(each) for each in shown], "beside": beside, "used": list(used),
            "note": note, "said": said}  # fmt: skip


def view(size: int, came: Sequence[Any], wanted: Sequence[Any], *, note: str = "") -> dict[str, Any] | None:
    """Describe a storage that holds the numbers of its elements, and a view of it that came.

    Args:
        size: How many elements the storage has.
        came: The view, in nested lists.
        wanted: The right value; it is compared, and not kept.
        note: The view's description.
    """
    result = array("what was read for each element of the view", came, wanted, came=True, note=note)
    used = {int(value) for value in np.array(came, dtype=object).ravel() if 0 <= value < size}
    return together(array("the storage", range(size), axes=False), result, used=sorted(used))


def aligned(given: Mapping[str, Sequence[int]], name: str, came: Any, wanted: Any) -> dict[str, Any] | None:
    """Describe shapes or indices, one below the other with their last axes aligned, and what came of them.

    Args:
        given: By name, what went in.
        name: The name of what came.
        came: The answer.
        wanted: The right value; it is compared, and not kept.
    """
    rows = [array(each, [list(sizes)], axes=False) for each, sizes in given.items() if len(sizes)]
    return together(*rows, array(name, came, wanted, came=True, axes=False), beside=True)


def steps(shape: Sequence[int], came: Sequence[int], wanted: Sequence[int]) -> dict[str, Any] | None:
    """Describe an array that lies row by row, and the elements to which strides lead that came.

    Args:
        shape: The sizes of its axes.
        came: A stride for each axis, of the student's code.
        wanted: The right value; it is compared, and not kept.
    """
    indices = [",".join(map(str, index)) for index in np.ndindex(*shape)]
    lines, wrong = [], []
    for axis, (stride, right) in enumerate(zip(came, wanted, strict=True)):
        passes = f"a step along axis {axis} passes {label(stride)}"
        is_inside = 0 <= stride < len(indices)
        lines.append(f"{passes}: it lands at ({indices[stride]})" if is_inside else f"{passes}: it lands outside")
        if stride != right and 0 <= stride < len(indices):
            wrong.append([0, stride])
    storage = array("the storage, each element with its index", [indices], axes=False)
    storage["wrong"] = wrong
    picture = together(storage, note="; ".join(lines))
    return picture and {**picture, "said": sum(len(label(stride)) for stride in came)}


def words(picture: Mapping[str, Any]) -> list[str]:
    """The picture as lines of text; what is wrong stands in brackets."""
    lines: list[tuple[str, str]] = []
    for each in picture["arrays"]:
        wrong = {(i, j) for i, j in each["wrong"]}
        rows = [
            [f"[{cell}]" if (i, j) in wrong else f" {cell} " for j, cell in enumerate(row)]
            for i, row in enumerate(each["cells"])
        ]
        width = max(len(cell) for row in rows for cell in row)
        name, note = _words_of(each)
        note = f"   ({note})" if note else ""
        drawn = ["".join(cell.rjust(width) for cell in row) for row in rows]
        if picture["beside"]:
            lines.append((name, drawn[0]))
        else:
            lines += [("", f"{name}:{note}"), *(("", f"  {row}") for row in drawn)]
    names, widest = max(len(name) for name, _ in lines), max(len(drawn) for _, drawn in lines)
    if picture["beside"]:
        return [f"{name.ljust(names)} {drawn.rjust(widest)}" for name, drawn in lines]
    return [drawn for _, drawn in lines] + (["; ".join(_below(picture))] if picture["note"] else [])


def _words_of(described: Mapping[str, Any]) -> list[str]:
    """The name and the note of an array."""
    return [told(each) for each in (described["name"], described["note"])]


def _below(picture: Mapping[str, Any]) -> list[str]:
    """The lines below a picture."""
    return [told(line) for line in picture["note"].split("; ") if line]


class _Panel:
    """One array in the drawing."""

    def __init__(self, described: Mapping[str, Any], cell: float, *, named: bool) -> None:
        self.rows: list[list[str]] = described["cells"]
        self.columns = max(len(row) for row in self.rows)
        name, note = _words_of(described)
        self.title = f"{name}   {note}".rstrip()
        self._wrong = {(i, j) for i, j in described["wrong"]}
        self._cell = cell
        self._named = named
        self._numbers: list[str] = described["rows"]
        self._top = (LINE if named else 0.0) + (LINE - 3.0 if self._numbers else 0.0)
        self.width = self.columns * cell
        self.height = self._top + len(self.rows) * _HEIGHT

    def parts(self, x: float, y: float, used: set[int]) -> list[str]:
        """The drawing, at a place; frames of what is wrong stand above their neighbours."""
        parts = [text(x, y + 11.0, self.title, anchor="start")] if self._named else []
        frames = []
        for i, row in enumerate(self.rows):
            for j, cell in enumerate(row):
                left, top = x + j * self._cell, y + self._top + i * _HEIGHT
                size = f'x="{left:.1f}" y="{top:.1f}" width="{self._cell:.1f}" height="{_HEIGHT}"'
                kind = "mg-cell mg-used" if i * self.columns + j in used else "mg-cell"
                bad = (i, j) in self._wrong
                parts.append(f'<rect class="{kind}" {size}/>')
                parts.append(text(left + self._cell / 2, top + 16.0, cell, "mg-badtext" if bad else "mg-text"))
                if bad:
                    frames.append(f'<rect class="mg-bad" {size}/>')
        return [*parts, *self._indices(x, y + self._top), *frames]

    def _indices(self, x: float, y: float) -> list[str]:
        """The numbers of columns, and of rows where there are several."""
        columns = range(self.columns if self._numbers else 0)
        rows = enumerate(self._numbers if len(self.rows) > 1 else ())
        return [
            *(text(x + (j + 0.5) * self._cell, y - 4.0, str(j), "mg-small") for j in columns),
            *(text(x - 6.0, y + i * _HEIGHT + 16.0, number, "mg-small", "end") for i, number in rows),
        ]


def svg(picture: Mapping[str, Any]) -> str:
    """The picture."""
    beside, described = picture["beside"], picture["arrays"]
    longest = [max(len(cell) for row in each["cells"] for cell in row) for each in described]
    sizes = [max(length * CHARACTER + 12.0, 30.0) for length in longest]
    if beside:
        sizes = [max(sizes)] * len(sizes)
    panels = [_Panel(each, size, named=not beside) for each, size in zip(described, sizes, strict=True)]
    names = max(len(panel.title) for panel in panels) * CHARACTER
    numbers = max((len(number) for each in described for number in each["rows"]), default=0)
    left = MARGIN + (names + 10.0 if beside else numbers * 6.8 + 8.0)
    room = max(panel.width for panel in panels) if beside else max(names, *(panel.width for panel in panels))
    parts, y = [], MARGIN
    for number, panel in enumerate(panels):
        x = left + (room - panel.width if beside else 0.0)
        parts += panel.parts(x, y, set(picture["used"]) if number == 0 else set())
        if beside:
            parts.append(text(MARGIN, y + 16.0, panel.title, anchor="start"))
        y += panel.height + (3.0 if beside else 16.0)
    y -= 3.0 if beside else 16.0
    lines = _below(picture)
    for line in lines:
        y += LINE
        parts.append(text(left, y + 8.0, line, "mg-small", "start"))
        room = max(room, len(line) * 6.8)
    title = ", ".join(_words_of(each)[0] for each in described)
    return document(left + room + MARGIN, y + MARGIN + (8.0 if lines else 0.0), title, "; ".join(words(picture)), parts)
