"""Cards: the picture that other pages show beside a link to a lesson, with its title and something it draws."""

from __future__ import annotations

import base64
import io
from functools import cache
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from autograder.building.notebooks import Notebook

__all__ = ["SIZE", "card", "drawn_in"]

SIZE = (1200, 630)
"""Width and height that those pages ask for, in pixels."""

_EDGE = 60
_ROOM = (560, 510)
_INK, _MUTED, _PAPER, _LINE = "#1f2328", "#57606a", "#ffffff", "#0b3d75"


def drawn_in(notebook: Notebook) -> bytes | None:
    """Return the picture of an executed lesson that fills a card best, as PNG; none if it draws in SVG alone."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    found = (base64.b64decode(each.data["image/png"]) for each in outputs if "image/png" in each.get("data", {}))
    return max(found, key=_area, default=None)


def _area(png: bytes) -> int:
    width, height = _fitted(Image.open(io.BytesIO(png)).size)
    return width * height


def _fitted(size: tuple[int, int]) -> tuple[int, int]:
    """A picture's size when it is as large as its room allows."""
    scale = min(_ROOM[0] / size[0], _ROOM[1] / size[1])
    return round(scale * size[0]), round(scale * size[1])


def card(title: str, number: str, picture: bytes | None) -> bytes:
    """Return the card of a lesson, as PNG.

    Args:
        title: The lesson's title.
        number: Its number, such as "06b".
        picture: What it draws, as PNG; without it the words have the whole card.
    """
    made = Image.new("RGB", SIZE, _PAPER)
    draw = ImageDraw.Draw(made)
    draw.rectangle((0, 0, 16, SIZE[1]), fill=_LINE)
    width = SIZE[0] - 2 * _EDGE
    if picture:
        width -= _ROOM[0] + _EDGE
        shown = Image.open(io.BytesIO(picture)).convert("RGBA")
        shown = shown.resize(_fitted(shown.size), Image.Resampling.LANCZOS)
        made.paste(shown, (SIZE[0] - _EDGE - shown.width, (SIZE[1] - shown.height) // 2), shown)
    draw.text((_EDGE, _EDGE), f"minigrad, lesson {number}", fill=_MUTED, font=_font("DejaVuSans", 30))
    lines, large = _broken(title, width)
    draw.multiline_text((_EDGE, 150), lines, fill=_INK, font=large, spacing=14)
    below = "Build the heart of\nPyTorch yourself."
    draw.multiline_text((_EDGE, SIZE[1] - _EDGE - 76), below, fill=_MUTED, font=_font("DejaVuSans", 30), spacing=8)
    out = io.BytesIO()
    made.save(out, "PNG", optimize=True)
    return out.getvalue()


def _broken(title: str, width: int) -> tuple[str, ImageFont.FreeTypeFont]:
    """A title in lines, and the largest letters in which it fits into a width and three lines."""
    for size in range(72, 30, -6):
        font, lines = _font("DejaVuSans-Bold", size), [""]
        for word in title.split():
            longer = f"{lines[-1]} {word}".strip()
            lines = [*lines[:-1], longer] if font.getlength(longer) <= width else [*lines, word]
        lines = [each for each in lines if each]
        if len(lines) <= 3 and all(font.getlength(each) <= width for each in lines):
            break
    return "\n".join(lines), font


@cache
def _font(name: str, size: int) -> ImageFont.FreeTypeFont:
    """A font that Matplotlib brings along."""
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{name}.ttf", size)
