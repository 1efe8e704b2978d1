"""The graph of an expression as a picture: values on the way forward, derivatives on the way back.

    x = Scalar(5.0, name="x")
    a = 2.0 * x
    expression_graph(a * (3.0 * a), a=a)

The derivatives are those that the library's present `backpropagate` passes on, watched at work: with your own engine
in the library, the picture shows what your engine does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Any

from minigrad import autodiff
from minigrad.draw.layout import lay_out

__all__ = ["LARGEST", "ExpressionGraph", "expression_graph"]

LARGEST = 120
"""Nodes in a picture that can still be read."""

_SYMBOLS = {
    "Add": "+", "Sub": "\u2212", "Mul": "\u00d7", "Div": "\u00f7", "Pow": "^", "LT": "<", "EQ": "=",
}  # fmt: skip

_CHARACTER, _LINE, _ACROSS, _DOWN, _MARGIN = 7.3, 17.0, 78.0, 26.0, 14.0

_STYLE = """
.mg-paper{fill:#fff}.mg-box{fill:#f6f8fa;stroke:#57606a;stroke-width:1.2}.mg-leaf .mg-box{fill:#ddf4ff;stroke:#0550ae}
.mg-constant .mg-box{fill:#fff;stroke:#8c959f;stroke-dasharray:3 3}.mg-result .mg-box{stroke-width:2.2}
.mg-text{fill:#1f2328}.mg-back{fill:#a33a00;font-weight:600}.mg-edge{fill:none;stroke:#57606a;stroke-width:1.3}
.mg-head{fill:#57606a}.mg-halo{stroke:#fff;stroke-width:4;paint-order:stroke}
@media(prefers-color-scheme:dark){.mg-paper{fill:#161b22}.mg-box{fill:#22272e;stroke:#9ea7b3}
.mg-leaf .mg-box{fill:#0c2d4d;stroke:#58a6ff}.mg-constant .mg-box{fill:#161b22;stroke:#768390}
.mg-text{fill:#e6edf3}.mg-back{fill:#ffa657}.mg-edge{stroke:#9ea7b3}.mg-head{fill:#9ea7b3}.mg-halo{stroke:#161b22}}
"""


@dataclass
class _Watched:
    """A variable as the engine sees it while it is drawn: it speaks the `Variable` protocol, and takes notes.

    Attributes:
        variable: The variable itself, which stays untouched.
        parents: The watched inputs.
        arrived: What a step back was taken with, or what a leaf has received.
        handed: For each step back, what went to which input.
    """

    variable: Any
    graph: dict[int, _Watched]
    parents: list[_Watched] = field(default_factory=list)
    arrived: list[Any] = field(default_factory=list)
    handed: list[list[tuple[int, Any]]] = field(default_factory=list)

    @property
    def unique_id(self) -> int:
        return int(self.variable.unique_id)

    @property
    def history(self) -> Any:
        """The history with the watched inputs, and a function that takes notes when it is asked directly."""
        history = self.variable.history
        if history is None or history.last_fn is None:
            return history
        return autodiff.History(_Noted(self, history.last_fn), history.ctx, self.parents)

    def is_leaf(self) -> bool:
        return bool(self.variable.is_leaf())

    def is_constant(self) -> bool:
        return bool(self.variable.is_constant())

    def accumulate_derivative(self, x: Any) -> None:
        self.arrived.append(x)

    def chain_rule(self, d_output: Any) -> Iterable[tuple[_Watched, Any]]:
        self.arrived.append(d_output)
        pairs = [
            (self.graph.get(parent.unique_id) or _Watched(parent, self.graph), derivative)
            for parent, derivative in self.variable.chain_rule(d_output)
        ]
        self.handed.append([(parent.unique_id, derivative) for parent, derivative in pairs])
        return pairs

    def note(self, d_output: Any, derivatives: Iterable[Any]) -> None:
        """Keep what a step back has made of d_output: a derivative for each input."""
        self.arrived.append(d_output)
        pairs = zip(self.parents, derivatives, strict=False)
        self.handed.append([(parent.unique_id, d) for parent, d in pairs if not parent.is_constant()])


@dataclass(frozen=True)
class _Noted:
    """The function of a watched variable, for engines that go to it without the variable's `chain_rule`."""

    node: _Watched
    function: Any

    def _backward(self, ctx: Any, d_output: Any) -> tuple[Any, ...]:
        derivatives = tuple(self.function._backward(ctx, d_output))
        self.node.note(d_output, derivatives)
        return derivatives

    def backward(self, ctx: Any, d_output: Any) -> Any:
        derivatives = self.function.backward(ctx, d_output)
        self.node.note(d_output, derivatives if isinstance(derivatives, tuple) else (derivatives,))
        return derivatives


def _watch(result: Any) -> dict[int, _Watched]:
    """Wrap a result and everything behind it; each variable is asked for its inputs once."""
    graph = {result.unique_id: _Watched(result, {})}
    waiting = list(graph.values())
    while waiting:
        node = waiting.pop(0)
        node.graph = graph
        for parent in node.variable.parents:
            key = parent.unique_id
            if key not in graph:
                graph[key] = _Watched(parent, graph)
                waiting.append(graph[key])
            node.parents.append(graph[key])
        if len(graph) > LARGEST:
            raise ValueError(
                f"expression_graph: more than {LARGEST} variables cannot be read in a picture; draw a part"
            )
    return graph


class ExpressionGraph:
    """The picture of a graph; Jupyter shows it, and `svg` is its text.

    Args:
        graph: The watched variables, the result first.
        names: Names given to variables, by unique id.
        gradients: Whether derivatives are shown.
    """

    def __init__(self, graph: Mapping[int, _Watched], names: Mapping[int, str], gradients: bool) -> None:
        self._graph = graph
        self._names = names
        self._gradients = gradients
        self._edges = [(parent.unique_id, key) for key, node in graph.items() for parent in node.parents]
        self._layout = lay_out(list(graph), self._edges)

    @property
    def description(self) -> str:
        """The picture in words: one sentence for each variable, inputs first."""
        across = {key: x for key, (x, _) in self._layout.places.items()}
        return " ".join(self._sentence(self._graph[key]) for key in sorted(self._graph, key=lambda key: across[key]))

    @property
    def svg(self) -> str:
        """The picture."""
        layout = self._layout
        boxes = {key: self._lines(node) for key, node in self._graph.items()}
        width = max(len(line) for lines in boxes.values() for line in lines) * _CHARACTER + 16.0
        height = max(map(len, boxes.values())) * _LINE + 10.0

        room = max(_ACROSS, max(map(len, self._slopes()), default=0) * _CHARACTER + 44.0)

        def at(x: float, y: float) -> tuple[float, float]:
            return _MARGIN + width / 2 + x * (width + room), _MARGIN + height / 2 + y * (height + _DOWN)

        parts = [
            self._edge(number, [at(*point) for point in route], width) for number, route in enumerate(layout.routes)
        ]
        parts += [self._box(key, at(*layout.places[key]), width, len(lines) * _LINE + 10.0, lines)
                  for key, lines in boxes.items()]  # fmt: skip
        across, down = at(*layout.size)
        return self._document(across + width / 2 + _MARGIN, down + height / 2 + _MARGIN, parts)

    def _repr_svg_(self) -> str:
        return self.svg

    def _document(self, width: float, height: float, parts: Iterable[str]) -> str:
        title = "Graph of an expression" + (" with derivatives" if self._gradients else "")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:100%;height:auto" '
            f'font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="12">'
            f"<title>{title}</title><desc>{escape(self.description)}</desc><style>{_STYLE}</style>"
            f'<rect class="mg-paper" width="100%" height="100%" rx="8"/>{"".join(parts)}</svg>'
        )

    def _box(self, key: int, centre: tuple[float, float], width: float, height: float, lines: list[str]) -> str:
        x, y = centre
        kind = _kind(self._graph[key]) + (" mg-result" if key == next(iter(self._graph)) else "")
        text = []
        for i, line in enumerate(lines):
            style = "mg-back" if line.startswith("grad") else "mg-text"
            weight = ' font-weight="700"' if i == 0 else ""
            base = y - height / 2 + 5.0 + _LINE * (i + 0.75)
            text.append(
                f'<text class="{style}" x="{x:.1f}" y="{base:.1f}" text-anchor="middle"{weight}>{escape(line)}</text>'
            )
        return (
            f'<g class="mg-{kind}"><rect class="mg-box" x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" '
            f'width="{width:.1f}" height="{height:.1f}" rx="7"/>{"".join(text)}</g>'
        )

    def _edge(self, number: int, points: list[tuple[float, float]], width: float) -> str:
        """A curve through the points, from the right side of a box to the left side of another."""
        start, end = self._edges[number]
        twins = [i for i, edge in enumerate(self._edges) if edge == (start, end)]
        offset = (twins.index(number) - (len(twins) - 1) / 2) * 20.0
        (x0, y0), (x1, y1) = points[0], points[-1]
        points = [(x0 + width / 2, y0 + offset), *points[1:-1], (x1 - width / 2 - 7.0, y1 + offset)]
        path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
        for (xa, ya), (xb, yb) in pairwise(points):
            middle = (xa + xb) / 2
            path += f"C{middle:.1f},{ya:.1f} {middle:.1f},{yb:.1f} {xb:.1f},{yb:.1f}"
        x, y = points[-1]
        head = f'<path class="mg-head" d="M{x + 7:.1f},{y:.1f}l-8,-4v8z"/>'
        return f'<path class="mg-edge" d="{path}"/>{head}{self._label(number, points)}'

    def _label(self, number: int, points: list[tuple[float, float]]) -> str:
        """What the edge does: the slope, where it is known, and the part that was handed back along it."""
        start = self._edges[number][0]
        texts = self._texts(number)
        # Where many edges leave one box, the labels stand near the other ends, which are farther apart.
        crowded = sum(edge[0] == start for edge in self._edges) > 2
        x, y = _on_curve(points[-2], points[-1], 0.74 if crowded else 0.5)
        lines = [
            f'<text class="{style} mg-halo" x="{x:.1f}" y="{y + 13.0 * i - 3.0:.1f}" text-anchor="middle">'
            f"{escape(text)}</text>"
            for i, (style, text) in enumerate(texts)
        ]
        return "".join(lines)

    def _slopes(self) -> list[str]:
        """The slopes on all edges, none of which may hide its arrow."""
        texts = [each for number in range(len(self._edges)) for each in self._texts(number)]
        return [text for style, text in texts if style == "mg-text"]

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

    def _handed(self, node: _Watched, start: int, place: int) -> list[str]:
        """What a result handed to one of its inputs, in each step back that it took."""
        same = [i for i, parent in enumerate(node.parents) if parent.unique_id == start]
        found = []
        for pairs in node.handed:
            mine = [derivative for key, derivative in pairs if key == start]
            if same.index(place) < len(mine):
                found.append(_short(mine[same.index(place)]))
        return found

    def _lines(self, node: _Watched) -> list[str]:
        """The lines in a box: name and operation, value, derivative."""
        name, symbol = self._name(node), _symbol(node)
        value = _value(node)
        if _kind(node) == "constant":
            return [name or value or "constant"]
        lines = [" = ".join(part for part in (name, symbol) if part) or "·"]
        if value:
            lines.append(f"value {value}")
        if self._gradients:
            lines.append("grad " + (", then ".join(map(_number, node.arrived)) or "none"))
        return lines

    def _name(self, node: _Watched) -> str:
        key = node.unique_id
        given = self._names.get(key) or getattr(node.variable, "name", "")
        return "" if given == str(key) else str(given)

    def _sentence(self, node: _Watched) -> str:
        name = self._name(node) or _value(node) or "a result"
        if _kind(node) == "constant":
            return f"{name} is a constant."
        words = "is a leaf" if _kind(node) == "leaf" else f"is computed by {_function(node)} from {self._inputs(node)}"
        value = f", value {_value(node)}" if _value(node) else ""
        grad = f", derivative {' then '.join(map(_number, node.arrived)) or 'none'}" if self._gradients else ""
        return f"{name} {words}{value}{grad}."

    def _inputs(self, node: _Watched) -> str:
        return " and ".join(self._name(parent) or _value(parent) or "a result" for parent in node.parents)


def _on_curve(start: tuple[float, float], end: tuple[float, float], t: float) -> tuple[float, float]:
    """The point at t in [0, 1] of the curve that `_edge` draws: a cubic Bézier with both handles halfway across."""
    (xa, ya), (xb, yb) = start, end
    middle, s = (xa + xb) / 2, 1.0 - t
    return s**3 * xa + 3.0 * s * t * middle + t**3 * xb, ya + (yb - ya) * t * t * (3.0 - 2.0 * t)


def expression_graph(result: Any, /, *, gradients: bool = True, gradient: float = 1.0, **names: Any) -> ExpressionGraph:
    """Draw the graph behind a result.

    Args:
        result: The variable at the right end: a Scalar, or anything that speaks the `Variable` protocol.
        gradients: Whether to run the library's present `backpropagate` and show what it passes on. The variables'
            own ``grad`` stays as it is.
        gradient: The derivative to start from.
        **names: Names to show, ``a=a`` for the variable a.

    Raises:
        ValueError: If the graph is too large to be read.
        ExerciseNotDone: If the engine is still to be written; draw with ``gradients=False`` then.
    """
    graph = _watch(result)
    if gradients:
        with autodiff.no_grad():
            autodiff.backpropagate(graph[result.unique_id], gradient)
    return ExpressionGraph(graph, {variable.unique_id: name for name, variable in names.items()}, gradients)


def _kind(node: _Watched) -> str:
    if node.is_constant():
        return "constant"
    return "leaf" if node.is_leaf() else "inner"


def _function(node: _Watched) -> str:
    function = node.variable.history.last_fn
    name = getattr(function, "__name__", "") if function is not None else ""
    return "a function" if name == "_Given" else name


def _symbol(node: _Watched) -> str:
    if node.is_constant() or node.is_leaf():
        return ""
    name = _function(node)
    return "" if name == "a function" else _SYMBOLS.get(name, name.lower())


def _value(node: _Watched) -> str:
    value = getattr(node.variable, "data", None)
    return "" if value is None else _number(value)


def _number(x: Any, digits: int = 6) -> str:
    """A number with so many digits at most."""
    value = float(x)
    return f"{value:.{digits}g}" if math.isfinite(value) else str(value)


def _short(x: Any) -> str:
    """A number for an arrow, where room is scarce."""
    return _number(x, 4)
