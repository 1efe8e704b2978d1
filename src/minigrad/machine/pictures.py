"""Pictures of objects in notebooks: a class asks for its picture here, and knows nothing of what draws it.

So rooms whose objects have pictures stand below `draw`. The package itself says what draws what (`minigrad/__init__`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_drawn_by: dict[str, Callable[[Any], str | None]] = {}


def draw_by(kind: str, draw: Callable[[Any], str | None]) -> None:
    """Declare what draws the objects of a class.

    Args:
        kind: The class, as ``"minigrad.graph.program.Graph"``: it need not be imported yet.
        draw: Returns an object's picture as HTML; None where its text shows it better.
    """
    _drawn_by[kind] = draw


def html_of(x: Any) -> str | None:
    """Return an object's picture as HTML; None if it has none, and a notebook shows its text.

    >>> from minigrad.machine.pictures import html_of
    >>> html_of(1.0) is None
    True
    """
    draw = _drawn_by.get(f"{type(x).__module__}.{type(x).__qualname__}")
    return None if draw is None else draw(x)
