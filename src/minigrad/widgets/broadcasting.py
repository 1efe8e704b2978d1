"""The broadcasting explorer: two shapes side by side, their common shape or their clash, and each element's sources."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import traitlets

from minigrad import draw
from minigrad.layout import count
from minigrad.widgets.base import Widget, page
from minigrad.widgets.grids import LARGEST, Grid, Index, indices, moved, written

_MOST_AXES = 8


def parse_shape(words: str) -> Index:
    """Return the shape that someone has typed: ``4, 1``, ``(4, 1)``, ``4 1``, or nothing for a single number.

    Raises:
        ValueError: If it is no shape, with a sentence for the user.

    >>> from minigrad.widgets.broadcasting import parse_shape
    >>> parse_shape("4, 1"), parse_shape("(4, 1)"), parse_shape("")
    ((4, 1), (4, 1), ())
    """
    inner = words.strip().strip("()[]").strip()
    # Each gap can be read in one way only, so that long words are read in linear time.
    if not re.fullmatch(r"(\d+(\s*,\s*|\s+|$))*", inner):
        raise ValueError(f"{words.strip()!r} is no shape: write sizes with commas between them, such as 4, 1")
    shape = tuple(int(each) for each in re.findall(r"\d+", inner))
    if len(shape) > _MOST_AXES:
        raise ValueError(f"{words.strip()!r} has {len(shape)} axes; at most {_MOST_AXES} can be shown")
    return shape


def _typed(shape: int | Sequence[int]) -> str:
    """Return a shape as typed: sizes with commas between them. A number is a shape of one axis."""
    return ", ".join(map(str, shape if isinstance(shape, Iterable) else (shape,)))


@dataclass(frozen=True)
class Meeting:
    """Two shapes and their common shape.

    Attributes:
        a: One shape.
        b: The other.

    >>> from minigrad.widgets.broadcasting import Meeting
    >>> Meeting((4, 1), (3,)).shape
    (4, 3)
    """

    a: Index
    b: Index

    @property
    def shape(self) -> Index | None:
        """The common shape, or None if there is none.

        >>> from minigrad.widgets.broadcasting import Meeting
        >>> Meeting((4, 1), (3,)).shape, Meeting((2,), (3,)).shape
        ((4, 3), None)
        """
        try:
            return np.broadcast_shapes(self.a, self.b)
        except ValueError:
            return None

    @property
    def can_be_shown(self) -> bool:
        """True if there are elements, and few enough for pictures.

        >>> from minigrad.widgets.broadcasting import Meeting
        >>> Meeting((4, 1), (3,)).can_be_shown, Meeting((2,), (3,)).can_be_shown
        (True, False)
        """
        return self.shape is not None and 0 < math.prod(self.shape) <= LARGEST

    def read_by(self, index: Index) -> tuple[Index, Index]:
        """Return the elements of a and b that an element of the result reads.

        >>> from minigrad.widgets.broadcasting import Meeting
        >>> Meeting((4, 1), (3,)).read_by((2, 1))
        ((2, 0), (1,))
        """
        return self._source(self.a, index), self._source(self.b, index)

    def readers(self, name: str, index: Index) -> list[Index]:
        """Return the elements of the result that read an element of ``"a"`` or ``"b"``.

        >>> from minigrad.widgets.broadcasting import Meeting
        >>> Meeting((4, 1), (3,)).readers("a", (2, 0))
        [(2, 0), (2, 1), (2, 2)]
        """
        side = 0 if name == "a" else 1
        return [each for each in indices(self.shape or ()) if self.read_by(each)[side] == index]

    def _source(self, shape: Index, index: Index) -> Index:
        numbers = np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), self.shape or ())
        return tuple(int(i) for i in np.unravel_index(int(numbers[index]), shape)) if shape else ()

    def said(self, name: str, index: Index) -> str:
        """Name the elements that an element reads, or those that read it.

        Args:
            name: "out", "a" or "b".
            index: Of the element.
        """
        if name == "out":
            a, b = self.read_by(index)
            told = f"{written('out', index)} reads {written('a', a)} and {written('b', b)}."
            shared = [
                f"{written(name, each)} is read by {count(len(self.readers(name, each)), 'element', 'elements')}"
                for name, each in (("a", a), ("b", b))
            ]
            return f"{told} {' and '.join(shared)} of the result."
        readers = self.readers(name, index)
        told = ", ".join(written("out", each) for each in readers[:8])
        more = f" and {len(readers) - 8} more" if len(readers) > 8 else ""
        return f"{written(name, index)} is read by {count(len(readers), 'element', 'elements')}: {told}{more}."

    def pictures(self, name: str, index: Index) -> dict[str, str]:
        """Return the pictures of a, b and the result, with one element looked at."""
        marked = self._marked(name, index)
        shapes = {"a": self.a, "b": self.b, "out": self.shape or ()}
        return {
            each: self._grid(each, shapes[each], marked[each]).drawing(self.said(name, index)).svg for each in shapes
        }

    def _marked(self, name: str, index: Index) -> dict[str, set[Index]]:
        if name != "out":
            return {"a": set(), "b": set(), "out": set(self.readers(name, index))} | {name: {index}}
        a, b = self.read_by(index)
        return {"a": {a}, "b": {b}, "out": {index}}

    def _grid(self, name: str, shape: Index, marked: set[Index]) -> Grid:
        order = {index: number for number, index in enumerate(indices(shape))}

        def label(index: Index) -> str:
            if name != "out":
                return f"{name}{order[index]}"
            a, b = self.read_by(index)
            return f"a{_order(self.a, a)} b{_order(self.b, b)}"

        return Grid(name, shape, f"{name}: {shape}", label, lambda each: "mark" if each in marked else "used")


def _order(shape: Index, index: Index) -> int:
    return int(np.ravel_multi_index(index, shape)) if shape else 0


class BroadcastExplorer(Widget):
    """The broadcasting explorer.

    Args:
        a: One shape. A number is a shape of one axis.
        b: The other.

    Attributes:
        a: One shape, as it is typed.
        b: The other.
        where: In which array an element is looked at: "out", "a" or "b".
        index: Which element.
        shape: The common shape, or None if there is none.
    """

    _esm = page("broadcasting")

    a = traitlets.Unicode().tag(sync=True)
    b = traitlets.Unicode().tag(sync=True)
    where = traitlets.Unicode("out").tag(sync=True)
    index: traitlets.List[int] = traitlets.List().tag(sync=True)
    shape: Any = traitlets.Any(None, allow_none=True).tag(sync=True)

    def __init__(self, a: int | Sequence[int], b: int | Sequence[int]) -> None:
        super().__init__(title="Broadcasting explorer")
        self.a, self.b = _typed(a), _typed(b)
        self.on_msg(lambda _, content, __: self._hear(content))
        self.observe(lambda change: self.meet(), ["a", "b"])
        self.meet()

    def meet(self) -> None:
        """Bring the two shapes together as they are typed now, and look at the first element of the result."""
        try:
            self.meeting = Meeting(parse_shape(self.a), parse_shape(self.b))
        except ValueError as wrong:
            self.meeting = Meeting((2,), (3,))  # shapes without a result: nothing to look at until there is one
            self.shape, self.pictures, self.said = None, {}, f"{wrong}."
            return
        self.together = draw.broadcast(self.meeting.a, self.meeting.b)
        self.shape = None if self.meeting.shape is None else list(self.meeting.shape)
        if self.meeting.can_be_shown:
            self.look_at("out", (0,) * len(self.meeting.shape or ()))
            return
        self.pictures, self.said = {"together": self.together.svg}, f"{self.together.description}."
        if self.meeting.shape is not None:
            held = count(math.prod(self.meeting.shape), "element", "elements")
            self.said += f" With {held} the result cannot be shown: that takes 1 to {LARGEST}."

    def look_at(self, where: str, index: Index) -> None:
        """Look at an element of "out", "a" or "b"."""
        with self.hold_sync():
            self.where, self.index = where, list(index)
            self.pictures = {"together": self.together.svg} | self.meeting.pictures(where, index)
            self.said = self.meeting.said(where, index)

    def _hear(self, content: Any) -> None:
        """Follow a key or the pointer: {"in": "out", "key": ...} or {"part": "out:1,2"}."""
        if not self.meeting.can_be_shown:
            return
        if "part" in content:
            name, _, numbers = content["part"].partition(":")
            self.look_at(name, tuple(int(each) for each in numbers.split(",") if each))
            return
        name = content["in"]
        shape = {"a": self.meeting.a, "b": self.meeting.b, "out": self.meeting.shape or ()}[name]
        at = tuple(self.index) if self.where == name else (0,) * len(shape)
        self.look_at(name, moved(shape, at, content["key"]))


def broadcast_explorer(shape_a: int | Sequence[int] = (4, 1), shape_b: int | Sequence[int] = (3,)) -> BroadcastExplorer:
    """Explore how two shapes are broadcast. Both can be changed in the widget.

    Args:
        shape_a: One shape. A number is a shape of one axis.
        shape_b: The other.

    Raises:
        ValueError: If one of them is no shape.
    """
    for shape in (shape_a, shape_b):
        parse_shape(_typed(shape))
    return BroadcastExplorer(shape_a, shape_b)
