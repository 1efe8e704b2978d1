"""Diagrams of boxes and arrows, made with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from minigrad.draw.plots import ACCENT, INK, LINES, MUTED, Picture, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["fold", "tree"]


def fold(name: str, start: str, values: Sequence[str]) -> Picture:
    """Draw how a fold from the left combines start with one value after the other.

    Args:
        name: Of the function that combines.
        start: The first ingredient.
        values: The elements of the list.

    >>> print(minigrad.draw.fold("add", "0", ["a", "b"]))
    Picture: add combines 0 with a, then with b: the last result comes back
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


def tree(root: object) -> Picture:
    """Draw a tree of modules: boxes for modules, with the names of their parameters below.

    Args:
        root: A `minigrad.module.Module`.

    >>> network = minigrad.module.Module()
    >>> network.layer = minigrad.module.Module()
    >>> print(minigrad.draw.tree(network))
    Picture: a tree of 2 modules: layer, model
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
    """Place a module above the middle of its children, and return its width in columns."""
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
