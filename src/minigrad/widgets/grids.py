"""Elements of arrays as grids of boxes that can be pointed at, and moved through with keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product

from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, box, text

LARGEST = 96
"""Elements that can be told apart in a picture."""

Index = tuple[int, ...]

_WIDEST, _HIGH, _GAP = 840.0, 28.0, 24.0
_AXIS_AND_STEP = {"ArrowLeft": (-1, -1), "ArrowRight": (-1, 1), "ArrowUp": (-2, -1), "ArrowDown": (-2, 1)}
_PAGES = {"PageUp": -1, "PageDown": 1}


def indices(shape: Sequence[int]) -> list[Index]:
    """Return all indices of a shape, row by row.

    >>> from minigrad.widgets.grids import indices
    >>> list(indices((2, 2)))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return list(product(*(range(size) for size in shape)))


def moved(shape: Sequence[int], index: Index, key: str) -> Index:
    """Return the index that a key leads to: arrows for the last two axes, the page keys for all axes before them.

    Args:
        shape: None of its sizes is 0.
        index: Where one is.
        key: As browsers name it, with Home and End for the first and the last element. Others lead nowhere.

    >>> from minigrad.widgets.grids import moved
    >>> moved((2, 3), (0, 0), "ArrowRight")
    (0, 1)
    """
    if key in ("Home", "End"):
        return tuple(0 if key == "Home" else size - 1 for size in shape)
    if key in _PAGES:
        leads = indices(shape[:-2])
        number = leads.index(index[:-2]) + _PAGES[key]
        return (*leads[max(0, min(number, len(leads) - 1))], *index[-2:])
    axis, step = _AXIS_AND_STEP.get(key, (0, 0))
    if not step or len(shape) < -axis:
        return index
    there = list(index)
    there[axis] = max(0, min(there[axis] + step, shape[axis] - 1))
    return tuple(there)


def part(name: str, index: Index) -> str:
    """Return how a page names an element: ``out:1,2``.

    >>> from minigrad.widgets.grids import part
    >>> part("out", (1, 2))
    'out:1,2'
    """
    return f"{name}:{','.join(map(str, index))}"


def written(name: str, index: Index) -> str:
    """Return an element as one writes it: ``out[1, 2]``.

    >>> from minigrad.widgets.grids import written
    >>> written("out", (1, 2))
    'out[1, 2]'
    """
    return f"{name}[{', '.join(map(str, index))}]" if index else f"{name}[()]"


@dataclass(frozen=True)
class Grid:
    """The elements of an array: the last axis across, the one before it down, others from grid to grid.

    Attributes:
        name: Of the array, for a page to tell elements apart.
        shape: Its shape.
        title: Stands above.
        label: What stands in the box of an element.
        kind: The kind of an element's box (see `minigrad.draw.paper.box`).
        below: Small text below the label, or nothing.
        here: The one of several marked elements that is looked at.
    """

    name: str
    shape: Sequence[int]
    title: str
    label: Callable[[Index], str]
    kind: Callable[[Index], str]
    below: Callable[[Index], str] = lambda index: ""
    here: Index | None = None

    def drawing(self, words: str) -> Drawing:
        """Return the picture.

        Args:
            words: What it shows.
        """
        every = indices(self.shape)
        wide = max(34.0, *(len(self.label(index)) * CHARACTER + 12.0 for index in every))
        wide = max(wide, *(len(self.below(index)) * SMALL + 20.0 for index in every))
        high = _HIGH + (12.0 if any(self.below(index) for index in every) else 0.0)
        rows, columns = (1, 1, *self.shape)[-2:]
        side, top = 18.0 if len(self.shape) > 1 else 0.0, LINE if len(self.shape) > 2 else 0.0
        leads = indices(self.shape[:-2])
        panel, tall = side + columns * wide + _GAP, top + LINE + rows * high + 10.0
        across = min(len(leads), max(1, int((_WIDEST + _GAP) / panel)))
        parts = [text(MARGIN, MARGIN + 8.0, self.title, "bold", "start")]
        frames: list[str] = []
        for number, lead in enumerate(leads):
            x = MARGIN + side + number % across * panel
            y = MARGIN + LINE + top + LINE - 4.0 + number // across * tall
            parts += self._names(lead, x, y, wide, high)
            for i, j in product(range(rows), range(columns)):
                index = (*lead, i, j)[-len(self.shape) :] if self.shape else ()
                drawn = self._element(index, x + j * wide, y + i * high, wide, high)
                # Frames of neighbors overlap: what is marked is drawn last.
                (frames if self.kind(index) == "mark" else parts).append(drawn)
        width = max(across * panel - _GAP, len(self.title) * CHARACTER)
        height = LINE + math.ceil(len(leads) / across) * tall
        return Drawing(width + 2 * MARGIN, height + 2 * MARGIN - 12.0, self.title, words, parts + frames)

    def _names(self, lead: Index, x: float, y: float, wide: float, high: float) -> list[str]:
        """The numbers of rows and columns, and the index of a grid among others."""
        rows, columns = (1, 1, *self.shape)[-2:]
        parts = [text(x, y - LINE - 2.0, f"[{', '.join(map(str, lead))}]", "small", "start")] if lead else []
        if self.shape:
            parts += [text(x + (j + 0.5) * wide, y - 4.0, str(j), "small") for j in range(columns)]
        if len(self.shape) > 1:
            parts += [text(x - 5.0, y + (i + 0.5) * high + 4.0, str(i), "small", "end") for i in range(rows)]
        return parts

    def _element(self, index: Index, x: float, y: float, wide: float, high: float) -> str:
        kind, middle = self.kind(index), x + wide / 2
        drawn = box(x, y, wide, high, kind) + text(middle, y + 18.0, self.label(index), _INK.get(kind, "text"))
        if index == self.here:
            frame = f'x="{x + 3.5:.1f}" y="{y + 3.5:.1f}" width="{wide - 7:.1f}" height="{high - 7:.1f}"'
            drawn += f'<rect class="mp-mark mgw-here" style="fill:none;stroke-width:1.6" {frame}/>'
        if self.below(index):
            drawn += text(middle, y + 33.0, self.below(index), "small")
        return f'<g data-part="{escape(part(self.name, index))}">{drawn}</g>'


_INK = {"mark": "marked", "ghost": "ghosttext"}
