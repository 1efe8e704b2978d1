"""Small charts as SVG, for widgets: a frame with ticks, curves and dots in the colors of the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from minigrad.draw.paper import SMALL, Drawing, text

_STYLE = """<style>
.mc-frame{fill:none;stroke:#8c959f}.mc-grid{stroke:#e4e7eb}.mc-ink{stroke:#1f2328}.mc-muted{stroke:#6e7781}
.mc-one{stroke:#1f5fa8}.mc-two{stroke:#c4621d}.mc-line{fill:none;stroke-width:1.8}.mc-dash{stroke-dasharray:5 4}
.mc-one.mc-dot{fill:#1f5fa8}.mc-two.mc-dot{fill:#c4621d}.mc-ink.mc-dot{fill:#1f2328}.mc-hit{fill:transparent;stroke:none}
@media(prefers-color-scheme:dark){.mc-grid{stroke:#2d333b}.mc-ink{stroke:#e6edf3}.mc-muted{stroke:#9ea7b3}
.mc-one{stroke:#58a6ff}.mc-two{stroke:#ffa657}.mc-one.mc-dot{fill:#58a6ff}.mc-two.mc-dot{fill:#ffa657}
.mc-ink.mc-dot{fill:#e6edf3}}
</style>"""

Point = tuple[float, float]


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two bounds: steps of 1, 2 or 5 times a power of 10.

    >>> from minigrad.widgets.charts import ticks
    >>> ticks(0.0, 10.0)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    span = max(high - low, 1e-300)
    unit = 10.0 ** math.floor(math.log10(span / most))
    step = next(unit * factor for factor in (1.0, 2.0, 5.0, 10.0) if span / (unit * factor) <= most)
    return [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


@dataclass
class Chart:
    """A chart that is being drawn.

    Attributes:
        title: Stands above it.
        x: The bounds across.
        y: The bounds upwards.
        width: Of the frame, in pixels.
        height: Likewise.
        left: Room beside the vertical axis.
    """

    title: str
    x: Point
    y: Point
    width: float = 360.0
    height: float = 230.0
    left: float = 52.0
    parts: list[str] = field(default_factory=list)

    _top, _below, _right = 30.0, 44.0, 14.0

    def at(self, x: float, y: float) -> Point:
        """Return where a point is in the picture."""
        (x0, x1), (y0, y1) = self.x, self.y
        return self.left + (x - x0) / (x1 - x0) * self.width, self._top + (y1 - y) / (y1 - y0) * self.height

    def axes(self, xs: Iterable[tuple[float, str]], ys: Iterable[tuple[float, str]], across: str, up: str) -> None:
        """Draw the ticks with their labels, and name the axes."""
        for x, name in xs:
            here, _ = self.at(x, self.y[0])
            self.parts.append(f'<path class="mc-grid" d="M{here:.1f},{self._top}v{self.height}"/>')
            self.parts.append(text(here, self._top + self.height + 14.0, name, "small"))
        for y, name in ys:
            _, here = self.at(self.x[0], y)
            self.parts.append(f'<path class="mc-grid" d="M{self.left},{here:.1f}h{self.width}"/>')
            self.parts.append(text(self.left - 6.0, here + 4.0, name, "small", "end"))
        middle = self.left + self.width / 2
        self.parts.append(text(middle, self._top + self.height + 32.0, across, "small"))
        self.parts.append(text(self.left - 40.0, self._top - 8.0, up, "small", "start"))

    def curve(self, points: Iterable[Point], kind: str) -> None:
        """Draw a curve through points, cut at the frame and interrupted where there is no number."""
        path, drawn = "", False
        for x, y in points:
            if not (math.isfinite(x) and math.isfinite(y)):
                drawn = False
                continue
            across, down = self.at(x, min(max(y, self.y[0] - 10.0 * self._span), self.y[1] + 10.0 * self._span))
            path += f"{'L' if drawn else 'M'}{across:.1f},{down:.1f}"
            drawn = True
        self.parts.append(f'<path class="mc-line {kind}" clip-path="url(#{self._clip})" d="{path}"/>')

    def dot(self, x: float, y: float, kind: str, *, square: bool = False, large: bool = False) -> None:
        """Draw a point: round or square, so that two curves can be told apart in grey."""
        if not (math.isfinite(x) and self.y[0] <= y <= self.y[1] and self.x[0] <= x <= self.x[1]):
            return
        (across, down), r = self.at(x, y), 5.5 if large else 2.6
        shape = (
            f'<rect class="mc-dot {kind}" x="{across - r:.1f}" y="{down - r:.1f}" width="{2 * r}" height="{2 * r}"/>'
            if square
            else f'<circle class="mc-dot {kind}" cx="{across:.1f}" cy="{down:.1f}" r="{r}"/>'
        )
        self.parts.append(shape)

    def strip(self, x: float, wide: float, part: str) -> None:
        """Let a stretch of the chart be pointed at."""
        across, _ = self.at(x, 0.0)
        drawn = f'x="{across - wide / 2:.1f}" y="{self._top}" width="{wide:.1f}" height="{self.height}"'
        self.parts.append(f'<rect class="mc-hit" data-part="{part}" {drawn}/>')

    def key(self, entries: Sequence[tuple[str, str, bool]], x: float, y: float) -> None:
        """Say which curve is which: name, kind, and whether its dots are square."""
        for number, (name, kind, square) in enumerate(entries):
            down = y + 16.0 * number
            self.parts.append(f'<path class="mc-line {kind}" d="M{x:.1f},{down:.1f}h22"/>')
            if square is not None:
                dot = f'x="{x + 7.5}" y="{down - 3.5}" width="7" height="7"' if square else ""
                shape = f'<rect class="mc-dot {kind}" {dot}/>' if square else ""
                shape = shape or f'<circle class="mc-dot {kind}" cx="{x + 11}" cy="{down}" r="3.5"/>'
                self.parts.append(shape if "mc-dash" not in kind else "")
            self.parts.append(text(x + 28.0, down + 4.0, name, "small", "start"))

    def drawing(self, words: str) -> Drawing:
        """Return the picture.

        Args:
            words: What it shows.
        """
        frame = f'x="{self.left}" y="{self._top}" width="{self.width}" height="{self.height}"'
        clip = f'<clipPath id="{self._clip}"><rect {frame}/></clipPath>'
        head = text(self.left, 14.0, self.title, "bold", "start")
        parts = [_STYLE, clip, *self.parts, f'<rect class="mc-frame" {frame}/>', head]
        wide = max(self.left + self.width + self._right, self.left + len(self.title) * SMALL * 1.2)
        return Drawing(wide, self._top + self.height + self._below, self.title, words, parts)

    @property
    def _span(self) -> float:
        return self.y[1] - self.y[0]

    @property
    def _clip(self) -> str:
        """A name for the frame that charts of one size share: they cut at the same place."""
        return f"mc-{self.left:.0f}-{self.width:.0f}-{self.height:.0f}"
