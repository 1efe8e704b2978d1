"""The index explorer: where an element of a view stands in its storage, and all indices that show one element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import traitlets

from minigrad.draw.paper import CHARACTER, LINE, MARGIN, Drawing, box, label, text
from minigrad.draw.storage import data_of
from minigrad.layout import count
from minigrad.tensor_data import TensorData
from minigrad.widgets.base import Widget, page
from minigrad.widgets.grids import LARGEST, Grid, Index, indices, moved

_PER_LINE, _CELL_HIGH = 16, 28.0
_STORAGE_STEPS = {"ArrowLeft": -1, "ArrowRight": 1, "ArrowUp": -_PER_LINE, "ArrowDown": _PER_LINE}


def place_of(view: TensorData, index: Sequence[int]) -> int:
    """Return an element's position, counted from the storage's beginning. No exercise is called.

    >>> from minigrad.widgets.indexing import place_of
    >>> place_of(minigrad.TensorData([0.0] * 6, (2, 3)), (1, 0))
    3
    """
    return view.offset + sum(i * stride for i, stride in zip(index, view.strides, strict=True))


def shown_by(view: TensorData, position: int) -> list[Index]:
    """Return every index of a view whose element stands at a position of the storage.

    >>> from minigrad.widgets.indexing import shown_by
    >>> shown_by(minigrad.TensorData([1.0, 2.0], (2,)).expand(3, 2), 1)
    [(0, 1), (1, 1), (2, 1)]
    """
    return [index for index in indices(view.shape) if place_of(view, index) == position]


def of_index(view: TensorData, index: Index) -> str:
    """Say where the element at an index stands, and why."""
    start = [f"{view.offset}"] if view.offset else []
    terms = start + [f"{i}·{stride}" for i, stride in zip(index, view.strides, strict=True)] or ["0"]
    position = place_of(view, index)
    why = f"{'offset + ' if view.offset else ''}the sum of index · stride"
    told = f"index {_tuple(index)}: {' + '.join(terms)} = position {position}, where {_element(view, position)} stands"
    others = [each for each in shown_by(view, position) if each != index]
    same = f"\nThe same element is shown by {_list(others)}{_because(view)}." if others else ""
    return f"{told} ({why}, strides {view.strides}).{same}"


def of_position(view: TensorData, position: int) -> str:
    """Say which indices show the element at a position of the storage."""
    shown = shown_by(view, position)
    told = f"position {position} holds {_element(view, position)}"
    if not shown:
        return f"{told}: no index of this view leads there."
    if len(shown) == 1:
        return f"{told}, shown by index {_tuple(shown[0])} only."
    return f"{told}, shown by {count(len(shown), 'index', 'indices')}: {_list(shown)}{_because(view)}."


def _because(view: TensorData) -> str:
    """Why one element shows at several indices, where a stride of 0 is the reason."""
    still = [
        axis for axis, (n, stride) in enumerate(zip(view.shape, view.strides, strict=True)) if n > 1 and not stride
    ]
    if not still:
        return ""
    axes = " and ".join(map(str, still))
    return f": a step along axis {axes} has stride 0 and stays where it is"


def _tuple(index: Index) -> str:
    return f"({', '.join(map(str, index))}{',' * (len(index) == 1)})"


def _list(shown: Sequence[Index], most: int = 8) -> str:
    told = ", ".join(map(_tuple, shown[:most]))
    return told + (f" and {len(shown) - most} more" if len(shown) > most else "")


def _element(view: TensorData, position: int) -> str:
    return label(view.storage[position].item())


def view_picture(view: TensorData, index: Index | None, position: int) -> Drawing:
    """Draw the view: the element that is looked at, and others that show the same place of the storage.

    Args:
        view: The view.
        index: The element that is looked at, or None.
        position: The place of the storage that is looked at.
    """
    same = set(shown_by(view, position))
    grid = Grid(
        "view",
        view.shape,
        f"the view: shape {view.shape}, strides {view.strides}" + f", offset {view.offset}" * bool(view.offset),
        lambda each: _element(view, place_of(view, each)),
        lambda each: "mark" if each in same else "used",
        lambda each: f"at {place_of(view, each)}",
        index if len(same) > 1 else None,
    )
    return grid.drawing(of_position(view, position) if index is None else of_index(view, index))


def storage_picture(view: TensorData, position: int) -> Drawing:
    """Draw the storage: positions above the boxes, and below them how many indices of the view lead there."""
    size = len(view.storage)
    uses = [0] * size
    for index in indices(view.shape):
        uses[place_of(view, index)] += 1
    wide = max(40.0, *(len(_element(view, i)) * CHARACTER + 12.0 for i in range(size)))
    title = f"the storage: {count(size, 'element', 'elements')} in one row, positions above"
    parts, tall = [text(MARGIN, MARGIN + 8.0, title, "bold", "start")], _CELL_HIGH + 2 * LINE + 2.0
    for i in range(size):
        row, column = divmod(i, _PER_LINE)
        x, y = MARGIN + column * wide, MARGIN + 2 * LINE + row * tall
        kind = "mark" if i == position else "used" if uses[i] else "ghost"
        ink = "marked" if i == position else "text" if uses[i] else "ghosttext"
        drawn = box(x + 1.5, y, wide - 3.0, _CELL_HIGH, kind) + text(x + wide / 2, y + 18.0, _element(view, i), ink)
        drawn += text(x + wide / 2, y - 4.0, str(i), "small")
        if uses[i] != 1:
            drawn += text(x + wide / 2, y + _CELL_HIGH + 12.0, f"×{uses[i]}" if uses[i] else "unused", "small")
        parts.append(f'<g data-part="storage:{i}">{drawn}</g>')
    width = max(min(size, _PER_LINE) * wide, len(title) * CHARACTER) + 2 * MARGIN
    height = MARGIN + 2 * LINE + math.ceil(size / _PER_LINE) * tall
    return Drawing(width, height, title, of_position(view, position), parts)


class IndexExplorer(Widget):
    """The index explorer.

    Args:
        view: What to explore.

    Attributes:
        index: The element that is looked at; empty where the chosen position is shown by no index. (For an array
            without axes it is empty too.)
        position: Where it stands in the storage.
    """

    _esm = page("indexing")

    index: traitlets.List[int] = traitlets.List().tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)

    def __init__(self, view: TensorData) -> None:
        super().__init__(title="Index explorer")
        self.view = view
        self.on_msg(lambda _, content, __: self._hear(content))
        self.look_at((0,) * view.dims)

    def look_at(self, index: Index) -> None:
        """Look at an element of the view.

        Raises:
            IndexError: If there is no such element.
        """
        shape = self.view.shape
        if len(index) != len(shape) or not all(0 <= i < n for i, n in zip(index, shape, strict=True)):
            raise IndexError(f"look_at: {_tuple(index)} is no index of a view of shape {shape}")
        self._show(index, place_of(self.view, index), of_index(self.view, index))

    def look_in(self, position: int) -> None:
        """Look at a place of the storage, and at the elements that show it.

        Raises:
            IndexError: If there is no such position.
        """
        if not 0 <= position < len(self.view.storage):
            raise IndexError(f"look_in: there is no position {position} in a storage of {len(self.view.storage)}")
        shown = shown_by(self.view, position)
        self._show(shown[0] if shown else None, position, of_position(self.view, position))

    def _show(self, index: Index | None, position: int, said: str) -> None:
        with self.hold_sync():
            self.index, self.position, self.said = list(index or ()), position, said
            self.pictures = {
                "storage": storage_picture(self.view, position).svg,
                "view": view_picture(self.view, index, position).svg,
            }

    def _hear(self, content: Any) -> None:
        """Follow a key or the pointer: {"in": "view" or "storage", "key": ...} or {"part": "view:1,2"}."""
        if "part" in content:
            name, _, numbers = content["part"].partition(":")
            index = tuple(int(each) for each in numbers.split(",") if each)
            self.look_at(index) if name == "view" else self.look_in(index[0])
        elif content["in"] == "view":
            at = tuple(self.index) if len(self.index) == self.view.dims else (0,) * self.view.dims
            self.look_at(moved(self.view.shape, at, content["key"]))
        elif content["key"] == "Enter":
            self._next_index()
        else:
            last = len(self.view.storage) - 1
            step = {"Home": -self.position, "End": last - self.position} | _STORAGE_STEPS
            self.look_in(max(0, min(self.position + step.get(content["key"], 0), last)))

    def _next_index(self) -> None:
        """Go to the next index that shows the position that is looked at."""
        shown = shown_by(self.view, self.position)
        if shown:
            at = tuple(self.index)
            self.look_at(shown[(shown.index(at) + 1) % len(shown) if at in shown else 0])


def index_explorer(array: object) -> IndexExplorer:
    """Explore how a view lies over its storage, element by element.

    Args:
        array: A NumPy array, a `TensorData` or a tensor on the CPU. What it shares its storage with is shown as well.

    Raises:
        TypeError: If it is no array and no tensor.
        ValueError: If there are no elements, or too many for a picture.
    """
    view = data_of(array, "index_explorer")
    for name, size in (("view", view.size), ("storage", len(view.storage))):
        if not 0 < size <= LARGEST:
            held = count(size, "element", "elements")
            raise ValueError(f"index_explorer: a {name} of {held} cannot be shown; take one of 1 to {LARGEST} elements")
    return IndexExplorer(view)
