"""Programs at sizes from small to large: which there are, where their time jumps, and their pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from benchmarks.report import bytes_of, duration
from minigrad.backends.arrays import LARGE, LARGE_AND_DEAR
from minigrad.backends.numba.elementwise import STREAM_FROM
from minigrad.backends.numba.threads import GRAIN
from minigrad.backends.numba.ufuncs import ALONE
from minigrad.draw.plots import ACCENT, INK, LINES, MUTED, Picture, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BORDERS",
    "GROWTHS",
    "JUMP",
    "NAMES",
    "Growth",
    "Jump",
    "Point",
    "Series",
    "borders",
    "drawn",
    "jumps",
    "panel",
]

NAMES = {"minigrad": "minigrad", "torch": "PyTorch", "numpy": "NumPy"}
JUMP = 1.3
BORDERS = {
    "LARGE_AND_DEAR": LARGE_AND_DEAR,
    "LARGE": LARGE,
    "2 GRAIN": 2 * GRAIN // 4,
    "ALONE": ALONE // 4,
    "STREAM_FROM": STREAM_FROM // 4,
}
"""Elements of float32 from which on another way computes: LARGE in `minigrad.backends.arrays`, the rest in Numba's."""


def _sizes(low: int, high: int) -> tuple[int, ...]:
    return tuple(k * 10**e for e in range(9) for k in (1, 2, 5) if low <= k * 10**e <= high)


def _squares(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the nearest squares; rows of large ones are whole lines of a cache, as those of most programs are."""
    steps = [16 if size >= 10_000 else 1 for size in sizes]
    return tuple((step * round(math.sqrt(size) / step)) ** 2 for size, step in zip(sizes, steps, strict=True))


def _parameters(sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(h * h + 5 * h + 1 for h in (round(math.sqrt(size) - 2.5) for size in sizes))


@dataclass(frozen=True)
class Growth:
    """One program at sizes from small to large.

    Attributes:
        name: Its name in `lines.GROWING`.
        file: The name of its picture.
        sizes: What the picture's axis counts.
        axis: The name of that.
        power: An array has so many elements: the size to this power.
        argument: Makes of a size what the program is given.
        ways: Forward alone is False, forward and backward is True.
    """

    name: str
    file: str
    sizes: tuple[int, ...] = _sizes(10, 10**8)
    axis: str = "elements"
    power: int = 1
    argument: Callable[[int], int] = int
    ways: tuple[bool, ...] = (False, True)

    def told(self, backward: bool) -> str:
        """Return what is timed, in words."""
        return "one step" if self.ways == (True,) else "forward and backward" if backward else "forward"


_SQUARES = _squares(_sizes(10, 10**8))
GROWTHS = (
    Growth("a * b", "product"),
    Growth("exp(a)", "exp"),
    Growth("sigmoid(a * b + c)", "sigmoid"),
    Growth("sum over each row of a square", "sum", _SQUARES),
    Growth("softmax of each row of a square", "softmax", _SQUARES),
    Growth("product of two n x n matrices", "matmul", _sizes(2, 2_000), "rows", 2),
    Growth(
        "training step of a network 2-h-h-1",
        "training",
        _parameters(_sizes(10**4, 10**8)),
        "parameters",
        argument=lambda parameters: math.isqrt(parameters) - 2,
        ways=(True,),
    ),
)


@dataclass(frozen=True)
class Point:
    """The seconds of the clock that a program took at one size, and the most bytes that its process held."""

    seconds: float
    peak: int


Series = dict[str, dict[int, Point]]
"""For each library, a point at each size."""


@dataclass(frozen=True)
class Jump:
    """Two neighbouring sizes between which minigrad's time for an element rises, and more than that of its peers.

    Attributes:
        sizes: The two.
        ours: Minigrad's time for an element at the second, over that at the first.
        theirs: Likewise, of the peer whose time rises most.
    """

    sizes: tuple[int, int]
    ours: float
    theirs: float


def jumps(series: Series, power: int = 1) -> list[Jump]:
    """Return where minigrad's time for an element rises, and `JUMP` times as much as that of each peer.

    A call that costs a + b n for n elements has a time for an element that only falls: what rises changed its way.
    Systems stop a thread for milliseconds at times, so that a peer's time counts as that of a larger size if that was
    less.
    """

    def grown(seconds: Mapping[int, float], a: int, b: int) -> float:
        return seconds[b] / seconds[a] / (b / a) ** power

    times = {name: {size: point.seconds for size, point in points.items()} for name, points in series.items()}
    ours = times.pop("minigrad")
    peers = [
        dict(zip(reversed(peer), accumulate(reversed(peer.values()), min), strict=True)) for peer in times.values()
    ]
    found = [Jump((a, b), grown(ours, a, b), max(grown(peer, a, b) for peer in peers)) for a, b in pairwise(ours)]
    return [jump for jump in found if jump.ours > max(JUMP * jump.theirs, 1.0)]


def borders(growth: Growth, low: float, high: float) -> dict[float, str]:
    """Return the borders in between, by their places on the axis."""
    places: dict[float, str] = {}
    for name, elements in BORDERS.items():
        at = elements ** (1 / growth.power)
        if low < at <= high:
            places[at] = f"{places[at]}, {name}" if at in places else name
    return places


def panel(ax: Axes, title: str, lines: Mapping[str, Mapping[int, float]], told: Callable[[float], str]) -> None:
    """Draw lines with their names at their ends, on logarithmic axes."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    ax.set(xscale="log", yscale="log")
    ax.set_title(title, fontsize=10)
    for number, (name, points) in enumerate(lines.items()):
        style: dict[str, Any] = {"color": LINES[number], "marker": "os^Dv"[number], "markersize": 3.0}
        ax.plot(list(points), list(points.values()), linewidth=1.5, label=name, **style)
    powers = [math.log10(value) for points in lines.values() for value in points.values()]
    low, high = math.floor(min(powers)), math.ceil(max(powers))
    ax.set_ylim(10.0**low, 10.0**high)
    at = -math.inf
    for points, line in sorted(zip(lines.values(), ax.lines, strict=True), key=lambda pair: list(pair[0].values())[-1]):
        *_, (size, value) = points.items()
        at = max(at + 0.07 * (high - low), math.log10(value))  # names keep a line's height from each other
        label: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 9, "annotation_clip": False}
        ax.annotate(str(line.get_label()), (size, 10.0**at), (7, 0), color=line.get_color(), **label)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: told(value)))
    ax.yaxis.set_minor_formatter(NullFormatter())


def drawn(growth: Growth, found: Mapping[bool, Series]) -> Picture:
    """Draw time and memory of each way, rings around the jumps, and the borders as dotted lines."""
    ways = list(found)
    figure, axes = canvas(2, rows=len(ways), width=9.0, height=0.4 + 3.1 * len(ways))
    for row, backward in enumerate(ways):
        series = {NAMES[name]: points for name, points in found[backward].items()}
        seconds = {name: {size: point.seconds for size, point in points.items()} for name, points in series.items()}
        peaks = {name: {size: float(point.peak) for size, point in points.items()} for name, points in series.items()}
        times, memory = axes[2 * row : 2 * row + 2]
        panel(times, f"{growth.told(backward)}: seconds against {growth.axis}", seconds, duration)
        panel(memory, f"{growth.told(backward)}: peak bytes of the process", peaks, bytes_of)
        for jump in jumps(found[backward], growth.power):
            size = jump.sizes[1]
            times.plot([size], [seconds["minigrad"][size]], "o", color=ACCENT, markersize=11.0, fillstyle="none")
        for at, name in borders(growth, growth.sizes[0], growth.sizes[-1]).items():
            times.axvline(at, color=MUTED, linestyle=":", linewidth=1.0)
            place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
            is_left = math.log(at / growth.sizes[0]) < 0.7 * math.log(growth.sizes[-1] / growth.sizes[0])
            y, end = (0.98, "top") if is_left else (0.03, "bottom")  # where no line runs
            times.annotate(name, (at, y), (-3, 0), rotation=90, ha="right", va=end, fontsize=7, color=INK, **place)
        memory.set_xlabel(growth.axis), times.set_xlabel(growth.axis)
    figure.suptitle(f"{growth.name}, float32", fontsize=11, color=INK)
    last = found[ways[-1]]
    shares = [_share(last, of) for of in (lambda point: point.seconds, lambda point: point.peak)]
    return Picture(
        figure,
        f"{growth.name}: time and peak memory against {growth.axis}, on logarithmic axes; at the largest size "
        f"minigrad takes {shares[0]:.2g} of PyTorch's time and {shares[1]:.2g} of its memory, {growth.told(ways[-1])}",
    )


def _share(series: Series, of: Callable[[Point], float]) -> float:
    size = max(series["minigrad"])
    return of(series["minigrad"][size]) / of(series["torch"][size])
