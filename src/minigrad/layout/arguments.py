"""Whole numbers, sizes and axes as callers give them, and the words that error messages have for a value."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from minigrad.errors import IndexingError

__all__ = ["Ints", "count", "integer", "normal_axis", "sizes_of", "type_name"]

Ints: TypeAlias = tuple[int, ...]


def integer(value: Any, what: str) -> int:
    """Return a whole number as an int.

    Raises:
        TypeError: If it is anything else, a bool included.

    >>> from minigrad.layout import integer
    >>> integer(np.int64(3), "a size")
    3
    """
    try:
        if not isinstance(value, bool | np.bool_):
            return operator.index(value)
    except TypeError:
        pass
    raise TypeError(f"{what} must be an integer, not {_shown(value)}")


def _shown(value: Any) -> str:
    """Return a value as it is printed if that is short, else what it is."""
    text = repr(value)
    return text if len(text) <= 40 and "\n" not in text else f"a {type_name(value)}"


def type_name(value: Any) -> str:
    """Return the name of a value's type, with its library's: ``torch.Tensor``, ``numpy.ndarray``, ``list``.

    >>> from minigrad.layout import type_name
    >>> type_name([1.0]), type_name(np.zeros(2))
    ('list', 'numpy.ndarray')
    """
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    return kind.__name__ if library in ("builtins", "minigrad", "__main__") else f"{library}.{kind.__name__}"


def count(n: int, one: str, many: str) -> str:
    """Return a number with its noun.

    >>> from minigrad.layout import count
    >>> count(1, "axis", "axes"), count(2, "axis", "axes")
    ('1 axis', '2 axes')
    """
    return f"{n} {one if n == 1 else many}"


def sizes_of(given: Sequence[Any], what: str) -> Ints:
    """Return whole numbers that were given one by one, or as one sequence.

    Raises:
        TypeError: If one is not an integer; the message begins with `what`.

    >>> from minigrad.layout import sizes_of
    >>> sizes_of((2, 3), "view"), sizes_of(([2, 3],), "view")
    ((2, 3), (2, 3))
    """
    is_listed = len(given) == 1 and given[0].__class__ is not int and isinstance(given[0], Sequence | np.ndarray)
    listed = given[0] if is_listed else given
    return tuple([n if n.__class__ is int else integer(n, what) for n in listed])


def normal_axis(axis: int, dims: int, operation: str) -> int:
    """Return an axis counted from the front.

    Args:
        axis: From -dims to dims - 1.
        dims: The number of axes.
        operation: What wants the axis, for the error message.

    Raises:
        IndexingError: If there is no such axis.
        TypeError: If it is not an integer.

    >>> from minigrad.layout import normal_axis
    >>> normal_axis(-1, 3, "sum")
    2
    """
    if axis.__class__ is not int:
        axis = integer(axis, f"{operation}: an axis")
    if -dims <= axis < dims:
        return axis % dims
    there = f"axes go from {-dims} to {dims - 1}" if dims else "a single number has none"
    raise IndexingError(f"{operation}: axis {axis} is out of range for {count(dims, 'axis', 'axes')}; {there}")
