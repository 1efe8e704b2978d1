"""Pictures of functions, slopes, errors and decision boundaries, made with matplotlib.

Every function returns a `Picture`, which a notebook shows by itself when it is the last value of a cell. Nothing here
touches pyplot: there is no current figure, and nothing to close.
"""

from __future__ import annotations

import io
import logging
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from minigrad.draw.paper import fitting, image

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
    "partials",
    "secants",
    "sides",
    "whole_numbers",
]

INK, MUTED, ACCENT = "#24292f", "#8b949e", "#b3261e"
CLASSES = ("#c4621d", "#1f5fa8")
"""Colours of class 0 and class 1, which people with colour blindness tell apart as well."""
TINTS = ("#f6d3b3", "#86abd6")
"""Colours of the regions of class 0 and class 1: light and dark, so that print in grey keeps them apart."""
LINES = ("#1f5fa8", "#c4621d", "#2e7d4f", "#7828d2", "#b3261e")

_DPI = 120
_LEAST = 0.65  # of its width is left of a picture at least, where a page is narrow: its letters are large
_PAPER = "box-sizing:border-box;padding:8px;border-radius:8px;background-color:#ffffff"
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
        caption: The picture in words: for a terminal, and for people who cannot see it.

    >>> minigrad.draw.elementary()
    Picture: the graphs of relu, sigmoid, exp for x from -3 to 3
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

    def _repr_html_(self) -> str:
        # The lessons speak of black lines and white places: in a dark page, too, the picture lies on light paper.
        style = f"{fitting(self.figure.get_figwidth() * _DPI, _LEAST)};{_PAPER}"
        return image("image/png", self.png(), self.caption, style)

    def __repr__(self) -> str:
        return f"Picture: {self.caption}"


def canvas(columns: int = 1, *, rows: int = 1, width: float = 6.0, height: float = 3.4) -> tuple[Figure, list[Axes]]:
    """Return an empty figure in the course's style, and its axes from left to right, row by row.

    Args:
        columns: How many axes stand side by side.
        rows: How many stand below each other.
        width: Of the whole figure, in inches.
        height: Likewise.
    """
    if sys.platform == "emscripten":  # a browser keeps no list of fonts: before each first picture it would say so
        logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for ax in axes:
        ax.set_axisbelow(True)
    return figure, axes


def whole_numbers(ax: Axes) -> None:
    """Label whole numbers only from left to right: no half epoch.

    >>> from minigrad.draw.plots import canvas, whole_numbers
    >>> figure, (ax,) = canvas()
    >>> _ = ax.plot([1, 2, 3], [0.3, 0.2, 0.1])
    >>> whole_numbers(ax)
    >>> [float(x) for x in ax.get_xticks()]
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _grid(low: float, high: float, n: int = 301) -> list[float]:
    return [low + (high - low) * i / (n - 1) for i in range(n)]


def curves(
    functions: Mapping[str, Curve], low: float = -4.0, high: float = 4.0, variable: str = "x", *, level: bool = False
) -> Picture:
    """Draw functions of one number side by side, each under its name.

    Args:
        functions: By their names.
        low: The left end of the panels.
        high: The right end.
        variable: The name of the number.
        level: Whether equal values stand at equal heights in all panels: where the functions are to be compared.

    >>> print(minigrad.draw.curves({"x squared": lambda x: x * x}))
    Picture: the graphs of x squared for x from -4 to 4
    """
    figure, axes = canvas(len(functions), width=2.6 * len(functions), height=2.5)
    xs = _grid(low, high)
    for ax, (name, f), colour in zip(axes, functions.items(), LINES * len(functions), strict=False):
        ax.axhline(0.0, color=MUTED, linewidth=0.8)
        ax.plot(xs, [f(x) for x in xs], color=colour, linewidth=2.0)
        ax.set_title(name)
        ax.set_xlabel(variable)
    if level:
        _level(axes)
    return Picture(figure, f"the graphs of {', '.join(functions)} for {variable} from {low:g} to {high:g}")


def elementary() -> Picture:
    """Draw relu, sigmoid and exp, the shapes of lesson 00.

    >>> print(minigrad.draw.elementary())
    Picture: the graphs of relu, sigmoid, exp for x from -3 to 3
    """
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

    >>> print(minigrad.draw.secants(lambda x: x * x, 1.0, [1.0, 0.5], low=0.0, high=2.5))
    Picture: a curve with secants at x = 1; as the steps shrink, the slopes are 3.000, 2.500
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

    >>> print(minigrad.draw.sides(lambda x: x * x, 1.0, 0.5, low=0.0, high=2.0))
    Picture: forward and central difference at x = 1 with step 0.5, beside the tangent
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
    _level(axes)
    return Picture(figure, f"forward and central difference at x = {x:g} with step {step:g}, beside the tangent")


def _level(axes: Sequence[Axes]) -> None:
    """Let equal values stand at equal heights."""
    ends = [end for ax in axes for end in ax.get_ylim()]
    for ax in axes:
        ax.set_ylim(min(ends), max(ends))


def partials(f: Callable[[float, float], float], x: float, y: float, low: float = -2.0, high: float = 2.0) -> Picture:
    """Draw the landscape of f seen from above, and the two cuts through it along its axes.

    Args:
        f: A function of two numbers.
        x: Where the cuts cross.
        y: Likewise.
        low: The lower end of both axes.
        high: The upper end.

    >>> print(minigrad.draw.partials(lambda x, y: x * y, 1.0, 0.5))
    Picture: a landscape and two cuts through the point (1, 0.5), with slopes 0.50 along x and 1.00 along y
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

    Raises:
        ValueError: If a method has not one error for each epsilon, or there are none.

    >>> print(minigrad.draw.difference_errors({"forward": [1e-2, 1e-3]}, [1e-2, 1e-3]))
    Picture: errors of forward against epsilon, falling and rising again
    """
    if not errors:
        raise ValueError("draw.difference_errors: there are no errors to draw")
    for name, values in errors.items():
        if not len(values) == len(epsilons) > 0:
            raise ValueError(f"draw.difference_errors: {len(values)} errors of {name!r} and {len(epsilons)} epsilons; "
                             "it takes one error for each epsilon")  # fmt: skip
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
    """Draw a network's answer at every place of the square, and the points that it learns from.

    Args:
        predict: Returns the probability of class 1 for each of a list of places.
        points: The data.
        title: Stands above the picture.

    >>> print(minigrad.draw.decision(lambda places: [0.5 for _ in places], minigrad.datasets.simple(10)))
    Picture: decision boundary over the points simple
    """
    figure, (ax,) = canvas(width=4.2, height=4.2)
    _boundary(ax, predict, points, cells=60)
    ax.set_title(title)
    return Picture(figure, f"decision boundary over the points {points.name}" + (f": {title}" if title else ""))


def film(frames: Sequence[_Frame], points: Points) -> Picture:
    """Draw moments of a training side by side.

    Args:
        frames: Each with step, loss, correct and network, as `minigrad.draw.tour.train` yields them.
        points: The data.

    Raises:
        ValueError: If there is no frame.

    >>> from minigrad.draw import tour
    >>> points = minigrad.datasets.simple(10)
    >>> print(minigrad.draw.film(list(tour.train(points, steps=20, frames=2)), points))
    Picture: decision boundary while training; points on the right side: 6 at step 0, 10 at step 10, 10
    at step 20
    """
    if not frames:
        raise ValueError("draw.film: there is no moment to draw; keep some with draw.snapshot while you train")
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
        style: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.5, "zorder": 2, "clip_on": False}
        ax.scatter(xs, ys, s=18, marker=marker, color=CLASSES[label], **style)
    ax.grid(visible=False)
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 1], yticks=[0, 1], aspect="equal")
