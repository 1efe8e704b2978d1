"""Pictures of shapes that meet: their alignment by broadcasting, and the elements that a reduction folds into one.

draw.broadcast((4, 1), (3,))   # axis by axis, from the right
draw.reduction((2, 3), 1)      # which elements become one
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from itertools import product
from typing import Any

from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, arrow, box, text

LARGEST = 60
"""Elements of a tensor that can be told apart in a picture."""

Shape = tuple[int, ...]

_WIDE, _HIGH, _GAP = 58.0, 28.0, 8.0


def _shape(operation: str, shape: Any) -> Shape:
    """Return a shape as a tuple of whole numbers."""
    try:
        return tuple(operator.index(size) for size in shape)
    except TypeError:
        raise TypeError(f"draw.{operation}: {shape!r} is no shape; a shape is a tuple of whole numbers") from None


def broadcast(*shapes: Sequence[int]) -> Drawing:
    """Draw the alignment of shapes at their last axes, with sizes of 1 that stretch, and sizes that clash.

    Args:
        *shapes: Two shapes or more, of at most eight axes each.

    Raises:
        TypeError: If one of them is no shape.
        ValueError: If there are fewer than two shapes, too many axes, or a negative size.

    >>> print(minigrad.draw.broadcast((4, 1), (3,)))
    Shapes aligned from the right: (4, 1) and (3,) together: (4, 3); (4, 1) is repeated along axis -1;
    (3,) has no axis -2: it counts as 1
    """
    given = [_shape("broadcast", shape) for shape in shapes]
    rank = max(map(len, given), default=0)
    if len(given) < 2 or rank > 8 or any(size < 0 for shape in given for size in shape):
        raise ValueError(f"draw.broadcast: takes two shapes or more, of at most 8 axes of sizes >= 0, not {given}")
    full = [(1,) * (rank - len(shape)) + shape for shape in given]
    columns = [_together(sizes) for sizes in zip(*full, strict=True)]
    names = [str(shape) for shape in given]
    left = max(*map(len, names), len("together")) * CHARACTER + 18.0
    parts = [text(MARGIN + left + (i + 0.5) * _WIDE, MARGIN + 9.0, f"axis {i - rank}", "small") for i in range(rank)]
    for row, (name, shape) in enumerate(zip(names, full, strict=True)):
        y = MARGIN + LINE + row * (_HIGH + _GAP)
        parts.append(text(MARGIN, y + 18.0, name, "text", "start"))
        missing = rank - len(given[row])
        for i, size in enumerate(shape):
            parts += _size(MARGIN + left + i * _WIDE, y, size, columns[i], missing=i < missing)
    y = MARGIN + LINE + len(given) * (_HIGH + _GAP) + 6.0
    parts += _result(MARGIN, y, left, columns)
    lines = _told(given, full, columns)
    kind, letter, between = ("badtext", CHARACTER, " ") if None in columns else ("small", SMALL, "; ")
    for line in lines:
        parts.append(text(MARGIN, y + _HIGH + LINE + 4.0, line, kind, "start"))
        y += LINE
    width = max(left + rank * _WIDE, *(len(line) * letter for line in lines)) + 2 * MARGIN
    return Drawing(width, y + _HIGH + MARGIN + 4.0, "Shapes aligned from the right", between.join(lines), parts)


def _together(sizes: Sequence[int]) -> int | None:
    """Return the size that sizes of one axis have together, or None if they clash."""
    others = {size for size in sizes if size != 1}
    return None if len(others) > 1 else next(iter(others), 1)


def _size(x: float, y: float, size: int, common: int | None, *, missing: bool) -> list[str]:
    """The box of one size: as it is, stretched, missing, or in the way."""
    middle = x + _WIDE / 2
    if common is None and size != 1:
        return [box(x + 2.0, y, _WIDE - 4.0, _HIGH, "bad"), text(middle, y + 18.0, str(size), "badtext")]
    if size == 1 and common not in (1, None):
        kind, words = ("ghost", "ghosttext") if missing else ("mark", "marked")
        return [box(x + 2.0, y, _WIDE - 4.0, _HIGH, kind), text(middle, y + 18.0, f"1 → {common}", words)]
    kind, words = ("ghost", "ghosttext") if missing else ("cell", "text")
    return [box(x + 2.0, y, _WIDE - 4.0, _HIGH, kind), text(middle, y + 18.0, str(size), words)]


def _result(x: float, y: float, left: float, columns: Sequence[int | None]) -> list[str]:
    wide = left + len(columns) * _WIDE
    parts = [
        f'<path class="mp-way" d="M{x:.1f},{y - 7.0:.1f}h{wide:.1f}"/>',
        text(x, y + 18.0, "together", "bold", "start"),
    ]
    for i, size in enumerate(columns):
        at, middle = x + left + i * _WIDE + 2.0, x + left + (i + 0.5) * _WIDE
        parts.append(box(at, y, _WIDE - 4.0, _HIGH, "bad" if size is None else "used"))
        parts.append(text(middle, y + 18.0, "?" if size is None else str(size), "badtext" if size is None else "bold"))
    return parts


def _told(given: Sequence[Shape], full: Sequence[Shape], columns: Sequence[int | None]) -> list[str]:
    """The picture in sentences, which stand below it."""
    clashes = [i for i, size in enumerate(columns) if size is None]
    if clashes:
        axis = clashes[-1]
        sizes = " and ".join(str(size) for size in dict.fromkeys(shape[axis] for shape in full) if size != 1)
        names = " with ".join(map(str, given))
        rule = f"axis {axis - len(columns)} has sizes {sizes}; they must match or one must be 1"
        return [f"cannot broadcast {names}:", rule]
    lines = [f"{' and '.join(map(str, given))} together: {tuple(columns)}"]
    lines += [_stretched(shape, own, columns) for shape, own in zip(given, full, strict=True) if own != tuple(columns)]
    return lines


def _stretched(shape: Shape, full: Shape, columns: Sequence[int | None]) -> str:
    rank = len(full)
    missing = [str(i - rank) for i in range(rank - len(shape))]
    grown = [str(i - rank) for i in range(rank - len(shape), rank) if full[i] != columns[i]]
    said = []
    if missing:
        said.append(f"has no axis {' or '.join(missing)}: it counts as 1")
    if grown:
        said.append(f"is repeated along axis {' and '.join(grown)}")
    return f"{shape} {' and '.join(said)}"


def reduction(shape: Sequence[int], axis: int) -> Drawing:
    """Draw a tensor whose elements carry the letter of the element into which they are folded, and the result.

    Args:
        shape: One to three sizes.
        axis: The axis that is folded. Negative numbers count from the end.

    Raises:
        TypeError: If the shape is none.
        ValueError: If there is no such axis, or the tensor cannot be drawn.

    >>> print(minigrad.draw.reduction((2, 3), axis=1))
    A reduction: shape (2, 3) is folded along axis 1 to (2, 1): the 3 elements with one letter become
    one, in the order of their numbers.
    """
    shape = _shape("reduction", shape)
    size = math.prod(shape)
    if not 1 <= len(shape) <= 3 or not 0 < size <= LARGEST:
        raise ValueError(f"draw.reduction: takes 1 to 3 axes and 1 to {LARGEST} elements, not the shape {shape}")
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"draw.reduction: shape {shape} has no axis {axis}; its axes are 0 to {len(shape) - 1}")
    axis %= len(shape)
    small = (*shape[:axis], 1, *shape[axis + 1 :])
    before, after = _Tensor(shape, axis, f"before: {shape}"), _Tensor(small, axis, f"after: {small}")
    between = 74.0
    parts = [*before.parts(MARGIN, MARGIN), *after.parts(MARGIN + before.width + between, MARGIN)]
    middle = MARGIN + LINE + before.height / 2
    start = MARGIN + before.width + 12.0
    parts.append(arrow(start, middle, start + between - 24.0, middle))
    parts.append(text(start + between / 2 - 12.0, middle - 8.0, f"axis {axis}", "small"))
    words = f"the {shape[axis]} elements with one letter become one, in the order of their numbers"
    told = f"shape {shape} is folded along axis {axis} to {small}: {words}."
    height = max(before.height, after.height) + 2 * LINE
    parts.append(text(MARGIN, MARGIN + height, words, "small", "start"))
    width = max(before.width + between + after.width, len(words) * SMALL)
    return Drawing(width + 2 * MARGIN, height + 2 * MARGIN, "A reduction", told, parts)


class _Tensor:
    """A tensor as grids, first axis from grid to grid. Letters name the element of the result that takes each in."""

    _CELL = 34.0

    def __init__(self, shape: Shape, axis: int, title: str) -> None:
        self._shape = (1, 1, 1, *shape)[-3:]
        self._axis = axis + 3 - len(shape)
        self._title = title
        panel = self._shape[2] * self._CELL
        self.width = max(self._shape[0] * (panel + 14.0) - 14.0, len(title) * SMALL)
        self.height = self._shape[1] * _HIGH

    def _letter(self, index: Shape) -> tuple[str, bool]:
        """The name of the result's element, and whether it is one of every second."""
        kept = [(i, size) for axis, (i, size) in enumerate(zip(index, self._shape, strict=True)) if axis != self._axis]
        (i, _), (j, size) = kept
        number = i * size + j
        name = "abcdefghijklmnopqrstuvwxyz"[number % 26] + ("" if number < 26 else str(number // 26 + 1))
        return name, (i + j) % 2 == 0

    def parts(self, x: float, y: float) -> list[str]:
        """The drawing, at a place."""
        parts = [text(x, y + 9.0, self._title, "small", "start")]
        for index in product(*(range(size) for size in self._shape)):
            left = x + index[0] * (self._shape[2] * self._CELL + 14.0) + index[2] * self._CELL
            top = y + LINE + index[1] * _HIGH
            letter, even = self._letter(index)
            parts.append(box(left, top, self._CELL, _HIGH, "used" if even else "other"))
            parts.append(text(left + self._CELL / 2, top + 18.0, letter, "bold"))
            if self._shape[self._axis] > 1:
                parts.append(text(left + self._CELL - 4.0, top + 24.0, str(index[self._axis]), "small", "end"))
        return parts
