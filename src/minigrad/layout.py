"""Arithmetic of shapes and strides behind views: which numbers describe the elements that a view shows.

Nothing here holds or moves elements. Sizes and strides are tuples of whole numbers, strides in elements; errors name
the operation, the shapes and the rule.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np

from minigrad.errors import IndexingError

Ints: TypeAlias = tuple[int, ...]
Part: TypeAlias = int | slice | EllipsisType | None
Key: TypeAlias = Part | tuple[Part, ...]


def integer(value: Any, what: str) -> int:
    """Return a whole number as an int.

    Raises:
        TypeError: If it is anything else, a bool included.
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
    listed = given[0] if len(given) == 1 and isinstance(given[0], Sequence | np.ndarray) else given
    return tuple(integer(size, what) for size in listed)


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
    axis = integer(axis, f"{operation}: an axis")
    if -dims <= axis < dims:
        return axis % dims
    there = f"axes go from {-dims} to {dims - 1}" if dims else "a single number has none"
    raise IndexingError(f"{operation}: axis {axis} is out of range for {count(dims, 'axis', 'axes')}; {there}")


def collapse(shape: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """Join neighbouring axes along which the storage runs on without a jump.

    Args:
        shape: The size of each axis.
        strides: The stride of each axis.

    Returns:
        Pairs of a size and a stride, outermost first. Axes of size 1 are left out, since nobody steps along them.

    >>> from minigrad.layout import collapse
    >>> collapse((2, 3, 4), (12, 4, 1))
    [(24, 1)]
    """
    runs: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * stride:
            runs[-1] = runs[-1][0] * size, stride
        else:
            runs.append((size, stride))
    return runs


def overlaps(shape: Ints, strides: Ints) -> bool:
    """Return whether two indices share a position.

    >>> from minigrad.layout import overlaps
    >>> overlaps((2, 3), (3, 1)), overlaps((2, 3), (0, 1))
    (False, True)
    """
    runs = sorted((stride, size) for size, stride in collapse(shape, strides))
    if 0 in shape or not runs:
        return False
    reached = 0
    for stride, size in runs:
        if stride <= reached:  # this axis steps into what the ones inside it have passed
            return _repeats_a_position(runs)
        reached += (size - 1) * stride
    return False


def _repeats_a_position(runs: list[tuple[int, int]]) -> bool:
    """Count the indices at each position, where strides alone do not tell."""
    # More indices than positions: this is told without counting, and so no more is counted than the storage holds.
    if math.prod(size for _, size in runs) > sum((size - 1) * stride for stride, size in runs) + 1:
        return True
    positions = np.zeros(1, dtype=np.int64)
    for stride, size in runs:
        positions = np.add.outer(positions, np.arange(size) * stride).ravel()
    return bool(np.bincount(positions).max() > 1)


def view_shape(shape: Ints, sizes: Ints) -> Ints:
    """Return the shape that a view is asked to have, with the size that -1 stands for.

    Raises:
        ValueError: If it does not have as many elements as shape.

    >>> from minigrad.layout import view_shape
    >>> view_shape((2, 6), (3, -1))
    (3, 4)
    """
    what, size = f"cannot view {shape} as {sizes}", math.prod(shape)
    if min(sizes, default=0) < -1:
        raise ValueError(f"{what}: sizes are at least 0, or -1 for what is left over")
    if sizes.count(-1) > 1:
        raise ValueError(f"{what}: only one size can be left over (-1)")
    known = math.prod(n for n in sizes if n != -1)
    if -1 in sizes and known == 0:
        raise ValueError(f"{what}: any size would do for -1; write the one that is meant")
    if size % known if -1 in sizes else size != known:
        parts = "be divided by" if -1 in sizes else "become"
        raise ValueError(f"{what}: {count(size, 'element', 'elements')} cannot {parts} {known}")
    return tuple(size // known if n == -1 else n for n in sizes)


def view_strides(shape: Ints, strides: Ints, new_shape: Ints) -> Ints | None:
    """Return the strides under which the same elements, in the same order, have another shape; None if none do.

    From the last axis on, each run of `collapse` is dealt out to new axes until it is used up: an axis that would
    reach from one run into the next has no single stride.

    Args:
        shape: The shape, with at least one element.
        strides: Its strides.
        new_shape: A shape with as many elements.

    >>> from minigrad.layout import view_strides
    >>> view_strides((2, 6), (6, 1), (3, 4)), view_strides((6, 2), (1, 6), (12,))
    ((4, 1), None)
    """
    runs = collapse(shape, strides)
    left, step = runs.pop() if runs else (1, 1)
    found: list[int] = []
    for size in reversed(new_shape):
        if left == 1 and size > 1:
            left, step = runs.pop()
        if left % size:
            return None
        found.append(step)
        left, step = left // size, step * size
    return tuple(reversed(found))


def expand(shape: Ints, strides: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return shape and strides in which axes of size 1 have other sizes, and more axes may stand on the left.

    Args:
        shape: The shape.
        strides: Its strides.
        sizes: The sizes wanted; -1 keeps one.

    Raises:
        IndexingError: If any other axis would change its size, or there are fewer axes than before.

    >>> from minigrad.layout import expand
    >>> expand((3, 1), (1, 1), (2, 3, 4))
    ((2, 3, 4), (0, 1, 0))
    """
    what, extra = f"cannot expand {shape} to {sizes}", len(sizes) - len(shape)
    if extra < 0:
        raise IndexingError(f"{what}: these are fewer axes than before")
    found: list[tuple[int, int]] = [(size, 0) for size in sizes[:extra]]
    for axis, (size, old, stride) in enumerate(zip(sizes[extra:], shape, strides, strict=True)):
        if size not in (-1, old) and old != 1:
            raise IndexingError(f"{what}: axis {axis - len(shape)} has size {old}; only a size of 1 can change")
        found.append((old, stride) if size in (-1, old) else (size, 0))
    if min((size for size, _ in found), default=0) < 0:
        raise IndexingError(f"{what}: sizes are at least 0; -1 keeps a size, which a new axis does not have")
    return tuple(size for size, _ in found), tuple(stride for _, stride in found)


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
