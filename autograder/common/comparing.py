"""Compare plain data exactly, as far as telling two answers apart needs."""

from __future__ import annotations

from typing import Any

import numpy as np


def same(one: Any, other: Any) -> bool:
    """Return whether two pieces of plain data are the same; nan is the same as nan."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return bool(alike and one.tobytes() == other.tobytes())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return bool(one == other) or (one != one and other != other)
