"""The graph of a traced function as a picture: boxes for inputs and equations, arrows for what an equation reads."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from minigrad.draw.layout import lay_out
from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, arrow, box, text

if TYPE_CHECKING:
    from minigrad.graph.program import Graph

__all__ = ["LARGEST", "program"]

LARGEST = 60
"""Boxes of a picture that can still be read."""

_LONGEST = 40
_ACROSS, _DOWN = 18.0, 24.0


def program(graph: Graph) -> Drawing:
    """Draw a graph of `minigrad.graph`: inputs blue, constants dashed, what the function returns orange.

    Args:
        graph: From `minigrad.graph.trace`, or from a pass.

    Raises:
        ValueError: If it has more than `LARGEST` inputs, constants and equations.

    >>> found = minigrad.graph.trace(lambda x: 2.0 * x, minigrad.zeros(3))
    >>> print(minigrad.draw.program(found))
    Program: a: float32[3]. b: float32[3] = Mul 2.0 a. return b.
    """
    lines = str(graph).split("\n")
    rows = lines[:-1]
    if len(rows) > LARGEST:
        raise ValueError(f"program: the graph has {len(rows)} boxes, a picture at most {LARGEST}; print the graph")
    made = [*((v,) for v in graph.inputs), *((v,) for v, _ in graph.constants), *(e.outputs for e in graph.equations)]
    place = {v: number for number, values in enumerate(made) for v in values}
    before = len(made) - len(graph.equations)
    edges = [
        (place[v], before + number) for number, each in enumerate(graph.equations) for v in dict.fromkeys(each.uses())
    ]
    returned = {place[y] for y in graph.outputs if y in place}
    layout = lay_out(range(len(rows)), edges)
    words = [_words(row) for row in rows]
    width = max(len(line) * (CHARACTER, SMALL)[i] for box_ in words for i, line in enumerate(box_)) + 18.0
    height = 2.0 * LINE + 8.0

    def at(step: float, beside: float) -> tuple[float, float]:
        return MARGIN + width / 2 + beside * (width + _ACROSS), MARGIN + height / 2 + step * (height + _DOWN)

    parts = []
    for route in layout.routes:
        points = [at(*point) for point in route]
        points = [(points[0][0], points[0][1] + height / 2), *points[1:-1], (points[-1][0], points[-1][1] - height / 2)]
        *firsts, last = pairwise(points)
        parts += [f'<path class="mp-way" d="M{x:.1f},{y:.1f}L{u:.1f},{v:.1f}"/>' for (x, y), (u, v) in firsts]
        parts.append(arrow(*last[0], *last[1]))
    for number, (first, second) in enumerate(words):
        x, y = at(*layout.places[number])
        kind = "mark" if number in returned else "used" if number < len(graph.inputs) else "cell"
        kind = "ghost" if len(graph.inputs) <= number < before and number not in returned else kind
        parts.append(box(x - width / 2, y - height / 2, width, height, kind))
        parts.append(text(x, y - 2.0, first, "marked" if number in returned else "bold"))
        parts.append(text(x, y + LINE - 4.0, second, "small"))
    right, bottom = at(*layout.size)
    size = right + width / 2 + MARGIN, bottom + height / 2 + MARGIN
    return Drawing(*size, "Program", " ".join(f"{line}." for line in lines), parts)


def _words(row: str) -> tuple[str, str]:
    """Return the two lines of a box: the names of its values with what computes them, and their types."""
    left, _, right = row.partition(" = ")
    values = [each.partition(": ") for each in left.split(", ")] if right else [row.partition(": ")]
    names, types = ", ".join(each[0] for each in values), ", ".join(dict.fromkeys(each[2] for each in values))
    shown = f"{names} = {right}" if right else names
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…", types
