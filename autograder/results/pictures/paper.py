"""The parts that all pictures share: colours for light and dark, labels of bounded length, the document around."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from html import escape
from typing import Any

from autograder.common.wording import in_words

CHARACTER, LINE, MARGIN = 7.3, 17.0, 14.0
"""Size of the font's letters, of a line, and the empty room around a drawing, in pixels."""

MAX_LABEL = 12
"""Characters of a label that the student's process has chosen."""

_STYLE = """
.mg-paper{fill:#fff}.mg-text{fill:#1f2328}.mg-small{fill:#57606a;font-size:11px}
.mg-cell{fill:#f6f8fa;stroke:#8c959f}.mg-used{fill:#ddf4ff}
.mg-way{fill:none;stroke:#57606a;stroke-width:1.3}
.mg-bad{fill:none;stroke:#cf222e;stroke-width:2.4}.mg-badtext{fill:#b42318;font-weight:700}
@media(prefers-color-scheme:dark){.mg-paper{fill:#161b22}.mg-text{fill:#e6edf3}.mg-small{fill:#9ea7b3}
.mg-cell{fill:#22272e;stroke:#768390}.mg-used{fill:#0c2d4d}.mg-way{stroke:#9ea7b3}
.mg-bad{stroke:#ff7b72}.mg-badtext{fill:#ff7b72}}
"""


def label(value: Any, limit: int = MAX_LABEL) -> str:
    """A student's number or name as a short label of printable characters."""
    if isinstance(value, float) and not value.is_integer():
        value = f"{value:.4g}"
    elif isinstance(value, float):
        value = f"{value:g}" if abs(value) < 1e6 else f"{value:.4g}"
    elif isinstance(value, int) and abs(value) >= 10**limit:
        value = "too large"
    elif not isinstance(value, str | int):
        value = in_words(value, 4 * limit)
    shown = "".join(c for c in str(value)[: 4 * limit] if not unicodedata.category(c).startswith("C"))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def text(x: float, y: float, words: str, kind: str = "mg-text", anchor: str = "middle") -> str:
    """A line of text."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def document(width: float, height: float, title: str, description: str, parts: Iterable[str]) -> str:
    """The SVG element around a drawing, with its text alternative."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:100%;height:auto" '
        'font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="12">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc><style>{_STYLE}</style>"
        f'<rect class="mg-paper" width="100%" height="100%" rx="8"/>{"".join(parts)}</svg>'
    )
