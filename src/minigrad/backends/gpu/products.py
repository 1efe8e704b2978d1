"""Matrix products on the device, in tiles of shared memory.

Each number of a tile is read from global memory once for a block, instead of once for each thread that needs it; and
each thread computes several elements, so that what it reads from shared memory serves more than one product. Their sums
are variables, and not an array: an array would lie in memory, and each product would load and store its sum.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from minigrad.backends.gpu import launching
from minigrad.backends.gpu.array import DeviceArray, allocate
from minigrad.backends.gpu.sizes import ENOUGH_BLOCKS, LARGE_TILES, SMALL_TILES, Tiles
from minigrad.backends.gpu.sources import WAIT, collapse, compiled, positions

MOST_BLOCKS_Z = 65_535

_SOURCE = """
def kernel(out, a, b, a_at, b_at, batch_shape, batches, a_row, a_column, b_row, b_column, n, k, m):
    a_tile = cuda.shared.array(({side}, {depth}), of)
    b_tile = cuda.shared.array(({depth}, {side}), of)
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
        {begin}
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
                {add}
            {wait}
        {store}
        matrix += cuda.gridDim.z
"""


def multiply(a: DeviceArray, b: DeviceArray, dtype: np.dtype[Any]) -> DeviceArray:
    """Return the products of matrices.

    Args:
        a: Shape (..., n, k), any strides.
        b: Shape (..., k, m), any strides; the leading axes broadcast.
        dtype: In which to compute; the type of both arrays.

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
    tiles = _tiles(n, m, batches, dtype)
    grid = (-(-n // tiles.side), -(-m // tiles.side), min(batches, MOST_BLOCKS_Z))
    run = _kernel(len(shape), dtype, tiles)
    run(
        grid,
        (tiles.threads, tiles.threads, 1),
        *(out.storage, a.storage, b.storage, (a.offset, *a_steps), (b.offset, *b_steps), shape, batches),
        *(*a.strides[-2:], *b.strides[-2:], n, k, m),
    )
    return out


def _tiles(n: int, m: int, batches: int, dtype: np.dtype[Any]) -> Tiles:
    """Return the sizes of tiles: large ones read less, but a small product has too few of them for a whole device."""
    large = LARGE_TILES.get(dtype.itemsize, SMALL_TILES)
    blocks = -(-n // large.side) * -(-m // large.side) * batches
    return large if blocks >= ENOUGH_BLOCKS else SMALL_TILES


@lru_cache(maxsize=64)
def _kernel(rank: int, dtype: np.dtype[Any], tiles: Tiles) -> launching.Kernel:
    source = _SOURCE.format(
        to_batch=_lines(8, positions("matrix", "batch_shape", rank, [("a_first", "a_at"), ("b_first", "b_at")])),
        begin=_lines(8, [f"s{i}_{j} = of(0)" for i, j in _sums(tiles)]),
        add=_lines(16, _additions(tiles)),
        store=_lines(8, _stores(tiles)),
        side=tiles.side,
        depth=tiles.depth,
        threads=tiles.threads,
        wait=WAIT,
    )
    return launching.ready(compiled(source, {"of": dtype.type}))


def _lines(indent: int, lines: Iterable[str]) -> str:
    return ("\n" + " " * indent).join(lines)


def _sums(tiles: Tiles) -> Iterator[tuple[int, int]]:
    """Yield the elements of a thread: row i * threads + ty and column j * threads + tx of the block's tile."""
    return itertools.product(range(tiles.per_thread), range(tiles.per_thread))


def _additions(tiles: Tiles) -> Iterator[str]:
    """Yield the lines that add column d of one tile times row d of the other to a thread's sums."""
    yield from (f"b{j} = b_tile[d, tx + {j * tiles.threads}]" for j in range(tiles.per_thread))
    for i, j in _sums(tiles):
        if j == 0:
            yield f"a{i} = a_tile[ty + {i * tiles.threads}, d]"
        yield f"s{i}_{j} += a{i} * b{j}"


def _stores(tiles: Tiles) -> Iterator[str]:
    for i, j in _sums(tiles):
        yield f"r = row + ty + {i * tiles.threads}"
        yield f"c = column + tx + {j * tiles.threads}"
        yield "if r < n and c < m:"
        yield f"    out[(matrix * n + r) * m + c] = s{i}_{j}"
