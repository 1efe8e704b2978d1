"""Parts of all pictures of arrays: colours for light and dark pages, boxes, text, the document around them.

A box is told apart from others by more than its colour: by its frame, or by what stands in it. So the pictures can be
read in grey as well.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

CHARACTER, LINE, MARGIN = 7.3, 17.0, 14.0
"""Width of the font's letters, height of a line, and the empty room around a drawing, in pixels."""

SMALL = 6.5
"""Width of a small letter."""

_LEAST = 0.85


def fitting(width: float, least: float = _LEAST) -> str:
    """Return the style of a picture that a narrow page shrinks while it can be read. After that it scrolls.

    Args:
        width: Of the picture, in pixels.
        least: The share of it that is left at least.

    >>> from minigrad.draw.paper import fitting
    >>> fitting(400)
    'max-width:100%;min-width:340px;height:auto'
    """
    return f"max-width:100%;min-width:{least * width:.0f}px;height:auto"


def frame(width: float, height: float) -> str:
    """Return the attributes of the SVG element of a picture: its size, its font, and how far a page may shrink it."""
    return (
        f'xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="{fitting(width)}" '
        'font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="12"'
    )


def image(kind: str, data: bytes, words: str, style: str) -> str:
    """Return a picture as HTML with words, which Jupyter prefers to the picture alone: of that it would tell no words.

    As an image it is shown by notebooks as well that are not trusted, whose SVG Jupyter takes away.

    Args:
        kind: Of the data, such as "image/png".
        data: The picture's file.
        words: What it shows.
        style: Of the image.
    """
    source = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    # A box of its own scrolls: those of exported notebooks cut what is too wide. On paper nothing scrolls.
    return (
        '<div style="overflow-x:auto"><style>@media print{img.mp-shown{min-width:0!important}}</style>'
        f'<img class="mp-shown" alt="{escape(words)}" style="{style}" src="{source}"/></div>'
    )


def page(svg: str, words: str) -> str:
    """Return the HTML of an SVG picture that begins with a `frame`.

    Args:
        svg: The picture.
        words: What it shows.
    """
    style = svg.partition(' style="')[2].partition('"')[0]
    return image("image/svg+xml", svg.encode(), words, style)


# The names of the classes differ from those of `minigrad.draw.graph`: on one page, styles of all pictures hold for all.
_STYLE = """
.mp-paper{fill:#fff}.mp-text{fill:#1f2328}.mp-bold{fill:#1f2328;font-weight:700}.mp-small{fill:#4b535d;font-size:10.5px}
.mp-cell{fill:#fff;stroke:#8c959f}.mp-used{fill:#ddf4ff;stroke:#0550ae}.mp-other{fill:#d0d7de;stroke:#57606a}
.mp-mark{fill:#ffe0c2;stroke:#a33a00;stroke-width:2.4}.mp-marked{fill:#7a2b00;font-weight:700}
.mp-ghost{fill:none;stroke:#6e7781;stroke-dasharray:3 3}.mp-ghosttext{fill:#57606a}
.mp-struck{fill:#57606a;text-decoration:line-through}
.mp-way{fill:none;stroke:#57606a;stroke-width:1.4}.mp-head{fill:#57606a}
.mp-bad{fill:#fff;stroke:#cf222e;stroke-width:2.6}.mp-badtext{fill:#b42318;font-weight:700}
@media(prefers-color-scheme:dark){.mp-paper{fill:#161b22}.mp-text,.mp-bold{fill:#e6edf3}.mp-small{fill:#b1bac4}
.mp-cell{fill:#161b22;stroke:#768390}.mp-used{fill:#0c2d4d;stroke:#58a6ff}.mp-other{fill:#3d444d;stroke:#9ea7b3}
.mp-mark{fill:#4d2d0c;stroke:#ffa657}.mp-marked{fill:#ffc680}.mp-ghost{stroke:#9ea7b3}.mp-ghosttext{fill:#9ea7b3}.mp-struck{fill:#9ea7b3}
.mp-way{stroke:#9ea7b3}.mp-head{fill:#9ea7b3}.mp-bad{fill:#161b22;stroke:#ff7b72}.mp-badtext{fill:#ff7b72}}
"""


class Drawing:
    """A finished picture, which Jupyter shows when it is the last value of a cell.

    Args:
        width: In pixels.
        height: In pixels.
        title: What the picture is, in a few words.
        description: The picture in words: for a terminal, and for people who cannot see it.
        parts: The elements of the drawing, as SVG.

    >>> from minigrad.draw.paper import Drawing, box
    >>> print(Drawing(60, 40, "A box", "One empty box.", [box(10, 10, 40, 20)]))
    A box: One empty box.
    """

    def __init__(self, width: float, height: float, title: str, description: str, parts: Iterable[str]) -> None:
        self.title = title
        self.description = description
        self.svg = (
            f"<svg {frame(width, height)}>"
            f"<title>{escape(title)}</title><desc>{escape(description)}</desc><style>{_STYLE}</style>"
            f'<rect class="mp-paper" width="100%" height="100%" rx="8"/>{"".join(parts)}</svg>'
        )

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return page(self.svg, repr(self))

    def __repr__(self) -> str:
        return f"{self.title}: {self.description}"


def label(value: object) -> str:
    """Return a number as it stands in a box: whole numbers without a point, four digits of others.

    >>> from minigrad.draw.paper import label
    >>> label(2.0), label(1 / 3)
    ('2', '0.3333')
    """
    return f"{value:.4g}" if isinstance(value, float) and abs(value) < 1e15 else str(value)


def text(x: float, y: float, words: str, kind: str = "text", anchor: str = "middle") -> str:
    """A line of text. Its base line is y.

    >>> from minigrad.draw.paper import text
    >>> text(10, 20, "a < b")
    '<text class="mp-text" x="10.0" y="20.0" text-anchor="middle">a &lt; b</text>'
    """
    return f'<text class="mp-{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str = "cell") -> str:
    """A rectangle by its upper left corner.

    >>> from minigrad.draw.paper import box
    >>> box(10, 10, 40, 20)
    '<rect class="mp-cell" x="10.0" y="10.0" width="40.0" height="20.0"/>'
    """
    return f'<rect class="mp-{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def arrow(x0: float, y0: float, x1: float, y1: float) -> str:
    """A straight arrow from the first point to the second.

    >>> from minigrad.draw.paper import arrow
    >>> arrow(0, 0, 10, 0)
    '<path class="mp-way" d="M0.0,0.0L2.0,0.0"/><polygon class="mp-head" points="10.0,0.0 2.0,4.0 2.0,-4.0"/>'
    """
    length = max(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5, 1e-9)
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    back_x, back_y = x1 - 8.0 * dx, y1 - 8.0 * dy
    corners = [(x1, y1), (back_x - 4.0 * dy, back_y + 4.0 * dx), (back_x + 4.0 * dy, back_y - 4.0 * dx)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    line = f'<path class="mp-way" d="M{x0:.1f},{y0:.1f}L{back_x:.1f},{back_y:.1f}"/>'
    return f'{line}<polygon class="mp-head" points="{points}"/>'
