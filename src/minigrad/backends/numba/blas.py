"""NumPy's BLAS on the threads that run loops.

OpenBLAS has threads of its own. They spin while they wait for the next product, and so do those of the loops: two cores
then serve four threads, and a step that alternates products with loops takes half as long again. Here each thread of
the loops multiplies some of the rows, and OpenBLAS uses no thread of its own.

This module serves NumPy's wheels: they contain OpenBLAS with 64-bit integers and names that begin with "scipy".
"""

from __future__ import annotations

import ctypes
import math
import struct
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minigrad.backends.geometry import collapse
from minigrad.backends.guarded import address
from minigrad.backends.numba import compiler, threads

Array = np.ndarray[Any, Any]

LEAST = 1 << 21
"""Multiplications that are worth a thread."""
MOST = 1 << 26
"""From here on OpenBLAS divides a product better: its threads share what they copy."""
ROWS = 8
"""A thread gets a multiple of so many rows of a matrix that is divided."""

ROUTINES = {np.dtype(np.float32): "scipy_cblas_sgemm64_", np.dtype(np.float64): "scipy_cblas_dgemm64_"}

_PACK = struct.Struct("4q").pack

_TEXT = """
def kernel(item, dimensions, steps, parameters):
    routine, a, b, out = parameters[0], parameters[1], parameters[2], parameters[3]
    n, m, k = parameters[4], parameters[5], parameters[6]
    turned_a, lead_a, turned_b, lead_b = parameters[7], parameters[8], parameters[9], parameters[10]
    row_a, inner = parameters[11], parameters[12]
    outer_a, inner_a, outer_b, inner_b = parameters[13], parameters[14], parameters[15], parameters[16]
    row, stop = item[0][0], item[0][1]
    while row < stop:
        matrix = row // n
        first = row - matrix * n
        count = min(n - first, stop - row)
        i = matrix // inner
        j = matrix - i * inner
        at_a = a + size * (i * outer_a + j * inner_a + first * row_a)
        at_b = b + size * (i * outer_b + j * inner_b)
        at_out = out + size * row * m
        gemm(routine, turned_a, turned_b, count, m, k, at_a, lead_a, at_b, lead_b, at_out, m, number)
        row += count
"""


@cache
def _library() -> Any:
    """Return NumPy's OpenBLAS, which is loaded already; None if it has another BLAS."""
    folder = Path(np.__file__).parent
    for file in (*folder.parent.glob("numpy.libs/*openblas*"), *folder.glob(".dylibs/*openblas*")):
        library = ctypes.PyDLL(str(file))
        if all(hasattr(library, name) for name in (*ROUTINES.values(), "scipy_openblas_set_num_threads64_")):
            return library
    return None


@cache
def _routine(dtype: np.dtype[Any]) -> tuple[compiler.Kernel, int]:
    """Return the kernel for a dtype, and the address of BLAS's routine."""
    text = _TEXT.replace("number", dtype.name)
    kernel = compiler.kernel("product", text, lambda: {"size": dtype.itemsize})
    return kernel, ctypes.cast(getattr(_library(), ROUTINES[dtype]), ctypes.c_void_p).value or 0


class _Division(NamedTuple):
    """How a product is divided among threads."""

    kernel: compiler.Kernel
    routine: int
    parts: threads.Parts
    numbers: bytes


def multiply(a: Array, b: Array, out: Array) -> bool:
    """Multiply matrices on all threads, if that is worth it.

    Args:
        a: Shape (..., n, k), its rows or its columns in one piece.
        b: Shape (..., k, m), likewise; leading axes broadcast.
        out: Shape (..., n, m), in row-major order; of the dtype of both.

    Returns:
        Whether it was done. If not, nothing has happened.
    """
    work = out.size * a.shape[-1]
    if not 2 * LEAST <= work < MOST or not a.dtype == b.dtype == out.dtype or out.dtype not in ROUTINES:
        return False
    division = _division(out.shape, out.dtype, a.shape, a.strides, b.shape, b.strides, threads.thread_count())
    library = _library()
    if division is None or (allowed := library.scipy_openblas_get_num_threads64_()) == 1:
        return False
    # Another Python thread that multiplies meanwhile reads a limit of 1, and returns above without changing it.
    library.scipy_openblas_set_num_threads64_(1)
    try:
        given = _PACK(division.routine, address(a), address(b), address(out)) + division.numbers
        threads.run(division.kernel, given, division.parts)
    finally:
        library.scipy_openblas_set_num_threads64_(allowed)
    return True


@lru_cache(maxsize=1024)
def _division(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    shape_a: tuple[int, ...],
    strides_a: tuple[int, ...],
    shape_b: tuple[int, ...],
    strides_b: tuple[int, ...],
    most: int,
) -> _Division | None:
    """Return how threads share a product; None if OpenBLAS is to do it alone."""
    *batch, n, m = shape
    rows, k = math.prod(shape[:-1]), shape_a[-1]
    count = min(most, rows * m * k // LEAST)
    steps_a, steps_b = (
        tuple(step // dtype.itemsize if size != 1 else 0 for size, step in zip(sizes, strides, strict=True))
        for sizes, strides in ((shape_a, strides_a), (shape_b, strides_b))
    )
    outer = [(0,) * (len(shape) - len(steps)) + steps[:-2] for steps in (steps_a, steps_b)]
    axes = collapse(tuple(batch), tuple(outer))
    parts = threads.parts(rows, count, n if rows // n % count == 0 else ROWS)
    if len(axes) > 2 or parts.count == 1 or _library() is None:
        return None
    (_, (outer_a, outer_b)), (inner, (inner_a, inner_b)) = axes if len(axes) == 2 else ((1, (0, 0)), *axes)
    turned_a, lead_a = _layout(shape_a, steps_a)
    turned_b, lead_b = _layout(shape_b, steps_b)
    numbers = (n, m, k, turned_a, lead_a, turned_b, lead_b, steps_a[-2], inner, outer_a, inner_a, outer_b, inner_b)
    return _Division(*_routine(dtype), parts, struct.pack(f"{len(numbers)}q", *numbers))


def _layout(shape: tuple[int, ...], steps: tuple[int, ...]) -> tuple[int, int]:
    """Return whether a matrix lies by columns, 1 or 0, and how many elements are between the starts of two."""
    (rows, columns), (row, column) = shape[-2:], steps[-2:]
    if (column == 1 or columns == 1) and (row >= columns or rows == 1):
        return 0, max(row, columns)
    return 1, max(column, rows)
