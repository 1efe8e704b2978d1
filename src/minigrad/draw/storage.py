"""Pictures of strides: a storage as a row of boxes, a view of it as a grid, and the change that a permute makes.

draw.strides(array, highlight=(1, 2))   # where each element of the view stands
draw.permute(array, (1, 0))             # sizes and strides change places, the storage stays
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, arrow, box, label, text
from minigrad.layout import count
from minigrad.tensor_data import TensorData

LARGEST = 96
"""Elements of a storage, or of a view, that can be told apart in a picture."""

Index = tuple[int, ...]

_PER_LINE, _WIDEST, _HIGH, _GAP = 26, 860.0, 26.0, 26.0


def strides(array: object, *, highlight: Sequence[Any] | None = None) -> Drawing:
    """Draw a storage as a row of boxes, and the view of it as a grid below.

    Args:
        array: A NumPy array, a `TensorData` or a tensor on the CPU. What it shares its storage with is drawn as well.
        highlight: An index of the view, or several, that are framed in both.

    Raises:
        TypeError: If it is no array and no tensor.
        ValueError: If there are no elements, too many for a picture, or no such index.

    >>> print(minigrad.draw.strides(np.arange(6).reshape(2, 3)))
    A view and its storage: A storage of 6 elements: 0, 1, 2, 3, 4, 5. A view of shape (2, 3), strides
    (3, 1): row (0,) from the positions 0, 1, 2; row (1,) from the positions 3, 4, 5.
    """
    view, picture = _view_of(array, "strides"), _Page()
    chosen = _chosen(view, highlight)
    picture.add(_Storage(view, {_position(view, index) for index in chosen}))
    grid = _Cells(view, chosen)
    picture.add(grid)
    picture.lines(_facts(view, array))
    picture.lines([_sum(view, index) for index in chosen])
    return picture.drawing("A view and its storage", f"{_storage_in_words(view)} {_view_in_words(view)}")


def permute(array: object, order: Sequence[int]) -> Drawing:
    """Draw an array before and after its axes are put into another order.

    Args:
        array: As in `strides`.
        order: Axis i of the result is axis ``order[i]`` of the array.

    Raises:
        TypeError: If it is no array and no tensor.
        ValueError: If an axis is missing or named twice, or the array cannot be drawn.

    >>> print(minigrad.draw.permute(np.arange(6).reshape(2, 3), (1, 0)))
    An array and its permuted view: A storage of 6 elements: 0, 1, 2, 3, 4, 5. Before: A view of shape
    (2, 3), strides (3, 1): row (0,) from the positions 0, 1, 2; row (1,) from the positions 3, 4, 5.
    After permute(1, 0): A view of shape (3, 2), strides (1, 3): row (0,) from the positions 0, 3; row
    (1,) from the positions 1, 4; row (2,) from the positions 2, 5.
    """
    view, order = _view_of(array, "permute"), tuple(order)
    if sorted(order) != list(range(view.dims)):
        raise ValueError(f"permute: {order} must name each axis of {view.shape} once, counted from 0")
    turned = TensorData(
        view.storage, [view.shape[axis] for axis in order], [view.strides[axis] for axis in order], view.offset
    )
    picture = _Page()
    picture.add(_Storage(view, set()))
    picture.add(_Crossing(view, turned, order))
    picture.beside(_Cells(view, [], title="before"), _Cells(turned, [], title="after"))
    words = f"{_storage_in_words(view)} Before: {_view_in_words(view)} After permute{order}: {_view_in_words(turned)}"
    return picture.drawing("An array and its permuted view", words)


def data_of(array: object, operation: str) -> TensorData:
    """Return the `TensorData` that describes an array or a tensor over its storage.

    Raises:
        TypeError: If it is neither.
    """
    if isinstance(array, TensorData):
        return array
    held = getattr(array, "_array", array)
    if not isinstance(held, np.ndarray | np.generic) and not isinstance(getattr(held, "data", None), TensorData):
        raise TypeError(
            f"{operation}: {reprlib.repr(array)} has no storage and no strides; give a NumPy array or a tensor"
        )
    return TensorData.of(held)


def _view_of(array: object, what: str) -> TensorData:
    view = data_of(array, f"draw.{what}")
    for name, size in (("view", view.size), ("storage", len(view.storage))):
        if not 0 < size <= LARGEST:
            held = count(size, "element", "elements")
            raise ValueError(f"draw.{what}: a {name} of {held} cannot be drawn; take one of 1 to {LARGEST} elements")
    return view


def _chosen(view: TensorData, highlight: Sequence[Any] | None) -> list[Index]:
    given = [] if highlight is None else list(highlight)
    indices = [tuple(each) for each in given] if any(isinstance(each, Sequence) for each in given) else [tuple(given)]
    if highlight is None:
        return []
    for index in indices:
        if len(index) != view.dims or not all(0 <= i < size for i, size in zip(index, view.shape, strict=True)):
            raise ValueError(f"draw.strides: highlight={index} is no index of a view of shape {view.shape}")
    return indices


def _indices(shape: Sequence[int]) -> Iterator[Index]:
    return product(*(range(size) for size in shape))


def _position(view: TensorData, index: Index) -> int:
    """Return an element's position, counted from the storage's beginning. No exercise is called."""
    return view.offset + sum(i * stride for i, stride in zip(index, view.strides, strict=True))


def _sum(view: TensorData, index: Index) -> str:
    start = [str(view.offset)] if view.offset else []
    terms = [*start, *(f"{i}·{stride}" for i, stride in zip(index, view.strides, strict=True))] or ["0"]
    return f"index {index} stands at position {' + '.join(terms)} = {_position(view, index)}"


def _facts(view: TensorData, array: object) -> list[str]:
    offset = f", offset {view.offset}" if view.offset else ""
    inside = f"; NumPy counts bytes: {array.strides}" if isinstance(array, np.ndarray) else ""
    return [f"shape {view.shape}, strides {view.strides}{offset}{inside}"]


def _storage_in_words(view: TensorData) -> str:
    return f"A storage of {count(len(view.storage), 'element', 'elements')}: {', '.join(map(_shown, view.storage))}."


def _view_in_words(view: TensorData) -> str:
    rows = []
    for lead in _indices(view.shape[:-1]):
        last = range(view.shape[-1]) if view.dims else [0]
        places = ", ".join(str(_position(view, (*lead, i) if view.dims else ())) for i in last)
        rows.append(f"row {lead} from the positions {places}" if lead else f"from the positions {places}")
    offset = f", offset {view.offset}" if view.offset else ""
    return f"A view of shape {view.shape}, strides {view.strides}{offset}: {'; '.join(rows)}."


def _shown(element: Any) -> str:
    return label(element.item())


def _width_of(view: TensorData) -> float:
    longest = max(len(_shown(element)) for element in view.storage)
    return max(32.0, longest * CHARACTER + 12.0)


class _Page:
    """Parts one below the other."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._y = MARGIN
        self._width = 0.0

    def add(self, part: Any) -> None:
        """Put a part below the earlier ones."""
        self._parts += part.parts(MARGIN, self._y)
        self._width = max(self._width, part.width)
        self._y += part.height + _GAP - 8.0

    def beside(self, left: Any, right: Any) -> None:
        """Put two parts side by side, or one below the other where they are too wide for that."""
        if left.width + _GAP + right.width > _WIDEST:
            self.add(left)
            self.add(right)
            return
        self._parts += left.parts(MARGIN, self._y)
        self._parts += right.parts(MARGIN + left.width + _GAP, self._y)
        self._width = max(self._width, left.width + _GAP + right.width)
        self._y += max(left.height, right.height) + _GAP - 8.0

    def lines(self, lines: Sequence[str]) -> None:
        """Put lines of text below the earlier parts."""
        for line in lines:
            self._parts.append(text(MARGIN, self._y + 4.0, line, "text", "start"))
            self._width = max(self._width, len(line) * CHARACTER)
            self._y += LINE

    def drawing(self, title: str, words: str) -> Drawing:
        """The page as a picture."""
        return Drawing(self._width + 2 * MARGIN, self._y + 2.0, title, words, self._parts)


class _Storage:
    """A storage as rows of boxes with their positions above. The view's boxes are shaded, the chosen ones framed."""

    def __init__(self, view: TensorData, chosen: set[int]) -> None:
        self._view = view
        self._chosen = chosen
        self._cell = _width_of(view)
        self._per_line = min(_PER_LINE, int(_WIDEST / self._cell))
        self._uses = dict.fromkeys(range(len(view.storage)), 0)
        for index in _indices(view.shape):
            self._uses[_position(view, index)] += 1
        self._below = LINE - 3.0 if max(self._uses.values()) > 1 else 0.0
        lines = math.ceil(len(view.storage) / self._per_line)
        self.height = LINE + lines * (_HIGH + LINE + self._below)
        self.width = max(min(len(view.storage), self._per_line) * self._cell, 36 * CHARACTER)

    def parts(self, x: float, y: float) -> list[str]:
        """The drawing, at a place."""
        parts = [text(x, y + 9.0, "the storage, and positions in it", "small", "start")]
        frames: list[str] = []
        for position, element in enumerate(self._view.storage):
            row, column = divmod(position, self._per_line)
            left = x + column * self._cell
            top = y + LINE + (row + 1) * LINE - 4.0 + row * (_HIGH + self._below)
            uses, middle = self._uses[position], left + self._cell / 2
            chosen = position in self._chosen
            drawn = box(left, top, self._cell, _HIGH, "mark" if chosen else "used" if uses else "cell")
            (frames if chosen else parts).append(drawn)
            words = [text(middle, top - 4.0, str(position), "small")]
            words.append(text(middle, top + 17.0, _shown(element), "marked" if chosen else "text"))
            if uses > 1:
                words.append(text(middle, top + _HIGH + 12.0, f"× {uses}", "small"))
            frames += words
        return parts + frames


@dataclass(frozen=True)
class _Panel:
    """One grid: the index of everything but its rows and columns, and where it begins."""

    lead: Index
    x: float
    y: float


class _Cells:
    """The elements of a view as grids: the last axis across, the one before it down, others from grid to grid.

    Args:
        view: The view.
        chosen: Indices that are framed.
        title: What stands above.
    """

    def __init__(self, view: TensorData, chosen: Sequence[Index], title: str = "the view") -> None:
        self._view = view
        self._chosen = set(chosen)
        offset = f", offset {view.offset}" if view.offset else ""
        self._title = f"{title}: shape {view.shape}, strides {view.strides}{offset}"
        if title == "the view":
            self._title = "the view" + (", each element with its position" if self._numbered else "")
        self._cell = _width_of(view)
        self._high = _HIGH + (10.0 if self._numbered else 0.0)
        self._rows, self._columns = (1, 1, *view.shape)[-2:]
        self._panels, self.width, self.height = self._lay_out()

    @property
    def _numbered(self) -> bool:
        """Return whether boxes show positions, because the storage's elements differ from their own positions."""
        return any(element != position for position, element in enumerate(self._view.storage))

    def _lay_out(self) -> tuple[list[_Panel], float, float]:
        leads, side = list(_indices(self._view.shape[:-2])), 20.0 if self._view.dims > 1 else 0.0
        top = LINE - 3.0 if self._view.dims else 0.0
        lead = LINE if len(leads) > 1 else 0.0
        width = side + self._columns * self._cell + _GAP
        height = top + lead + self._rows * self._high + 12.0
        across = max(1, int((_WIDEST + _GAP) / width))
        panels = [
            _Panel(each, side + n % across * width, LINE + top + lead + n // across * height)
            for n, each in enumerate(leads)
        ]
        lines = math.ceil(len(leads) / across)
        wide = max(min(len(leads), across) * width - _GAP, len(self._title) * SMALL)
        return panels, wide, LINE + lines * height - 12.0

    def parts(self, x: float, y: float) -> list[str]:
        """The drawing, at a place."""
        parts = [text(x, y + 9.0, self._title, "small", "start")]
        for panel in self._panels:
            parts += self._grid(panel, x + panel.x, y + panel.y)
        return parts

    def _grid(self, panel: _Panel, x: float, y: float) -> list[str]:
        dims = self._view.dims
        parts, frames = [], []
        if len(self._panels) > 1:
            name = f"[{', '.join(map(str, panel.lead))}]"
            parts.append(text(x, y - LINE - 1.0, name, "bold", "start"))
        for j in range(self._columns if dims else 0):
            parts.append(text(x + (j + 0.5) * self._cell, y - 4.0, str(j), "small"))
        for i, j in product(range(self._rows), range(self._columns)):
            index = (*panel.lead, i, j)[-dims:] if dims else ()
            if j == 0 and dims > 1:
                parts.append(text(x - 5.0, y + (i + 0.5) * self._high + 4.0, str(i), "small", "end"))
            drawn = self._box(index, x + j * self._cell, y + i * self._high)
            if index in self._chosen:
                frames += drawn
            else:
                parts += drawn
        return parts + frames

    def _box(self, index: Index, x: float, y: float) -> list[str]:
        position, chosen = _position(self._view, index), index in self._chosen
        shown, middle = _shown(self._view.storage[position]), x + self._cell / 2
        parts = [box(x, y, self._cell, self._high, "mark" if chosen else "used")]
        parts.append(text(middle, y + 17.0, shown, "marked" if chosen else "text"))
        if self._numbered:
            parts.append(text(middle, y + 30.0, str(position), "small"))
        return parts


class _Crossing:
    """Sizes and strides before and after, with an arrow for each axis."""

    _STEP, _ROOM = 64.0, 38.0

    def __init__(self, before: TensorData, after: TensorData, order: Index) -> None:
        self._tables = before, after
        self._order = order
        self._left = 62.0
        self.width = self._left + before.dims * self._STEP + 12 * CHARACTER
        self.height = 2 * (2 * _HIGH + LINE) + self._ROOM

    def parts(self, x: float, y: float) -> list[str]:
        """The drawing, at a place."""
        second = y + 2 * _HIGH + LINE + self._ROOM
        parts = self._table(self._tables[0], x, y + LINE, y + 9.0)
        parts += self._table(self._tables[1], x, second, second + 2 * _HIGH + 13.0)
        start, end = y + LINE + 2 * _HIGH + 3.0, second - 3.0
        for to, origin in enumerate(self._order):
            middle = x + self._left + self._STEP / 2
            parts.append(arrow(middle + origin * self._STEP, start, middle + to * self._STEP, end))
        name = f"permute{self._order}"
        parts.append(
            text(x + self._left + len(self._order) * self._STEP + 8.0, (start + end) / 2 + 4.0, name, "bold", "start")
        )
        return parts

    def _table(self, view: TensorData, x: float, y: float, names: float) -> list[str]:
        parts = []
        for row, (name, numbers) in enumerate((("size", view.shape), ("stride", view.strides))):
            parts.append(text(x, y + row * _HIGH + 17.0, name, "small", "start"))
            for axis, number in enumerate(numbers):
                left = x + self._left + axis * self._STEP
                parts.append(box(left + 6.0, y + row * _HIGH, self._STEP - 12.0, _HIGH, "other" if row else "cell"))
                parts.append(text(left + self._STEP / 2, y + row * _HIGH + 17.0, str(number), "bold"))
        for axis in range(view.dims):
            parts.append(text(x + self._left + (axis + 0.5) * self._STEP, names, f"axis {axis}", "small"))
        return parts
