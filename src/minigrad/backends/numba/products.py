"""Products of matrices: handed to BLAS, in a form that it takes without copies of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.backends.numba import blas, pool
from minigrad.backends.numba.elementwise import elementwise

Array = np.ndarray[Any, Any]


def contiguous(x: Array) -> Array:
    """Return a fresh row-major copy."""
    return elementwise(("id", ("in", 0)), [x], x.dtype)


def matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """Return the products of matrices in the last two axes.

    Args:
        a: Shape (..., n, k).
        b: Shape (..., k, m); the leading axes of both broadcast.
        out: Where to put a product of two matrices: fresh memory in row-major order, of its dtype.

    Returns:
        Shape (..., n, m).
    """
    dtype = np.result_type(a, b)
    a, b = _for_blas(a), _for_blas(b)
    batch, other = a.shape[:-2], b.shape[:-2]
    if other and other != batch:
        batch = np.broadcast_shapes(batch, other)
    shape = (*batch, a.shape[-2], b.shape[-1])
    if math.prod(other) == 1 and a.ndim > 2 and a.ndim >= b.ndim and a.flags.c_contiguous:
        # One right factor for all: the left ones are stacked, and it is a single, large product.
        a, b = a.reshape(-1, a.shape[-1]), b.reshape(b.shape[-2:])
        return _multiplied(a, b, pool.empty((len(a), b.shape[-1]), dtype)).reshape(shape)
    return _multiplied(a, b, pool.empty(shape, dtype) if out is None else out)


def _multiplied(a: Array, b: Array, out: Array) -> Array:
    """Write products into fresh memory, and return it."""
    return out if not out.size or blas.multiply(a, b, out) else np.matmul(a, b, out=out)


def _for_blas(x: Array) -> Array:
    """Return x, or a copy if neither rows nor columns lie in one piece: NumPy would multiply it without BLAS."""
    row, column = x.strides[-2:]
    rows, columns = x.shape[-2:]
    size = x.itemsize
    # A single row or column has no stride that matters.
    by_rows = (column == size or columns == 1) and (row >= columns * size or rows == 1)
    by_columns = (row == size or rows == 1) and (column >= rows * size or columns == 1)
    return x if by_rows or by_columns or not x.size else contiguous(x)
