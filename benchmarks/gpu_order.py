"""The cost of an order of threads on a GPU: kernels of lesson 08 that do the same work, counted and timed.

The transactions with global memory and the passes over shared memory are counted without a GPU, on a small size, by
`debug.cuda_races`. The times are those of a large size on a device. Lesson 08 says where the two disagree, and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import cuda_ops, debug
from minigrad.backends.gpu import DeviceArray, from_host, launch
from minigrad.backends.gpu.teaching import run_matmul
from minigrad.cuda_ops import TILE_DIM, cuda, numba

__all__ = ["Counted", "Ordered", "ordered"]

TURNED, MULTIPLIED = (64, 8192), (16, 1024)  # rows: counted, and timed


@dataclass(frozen=True)
class Counted:
    """The memory accesses of a kernel at the small size.

    Attributes:
        transactions: Segments of 32 bytes of global memory.
        passes: Over shared memory.
    """

    transactions: int
    passes: int


@dataclass(frozen=True)
class Ordered:
    """One of several kernels with the same result.

    Attributes:
        group: The result that they have in common.
        name: In which order this one does.
        counted: Its memory accesses.
        launch: Run it at the large size; it may return before the device is done.
        out: Its result, once it has run.
    """

    group: str
    name: str
    counted: Counted
    launch: Any
    out: DeviceArray


def double_x_is_row(out: Any, a: Any, size: int) -> None:
    """Double a matrix; neighbours are a row apart."""
    row, column = cuda.grid(2)
    if row < size and column < size:
        out[row * size + column] = 2 * a[row * size + column]


def double_x_is_column(out: Any, a: Any, size: int) -> None:
    """Double a matrix; neighbours lie side by side."""
    column, row = cuda.grid(2)
    if row < size and column < size:
        out[row * size + column] = 2 * a[row * size + column]


def turn_directly(out: Any, a: Any, size: int) -> None:
    """Transpose without shared memory: what is read side by side is written a row apart."""
    column, row = cuda.grid(2)
    if row < size and column < size:
        out[column * size + row] = a[row * size + column]


def turn_with_conflicts(out: Any, a: Any, size: int) -> None:
    """Transpose by a tile whose columns lie in one bank each."""
    tile = cuda.shared.array((TILE_DIM, TILE_DIM), numba.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE_DIM, cuda.blockIdx.y * TILE_DIM
    if top + y < size and left + x < size:
        tile[y, x] = a[(top + y) * size + left + x]
    cuda.syncthreads()
    if left + y < size and top + x < size:
        out[(left + y) * size + top + x] = tile[x, y]


def product_x_is_row(out: Any, a: Any, b: Any, size: int) -> None:
    """Multiply matrices without tiles; neighbours compute elements of one column."""
    row, column = cuda.grid(2)
    total = 0.0
    for k in range(size):
        total += a[row * size + k] * b[k * size + column]
    out[row * size + column] = total


def product_x_is_column(out: Any, a: Any, b: Any, size: int) -> None:
    """Multiply matrices without tiles; neighbours compute elements of one row."""
    column, row = cuda.grid(2)
    total = 0.0
    for k in range(size):
        total += a[row * size + k] * b[k * size + column]
    out[row * size + column] = total


def product_by_tiles(side: int, x_is_row: bool) -> Any:
    """Return a kernel that multiplies matrices tile by tile, of a size that is a multiple of the tiles' side."""

    def product(out: Any, a: Any, b: Any, size: int) -> None:
        a_tile = cuda.shared.array((side, side), numba.float64)
        b_tile = cuda.shared.array((side, side), numba.float64)
        if x_is_row:
            row, column = cuda.threadIdx.x, cuda.threadIdx.y
            top, left = cuda.blockIdx.x * side, cuda.blockIdx.y * side
        else:
            row, column = cuda.threadIdx.y, cuda.threadIdx.x
            top, left = cuda.blockIdx.y * side, cuda.blockIdx.x * side
        total = 0.0
        for start in range(0, size, side):
            a_tile[row, column] = a[(top + row) * size + start + column]
            b_tile[row, column] = b[(start + row) * size + left + column]
            cuda.syncthreads()
            for k in range(side):
                total += a_tile[row, k] * b_tile[k, column]
            cuda.syncthreads()
        out[(top + row) * size + left + column] = total

    return product


def ordered(turned: tuple[int, int] = TURNED, multiplied: tuple[int, int] = MULTIPLIED) -> Iterator[Ordered]:
    """Yield the kernels, those with the same result one after the other.

    Args:
        turned: Rows of the matrices that are doubled and transposed: counted, and launched.
        multiplied: Rows of the matrices that are multiplied, likewise: multiples of 16.
    """
    small, large = turned
    doubled = f"double {large} x {large}, float32"
    yield _flat(doubled, "x is the row", double_x_is_row, small, large)
    yield _flat(doubled, "x is the column", double_x_is_column, small, large)
    turn = f"transpose {large} x {large}, float32"
    yield _flat(turn, "directly", turn_directly, small, large)
    yield _flat(turn, "a tile with bank conflicts", turn_with_conflicts, small, large)
    yield _flat(turn, "a tile without", cuda_ops._turn_practice, small, large)
    small, large = multiplied
    product = f"{large} x {large} times itself, float64"
    yield _flat(product, "x is the row", product_x_is_row, small, large, 2, 8)
    yield _flat(product, "x is the column", product_x_is_column, small, large, 2, 8)
    yield _tiled(product, "tiles of the exercise, 8 x 8, x is the column", small, large)
    yield _flat(product, "tiles of 8 x 8, x is the row", product_by_tiles(8, True), small, large, 2, 8)
    yield _flat(product, "tiles of 8 x 8, x is the column", product_by_tiles(8, False), small, large, 2, 8)
    yield _flat(product, "tiles of 16 x 16, x is the column", product_by_tiles(16, False), small, large, 2, 16)


def _matrices(size: int, inputs: int) -> list[Any]:
    values = np.random.default_rng(0).random(size * size, np.float32)
    return [values] if inputs == 1 else [values.astype(np.float64)] * inputs


def _flat(group: str, name: str, kernel: Any, small: int, large: int, inputs: int = 1, side: int = 32) -> Ordered:
    """Count and launch a kernel of flat arrays and their number of rows."""

    def on_grid(size: int) -> tuple[tuple[int, int], tuple[int, int]]:
        return (-(-size // side),) * 2, (side, side)

    few = _matrices(small, inputs)
    report = debug.cuda_races(kernel, *on_grid(small), np.zeros_like(few[0]), *few, small, runs=1)
    many = [from_host(each) for each in _matrices(large, inputs)]
    out = from_host(np.zeros(large * large, few[0].dtype))
    return Ordered(group, name, _counted(report), lambda: launch(kernel, *on_grid(large), out, *many, large), out)


def _tiled(group: str, name: str, small: int, large: int) -> Ordered:
    """Count and launch the product of the exercise."""
    kernel = cuda_ops._tensor_matrix_multiply
    few = _matrices(small, 1)[0].astype(np.float64)
    layout = np.array((1, small, small)), np.array((small * small, small, 1))
    parts = (few.size, few, *layout, few, *layout)
    side = cuda_ops.BLOCK_DIM
    grid, block = (-(-small // side),) * 2, (side, side)
    report = debug.cuda_races(kernel, grid, block, np.zeros_like(few), *layout, *parts, runs=1)
    a = from_host(_matrices(large, 2)[0].reshape(1, large, large))
    out = from_host(np.zeros((1, large, large)))
    return Ordered(group, name, _counted(report), lambda: run_matmul(kernel, out, a, a), out)


def _counted(report: Any) -> Counted:
    return Counted(sum(report.transactions().values()), sum(report.passes().values()))
