"""Shapes and strides of views: which neighbouring axes join, what another shape needs, what broadcasting repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from minigrad.errors import IndexingError
from minigrad.layout.arguments import Ints, count

__all__ = ["collapse", "expand", "overlaps", "view_shape", "view_strides"]


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
    size, lowest = math.prod(shape), min(sizes, default=0)
    if lowest >= 0 and math.prod(sizes) == size:
        return sizes
    what = f"cannot view {shape} as {sizes}"
    if lowest < -1:
        raise ValueError(f"{what}: sizes are at least 0, or -1 for what is left over")
    if sizes.count(-1) > 1:
        raise ValueError(f"{what}: only one size can be left over (-1)")
    known, is_left = abs(math.prod(sizes)), -1 in sizes
    if is_left and known == 0:
        raise ValueError(f"{what}: any size would do for -1; write the one that is meant")
    if size % known if is_left else size != known:
        parts = "be divided by" if is_left else "become"
        raise ValueError(f"{what}: {count(size, 'element', 'elements')} cannot {parts} {known}")
    return tuple(size // known if n == -1 else n for n in sizes) if is_left else sizes


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
    extra = len(sizes) - len(shape)
    if extra < 0:
        raise IndexingError(f"{_cannot(shape, sizes)}: these are fewer axes than before")
    new_shape, new_strides = list(sizes[:extra]), [0] * extra
    for axis, (size, old, stride) in enumerate(zip(sizes[extra:], shape, strides, strict=True)):
        if size not in (-1, old) and old != 1:
            there = f"axis {axis - len(shape)} has size {old}"
            raise IndexingError(f"{_cannot(shape, sizes)}: {there}; only a size of 1 can change")
        keeps = size in (-1, old)
        new_shape.append(old if keeps else size)
        new_strides.append(stride if keeps else 0)
    if min(new_shape, default=0) < 0:
        rule = "sizes are at least 0; -1 keeps a size, which a new axis does not have"
        raise IndexingError(f"{_cannot(shape, sizes)}: {rule}")
    return tuple(new_shape), tuple(new_strides)


def _cannot(shape: Ints, sizes: Ints) -> str:
    return f"cannot expand {shape} to {sizes}"
