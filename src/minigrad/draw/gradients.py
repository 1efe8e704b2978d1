"""Pictures of gradients of tensors: where they go, and the tables of slopes that nobody builds.

draw.permuted_gradient((2, 3), (1, 0))                         # the gradient takes the way back
draw.permuted_gradient((2, 2, 2), (1, 2, 0), back=(1, 2, 0))   # and a wrong way, with what it misplaces
draw.jacobians({"x * x": lambda x: x * x, "x.T": lambda x: x.T}, x)
draw.matmul_shapes(2, 3, 4)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, arrow, box, label, text

Array = NDArray[Any]
LARGEST = 24
"""Elements of a tensor that can be told apart in these pictures."""

_CELL, _HIGH, _GAP, _WIDEST = 34.0, 26.0, 26.0, 900.0


def permuted_gradient(shape: Sequence[int], order: Sequence[int], *, back: Sequence[int] | None = None) -> Drawing:
    """Draw a tensor, its permuted view, the view's gradient and the way of that gradient back to the tensor.

    Elements are numbered. g4 is the gradient of the element 4. One element is marked in all four places.

    Args:
        shape: Of the tensor.
        order: Axis i of the view is axis ``order[i]`` of the tensor.
        back: The permutation of the gradient's axes. By default it is the inverse of the order. Gradients that another
            order takes to a wrong element are framed.

    Raises:
        ValueError: If an axis is missing or named twice, or there are no elements or too many.

    >>> print(minigrad.draw.permuted_gradient((2, 3), (1, 0)))
    A permuted tensor and its gradient: Forward: a, shape (2, 3): 0 1 2 3 4 5 becomes output, shape (3,
    2): 0 3 1 4 2 5. Backward: gradient of output, shape (3, 2): g0 g3 g1 g4 g2 g5 becomes gradient of
    a, shape (2, 3): g0 g1 g2 g3 g4 g5. Each gradient arrives at its element.
    """
    shape, order = tuple(shape), _checked(order, len(shape), "order")
    back = _inverse(order) if back is None else _checked(back, len(shape), "back")
    elements = _numbered(shape)
    view = elements.transpose(order)
    returned = view.transpose(back)
    fits = returned.shape == shape
    wrong = returned != elements if fits else np.ones(returned.shape, bool)
    marked = min(1, elements.size - 1)
    first = _Grid(f"a, shape {shape}", _named("", elements), elements == marked)
    second = _Grid(f"output, shape {view.shape}", _named("", view), view == marked)
    third = _Grid(f"gradient of output, shape {view.shape}", _named("g", view), view == marked)
    fourth = _Grid(f"gradient of a, shape {returned.shape}", _named("g", returned), returned == marked, wrong)
    verdict = _verdict(int(wrong.sum()), wrong.size, fits, shape)
    words = f"Forward: {first.words} becomes {second.words}. Backward: {third.words} becomes {fourth.words}. {verdict}"
    ways = (f"permute{order}", f"permute{back}")
    return _four(first, second, third, fourth, ways, verdict if wrong.any() else "", words)


def jacobians(
    functions: Mapping[str, Callable[[Any], Any]], x: object, *, column: int | None = None, row: int | None = None
) -> Drawing:
    """Draw for some functions the table of all their slopes at x: a line for each output, a column for each input.

    The slopes are measured, by central differences. Boxes without a number are 0.

    Args:
        functions: Functions of an array, by the name to show.
        x: The array. Inputs and outputs are numbered in row-major order.
        column: A column to mark: what one run in forward mode gives.
        row: A row to mark: what one pass in reverse mode gives.

    Raises:
        ValueError: If a table has no elements or too many to be read, or there is no such column or row.

    >>> print(minigrad.draw.jacobians({"square": lambda x: x * x}, np.array([1.0, 2.0])))
    Tables of slopes: square: output 0 has the slope 2 in input 0, output 1 has the slope 4 in input 1;
    all others are 0.
    """
    x = np.asarray(x, np.float64)
    if column is not None and not 0 <= column < x.size:
        raise ValueError(f"draw.jacobians: column={column} is none of the {x.size} columns; they are counted from 0")

    def table(f: Callable[[Array], Any], name: str, epsilon: float = 1e-6) -> Array:
        columns = []
        for place in np.ndindex(x.shape):
            up, down = x.copy(), x.copy()
            up[place] += epsilon
            down[place] -= epsilon
            columns.append((np.ravel(f(up)) - np.ravel(f(down))) / (2.0 * epsilon))
        found = np.round(np.array(columns).T.reshape(-1, len(columns)), 6) + 0.0  # as precise as differences are
        if not (0 < found.shape[0] <= LARGEST and 0 < found.shape[1] <= LARGEST):
            raise ValueError(
                f"draw.jacobians: the table of {name} has {found.shape[0]} lines and {found.shape[1]} columns; "
                f"1 to {LARGEST} of each can be drawn"
            )
        return found

    tables = {name: table(f, name) for name, f in functions.items()}
    lines = min(map(len, tables.values()), default=0)
    if row is not None and not 0 <= row < lines:
        raise ValueError(f"draw.jacobians: row={row} is none of the {lines} rows; they are counted from 0")
    parts, places, width, bottom = [], (MARGIN, MARGIN), 0.0, 0.0
    for name, slopes in tables.items():
        panel = _Table(name, slopes, column, row)
        if places[0] > MARGIN and places[0] + panel.width > _WIDEST:
            places = (MARGIN, bottom + _GAP)
        parts += panel.parts(*places)
        width, bottom = max(width, places[0] + panel.width), max(bottom, places[1] + panel.height)
        places = (places[0] + panel.width + _GAP, places[1])
    words = " ".join(_table_in_words(name, table) for name, table in tables.items())
    return Drawing(width + MARGIN, bottom + MARGIN, "Tables of slopes", words, parts)


def matmul_shapes(n: int, k: int, m: int) -> Drawing:
    """Draw a product of matrices and the gradients of its factors as rectangles, with their sizes.

    Args:
        n: Rows of the first factor, a.
        k: Columns of a, and rows of the second factor, b.
        m: Columns of b.

    Raises:
        ValueError: If a size is not between 1 and 9.

    >>> print(minigrad.draw.matmul_shapes(2, 3, 4))
    Shapes in a product of matrices: a (2, 3) times b (3, 4) gives output (2, 4). d_output (2, 4) times
    b transposed (4, 3) gives gradient of a (2, 3). a transposed (3, 2) times d_output (2, 4) gives
    gradient of b (3, 4).
    """
    if not all(1 <= size <= 9 for size in (n, k, m)):
        raise ValueError(f"draw.matmul_shapes: sizes {n}, {k}, {m} cannot be drawn; take sizes from 1 to 9")
    lines = [
        [("a", n, k, "used"), ("b", k, m, "other"), ("output", n, m, "cell")],
        [("d_output", n, m, "mark"), ("b transposed", m, k, "other"), ("gradient of a", n, k, "used")],
        [("a transposed", k, n, "used"), ("d_output", n, m, "mark"), ("gradient of b", k, m, "other")],
    ]
    parts, y, width = [], MARGIN, 0.0
    for line in lines:
        drawn, right, height = _product(line, MARGIN, y)
        parts += drawn
        width, y = max(width, right), y + height + 14.0
    words = " ".join(
        f"{one[0]} {one[1:3]} times {two[0]} {two[1:3]} gives {three[0]} {three[1:3]}." for one, two, three in lines
    )
    return Drawing(width + MARGIN, y - 14.0 + MARGIN, "Shapes in a product of matrices", words, parts)


def _checked(order: Sequence[int], dims: int, name: str) -> tuple[int, ...]:
    if sorted(order) != list(range(dims)):
        raise ValueError(
            f"draw.permuted_gradient: {name}={tuple(order)} must name each of the {dims} axes once, counted from 0"
        )
    return tuple(order)


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _numbered(shape: tuple[int, ...]) -> Array:
    size = math.prod(shape)
    if not 0 < size <= LARGEST:
        raise ValueError(
            f"draw.permuted_gradient: {size} elements cannot be drawn; take a shape of 1 to {LARGEST}, such as (2, 3)"
        )
    return np.arange(size).reshape(shape)


def _named(letter: str, numbers: Array) -> Array:
    return np.array([f"{letter}{number}" for number in numbers.ravel()]).reshape(numbers.shape)


def _verdict(wrong: int, size: int, fits: bool, shape: tuple[int, ...]) -> str:
    if not fits:
        return f"This is not the shape of a, {shape}."
    return (
        f"{wrong} of {size} gradients arrive at a wrong element." if wrong else "Each gradient arrives at its element."
    )


@dataclass
class _Grid:
    """The elements of a tensor: the last axis across, the one before it down, others from grid to grid."""

    title: str
    names: Array
    marked: Array
    wrong: Array | None = None
    width: float = field(init=False)
    height: float = field(init=False)

    def __post_init__(self) -> None:
        self._rows, self._columns = (1, 1, *self.names.shape)[-2:]
        self._grids = self.names.size // (self._rows * self._columns)
        wide = self._grids * (self._columns * _CELL + 14.0) - 14.0
        self.width = max(wide, len(self.title) * SMALL)
        self.height = LINE + self._rows * _HIGH

    @property
    def words(self) -> str:
        """The tensor in words."""
        return f"{self.title}: {' '.join(self.names.ravel())}"

    def parts(self, x: float, y: float) -> list[str]:
        """The drawing, at a place."""
        parts: list[str] = [text(x, y + 9.0, self.title, "small", "start")]
        frames: list[str] = []
        shape = (self._grids, self._rows, self._columns)
        names, marked = self.names.reshape(shape), self.marked.reshape(shape)
        wrong = np.zeros(shape, bool) if self.wrong is None else self.wrong.reshape(shape)
        for grid, i, j in product(*map(range, shape)):
            place = grid, i, j
            left = x + grid * (self._columns * _CELL + 14.0) + j * _CELL
            top = y + LINE + i * _HIGH
            kind = "bad" if wrong[place] else "mark" if marked[place] else "used"
            drawn = box(left, top, _CELL, _HIGH, kind)
            (parts if kind == "used" else frames).append(drawn)
            style = "marked" if marked[place] and not wrong[place] else "badtext" if wrong[place] else "text"
            frames.append(text(left + _CELL / 2, top + 17.0, names[place], style))
        return parts + frames


def _four(
    first: _Grid, second: _Grid, third: _Grid, fourth: _Grid, ways: tuple[str, str], warning: str, words: str
) -> Drawing:
    """Two tensors on the way forward above, and two gradients on the way back below."""
    left = max(first.width, fourth.width)
    room = max(map(len, ways)) * CHARACTER + 40.0
    right = MARGIN + left + room
    upper, lower = max(first.height, second.height), max(third.height, fourth.height)
    below = MARGIN + upper + _GAP
    parts = [*first.parts(MARGIN, MARGIN), *second.parts(right, MARGIN)]
    parts += [*fourth.parts(MARGIN, below), *third.parts(right, below)]
    for way, y, ahead in ((ways[0], MARGIN + upper / 2, True), (ways[1], below + lower / 2, False)):
        start, end = MARGIN + left + 10.0, right - 10.0
        parts.append(text((start + end) / 2, y + 2.0, way, "bold"))
        parts.append(arrow(start, y + 10.0, end, y + 10.0) if ahead else arrow(end, y + 10.0, start, y + 10.0))
    height = below + lower + MARGIN
    if warning:
        parts.append(text(MARGIN, height + 6.0, warning, "badtext", "start"))
        height += LINE
    width = max(right + max(second.width, third.width), MARGIN + len(warning) * CHARACTER)
    return Drawing(width + MARGIN, height, "A permuted tensor and its gradient", words, parts)


def _shown(slope: float) -> str:
    return label(slope) if slope else ""


def _table_in_words(name: str, table: Array) -> str:
    places = [
        f"output {i} has the slope {label(slope)} in input {j}" for (i, j), slope in np.ndenumerate(table) if slope
    ]
    return f"{name}: {', '.join(places) or 'all slopes are 0'}; all others are 0."


class _Table:
    """One table with its name above, the numbers of inputs along the top and those of outputs at the side."""

    def __init__(self, name: str, table: Array, column: int | None, row: int | None) -> None:
        self._name = name
        self._table = table
        self._column = column
        self._row = row
        longest = max(len(_shown(slope)) for slope in table.ravel())
        self._cell = max(24.0, longest * CHARACTER + 8.0)
        self._side = 22.0
        wide = max(self._side + table.shape[1] * self._cell, len("output") * SMALL + 8.0)
        self.width = max(wide, len(name) * CHARACTER)
        self.height = 2 * LINE + 18.0 + table.shape[0] * 22.0

    def parts(self, x: float, y: float) -> list[str]:
        """The drawing, at a place."""
        parts: list[str] = [text(x, y + 10.0, self._name, "bold", "start")]
        frames: list[str] = []
        left, top = x + self._side, y + 2 * LINE + 14.0
        parts.append(text(left, y + 2 * LINE - 6.0, "input", "small", "start"))
        for j in range(self._table.shape[1]):
            parts.append(text(left + (j + 0.5) * self._cell, top - 4.0, str(j), "small"))
        for i in range(self._table.shape[0]):
            parts.append(text(left - 5.0, top + i * 22.0 + 15.0, str(i), "small", "end"))
        for (i, j), slope in np.ndenumerate(self._table):
            at = left + j * self._cell, top + i * 22.0
            marked = j == self._column
            kind = "mark" if marked and slope else "used" if slope else "cell"
            kind = "other" if i == self._row and kind == "used" else kind
            (frames if kind == "mark" else parts).append(box(*at, self._cell, 22.0, kind))
            if slope:
                style = "marked" if marked else "text"
                frames.append(text(at[0] + self._cell / 2, at[1] + 15.0, _shown(slope), style))
        return parts + frames


_UNIT, _SYMBOL = 18.0, 34.0


def _product(line: Sequence[tuple[str, int, int, str]], x: float, y: float) -> tuple[list[str], float, float]:
    """Return rectangles with names above, sizes below and signs between them, their right end and their height."""
    tallest = max(rows for _, rows, _, _ in line) * _UNIT
    parts, middle = [], y + LINE + tallest / 2
    for number, (name, rows, columns, kind) in enumerate(line):
        size = f"({rows}, {columns})"
        room = max(columns * _UNIT, max(len(name), len(size)) * SMALL)
        left, top = x + (room - columns * _UNIT) / 2, middle - rows * _UNIT / 2
        parts.append(box(left, top, columns * _UNIT, rows * _UNIT, kind))
        parts.append(text(x + room / 2, y + 9.0, name, "small"))
        parts.append(text(x + room / 2, y + LINE + tallest + 14.0, size, "text"))
        x += room
        if number < 2:
            parts.append(text(x + _SYMBOL / 2, middle + 5.0, "@" if number == 0 else "=", "bold"))
            x += _SYMBOL
    return parts, x, LINE + tallest + 20.0
