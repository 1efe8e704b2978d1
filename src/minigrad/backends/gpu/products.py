"""Matrix products on the device, in tiles of shared memory.

Each number of a tile is read from global memory once for a block, instead of once for each thread that needs it; and
each thread computes several elements, so that what it reads from shared memory serves more than one product.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from minigrad.backends.gpu import launching
from minigrad.backends.gpu.array import DeviceArray, allocate
from minigrad.backends.gpu.sizes import MATMUL, Tiles
from minigrad.backends.gpu.sources import WAIT, collapse, compiled, positions

__all__ = ["multiply"]

MOST_BLOCKS_Z = 65_535

_SOURCE = """
def kernel(out, a, b, a_at, b_at, batch_shape, batches, a_row, a_column, b_row, b_column, n, k, m):
    a_tile = cuda.shared.array(({side}, {depth}), of)
    b_tile = cuda.shared.array(({depth}, {side}), of)
    sums = cuda.local.array(({per}, {per}), of)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    number = ty * {threads} + tx
    row = cuda.blockIdx.x * {side}
    column = cuda.blockIdx.y * {side}
    matrix = cuda.blockIdx.z
    while matrix < batches:
        a_first = a_at[0]
        b_first = b_at[0]
        {to_batch}
        for i in range({per}):
            for j in range({per}):
                sums[i, j] = 0
        for start in range(0, k, {depth}):
            e = number
            while e < {side} * {depth}:
                # Threads side by side read neighbours in memory, whichever way the matrix lies there.
                if a_row < a_column:
                    r = e % {side}
                    c = e // {side}
                else:
                    r = e // {depth}
                    c = e % {depth}
                if row + r < n and start + c < k:
                    a_tile[r, c] = a[a_first + (row + r) * a_row + (start + c) * a_column]
                else:
                    a_tile[r, c] = 0
                if b_row < b_column:
                    r = e % {depth}
                    c = e // {depth}
                else:
                    r = e // {side}
                    c = e % {side}
                if start + r < k and column + c < m:
                    b_tile[r, c] = b[b_first + (start + r) * b_row + (column + c) * b_column]
                else:
                    b_tile[r, c] = 0
                e += {threads} * {threads}
            {wait}
            for d in range({depth}):
                for i in range({per}):
                    left = a_tile[ty + i * {threads}, d]
                    for j in range({per}):
                        sums[i, j] += left * b_tile[d, tx + j * {threads}]
            {wait}
        for i in range({per}):
            for j in range({per}):
                r = row + ty + i * {threads}
                c = column + tx + j * {threads}
                if r < n and c < m:
                    out[(matrix * n + r) * m + c] = sums[i, j]
        matrix += cuda.gridDim.z
"""


def multiply(a: DeviceArray, b: DeviceArray, dtype: np.dtype[Any]) -> DeviceArray:
    """Return the products of matrices.

    Args:
        a: Shape (..., n, k), any strides.
        b: Shape (..., k, m), any strides; the leading axes broadcast.
        dtype: In which to compute, float32, float64, int32 or int64; the type of both arrays.

    Returns:
        A new array of shape (..., n, m).
    """
    (n, k), m = a.shape[-2:], b.shape[-1]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out = allocate((*batch, n, m), dtype)
    if out.size == 0:
        return out
    a, b = a.expand(*batch, n, k), b.expand(*batch, k, m)
    shape, (a_steps, b_steps) = collapse(batch, a.strides[:-2], b.strides[:-2])
    batches = math.prod(batch)
    grid = (-(-n // MATMUL.side), -(-m // MATMUL.side), min(batches, MOST_BLOCKS_Z))
    run = _kernel(len(shape), dtype, MATMUL)
    run(
        grid,
        (MATMUL.threads, MATMUL.threads, 1),
        *(out.storage, a.storage, b.storage, (a.offset, *a_steps), (b.offset, *b_steps), shape, batches),
        *(*a.strides[-2:], *b.strides[-2:], n, k, m),
    )
    return out


@lru_cache(maxsize=64)
def _kernel(rank: int, dtype: np.dtype[Any], tiles: Tiles) -> launching.Kernel:
    to_batch = positions("matrix", "batch_shape", rank, [("a_first", "a_at"), ("b_first", "b_at")])
    sizes = {"side": tiles.side, "depth": tiles.depth, "per": tiles.per_thread, "threads": tiles.threads, "wait": WAIT}
    source = _SOURCE.format(to_batch=("\n" + " " * 8).join(to_batch), **sizes)
    return launching.ready(compiled(source, {"of": dtype.type}))
