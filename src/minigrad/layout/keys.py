"""Indexing: the element that an index names, and the view that a key of integers and slices selects."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np

from minigrad.errors import IndexingError
from minigrad.layout.arguments import Ints, count, integer

__all__ = ["Key", "normal_index", "slice_view"]

Part: TypeAlias = int | slice | EllipsisType | None
Key: TypeAlias = Part | tuple[Part, ...]


def normal_index(index: Any, shape: Ints) -> list[int]:
    """Return the index of one element, each number counted from the front.

    Raises:
        IndexingError: If there is no such element.
        TypeError: If a number is not an integer.

    >>> from minigrad.layout import normal_index
    >>> normal_index((0, -1), (2, 3))
    [0, 2]
    """
    given = tuple(index) if isinstance(index, Sequence | np.ndarray) else (index,)
    if len(given) != len(shape):
        raise _no_element(shape, given, f"{count(len(given), 'index', 'indices')} for {_axes(shape)}")
    return [_within(i, axis, shape, given) for axis, i in enumerate(given)]


def slice_view(shape: Ints, strides: Ints, key: Any) -> tuple[list[int], list[int], int]:
    """Return shape, strides and first position of the part that a key selects.

    Args:
        shape: The shape.
        strides: Its strides.
        key: Integers, slices with positive steps, None for a new axis, an ellipsis; alone or in a tuple.

    Raises:
        IndexingError: If an integer is out of range, or there are more of them than axes.
        ValueError: If a slice runs backwards, which strides >= 0 cannot.
        TypeError: If the key is anything else.

    >>> from minigrad.layout import slice_view
    >>> slice_view((4, 3), (3, 1), (slice(1, 3), 2))
    ([2], [3], 5)
    """
    keys = key if isinstance(key, tuple) else (key,)
    new_shape: list[int] = []
    new_strides: list[int] = []
    first, axis = 0, 0
    for part in _one_for_each_axis(keys, shape):
        if part is None:
            new_shape.append(1)
            new_strides.append(0)
            continue
        if isinstance(part, slice):
            chosen = _steps(part, shape, axis)
            new_shape.append(len(chosen))
            new_strides.append(strides[axis] * chosen.step)
            first += strides[axis] * chosen.start
        else:
            first += strides[axis] * _within(part, axis, shape, keys)
        axis += 1
    return new_shape, new_strides, first


def _one_for_each_axis(keys: Sequence[Any], shape: Ints) -> list[Any]:
    """Put full slices in the place of an ellipsis, or at the end, until there is a part for each axis."""
    for part in keys:
        if not (part is None or part is Ellipsis or isinstance(part, slice)):
            integer(part, f"cannot index shape {shape}: what is neither slice, None nor ...")
    used = sum(part is not None and part is not Ellipsis for part in keys)
    places = [place for place, part in enumerate(keys) if part is Ellipsis]
    if used > len(shape):
        raise _no_element(shape, keys, f"{count(used, 'index', 'indices')} for {_axes(shape)}")
    if len(places) > 1:
        raise _no_element(shape, keys, "there may be one ellipsis")
    place = places[0] if places else len(keys)
    return [*keys[:place], *[slice(None)] * (len(shape) - used), *keys[place + 1 :]]


def _steps(part: slice, shape: Ints, axis: int) -> range:
    """Return the indices that a slice takes along an axis."""
    if part.step is not None and integer(part.step, "the step of a slice") <= 0:
        raise ValueError(f"cannot slice shape {shape} with step {part.step}: steps must be positive (flip copies)")
    return range(*part.indices(shape[axis]))


def _within(i: Any, axis: int, shape: Ints, key: Sequence[Any]) -> int:
    wanted, size = integer(i, f"cannot index shape {shape}: an index"), shape[axis]
    if -size <= wanted < size:
        return wanted % size
    there = f"its indices go from {-size} to {size - 1}" if size else "it has no indices"
    raise _no_element(shape, key, f"{i} is out of range for axis {axis} of size {size}; {there}")


def _no_element(shape: Ints, key: Sequence[Any], why: str) -> IndexingError:
    return IndexingError(f"cannot index shape {shape} with [{', '.join(map(_as_written, key))}]: {why}")


def _as_written(part: Any) -> str:
    if not isinstance(part, slice):
        return "..." if part is Ellipsis else str(part)
    ends = ["" if end is None else str(end) for end in (part.start, part.stop)]
    return ":".join(ends if part.step is None else [*ends, str(part.step)])


def _axes(shape: Ints) -> str:
    return count(len(shape), "axis", "axes")
