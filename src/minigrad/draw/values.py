"""Numbers and small tensors as they stand in pictures of graphs."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["FEW", "lines", "number", "shape", "short"]

FEW = 6
"""Elements of a tensor that are shown; of more than these, only the shape is."""

_GAP = "\u00a0"


def shape(variable: Any) -> str:
    """The shape of a tensor; nothing for a number."""
    return str(tuple(variable.shape)) if hasattr(variable, "shape") else ""


def number(x: Any, digits: int = 6, few: int = FEW) -> str:
    """A number with so many digits at most; the elements of a tensor on one line, or its shape if they are many."""
    if getattr(x, "shape", ()):
        return _nested(x.tolist(), min(digits, 4)) if math.prod(x.shape) <= few else shape(x)
    value = float(x)
    return f"{value:.{digits}g}" if math.isfinite(value) else str(value)


def short(x: Any) -> str:
    """A number for an arrow, where room is scarce."""
    return number(x, 4, 3)


def lines(word: str, x: Any) -> list[str]:
    """A word and a number; a line for each row of a small matrix, those after the first moved in by hard spaces."""
    if len(getattr(x, "shape", ())) != 2 or not 0 < math.prod(x.shape) <= FEW:
        return [f"{word} {number(x)}"]
    first, *others = [_nested(row, 4) for row in x.tolist()]
    widest = max(map(len, (first, *others)))
    rows = [f"{word} {first}", *((len(word) + 1) * _GAP + row for row in others)]
    return [row + _GAP * (len(word) + 1 + widest - len(row)) for row in rows]


def _nested(x: Any, digits: int) -> str:
    """Nested lists of numbers in brackets, as one line."""
    return f"[{' '.join(_nested(each, digits) for each in x)}]" if isinstance(x, list) else number(x, digits)
