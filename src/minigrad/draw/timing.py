"""Pictures of measured times: against the size, with memory's own limit, and run by run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, quantiles
from typing import TYPE_CHECKING, Any

from minigrad.draw.plots import ACCENT, INK, LINES, MUTED, Picture, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["runs", "timings"]

_MARKERS = "os^Dv"
_TICKS = 8  # sizes that can be written below the axis
Measured = float | Sequence[float]


def timings(
    sizes: Sequence[int],
    seconds: Mapping[str, Sequence[Measured]],
    *,
    bytes_per_element: float | None = None,
    bandwidth: float | None = None,
    axis: str = "elements",
) -> Picture:
    """Draw times against sizes on logarithmic axes, with the line below which memory lets nobody come.

    Args:
        sizes: How many elements, from small to large.
        seconds: For each name one entry for each size: a time, or the times of repeated runs, of which the median is
            drawn, with a bar from the lower quartile to the upper one.
        bytes_per_element: How many bytes have to be read and written for an element. With bandwidth it gives the line.
        bandwidth: Of the memory, in bytes a second.
        axis: What the sizes count.

    Raises:
        ValueError: If there is nothing to draw, a series has another length than sizes, or a time is not positive.

    >>> print(minigrad.draw.timings([10, 100], {"loop": [1e-5, 1e-4]}))
    Picture: times of loop for 10 to 100 (elements)
    """
    series = {name: [_quartiles(each) for each in given] for name, given in seconds.items()}
    _check(sizes, series)
    figure, (ax,) = canvas(width=7.2, height=4.8)
    for i, (name, found) in enumerate(series.items()):
        low, middle, high = (list(values) for values in zip(*found, strict=True))
        colour, marker = LINES[i % len(LINES)], _MARKERS[i % len(_MARKERS)]
        bars = [[m - a for a, m in zip(low, middle, strict=True)], [b - m for m, b in zip(middle, high, strict=True)]]
        style: dict[str, Any] = {"marker": marker, "color": colour, "markersize": 5.0, "linewidth": 1.5, "capsize": 3}
        ax.errorbar(sizes, middle, yerr=bars, label=name, **style)
    told = f"times of {', '.join(series)} for {_range(sizes)} ({axis})"
    if bytes_per_element is not None and bandwidth is not None:
        _bandwidth_line(ax, sizes, bytes_per_element, bandwidth)
        told += f", above what memory needs at {bandwidth / 1e9:.3g} GB/s"
    ax.set(xscale="log", yscale="log", xlabel=axis, ylabel="seconds")
    if len(sizes) <= _TICKS:
        ax.set_xticks(list(sizes), [_short(size) for size in sizes])
        ax.set_xticks([], minor=True)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)  # where no line runs, whatever was measured
    return Picture(figure, told)


def _check(sizes: Sequence[int], series: Mapping[str, Sequence[Sequence[float]]]) -> None:
    if not series or not len(sizes):
        raise ValueError("draw.timings: there is nothing to draw; give sizes, and times under at least one name")
    for name, found in series.items():
        if len(found) != len(sizes):
            raise ValueError(f"draw.timings: {name!r} has {len(found)} entries for {len(sizes)} sizes")
        if not all(low > 0.0 for low, _, _ in found):
            raise ValueError(f"draw.timings: {name!r} has a time that is not above 0, which logarithmic axes need")


def _quartiles(measured: Measured) -> tuple[float, float, float]:
    """Return lower quartile, median and upper quartile of one or several times."""
    times = [float(measured)] if isinstance(measured, (int, float)) else [float(each) for each in measured]
    if not times:
        raise ValueError("draw.timings: one of the entries is an empty list of times")
    if len(times) == 1:
        return times[0], times[0], times[0]
    low, middle, high = quantiles(times, n=4, method="inclusive")
    return low, middle, high


def _bandwidth_line(ax: Axes, sizes: Sequence[int], bytes_per_element: float, bandwidth: float) -> None:
    needed = [bytes_per_element * size / bandwidth for size in sizes]
    name = f"memory: {bytes_per_element:g} bytes an element, {bandwidth / 1e9:.3g} GB/s"
    ax.plot(sizes, needed, linestyle="--", color=INK, linewidth=1.4, label=name)


def _short(size: int) -> str:
    """Return a number such as 4,000,000 as 4M."""
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if size >= unit:
            return f"{size / unit:g}{name}"
    return str(size)


def _range(sizes: Sequence[int]) -> str:
    return f"{min(sizes):,}" if len(sizes) == 1 else f"{min(sizes):,} to {max(sizes):,}"


def runs(seconds: Mapping[str, Sequence[float]]) -> Picture:
    """Draw repeated runs of the same work in their order, each series beside the next, with median, quartiles and mean.

    Args:
        seconds: For each name the times of its runs.

    Raises:
        ValueError: If there are no runs, or a time is not positive.

    >>> print(minigrad.draw.runs({"loop": [1.0, 1.1, 0.9]}))
    Picture: repeated runs; loop: median 1,000,000, mean 1,000,000 microseconds
    """
    if not seconds or not all(len(times) > 1 and min(times) > 0.0 for times in seconds.values()):
        raise ValueError("draw.runs: give at least two times under each name, all of them above 0")
    from matplotlib.ticker import LogFormatter, MaxNLocator

    class Plain(LogFormatter):
        """Puts labels where the others would stand, without exponents."""

        def __call__(self, x: float, pos: int | None = None) -> str:
            return _plain(x) if super().__call__(x, pos) else ""

    figure, axes = canvas(len(seconds), width=4.2 * len(seconds), height=3.3)
    told = []
    for ax, (name, times) in zip(axes, seconds.items(), strict=True):
        micro = [time * 1e6 for time in times]
        ax.plot(range(1, len(micro) + 1), micro, "o", color=LINES[0], markersize=3.0)
        low, middle, high = _quartiles(micro)
        ax.axhspan(low, high, color=MUTED, alpha=0.35, linewidth=0.0, label="half of all runs")
        ax.axhline(middle, color=INK, linewidth=1.5, label=f"median {_plain(middle)}")
        ax.axhline(fmean(micro), color=ACCENT, linewidth=1.5, linestyle="--", label=f"mean {_plain(fmean(micro))}")
        ax.set(yscale="log", title=name, xlabel="run", ylabel="microseconds")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(min(micro) / 1.3, max(micro) * 10 ** (0.45 * max(1.0, math.log10(max(micro) / min(micro)))))
        for formatter in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
            formatter(Plain(labelOnlyBase=False, minor_thresholds=(1.0, 0.4)))
        ax.legend(loc="upper right", frameon=False, fontsize=8.5)
        told.append(f"{name}: median {_plain(middle)}, mean {_plain(fmean(micro))} microseconds")
    return Picture(figure, f"repeated runs; {'; '.join(told)}")


def _plain(number: float) -> str:
    """Return a number with three digits that count, such as 1,230,000 or 0.0123."""
    return f"{float(f'{number:.3g}'):,.15g}"
