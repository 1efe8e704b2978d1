"""The graph of an expression as a picture: values on the way forward, derivatives on the way back.

    x = Scalar(5.0, name="x")
    a = 2.0 * x
    expression_graph(a * (3.0 * a), a=a)
    expression_graph(a * (3.0 * a), moving=x)  # and the tangents of forward mode

The derivatives are those that the library's present `backpropagate` passes on, watched at work: with your own engine
in the library, the picture shows your engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from html import escape
from itertools import pairwise
from typing import Any

from minigrad import autodiff
from minigrad.draw.layout import lay_out
from minigrad.draw.paper import frame, page
from minigrad.draw.watching import LARGEST, Watched, check_variables, watch

__all__ = ["LARGEST", "ExpressionGraph", "describe", "expression_graph", "number", "start_of"]

_SYMBOLS = {
    "Add": "+", "Sub": "\u2212", "Mul": "\u00d7", "Div": "\u00f7", "Pow": "^", "LT": "<", "EQ": "=",
}  # fmt: skip

_SPACE = "\u00a0"
"""A space that SVG does not drop."""

_Place = tuple[float, float, float, float]
"""Left, top, right and bottom of a label."""

_CHARACTER, _LINE, _ACROSS, _DOWN, _MARGIN = 7.3, 17.0, 78.0, 26.0, 14.0

_STYLE = """
.mg-paper{fill:#fff}.mg-box{fill:#f6f8fa;stroke:#57606a;stroke-width:1.2}.mg-leaf .mg-box{fill:#ddf4ff;stroke:#0550ae}
.mg-constant .mg-box{fill:#fff;stroke:#8c959f;stroke-dasharray:3 3}.mg-result .mg-box{stroke-width:2.2}
.mg-text{fill:#1f2328}.mg-back{fill:#a33a00;font-weight:600}.mg-ahead{fill:#0550ae;font-weight:600}.mg-edge{fill:none;stroke:#57606a;stroke-width:1.3}
.mg-head{fill:#57606a}.mg-halo{stroke:#fff;stroke-width:4;paint-order:stroke}
@media(prefers-color-scheme:dark){.mg-paper{fill:#161b22}.mg-box{fill:#22272e;stroke:#9ea7b3}
.mg-leaf .mg-box{fill:#0c2d4d;stroke:#58a6ff}.mg-constant .mg-box{fill:#161b22;stroke:#768390}
.mg-text{fill:#e6edf3}.mg-back{fill:#ffa657}.mg-ahead{fill:#79c0ff}.mg-edge{stroke:#9ea7b3}.mg-head{fill:#9ea7b3}.mg-halo{stroke:#161b22}}
"""


class ExpressionGraph:
    """The picture of a graph. Jupyter shows it, and `svg` is its text.

    Args:
        graph: The watched variables, the result first.
        names: Names given to variables, by unique id.
        gradients: Whether derivatives are shown.
        moving: A leaf that moves with speed 1: each box then shows how fast its value moves.

    Attributes:
        least: Letters for which a box has room at least, so that pictures of one graph are of one size.
    """

    least = 0

    def __init__(
        self, graph: Mapping[int, Watched], names: Mapping[int, str], gradients: bool, moving: Any = None
    ) -> None:
        self._graph = graph
        self.names = names
        self._gradients = gradients
        self._edges = [(parent.unique_id, key) for key, node in graph.items() for parent in node.parents]
        self._layout = lay_out(list(graph), self._edges)
        self._tangents = {} if moving is None else self._moved_by(moving.unique_id)
        self._taken: list[_Place] = []

    @property
    def description(self) -> str:
        """The picture in words: one sentence for each variable, inputs first."""
        return " ".join(self._sentence(self._graph[key]) for key in self._from_the_left())

    def _from_the_left(self) -> list[int]:
        """Return the keys of all variables, each behind its inputs."""
        across = {key: x for key, (x, _) in self._layout.places.items()}
        return sorted(self._graph, key=lambda key: across[key])

    def _moved_by(self, leaf: int) -> dict[int, Any]:
        """Return how fast each variable moves if one leaf moves with speed 1."""
        speeds: dict[int, Any] = {}
        for key in self._from_the_left():
            node = self._graph[key]
            if node.is_constant():
                continue
            speeds[key] = float(key == leaf)
            if not node.is_leaf():
                slopes = node.variable.chain_rule(1.0)
                speeds[key] = sum(slope * speeds[parent.unique_id] for parent, slope in slopes)
        return speeds

    @property
    def svg(self) -> str:
        """The picture."""
        layout = self._layout
        boxes = {key: [row for line in self._lines(node) for row in _rows(line)] for key, node in self._graph.items()}
        longest = max(len(line) for lines in boxes.values() for line in lines)
        width = max(longest, self.least) * _CHARACTER + 16.0
        height = max(map(len, boxes.values())) * _LINE + 10.0

        room = max(_ACROSS, max(map(len, self._slopes()), default=0) * _CHARACTER + 44.0)

        def at(x: float, y: float) -> tuple[float, float]:
            return _MARGIN + width / 2 + x * (width + room), _MARGIN + height / 2 + y * (height + _DOWN)

        self._taken = []
        routes = [[at(*point) for point in route] for route in layout.routes]
        parts = [self._edge(number, points, width) for number, points in enumerate(routes)]
        parts += [self._label(number, self._line(number, points, width)) for number, points in enumerate(routes)]
        parts += [self._box(key, at(*layout.places[key]), width, len(lines) * _LINE + 10.0, lines)
                  for key, lines in boxes.items()]  # fmt: skip
        across, down = at(*layout.size)
        return self._document(across + width / 2 + _MARGIN, down + height / 2 + _MARGIN, parts)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return page(self.svg, repr(self))

    def __repr__(self) -> str:
        return f"Graph of an expression: {self.description}"

    def _document(self, width: float, height: float, parts: Iterable[str]) -> str:
        title = "Graph of an expression" + (" with derivatives" if self._gradients else "")
        return (
            f"<svg {frame(width, height)}>"
            f"<title>{title}</title><desc>{escape(self.description)}</desc><style>{_STYLE}</style>"
            f'<rect class="mg-paper" width="100%" height="100%" rx="8"/>{"".join(parts)}</svg>'
        )

    def _box(self, key: int, centre: tuple[float, float], width: float, height: float, lines: list[str]) -> str:
        x, y = centre
        kind = _kind(self._graph[key]) + (" mg-result" if key == next(iter(self._graph)) else "")
        text, style = [], "mg-text"
        for i, line in enumerate(lines):
            if not line.startswith(_SPACE):  # further rows of a matrix look like its first
                style = {"grad": "mg-back", "tangent": "mg-ahead"}.get(line.partition(" ")[0], "mg-text")
            weight = ' font-weight="700"' if i == 0 else ""
            base = y - height / 2 + 5.0 + _LINE * (i + 0.75)
            text.append(
                f'<text class="{style}" x="{x:.1f}" y="{base:.1f}" text-anchor="middle"{weight}>{escape(line)}</text>'
            )
        return (
            f'<g class="mg-{kind}"><rect class="mg-box" x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" '
            f'width="{width:.1f}" height="{height:.1f}" rx="7"/>{"".join(text)}</g>'
        )

    def _line(self, number: int, points: list[tuple[float, float]], width: float) -> list[tuple[float, float]]:
        """The points from the right side of a box to the left side of another; of two edges, beside each other."""
        start, end = self._edges[number]
        twins = [i for i, edge in enumerate(self._edges) if edge == (start, end)]
        offset = (twins.index(number) - (len(twins) - 1) / 2) * 20.0
        (x0, y0), (x1, y1) = points[0], points[-1]
        return [(x0 + width / 2, y0 + offset), *points[1:-1], (x1 - width / 2 - 7.0, y1 + offset)]

    def _edge(self, number: int, points: list[tuple[float, float]], width: float) -> str:
        """A curve through the points, with a head."""
        points = self._line(number, points, width)
        path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
        for (xa, ya), (xb, yb) in pairwise(points):
            middle = (xa + xb) / 2
            path += f"C{middle:.1f},{ya:.1f} {middle:.1f},{yb:.1f} {xb:.1f},{yb:.1f}"
        x, y = points[-1]
        head = f'<path class="mg-head" d="M{x + 7:.1f},{y:.1f}l-8,-4v8z"/>'
        return f'<path class="mg-edge" d="{path}"/>{head}'

    def _label(self, number: int, points: list[tuple[float, float]]) -> str:
        """Return an edge's label: the slope, where it is known, and the part that was handed back along it."""
        start = self._edges[number][0]
        texts = self._texts(number)
        long = max(map(len, (text for _, text in texts)), default=0) * _CHARACTER
        # Where many edges leave one box, the labels stand near the other ends, which are farther apart.
        crowded = sum(edge[0] == start for edge in self._edges) > 2
        for t in (0.74, 0.6, 0.88, 0.46, 0.32) if crowded else (0.5, 0.66, 0.34, 0.8, 0.2):
            x, y = _on_curve(points[-2], points[-1], t)
            place = x - long / 2, y - 16.0, x + long / 2, y - 16.0 + 18.0 * len(texts)
            if texts and not any(_meet(place, other) for other in self._taken):
                break
        self._taken.append(place)
        lines = [
            f'<text class="{style} mg-halo" x="{x:.1f}" y="{y + 19.0 * i - 6.0:.1f}" text-anchor="middle">'
            f"{escape(text)}</text>"
            for i, (style, text) in enumerate(texts)
        ]
        return "".join(lines)

    def _slopes(self) -> list[str]:
        """The slopes and tensors on all edges, none of which may hide its arrow."""
        texts = [each for number in range(len(self._edges)) for each in self._texts(number)]
        return [text for style, text in texts if style == "mg-text" or text[0] in "[("]

    def _texts(self, number: int) -> list[tuple[str, str]]:
        """The lines of an edge's label, each with its style."""
        start, end = self._edges[number]
        node = self._graph[end]
        place = [i for i, edge in enumerate(self._edges) if edge[1] == end].index(number)
        texts = []
        slopes = getattr(node.variable, "slopes", ())
        if slopes and _kind(self._graph[start]) != "constant":
            texts.append(("mg-text", f"\u00d7 {_short(slopes[place][1])}"))
        parts = self._handed(node, start, place)
        if parts:
            texts.append(("mg-back", ", ".join(parts)))
        return texts

    def _handed(self, node: Watched, start: int, place: int) -> list[str]:
        """Return the gradients that a result handed to one of its inputs, one for each of its steps back."""
        same = [i for i, parent in enumerate(node.parents) if parent.unique_id == start]
        found = []
        for pairs in node.handed:
            mine = [derivative for key, derivative in pairs if key == start]
            if same.index(place) < len(mine):
                found.append(_short(mine[same.index(place)]))
        return found

    def _lines(self, node: Watched) -> list[str]:
        """The lines in a box: name and operation, value, derivative."""
        name, symbol = self._name(node), _symbol(node)
        value = _value(node)
        if _kind(node) == "constant":
            return [name or value or "constant"]
        lines = [" = ".join(part for part in (name, symbol) if part) or "·"]
        shape = _shape(node)
        if shape:
            lines.append(f"shape {shape}")
        if value and value != shape:
            lines.append(f"value {value}")
        if node.unique_id in self._tangents:
            lines.append(f"tangent {number(self._tangents[node.unique_id])}")
        if self._gradients:
            lines.append("grad " + (", then ".join(map(number, node.arrived)) or "none"))
        return lines

    def _name(self, node: Watched) -> str:
        return describe(node, self.names)[0]

    def _sentence(self, node: Watched) -> str:
        name = self._name(node) or _value(node) or "a result"
        if _kind(node) == "constant":
            return f"{name} is a constant."
        words = "is a leaf" if _kind(node) == "leaf" else f"is computed by {_function(node)} from {self._inputs(node)}"
        shape = _shape(node)
        of_shape = f", shape {shape}" if shape else ""
        value = f", value {_value(node)}" if _value(node) not in ("", shape) else ""
        if node.unique_id in self._tangents:
            value += f", tangent {number(self._tangents[node.unique_id])}"
        grad = f", derivative {' then '.join(map(number, node.arrived)) or 'none'}" if self._gradients else ""
        return f"{name} {words}{of_shape}{value}{grad}."

    def _inputs(self, node: Watched) -> str:
        return " and ".join(self._name(parent) or _value(parent) or "a result" for parent in node.parents)


def _meet(one: _Place, other: _Place) -> bool:
    """Return whether two rectangles have a point in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _on_curve(start: tuple[float, float], end: tuple[float, float], t: float) -> tuple[float, float]:
    """The point at t in [0, 1] of the curve that `_edge` draws: a cubic Bézier with both handles halfway across."""
    (xa, ya), (xb, yb) = start, end
    middle, s = (xa + xb) / 2, 1.0 - t
    return s**3 * xa + 3.0 * s * t * middle + t**3 * xb, ya + (yb - ya) * t * t * (3.0 - 2.0 * t)


def expression_graph(
    result: Any, /, *, gradients: bool = True, gradient: Any = 1.0, moving: Any = None, **names: Any
) -> ExpressionGraph:
    """Draw the graph behind a result.

    Of a tensor the picture shows the shape, and its elements where they are few.

    Args:
        result: The variable at the right end: a Scalar, a Tensor, or anything that speaks the `Variable` protocol.
        gradients: Whether to run the library's present `backpropagate` and show what it passes on. The variables'
            own ``grad`` stays as it is.
        gradient: The derivative to start from. For a tensor of several elements it is a tensor of its shape.
        moving: A leaf of numbers. Each box then shows the tangent of forward mode too: how fast its value moves when
            this leaf moves with speed 1.
        **names: Names to show, ``a=a`` for the variable a.

    Raises:
        ValueError: If the graph is too large to be read, the gradient to start from has another shape, or what is to
            move is no leaf of the graph.
        TypeError: If the result, or a named object, is no variable.
        ExerciseNotDone: If the engine is still to be written. Draw with ``gradients=False`` then.

    >>> x = minigrad.Scalar(3.0)
    >>> print(minigrad.draw.expression_graph(x * x, x=x))
    Graph of an expression: x is a leaf, value 3, derivative 6. 9 is computed by Mul from x and x, value
    9, derivative 1.
    """
    check_variables("expression_graph", result, names)
    graph = watch(result)
    if moving is not None and not (moving.unique_id in graph and graph[moving.unique_id].is_leaf()):
        raise ValueError("expression_graph: moving must be a leaf of the graph, such as the x of x * x")
    if gradients:
        with autodiff.no_grad():
            autodiff.backpropagate(graph[result.unique_id], start_of(result, gradient))
    return ExpressionGraph(graph, {variable.unique_id: name for name, variable in names.items()}, gradients, moving)


def start_of(result: Any, gradient: Any) -> Any:
    """Return the derivative to start from, of the result's kind: the engine hands tensors on, not numbers.

    Raises:
        ValueError: If the result has several elements, and the gradient another shape.
    """
    if not hasattr(result, "shape"):
        return gradient
    shape, given = tuple(result.shape), tuple(getattr(gradient, "shape", ()))
    if not given and math.prod(shape) == 1:
        return result.detach() * 0.0 + gradient
    if given != shape:
        seen = f"has shape {given}" if hasattr(gradient, "shape") else "is a number"
        raise ValueError(
            f"expression_graph: the result has shape {shape} and the gradient {seen}; give a tensor of shape {shape}, "
            "or draw with gradients=False"
        )
    return gradient


def describe(node: Watched, names: Mapping[int, str]) -> tuple[str, str, str]:
    """Return a variable's name, the sign of the operation that made it, and its value. A missing part is empty."""
    given = names.get(node.unique_id) or str(getattr(node.variable, "name", ""))
    return "" if given == str(node.unique_id) else given, _symbol(node), _value(node)


def _rows(line: str) -> list[str]:
    """A line of a box. A matrix has a line for each row, one exactly below the other."""
    if line.count("[[") != 1 or "[[[" in line:
        return [line]
    first, *others = line.split("] [")
    rows = [first, *(_SPACE * line.index("[[") + _SPACE + "[" + row for row in others)]
    rows = [row + "]" for row in rows[:-1]] + rows[-1:]
    widest = max(map(len, rows))
    return [row + _SPACE * (widest - len(row)) for row in rows]


def _kind(node: Watched) -> str:
    if node.is_constant():
        return "constant"
    return "leaf" if node.is_leaf() else "inner"


def _function(node: Watched) -> str:
    function = node.variable.history.last_fn
    name = getattr(function, "__name__", "") if function is not None else ""
    return "a function" if name == "_Given" else name


def _symbol(node: Watched) -> str:
    if node.is_constant() or node.is_leaf():
        return ""
    name = _function(node)
    return "" if name == "a function" else _SYMBOLS.get(name, name.lower())


def _value(node: Watched) -> str:
    variable = node.variable
    value = variable if hasattr(variable, "shape") else getattr(variable, "data", None)
    return "" if value is None else number(value)


def _shape(node: Watched) -> str:
    """Return the shape of a tensor, or nothing for a number."""
    return str(tuple(node.variable.shape)) if hasattr(node.variable, "shape") else ""


def number(x: Any, digits: int = 6, most: int = 6) -> str:
    """Return a number with so many digits at most. A tensor gives its elements, or its shape if they are too many.

    >>> from minigrad.draw.graph import number
    >>> number(1 / 3), number(2.0)
    ('0.333333', '2')
    """
    if getattr(x, "shape", ()):
        return _elements(x.tolist(), min(digits, 4)) if math.prod(x.shape) <= most else str(tuple(x.shape))
    value = float(x)
    return f"{value:.{digits}g}" if math.isfinite(value) else str(value)


def _elements(x: object, digits: int) -> str:
    """Nested lists of numbers in brackets, as one line."""
    return f"[{' '.join(_elements(each, digits) for each in x)}]" if isinstance(x, list) else number(x, digits)


def _short(x: object) -> str:
    """A number for an arrow, where room is scarce."""
    return number(x, 4, 3)
