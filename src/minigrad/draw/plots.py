"""Pictures of functions, slopes, errors and decision boundaries, made with matplotlib.

Every function returns a `Picture`, which a notebook shows by itself when it is the last value of a cell. Nothing here
touches pyplot: there is no current figure, and nothing to close.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from minigrad.datasets import Points

__all__ = [
    "ACCENT",
    "CLASSES",
    "INK",
    "MUTED",
    "TINTS",
    "Picture",
    "canvas",
    "curves",
    "decision",
    "difference_errors",
    "elementary",
    "film",
    "fold",
    "partials",
    "secants",
    "sides",
    "tree",
]

INK, MUTED, ACCENT = "#24292f", "#8b949e", "#b3261e"
CLASSES = ("#c4621d", "#1f5fa8")
"""Colours of class 0 and class 1, which people with colour blindness tell apart as well."""
TINTS = ("#f6d3b3", "#86abd6")
"""Colours of the regions of class 0 and class 1: light and dark, so that print in grey keeps them apart."""
LINES = ("#1f5fa8", "#c4621d", "#2e7d4f", "#7828d2", "#b3261e")

_DPI = 120
_STYLE: Any = {
    "axes.edgecolor": MUTED,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 10.5,
    "font.size": 10.0,
    "grid.color": "#e4e7eb",
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}

Curve = Callable[[float], float]


class Picture:
    """A finished picture.

    Args:
        figure: The matplotlib figure.
        caption: What it shows, in words: for a terminal, and for people who cannot see it.
    """

    def __init__(self, figure: Figure, caption: str) -> None:
        self.figure = figure
        self.caption = caption

    def png(self) -> bytes:
        """Return the picture as a PNG file."""
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=_DPI, facecolor="white", metadata={"Software": None})
        return buffer.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        return self.png(), {"alt": self.caption}

    def __repr__(self) -> str:
        return f"Picture: {self.caption}"


def canvas(columns: int = 1, *, width: float = 6.0, height: float = 3.4) -> tuple[Figure, list[Axes]]:
    """Return an empty figure in the course's style, and its axes from left to right.

    Args:
        columns: How many axes stand side by side.
        width: Of the whole figure, in inches.
        height: Likewise.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(1, columns, squeeze=False)
    for ax in axes[0]:
        ax.set_axisbelow(True)
    return figure, list(axes[0])


def _grid(low: float, high: float, n: int = 301) -> list[float]:
    return [low + (high - low) * i / (n - 1) for i in range(n)]


# --- functions and slopes -------------------------------------------------------------------------------------


def curves(functions: Mapping[str, Curve], low: float = -4.0, high: float = 4.0, variable: str = "x") -> Picture:
    """Draw functions of one number side by side, each under its name."""
    figure, axes = canvas(len(functions), width=2.6 * len(functions), height=2.5)
    xs = _grid(low, high)
    for ax, (name, f), colour in zip(axes, functions.items(), LINES * len(functions), strict=False):
        ax.axhline(0.0, color=MUTED, linewidth=0.8)
        ax.plot(xs, [f(x) for x in xs], color=colour, linewidth=2.0)
        ax.set_title(name)
        ax.set_xlabel(variable)
    return Picture(figure, f"the graphs of {', '.join(functions)} for {variable} from {low:g} to {high:g}")


def elementary() -> Picture:
    """Draw relu, sigmoid and exp, the shapes of lesson 00."""
    functions: dict[str, Curve] = {
        "relu": lambda x: (x + abs(x)) / 2.0,
        "sigmoid": lambda x: (1.0 + math.tanh(x / 2.0)) / 2.0,
        "exp": math.exp,
    }
    return curves(functions, -3.0, 3.0)


def secants(f: Curve, x: float, steps: Sequence[float], low: float, high: float) -> Picture:
    """Draw a curve with a line through two of its points, which come closer from panel to panel.

    Args:
        f: The curve.
        x: Where the slope is wanted.
        steps: The distances of the second point, one for each panel.
        low: The left end of the panels.
        high: The right end.
    """
    figure, axes = canvas(len(steps), width=3.0 * len(steps), height=3.0)
    xs = _grid(low, high)
    slopes = [(f(x + step) - f(x)) / step for step in steps]
    values = [f(t) for t in xs]
    room = 0.15 * (max(values) - min(values))
    for ax, step, slope in zip(axes, steps, slopes, strict=True):
        ax.plot(xs, values, color=LINES[0], linewidth=2.0)
        ax.plot(xs, [f(x) + slope * (t - x) for t in xs], color=ACCENT, linewidth=1.4)
        ax.plot([x, x + step], [f(x), f(x + step)], "o", color=INK, markersize=5.5)
        ax.plot([x, x + step, x + step], [f(x), f(x), f(x + step)], ":", color=INK, linewidth=1.2)
        ax.set_ylim(min(values) - room, max(values) + room)
        ax.set_title(f"step {step:g}: slope {slope:.3f}")
        ax.set_xlabel("x")
    told = ", ".join(f"{slope:.3f}" for slope in slopes)
    return Picture(figure, f"a curve with secants at x = {x:g}; as the steps shrink, the slopes are {told}")


def sides(f: Curve, x: float, step: float, low: float, high: float) -> Picture:
    """Draw the forward and the central difference of a curve beside its tangent.

    Args:
        f: The curve.
        x: Where the slope is wanted.
        step: From x to the right, and for the central difference to the left as well.
        low: The left end of the panels.
        high: The right end.
    """
    figure, axes = canvas(2, width=7.6, height=3.2)
    xs = _grid(low, high)
    exact = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
    for ax, name, left in ((axes[0], "forward", x), (axes[1], "central", x - step)):
        slope = (f(x + step) - f(left)) / (x + step - left)
        ax.plot(xs, [f(t) for t in xs], color=LINES[0], linewidth=2.0)
        ax.plot(xs, [f(x) + exact * (t - x) for t in xs], "--", color=MUTED, linewidth=1.6, label="tangent")
        ax.plot(xs, [f(left) + slope * (t - left) for t in xs], color=ACCENT, linewidth=1.4, label=name)
        ax.plot([left, x + step], [f(left), f(x + step)], "o", color=INK, markersize=5.5)
        ax.set(title=f"{name}: slope {slope:.3f} (tangent {exact:.3f})", xlabel="x")
        ax.legend(loc="upper left", frameon=False)
    ends = [end for ax in axes for end in ax.get_ylim()]
    for ax in axes:
        ax.set_ylim(min(ends), max(ends))
    return Picture(figure, f"forward and central difference at x = {x:g} with step {step:g}, beside the tangent")


def partials(f: Callable[[float, float], float], x: float, y: float, low: float = -2.0, high: float = 2.0) -> Picture:
    """Draw the landscape of f seen from above, and the two cuts through it along its axes.

    Args:
        f: A function of two numbers.
        x: Where the cuts cross.
        y: Likewise.
        low: The lower end of both axes.
        high: The upper end.
    """
    figure, (above, along_x, along_y) = canvas(3, width=9.6, height=3.1)
    ts = _grid(low, high, 61)
    above.contour(ts, ts, [[f(a, b) for a in ts] for b in ts], levels=14, colors=MUTED, linewidths=0.8)
    above.axhline(y, color=LINES[0], linewidth=2.0)
    above.axvline(x, color=LINES[1], linewidth=2.0)
    above.plot([x], [y], "o", color=INK, markersize=6.0)
    above.set(title="f from above: lines of equal height", xlabel="x", ylabel="y", aspect="equal")
    cuts: list[tuple[Axes, Curve, float, str, str, str]] = [
        (along_x, lambda t: f(t, y), x, LINES[0], "x", f"y stays {y:g}"),
        (along_y, lambda t: f(x, t), y, LINES[1], "y", f"x stays {x:g}"),
    ]
    slopes = []
    for ax, cut, at, colour, name, title in cuts:
        slopes.append((cut(at + 1e-5) - cut(at - 1e-5)) / 2e-5)
        _cut(ax, cut, at, slopes[-1], colour, ts)
        ax.set(title=f"{title}: slope {slopes[-1]:.2f}", xlabel=name)
    told = f"{slopes[0]:.2f} along x and {slopes[1]:.2f} along y"
    return Picture(figure, f"a landscape and two cuts through the point ({x:g}, {y:g}), with slopes {told}")


def _cut(ax: Axes, f: Curve, at: float, slope: float, colour: str, ts: Sequence[float]) -> None:
    ax.plot(ts, [f(t) for t in ts], color=colour, linewidth=2.0)
    ends = [at - 0.8, at + 0.8]
    ax.plot(ends, [f(at) + slope * (t - at) for t in ends], color=ACCENT, linewidth=1.6)
    ax.plot([at], [f(at)], "o", color=INK, markersize=6.0)


def difference_errors(errors: Mapping[str, Sequence[float]], epsilons: Sequence[float]) -> Picture:
    """Draw the errors of numerical derivatives against the step, on logarithmic axes.

    Args:
        errors: For each method the absolute errors, one for each epsilon.
        epsilons: The steps.
    """
    figure, (ax,) = canvas(width=7.2, height=4.4)
    floor = 1e-16  # an error of exactly 0 has no place on a logarithmic axis
    for (name, values), colour, marker in zip(errors.items(), LINES, "os^Dv", strict=False):
        seen = [max(value, floor) for value in values]
        ax.loglog(epsilons, seen, marker=marker, color=colour, markersize=4.0, linewidth=1.4, label=name)
        best = min(range(len(seen)), key=seen.__getitem__)
        ax.plot(epsilons[best], seen[best], marker=marker, color=colour, markersize=10.0, fillstyle="none")
    ax.set(xlabel="epsilon, the length of the step", ylabel="error of the slope", ylim=(floor, None))
    ax.legend(loc="upper center", frameon=False)
    note: dict[str, Any] = {"transform": ax.transAxes, "fontsize": 9.5, "ha": "center", "va": "center"}
    ax.text(0.2, 0.36, "rounding: the two values\nagree in almost all digits", **note)
    ax.text(0.86, 0.32, "truncation: the\ncurve bends\nwithin the step", **note)
    return Picture(figure, f"errors of {' and '.join(errors)} against epsilon, falling and rising again")


# --- networks -------------------------------------------------------------------------------------------------


class _Frame(Protocol):
    @property
    def step(self) -> int: ...
    @property
    def loss(self) -> float: ...
    @property
    def correct(self) -> int: ...
    @property
    def network(self) -> Any: ...


def decision(
    predict: Callable[[list[tuple[float, float]]], Sequence[float]], points: Points, title: str = ""
) -> Picture:
    """Draw what a network says about every place of the square, and the points that it learns from.

    Args:
        predict: Returns the probability of class 1 for each of a list of places.
        points: The data.
        title: Stands above the picture.
    """
    figure, (ax,) = canvas(width=4.2, height=4.2)
    _boundary(ax, predict, points, cells=60)
    ax.set_title(title)
    return Picture(figure, f"decision boundary over the points {points.name}" + (f": {title}" if title else ""))


def film(frames: Sequence[_Frame], points: Points) -> Picture:
    """Draw moments of a training side by side.

    Args:
        frames: Each with step, loss, correct and network, as `minigrad.tour.train` yields them.
        points: The data.
    """
    figure, axes = canvas(len(frames), width=2.4 * len(frames), height=2.8)
    for ax, frame in zip(axes, frames, strict=True):
        _boundary(ax, frame.network.predict, points, cells=40)
        ax.set_title(f"step {frame.step}: {frame.correct} of {len(points)} right")
    told = ", ".join(f"{frame.correct} at step {frame.step}" for frame in frames)
    return Picture(figure, f"decision boundary while training; points on the right side: {told}")


def _boundary(ax: Axes, predict: Callable[[list[tuple[float, float]]], Any], points: Points, cells: int) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    ts = _grid(0.0, 1.0, cells)
    flat = [float(p) for p in predict([(a, b) for b in ts for a in ts])]
    heights = [flat[i : i + cells] for i in range(0, len(flat), cells)]
    colours = LinearSegmentedColormap.from_list("classes", [TINTS[0], "#ffffff", TINTS[1]])
    ax.imshow(heights, extent=(0, 1, 0, 1), origin="lower", cmap=colours, vmin=0, vmax=1, zorder=0)
    if min(flat) < 0.5 < max(flat):
        ax.contour(ts, ts, heights, levels=[0.5], colors=INK, linewidths=1.2, zorder=1)
    for label, marker in ((0, "o"), (1, "s")):
        own = [x for x, y in zip(points.X, points.y, strict=True) if y == label]
        xs, ys = [x for x, _ in own], [y for _, y in own]
        ax.scatter(xs, ys, s=18, marker=marker, color=CLASSES[label], edgecolors="white", linewidths=0.5, zorder=2)
    ax.grid(visible=False)
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 1], yticks=[0, 1], aspect="equal")


# --- diagrams -------------------------------------------------------------------------------------------------


def fold(name: str, start: str, values: Sequence[str]) -> Picture:
    """Draw how a fold from the left combines start with one value after the other.

    Args:
        name: Of the function that combines.
        start: The first ingredient.
        values: The elements of the list.
    """
    figure, (ax,) = canvas(width=1.6 * (len(values) + 2), height=1.7)
    _bare(ax)
    _box(ax, 0.0, 0.0, start, MUTED)
    for i, value in enumerate(values, start=1):
        _box(ax, 2.0 * i, 1.4, value, LINES[0])
        _box(ax, 2.0 * i, 0.0, name, ACCENT)
        _arrow(ax, (2.0 * i - 1.55, 0.0), (2.0 * i - 0.35, 0.0))
        _arrow(ax, (2.0 * i, 1.08), (2.0 * i, 0.36))
    end = 2.0 * len(values) + 2.0
    _arrow(ax, (end - 1.55, 0.0), (end - 0.55, 0.0))
    _box(ax, end, 0.0, "result", MUTED)
    ax.set(xlim=(-0.6, end + 0.6), ylim=(-0.45, 1.85))
    return Picture(figure, f"{name} combines {start} with {', then with '.join(values)}: the last result comes back")


def tree(root: Any) -> Picture:
    """Draw a tree of modules: boxes for modules, with the names of their parameters below.

    Args:
        root: A `minigrad.module.Module`.
    """
    nodes: list[tuple[float, int, str, list[str]]] = []
    lines: list[tuple[float, float, float, float]] = []
    width = _lay_out(root, "model", 0, 0.0, nodes, lines)
    depth = max(level for _, level, _, _ in nodes)
    figure, (ax,) = canvas(width=max(3.0, 2.1 * width), height=1.25 * (depth + 1) + 0.5)
    _bare(ax)
    for x, below, top, bottom in lines:
        ax.plot([x, below], [top, bottom], color=MUTED, linewidth=1.2, zorder=0)
    for place, level, name, parameters in nodes:
        _box(ax, place, -1.6 * level, name, LINES[0])
        ax.text(place, -1.6 * level - 0.38, ", ".join(parameters), ha="center", va="top", color=ACCENT, fontsize=9.0)
    ax.set(xlim=(-0.6, width - 0.4), ylim=(-1.6 * depth - 0.9, 0.5))
    return Picture(figure, f"a tree of {len(nodes)} modules: {', '.join(name for _, _, name, _ in nodes)}")


def _lay_out(module: Any, name: str, level: int, left: float, nodes: list[Any], lines: list[Any]) -> float:
    """Place a module above the middle of its children; return how wide it is, in columns."""
    width, middles = 0.0, []
    for child, below in module._modules.items():
        width += _lay_out(below, child, level + 1, left + width, nodes, lines)
        middles.append(nodes[-1][0])  # a module is noted after everything below it
    place = sum(middles) / len(middles) if middles else left
    nodes.append((place, level, name, list(module._parameters)))
    # A line begins below the names of the parameters, where there are some.
    top = -1.6 * level - (0.66 if module._parameters else 0.22)
    lines += [(place, below, top, -1.6 * (level + 1) + 0.22) for below in middles]
    return max(width, 1.0)


def _bare(ax: Axes) -> None:
    ax.grid(visible=False)
    ax.set_axis_off()


def _box(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    shape = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": colour, "linewidth": 1.6}
    ax.text(x, y, text, ha="center", va="center", bbox=shape)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    ax.annotate("", xy=end, xytext=start, arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 1.2})
