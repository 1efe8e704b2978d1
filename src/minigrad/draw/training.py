"""Pictures of training: signals through layers, paths downhill, and learning curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from minigrad.draw.plots import ACCENT, INK, LINES, MUTED, Picture, canvas, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float]

_STYLES = ("-", "--", "-.", ":", (0, (1, 1)))


def signals(scales: Mapping[str, Sequence[float]], title: str = "") -> Picture:
    """Draw the size of a signal after each layer, on a logarithmic axis.

    Args:
        scales: For each way to begin, by its name, the sizes after layer 1, 2, ... What is 0 or infinite is left out.
        title: Stands above the picture.

    >>> print(minigrad.draw.signals({"small": [0.1, 0.01], "right": [1.0, 1.0]}))
    Picture: the size of a signal after each of 2 layers: small ends at 0.01, right ends at 1
    """
    figure, (ax,) = canvas(width=6.4, height=3.6)
    for number, (name, sizes) in enumerate(scales.items()):
        shown = [size if 0.0 < size < math.inf else math.nan for size in sizes]
        colour, style = LINES[number % len(LINES)], _STYLES[number % len(_STYLES)]
        ax.plot(range(1, len(sizes) + 1), shown, color=colour, linestyle=style, linewidth=2.0, label=name)
    ax.set(yscale="log", xlabel="layer", ylabel="root mean square", title=title)
    whole_numbers(ax)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    count = max(map(len, scales.values()))
    told = ", ".join(f"{name} ends at {sizes[-1]:.3g}" for name, sizes in scales.items())
    return Picture(figure, f"the size of a signal after each of {count} layers: {told}")


def descents(
    f: Callable[[float, float], float],
    paths: Mapping[str, Sequence[Point]],
    low: Point = (-2.0, -2.0),
    high: Point = (2.0, 2.0),
) -> Picture:
    """Draw paths over the lines of equal height of a function, a panel for each.

    Args:
        f: A function of two numbers, whose lowest point is at (0, 0).
        paths: The points of each path, by the name of its optimizer. What lies outside is not drawn.
        low: The lower left corner of the panels.
        high: The upper right corner.

    >>> print(minigrad.draw.descents(lambda x, y: x * x + y * y, {"SGD": [(1.0, 1.0), (0.5, 0.5)]}))
    Picture: paths downhill: SGD, 1 step, ends at height 0.5
    """
    figure, axes = canvas(len(paths), width=3.1 * len(paths), height=3.1)
    xs, ys = ([a + (b - a) * i / 60 for i in range(61)] for a, b in zip(low, high, strict=True))
    heights = [[math.sqrt(max(f(x, y), 0.0)) for x in xs] for y in ys]
    told = []
    for ax, (name, path) in zip(axes, paths.items(), strict=True):
        ax.contour(xs, ys, heights, levels=12, colors=MUTED, linewidths=0.7)
        ax.plot([x for x, _ in path], [y for _, y in path], "o-", color=LINES[0], markersize=2.6, linewidth=1.2)
        ax.plot([0.0], [0.0], "+", color=ACCENT, markersize=11.0, markeredgewidth=2.0)
        end = f(*path[-1])
        ax.set(title=f"{name}\nheight {end:.2g}", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        steps = len(path) - 1
        told.append(f"{name}, {steps} step{'s' * (steps != 1)}, ends at height {end:.3g}")
    return Picture(figure, f"paths downhill: {'; '.join(told)}")


def learning_curves(
    runs: Mapping[str, tuple[Sequence[float], Sequence[float]]], columns: int = 4, top: float = 4.0
) -> Picture:
    """Draw the loss on the training set and on the test set of several trainings, a panel for each.

    Args:
        runs: By name, the losses on the training set and those on the test set, measured at the same moments.
        columns: How many panels stand side by side.
        top: The upper end of all panels. What lies above, or is no number, is drawn at the end.

    >>> print(minigrad.draw.learning_curves({"A": ([2.0, 1.0], [2.1, 1.5])}))
    Picture: losses on training and test set: A from 2.00 and 2.10 to 1.00 and 1.50
    """
    rows = -(-len(runs) // columns)
    columns = min(columns, len(runs))
    figure, axes = canvas(columns, rows=rows, width=2.5 * columns, height=2.3 * rows)
    for ax in axes[len(runs) :]:
        ax.set_axis_off()
    told = []
    for place, (ax, (name, (train, test))) in enumerate(zip(axes, runs.items(), strict=False)):
        _losses(ax, train, top, LINES[0], "-", "training")
        _losses(ax, test, top, LINES[1], "--", "test")
        ax.set(title=name, ylim=(0.0, 1.03 * top), xticks=range(2, len(train) + 1, 2))
        ax.set_xlabel("moment" if place >= len(runs) - columns else "")
        ax.set_ylabel("loss" if place % columns == 0 else "")
        told.append(f"{name} from {train[0]:.2f} and {test[0]:.2f} to {train[-1]:.2f} and {test[-1]:.2f}")
    axes[0].legend(loc="upper right", labelcolor=INK, frameon=False)
    return Picture(figure, f"losses on training and test set: {'; '.join(told)}")


def _losses(ax: Axes, losses: Sequence[float], top: float, colour: str, style: str, name: str) -> None:
    shown = [min(loss, top) if loss == loss else top for loss in losses]
    ax.plot(range(1, len(losses) + 1), shown, style, color=colour, linewidth=1.8, label=name)
