"""Plain data of a student's as a person writes it: in bounded length, and at a cost that its size cannot raise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

MAX_WORDS = 120
"""Characters of one value."""

MAX_DEPTH = 12
"""The depth to which lists within lists are written out."""

MAX_ELEMENTS = 24
"""Elements of an array that are written out."""


def in_words(value: Any, limit: int = MAX_WORDS) -> str:
    """Plain data as a person writes it, of bounded length.

    Examples:
        >>> in_words([1.0, 0.30000000000000004])
        '[1.0, 0.3]'
    """
    text = _words(value, limit)
    return text if len(text) <= limit else text[: limit - 4].rstrip() + " ..."


def _words(value: Any, room: int, depth: int = 0) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return (
            str(value) if abs(value) < 10**30 else f"a whole number of {math.floor(math.log10(abs(value))) + 1} digits"
        )
    if isinstance(value, float):
        short = f"{value:.6g}"
        return repr(value) if len(repr(value)) <= len(short) + 2 else short
    if isinstance(value, str):
        return repr(value[: room + 2])
    if isinstance(value, np.ndarray | np.generic):
        return _array_words(value, room)
    if isinstance(value, dict):
        pairs = (f"{_words(k, room, depth + 1)}: {_words(v, room, depth + 1)}" for k, v in value.items())
        return "{" + _joined(pairs, room, depth) + "}"
    if isinstance(value, list | tuple):
        return "[" + _joined((_words(each, room, depth + 1) for each in value), room, depth) + "]"
    return type(value).__name__


def _joined(parts: Iterator[str], room: int, depth: int) -> str:
    """Parts with commas between them, as many as there is room for: a huge answer must not take its time here."""
    taken = ""
    for part in parts if depth < MAX_DEPTH else ("...",):
        taken += f", {part}" if taken else part
        if len(taken) > room:
            break
    return taken


def _array_words(value: np.ndarray[Any, Any] | np.generic, room: int) -> str:
    # One without elements may have axes of any length, each of which would become a list.
    if 0 < value.size <= MAX_ELEMENTS:
        text = _words(value.tolist() if value.dtype.kind != "f" else _rounded(value.tolist()), room)
        if len(text) <= room:
            return text
    return f"an array of shape {value.shape}"


def _rounded(values: Any) -> Any:
    return [_rounded(each) for each in values] if isinstance(values, list) else float(f"{values:.4g}")
