"""Pictures of a network of scalars: its boundary while it learns, its loss, and how ReLU folds the plane."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minigrad.draw.plots import CLASSES, INK, LINES, TINTS, Picture, canvas, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from minigrad.datasets import Points
    from minigrad.mlp import MLP, Epoch

Line = tuple[float, float, float]
"""The numbers w1, w2 and b of w1 x1 + w2 x2 + b."""


class Numbers:
    """A copy of a network's numbers, which can be asked for thousands of places at once.

    Args:
        model: The network. Its parameters may go on changing.
    """

    def __init__(self, model: MLP) -> None:
        import numpy as np

        layers = [getattr(model, f"layer{k}") for k in range(model.depth)]
        self._weights = [np.array([[p.value.data for p in row] for row in layer.weights]) for layer in layers]
        self._biases = [np.array([p.value.data for p in layer.biases]) for layer in layers]

    def predict(self, places: Any) -> Any:
        """Return the probability of class 1 at each place.

        Args:
            places: An array of shape (n, 2).
        """
        import numpy as np

        values = places
        for k, (weights, biases) in enumerate(zip(self._weights, self._biases, strict=True)):
            values = (values if k == 0 else np.maximum(values, 0.0)) @ weights + biases
        return 0.5 * (1.0 + np.tanh(0.5 * values[:, 0]))  # the sigmoid, without overflow


@dataclass(frozen=True)
class Moment:
    """A network at one moment of its training, as `minigrad.draw.film` shows it.

    Attributes:
        step: The number of the epoch.
        loss: The mean loss in it.
        correct: How many points were on the right side.
        network: The network's numbers at that time.
    """

    step: int
    loss: float
    correct: int
    network: Numbers


def snapshot(model: MLP, epoch: Epoch) -> Moment:
    """Keep a network as it is now, while training goes on.

    Args:
        model: The network.
        epoch: What the training has just said of it.
    """
    return Moment(epoch.number, epoch.loss, epoch.correct, Numbers(model))


def loss_curve(losses: Sequence[float], title: str = "") -> Picture:
    """Draw the loss against the number of the epoch.

    Args:
        losses: Numbers: a list, an array or a tensor of one axis.
        title: Stands above the picture.

    Raises:
        TypeError: If they are no numbers.
        ValueError: If there is no loss yet.

    >>> print(minigrad.draw.loss_curve([1.0, 0.5, 0.25]))
    Picture: loss over 3 epochs, from 1.000 to 0.250
    """
    try:
        losses = [float(x) for x in losses]
    except (TypeError, ValueError):
        raise TypeError(f"loss_curve: takes one number for each epoch, not {reprlib.repr(losses)}") from None
    if not losses:
        raise ValueError("loss_curve: there is no loss to draw; has the cell with the training run to its end?")
    figure, (ax,) = canvas(width=5.2, height=3.0)
    ax.plot(range(1, len(losses) + 1), losses, color=LINES[0], linewidth=1.8)
    ax.set(xlabel="epoch", ylabel="mean loss", title=title)
    whole_numbers(ax)
    ax.set_ylim(bottom=0.0)
    return Picture(figure, f"loss over {len(losses)} epochs, from {losses[0]:.3f} to {losses[-1]:.3f}")


def folding(points: Points, first: Line, second: Line, output: Line) -> Picture:
    """Draw how two units with ReLU flatten the plane onto two axes, where one straight line separates the classes.

    Args:
        points: The points and their classes.
        first: The unit h1 = relu(w1 x1 + w2 x2 + b).
        second: The unit h2, likewise.
        output: The logit w1 h1 + w2 h2 + b.
    """
    figure, (before, folded, after) = canvas(3, width=10.2, height=3.6)
    for ax in (before, folded, after):
        ax.grid(visible=False)
    for unit, colour, name in ((first, LINES[2], "h1 > 0"), (second, LINES[3], "h2 > 0")):
        _shade(before, unit, colour, name, points)
    _scatter(before, points, points.X)
    before.set(title="two units, a line each", xlabel="x1", ylabel="x2", xlim=(0, 1), ylim=(0, 1))
    hidden = [(_relu(first, x), _relu(second, x)) for x in points.X]
    _separate(folded, output, hidden)
    _scatter(folded, points, hidden)
    folded.set(title="the same points after ReLU", xlabel="h1", ylabel="h2")
    _bent(after, first, second, output)
    _scatter(after, points, points.X)
    after.set(title="that line in the first picture", xlabel="x1", ylabel="x2", xlim=(0, 1), ylim=(0, 1))
    on_axes = sum(h1 == 0.0 or h2 == 0.0 for h1, h2 in hidden)
    caption = f"two ReLU units move {on_axes} of {len(points)} points onto the axes h1 and h2"
    return Picture(figure, f"{caption}; a straight line there is a bent boundary in the plane of the points")


def _value(line: Line, x: tuple[float, float]) -> float:
    return line[0] * x[0] + line[1] * x[1] + line[2]


def _relu(line: Line, x: tuple[float, float]) -> float:
    return max(0.0, _value(line, x))


def _scatter(ax: Axes, points: Points, places: Sequence[tuple[float, float]]) -> None:
    for label, marker in ((0, "o"), (1, "s")):
        own = [place for place, y in zip(places, points.y, strict=True) if y == label]
        ax.scatter(
            [x for x, _ in own], [y for _, y in own], s=22, marker=marker, color=CLASSES[label],
            edgecolors="white", linewidths=0.5, zorder=3, clip_on=False,
        )  # fmt: skip


def _raster(height: Any) -> tuple[list[float], list[list[float]]]:
    ts = [i / 80 for i in range(81)]
    return ts, [[height((x1, x2)) for x1 in ts] for x2 in ts]


def _shade(ax: Axes, line: Line, colour: str, name: str, points: Points) -> None:
    """Shade the side of a line on which its unit is not 0, and name it there, where the name hides no point."""
    ts, heights = _raster(lambda x: _value(line, x))
    if max(map(max, heights)) <= 0.0:
        return
    ax.contourf(ts, ts, heights, levels=[0.0, 1e9], colors=[colour], alpha=0.18, zorder=0)
    if min(map(min, heights)) < 0.0:
        ax.contour(ts, ts, heights, levels=[0.0], colors=[colour], linewidths=1.6, zorder=1)
    inside = [(x1, x2) for x1 in ts for x2 in ts if _value(line, (x1, x2)) > 0.0]
    x1, x2 = max(inside, key=lambda place: _room(place, line, points))
    paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "boxstyle": "round,pad=0.25"}
    ax.text(x1, x2, name, color=colour, ha="center", va="center", fontsize=11, fontweight="bold", bbox=paper, zorder=4)


def _room(place: tuple[float, float], line: Line, points: Points) -> float:
    """Return the distance of a name from points, borders and the line. A name is wider than high."""
    x1, x2 = place
    away = [max(abs(x1 - a) / 2.2, abs(x2 - b)) for a, b in points.X]
    steep = abs(line[0]) * 2.2 + abs(line[1]) or 1.0
    return min(*away, x1 / 2.2, (1.0 - x1) / 2.2, x2, 1.0 - x2, _value(line, place) / steep)


def _separate(ax: Axes, output: Line, hidden: Sequence[tuple[float, float]]) -> None:
    """Draw the axes h1 and h2, and the straight line where the logit is 0."""
    end = 1.1 * max(0.1, *(h for pair in hidden for h in pair))
    ax.axhline(0.0, color=LINES[2], linewidth=1.6, zorder=1)
    ax.axvline(0.0, color=LINES[3], linewidth=1.6, zorder=1)
    if output[1]:
        ax.plot([0.0, end], [-(output[2] + output[0] * h) / output[1] for h in (0.0, end)], color=INK, zorder=2)
    ax.set(xlim=(-0.06 * end, end), ylim=(-0.06 * end, end), aspect="equal")


def _bent(ax: Axes, first: Line, second: Line, output: Line) -> None:
    """Colour the plane by the sign of the logit, and draw where it is 0."""
    ts, heights = _raster(lambda x: _value(output, (_relu(first, x), _relu(second, x))))
    ax.contourf(ts, ts, heights, levels=[-1e9, 0.0, 1e9], colors=list(TINTS), zorder=0)
    if min(map(min, heights)) < 0.0 < max(map(max, heights)):
        ax.contour(ts, ts, heights, levels=[0.0], colors=INK, linewidths=1.4, zorder=1)
