"""Arrays of NumPy taken apart into what loops work on: a line of elements, shape and strides."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["parts_of"]


def parts_of(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the memory of an array from its first element to its last, its shape, and its strides in elements.

    Nothing is copied. None is returned if a stride is negative or no whole number of elements: a loop counts whole
    elements, and only forwards.

    >>> from minigrad.layout import parts_of
    >>> parts_of(np.arange(6).reshape(2, 3).T)
    (array([0, 1, 2, 3, 4, 5]), array([3, 2]), array([1, 3]))
    """
    shape = np.array(array.shape, np.int64)
    strides, rest = np.divmod(np.array(array.strides, np.int64), array.itemsize)
    if array.size and ((strides < 0) | (rest > 0))[shape > 1].any():
        return None
    strides = np.maximum(strides, 0)  # NumPy may leave anything for an axis along which nobody steps
    if array.flags.c_contiguous:
        return array.reshape(-1), shape, strides
    length = int((shape - 1) @ strides) + 1 if array.size else 0
    return np.lib.stride_tricks.as_strided(array, (length,), (array.itemsize,)), shape, strides
