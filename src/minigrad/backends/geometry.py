"""Shapes and strides of a loop over several arrays, made as simple as they can be.

A loop over arrays of equal shape needs one index for each axis, and where all of them are laid out alike, one in all.
Here axes of size 1 disappear, neighbours that can be walked as one are merged, and where an array runs across the
inner loop, the loop is cut into blocks that stay in the cache. Strides are in elements; a broadcast axis has stride 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

BLOCK = 32
"""Elements in a block of the inner loop, where an array is walked across its rows."""

Axis = tuple[int, tuple[int, ...]]
"""A size, and the stride of each array."""


def strides_of(array: np.ndarray[Any, Any], shape: Sequence[int]) -> tuple[int, ...]:
    """Return an array's strides in elements, as if it were broadcast to a shape."""
    missing = len(shape) - array.ndim
    size = array.itemsize
    strides = tuple(s // size if n != 1 else 0 for n, s in zip(array.shape, array.strides, strict=True))
    return (0,) * missing + strides


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a row-major array.

    >>> from minigrad.backends.geometry import contiguous_strides
    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


@lru_cache(maxsize=4096)
def collapse(shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...]) -> tuple[Axis, ...]:
    """Return the fewest axes that visit the same elements in the same order.

    Args:
        shape: The size of each axis.
        strides: For each array, its stride in each axis.

    Returns:
        At least one axis, the outermost first.
    """
    axes: list[Axis] = []
    for i, size in enumerate(shape):
        if size == 1:
            continue
        steps = tuple(s[i] for s in strides)
        if axes and all(outer == inner * size for outer, inner in zip(axes[-1][1], steps, strict=True)):
            axes[-1] = (axes[-1][0] * size, steps)
        else:
            axes.append((size, steps))
    return tuple(axes) or ((1, (0,) * len(strides)),)


@lru_cache(maxsize=4096)
def blocks(axes: tuple[Axis, ...]) -> tuple[tuple[tuple[Axis, ...], tuple[int, ...]], ...]:
    """Cut the inner loop into blocks where an array runs across it.

    An array whose inner stride is large and whose stride one axis further out is small touches a new cache line at
    each step, and comes back to the same lines in the next row. With short rows they are still in the cache then.

    Returns:
        Pairs of axes and the offset of each array; together they visit the same elements.
    """
    if len(axes) < 2 or axes[-1][0] <= BLOCK:
        return ((axes, (0,) * len(axes[0][1])),)
    size, steps = axes[-1]
    across = any(i > 8 and 0 < o < i for i, o in zip(steps, axes[-2][1], strict=True))
    if not across:
        return ((axes, (0,) * len(steps)),)
    count, rest = divmod(size, BLOCK)
    jumps = tuple(s * BLOCK for s in steps)
    pieces = [((*axes[:-2], (count, jumps), axes[-2], (BLOCK, steps)), (0,) * len(steps))]
    if rest:
        pieces.append(((*axes[:-1], (rest, steps)), tuple(s * count * BLOCK for s in steps)))
    return tuple(pieces)


def kind(stride: int) -> str:
    """Return how an array runs along the inner loop: "c" step by step, "0" not at all, "s" in strides."""
    return "c" if stride == 1 else "0" if stride == 0 else "s"
