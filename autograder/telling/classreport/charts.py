"""The page's pictures: SVG that a screen reader can read out and a printer can print."""

from __future__ import annotations

import html
from collections.abc import Sequence

from autograder.telling.classreport.figures import BINS, Distribution, ExerciseFigures
from autograder.telling.classreport.markup import Html

STATES = {"full": "all points", "part": "some points", "none": "tried, no points", "untouched": "not begun"}
"""The students' results in an exercise, by the class of its colour; each is darker than the next."""

_WIDTH, _HEIGHT, _LEFT, _BASE, _TOP = 500, 210, 8, 172, 22


def _svg(width: int, height: int, says: str, body: str) -> Html:
    """A picture and what it says to someone who cannot see it."""
    said = html.escape(says)
    return Html(
        f'<svg role="img" aria-label="{said}" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"<title>{said}</title>{body}</svg>"
    )


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def histogram(marks: Distribution) -> Html:
    """Draw how many students have each tenth of the points."""
    counts = marks.counts
    most = max([1, *counts])
    step = (_WIDTH - 2 * _LEFT) / BINS
    parts = []
    for place, count in enumerate(counts):
        height = (_BASE - _TOP) * count / most
        x = _LEFT + place * step
        if count:
            parts.append(_rect(x + 2, _BASE - height, step - 4, height, "bar"))
        parts.append(_text(x + step / 2, _BASE - height - 5, str(count)))
    parts.append(f'<line class="axis" x1="{_LEFT}" y1="{_BASE}" x2="{_WIDTH - _LEFT}" y2="{_BASE}"/>')
    for place in range(0, BINS + 1, 2):
        anchor = {0: "start", BINS: "end"}.get(place, "middle")
        parts.append(_text(_LEFT + place * step, _BASE + 16, f"{place * 100 // BINS} %", anchor))
    parts.append(_text(_WIDTH / 2, _BASE + 34, "share of the points; above each bar: students"))
    said = ", ".join(f"{place * 10} to {place * 10 + 10} percent: {count}" for place, count in enumerate(counts))
    return _svg(_WIDTH, _HEIGHT, f"Students by share of the points. {said}", "".join(parts))


def state_bar(figures: ExerciseFigures) -> Html:
    """Draw how many students have all, some and no points, and have not begun."""
    width, height = 200, 18
    counts = [getattr(figures, state) for state in STATES]
    said = ", ".join(f"{count} {what}" for count, what in zip(counts, STATES.values(), strict=True))
    parts, x = [], 0.5
    for state, count in zip(STATES, counts, strict=True):
        length = (width - 1) * count / max(1, figures.students)
        if count:
            parts.append(_rect(x, 0.5, length, height - 1, f"{state} edged"))
        x += length
    return _svg(width, height, said, "".join(parts))


def swatch(state: str) -> Html:
    """The colour of a state, for a legend that names it in words."""
    box = _rect(0.5, 0.5, 15, 13, f"{state} edged")
    return Html(f'<svg aria-hidden="true" viewBox="0 0 16 14" width="16" height="14">{box}</svg>')


def share_bar(share: float) -> Html:
    """A share of 1 as the length of a bar."""
    width, height = 80, 12
    parts = [_rect(0.5, 0.5, width - 1, height - 1, "untouched edged"), _rect(0.5, 0.5, (width - 1) * share, 11, "bar")]
    return _svg(width, height, f"{share:.0%}", "".join(parts))


def discrimination_bar(correlation: float) -> Html:
    """A correlation, to the right of the middle or to its left."""
    width, height = 80, 12
    middle, length = width / 2, abs(correlation) * (width / 2 - 1)
    x = middle if correlation >= 0 else middle - length
    parts: Sequence[str] = [
        _rect(0.5, 0.5, width - 1, height - 1, "untouched edged"),
        _rect(x, 0.5, length, 11, "bar"),
        f'<line class="axis" x1="{middle}" y1="0" x2="{middle}" y2="{height}"/>',
    ]
    return _svg(width, height, f"{correlation:.2f}", "".join(parts))
