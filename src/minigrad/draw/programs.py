"""The graph of a traced function as a picture: boxes for inputs and equations, arrows for what an equation reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from minigrad.draw.layout import lay_out
from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, arrow, box, text

if TYPE_CHECKING:
    from minigrad.graph.program import Graph
    from minigrad.symbols import Program

LARGEST = 60
"""Boxes of a picture that can still be read."""

_LONGEST = 40
_ACROSS, _DOWN, _BETWEEN = 18.0, 24.0, 60.0


@dataclass(frozen=True)
class _Boxes:
    """The parts of a picture.

    Attributes:
        words: Two lines for each box: inputs first, then constants, then equations.
        inputs: How many inputs there are.
        before: How many inputs and constants.
        edges: Pairs of boxes: the second reads the first.
        returned: The boxes that the function returns.
        gone: The boxes that are struck out.
        told: The picture in words.
        changed: The kinds of boxes that a pass removes or makes.
        order: Pairs of boxes: the second stands below the first, whether it reads it or not.
    """

    words: Sequence[tuple[str, str]]
    inputs: int
    before: int
    edges: Sequence[tuple[int, int]]
    returned: Collection[int]
    gone: Collection[int]
    told: str
    changed: Mapping[int, str] = field(default_factory=dict)
    order: Sequence[tuple[int, int]] = ()

    def kind(self, number: int) -> str:
        """Return the kind of a box."""
        if number in self.gone:
            return "ghost"
        if number in self.returned and self.changed.get(number) != "bad":
            return "mark"
        if number in self.changed:
            return self.changed[number]
        return "used" if number < self.inputs else "ghost" if number < self.before else "cell"


def program(graph: Graph | Program, *, kept: Program | None = None, forward: Program | None = None) -> Drawing:
    """Draw a traced program: inputs blue, constants dashed, what the function returns orange.

    Args:
        graph: From `minigrad.graph.trace`, from a pass, or from `minigrad.program.trace`.
        kept: What a pass has made of a program of `minigrad.program`: equations that it has not kept are struck out.
        forward: The program to which `minigrad.program.backward` has appended a backward pass: the rest stands below
            it, in grey, and a line between.

    Raises:
        ValueError: If it has more than `LARGEST` inputs, constants and equations.

    >>> found = minigrad.graph.trace(lambda x: 2.0 * x, minigrad.zeros(3))
    >>> print(minigrad.draw.program(found))
    Program: a: float32[3]. b: float32[3] = Mul 2.0 a. return b.
    >>> given = minigrad.program.trace(lambda x: x * 1.0 + x, np.zeros(3))
    >>> print(minigrad.draw.program(given, kept=minigrad.program.simplify(given)))
    Program: a: float64[3]. b = mul a 1.0: float64[3], struck out. c = add b a: float64[3]. return c.
    """
    given: Any = graph
    boxes = _of_graph(given, given.lines(), {}) if hasattr(given, "structure") else _of_program(given, kept, forward)
    parts, right, bottom = _drawn(boxes, MARGIN, MARGIN)
    return Drawing(right + MARGIN, bottom + MARGIN, "Program", boxes.told, parts)


def html(graph: Graph) -> str | None:
    """Return what a notebook shows of a graph: its picture, or None if it is too large for one."""
    boxes = len(graph.inputs) + len(graph.constants) + len(graph.equations)
    return program(graph)._repr_html_() if boxes <= LARGEST else None


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
    first, second = _of_graph(before, old, gone), _of_graph(after, new, come)
    parts, middle, height = _drawn(first, MARGIN, top)
    others, right, other_height = _drawn(second, middle + _BETWEEN, top)
    heads = [text((MARGIN + middle) / 2, MARGIN + LINE, "before", "bold")]
    heads.append(text((middle + _BETWEEN + right) / 2, MARGIN + LINE, "after", "bold"))
    size = right + MARGIN, max(height, other_height) + MARGIN
    told = f"before: {first.told} after: {second.told}"
    return Drawing(*size, "Rewrite", told, [*heads, *parts, *others])


def _of_graph(graph: Any, lines: Sequence[str], changed: Mapping[int, str]) -> _Boxes:
    """Return the boxes for a graph of `minigrad.graph`, whose lines are given."""
    made = [*((v,) for v in graph.inputs), *((v,) for v, _ in graph.constants), *(e.outputs for e in graph.equations)]
    place = {v: number for number, values in enumerate(made) for v in values}
    before = len(made) - len(graph.equations)
    edges = [
        (place[v], before + number) for number, each in enumerate(graph.equations) for v in dict.fromkeys(each.uses())
    ]
    returned = {place[y] for y in graph.outputs if y in place}
    words = [_words(row) for row in lines[:-1]]
    told = " ".join(f"{line}." for line in lines)
    return _Boxes(words, len(graph.inputs), before, edges, returned, (), told, changed)


def _of_program(given: Any, kept: Any, forward: Any) -> _Boxes:
    """Return the boxes for a program of `minigrad.program`."""
    from minigrad.symbols import letters

    made = [*given.inputs, *(v for v, _ in given.constants), *(each.output for each in given.equations)]
    place = {v: number for number, v in enumerate(made)}
    names = dict(zip(made, letters(), strict=False))
    before = len(made) - len(given.equations)

    def shown(x: Any) -> str:
        return names.get(x) or repr(x)

    rows = [names[v] for v in made[:before]]
    for each in given.equations:
        options = [f"{name}={value}" for name, value in each.options.items()]
        rows.append(" ".join([f"{names[each.output]} =", each.op, *map(shown, each.operands), *options]))
    left = set(made)
    if kept is not None:
        constants = {v for v, _ in kept.constants}
        left = {*kept.inputs, *(v for v, _ in given.constants if v in constants)}
        left.update(each.output for each in kept.equations)
    gone = {place[v] for v in made if v not in left}
    edges = [(place[v], place[each.output]) for each in given.equations for v in dict.fromkeys(each.reads())]
    first = set(made)
    if forward is not None:
        first = {*forward.inputs, *(v for v, _ in forward.constants), *(each.output for each in forward.equations)}
    below = {place[v] for v in made if v not in first}
    above = [place[each.output] for each in given.equations if each.output in first]
    told = [
        f"{row}: {v.type}{', struck out' * (place[v] in gone)}{', below the line' * (place[v] in below)}."
        for row, v in zip(rows, made, strict=True)
    ]
    told.append(f"return {', '.join(map(shown, given.outputs))}.")
    words = [
        (row if len(row) <= _LONGEST else f"{row[: _LONGEST - 1]}…", v.type) for row, v in zip(rows, made, strict=True)
    ]
    return _Boxes(
        words,
        len(given.inputs),
        before,
        edges,
        {place[y] for y in given.outputs if y in place},
        gone,
        " ".join(told),
        dict.fromkeys((number for number in below if number >= before), "other"),
        [(x, y) for x in above for y in below],
    )


def _drawn(boxes: _Boxes, left: float, top: float) -> tuple[list[str], float, float]:
    """Return the parts of a picture that begins at (left, top), and its right and lower ends."""
    if len(boxes.words) > LARGEST:
        raise ValueError(
            f"program: the graph has {len(boxes.words)} boxes, a picture at most {LARGEST}; print the graph"
        )
    layout = lay_out(range(len(boxes.words)), boxes.edges, boxes.order)
    width = max(len(line) * (CHARACTER, SMALL)[i] for each in boxes.words for i, line in enumerate(each)) + 18.0
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
    for number, (first, second) in enumerate(boxes.words):
        x, y = at(*layout.places[number])
        kind = boxes.kind(number)
        style = "struck" if number in boxes.gone else {"mark": "marked", "bad": "badtext"}.get(kind, "bold")
        parts.append(box(x - width / 2, y - height / 2, width, height, kind))
        parts.append(text(x, y - 2.0, first, style))
        parts.append(text(x, y + LINE - 4.0, second, "small"))
    if boxes.order:
        _, line = at(min(layout.places[number][0] for _, number in boxes.order) - 0.5, 0.0)
        end, _ = at(0.0, layout.size[1])
        parts.append(f'<path class="mp-way" stroke-dasharray="6 4" d="M{left:.1f},{line:.1f}H{end + width / 2:.1f}"/>')
    right, bottom = at(*layout.size)
    return parts, right + width / 2, bottom + height / 2


def _words(row: str) -> tuple[str, str]:
    """Return the two lines of a box: the names of its values with what computes them, and their types."""
    left, _, right = row.partition(" = ")
    values = [each.partition(": ") for each in left.split(", ")] if right else [row.partition(": ")]
    names, types = ", ".join(each[0] for each in values), ", ".join(dict.fromkeys(each[2] for each in values))
    shown = f"{names} = {right}" if right else names
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…", types
