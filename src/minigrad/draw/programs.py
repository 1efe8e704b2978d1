"""Graphs of traced functions as pictures: boxes for inputs and equations, arrows for what an equation reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from minigrad.draw.layout import lay_out
from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, arrow, box, text

if TYPE_CHECKING:
    from minigrad.graph.program import Graph

__all__ = ["LARGEST", "program", "rewrite"]

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
    lines = graph.lines()
    parts, width, height = _drawn(graph, lines, MARGIN, MARGIN, {})
    return Drawing(width + MARGIN, height + MARGIN, "Program", _told(lines), parts)


def rewrite(before: Graph, after: Graph) -> Drawing:
    """Draw what a pass does: the graph that it is given, what goes in red, and its result, what is new in grey.

    Args:
        before: A graph.
        after: What a pass made of it.

    Raises:
        ValueError: If one of them has more than `LARGEST` inputs, constants and equations.

    >>> from minigrad.graph import cancel_inverses, trace
    >>> found = trace(lambda x: 2.0 * -(-x), minigrad.zeros(3))
    >>> print(minigrad.draw.rewrite(found, cancel_inverses(found)))
    Rewrite: before: a: float32[3]. b: float32[3] = Neg a. c: float32[3] = Neg b. d: float32[3] = Mul 2.0 c. return d. \
after: a: float32[3]. b: float32[3] = Neg a. d: float32[3] = Mul 2.0 a. return d.
    """
    names = after.names(before.names())
    old, new = before.lines(names), after.lines(names)
    gone, come = (
        {n: kind for n, line in enumerate(lines[:-1]) if line not in others}
        for lines, others, kind in ((old, new, "bad"), (new, old, "other"))
    )
    top = MARGIN + 2.0 * LINE
    parts, middle, height = _drawn(before, old, MARGIN, top, gone)
    others, right, other_height = _drawn(after, new, middle + _BETWEEN, top, come)
    heads = [text((MARGIN + middle) / 2, MARGIN + LINE, "before", "bold")]
    heads.append(text((middle + _BETWEEN + right) / 2, MARGIN + LINE, "after", "bold"))
    told = f"before: {_told(old)} after: {_told(new)}"
    size = right + MARGIN, max(height, other_height) + MARGIN
    return Drawing(*size, "Rewrite", told, [*heads, *parts, *others])


_BETWEEN = 60.0


def _told(lines: Sequence[str]) -> str:
    return " ".join(f"{line}." for line in lines)


def _drawn(
    graph: Graph, lines: Sequence[str], left: float, top: float, kinds: Mapping[int, str]
) -> tuple[list[str], float, float]:
    """Return the parts of a graph's picture, and its right and lower ends.

    Args:
        graph: The graph.
        lines: It, as it is printed.
        left: Where the picture begins.
        top: Where it begins, from above.
        kinds: The kinds of boxes that are no ordinary ones, by their numbers.
    """
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
        return left + width / 2 + beside * (width + _ACROSS), top + height / 2 + step * (height + _DOWN)

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
        kind = "mark" if kinds.get(number) == "other" and number in returned else kinds.get(number, kind)
        parts.append(box(x - width / 2, y - height / 2, width, height, kind))
        parts.append(text(x, y - 2.0, first, {"mark": "marked", "bad": "badtext"}.get(kind, "bold")))
        parts.append(text(x, y + LINE - 4.0, second, "small"))
    right, bottom = at(*layout.size)
    return parts, right + width / 2, bottom + height / 2


def _words(row: str) -> tuple[str, str]:
    """Return the two lines of a box: the names of its values with what computes them, and their types."""
    left, _, right = row.partition(" = ")
    values = [each.partition(": ") for each in left.split(", ")] if right else [row.partition(": ")]
    names, types = ", ".join(each[0] for each in values), ", ".join(dict.fromkeys(each[2] for each in values))
    shown = f"{names} = {right}" if right else names
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…", types
