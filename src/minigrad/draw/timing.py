"""Pictures of measured times: against the size, with memory's own limit, run by run, and as speeds under a roof."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, quantiles
from typing import TYPE_CHECKING, Any

from minigrad.draw.plots import ACCENT, INK, LINES, MUTED, Picture, canvas, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    from matplotlib.ticker import LogFormatter

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
        whole_numbers(ax)
        ax.set_ylim(min(micro) / 1.3, max(micro) * 10 ** (0.45 * max(1.0, math.log10(max(micro) / min(micro)))))
        for formatter in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
            formatter(Plain(labelOnlyBase=False, minor_thresholds=(1.0, 0.4)))
        ax.legend(loc="upper right", frameon=False, fontsize=8.5)
        told.append(f"{name}: median {_plain(middle)}, mean {_plain(fmean(micro))} microseconds")
    return Picture(figure, f"repeated runs; {'; '.join(told)}")


def roofline(
    peak: float, bandwidth: float, kernels: Mapping[str, tuple[float, float | None]], *, machine: str = ""
) -> Picture:
    """Draw how fast kernels are, against the operations that they do for each byte, under the roof of a machine.

    No kernel is faster than the machine computes, nor than its bytes arrive: the roof is the lower one of `peak` and
    operations per byte times `bandwidth`. Left of the ridge, where both are equal, memory is the limit.

    Args:
        peak: Operations on floats a second, at most, in FLOP/s.
        bandwidth: Of the memory, in bytes a second.
        kernels: For each name the operations for each byte that is moved, and the measured FLOP/s; None instead of
            these draws a hollow mark on the roof, which is the most that the kernel can reach.
        machine: Its name, for the title.

    Raises:
        ValueError: If there are no kernels, or a number is not above 0.

    Source: Samuel Williams, Andrew Waterman and David Patterson, Roofline: an insightful visual performance model for
    multicore architectures, Communications of the ACM 52 (4), 2009.

    >>> print(minigrad.draw.roofline(1e11, 1e10, {"add": (1 / 24, 3e8), "product": (50.0, None)}))
    Picture: roof of 100 GFLOP/s and 10 GB/s; add: 0.0417 operations a byte, 0.3 of at most 0.417 GFLOP/s; product: 50 \
operations a byte, at most 100 GFLOP/s
    """
    numbers = [peak, bandwidth, *(each for pair in kernels.values() for each in pair if each is not None)]
    if not kernels or not all(0.0 < number < math.inf for number in numbers):
        raise ValueError("draw.roofline: give at least one kernel, and finite numbers above 0")
    figure, (ax,) = canvas(width=7.2, height=4.8)
    ridge = peak / bandwidth
    intensities = [intensity for intensity, _ in kernels.values()]
    left, right = min([*intensities, ridge]) / 2.5, max([*intensities, ridge]) * 2.5
    ax.plot([left, ridge, right], [left * bandwidth / 1e9, peak / 1e9, peak / 1e9], color=INK, linewidth=1.8)
    ax.axvline(ridge, color=MUTED, linestyle=":", linewidth=1.2)
    told = []
    for i, (name, (intensity, speed)) in enumerate(kernels.items()):
        most = min(peak, intensity * bandwidth)
        colour, marker = LINES[i % len(LINES)], _MARKERS[i % len(_MARKERS)]
        reached = most if speed is None else speed
        face = "none" if speed is None else colour
        style: dict[str, Any] = {"marker": marker, "color": colour, "markerfacecolor": face, "markersize": 8.0}
        ax.plot([intensity], [reached / 1e9], linestyle="none", label=name, **style)
        ax.plot([intensity, intensity], [reached / 1e9, most / 1e9], color=colour, linewidth=1.0, alpha=0.6)
        limit = f"at most {most / 1e9:.3g} GFLOP/s"
        told.append(
            f"{name}: {intensity:.3g} operations a byte, " + (f"{reached / 1e9:.3g} of " if speed else "") + limit
        )
    ax.set(xscale="log", yscale="log", xlabel="operations for each byte", ylabel="GFLOP/s", title=machine)
    ax.set_xlim(left, right)
    ax.annotate(
        "memory is the limit",
        (ridge, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(-6, 0),
        ha="right",
        textcoords="offset points",
        color=INK,
        fontsize=9,
    )
    ax.annotate(
        "arithmetic is",
        (ridge, 0.02),
        xycoords=("data", "axes fraction"),
        xytext=(6, 0),
        textcoords="offset points",
        color=INK,
        fontsize=9,
    )
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    roof = f"roof of {peak / 1e9:.3g} GFLOP/s and {bandwidth / 1e9:.3g} GB/s"
    return Picture(figure, "; ".join([roof, *told]))


def _plain(number: float) -> str:
    """Return a number with three digits that count, such as 1,230,000 or 0.0123."""
    return f"{float(f'{number:.3g}'):,.15g}"
