"""Pictures of what was measured: memory while a function runs, and seconds against the bytes that were moved.

draw.memory_over_time({"all kept": [1, 2, 3, 2, 1]}, "tensors")
draw.bytes_and_seconds({"gelu": [(168e6, 0.020), (16e6, 0.004)]}, bandwidth=10e9)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from minigrad.draw.plots import INK, LINES, Picture, canvas, whole_numbers

_STYLES = "-", "--", ":", "-."
_MARKERS = "os^Dv"


def memory_over_time(series: Mapping[str, Sequence[float]], unit: str = "bytes") -> Picture:
    """Draw how much memory was taken while something ran, step by step, one line for each run.

    Args:
        series: For each name what was taken after each step. Runs may have different numbers of steps.
        unit: In which it was counted.

    Raises:
        ValueError: If there is nothing to draw.

    >>> print(minigrad.draw.memory_over_time({"kept": [1, 2, 3, 2], "computed again": [1, 1, 2]}, "tensors"))
    Picture: memory over time in tensors; kept: at most 3; computed again: at most 2
    """
    if not series or not all(len(taken) for taken in series.values()):
        raise ValueError("draw.memory_over_time: there is nothing to draw; give steps for at least one run")
    figure, (ax,) = canvas(width=7.2, height=3.4)
    told = []
    for i, (name, taken) in enumerate(series.items()):
        told.append(f"{name}: at most {max(taken):.3g}")
        style = _STYLES[i % len(_STYLES)]
        ax.plot(range(len(taken)), taken, style, color=LINES[i % len(LINES)], linewidth=1.6, label=told[-1])
    ax.set(xlabel="step", ylabel=f"memory, in {unit}")
    whole_numbers(ax)
    ax.set_ylim(bottom=0.0)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return Picture(figure, f"memory over time in {unit}; {'; '.join(told)}")


def bytes_and_seconds(measured: Mapping[str, Sequence[tuple[float, float]]], bandwidth: float | None = None) -> Picture:
    """Draw seconds against bytes moved, on logarithmic axes, with the line of what memory alone would take.

    Args:
        measured: For each name one or several ways to compute the same: the bytes that are read and written, and the
            seconds. Ways of one name are joined by a line, in their order.
        bandwidth: Of the memory, in bytes a second.

    Raises:
        ValueError: If there is nothing to draw, or a number is not positive.

    >>> print(minigrad.draw.bytes_and_seconds({"gelu": [(168e6, 0.02), (16e6, 0.004)]}, bandwidth=10e9))
    Picture: seconds against bytes; gelu: 168 MB in 20 ms, 16 MB in 4 ms; memory moves 10 GB/s
    """
    pairs = [pair for each in measured.values() for pair in each]
    if not pairs or min(min(pair) for pair in pairs) <= 0.0:
        raise ValueError("draw.bytes_and_seconds: give bytes and seconds above 0 for at least one name")
    figure, (ax,) = canvas(width=7.2, height=4.4)
    told = []
    for i, (name, ways) in enumerate(measured.items()):
        sizes, seconds = [size / 1e6 for size, _ in ways], [1e3 * time for _, time in ways]
        style: dict[str, Any] = {"marker": _MARKERS[i % len(_MARKERS)], "color": LINES[i % len(LINES)]}
        ax.plot(sizes, seconds, "-", linewidth=1.2, markersize=6.0, label=name, **style)
        told.append(f"{name}: {', '.join(f'{a:.3g} MB in {b:.3g} ms' for a, b in zip(sizes, seconds, strict=True))}")
    if bandwidth is not None:
        ends = [min(size for size, _ in pairs) / 2.0, max(size for size, _ in pairs) * 2.0]
        line = [1e3 * size / bandwidth for size in ends]
        ax.plot([size / 1e6 for size in ends], line, "--", color=INK, linewidth=1.4,
                label=f"memory alone, {bandwidth / 1e9:.3g} GB/s")  # fmt: skip
        told.append(f"memory moves {bandwidth / 1e9:.3g} GB/s")
    ax.set(xscale="log", yscale="log", xlabel="megabytes read and written", ylabel="milliseconds")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return Picture(figure, f"seconds against bytes; {'; '.join(told)}")
