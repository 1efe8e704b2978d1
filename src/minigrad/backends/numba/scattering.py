"""Adding rows where numbers say: the gradient of a table from which rows were looked up."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from minigrad.backends.guarded import address
from minigrad.backends.numba import compiler, threads
from minigrad.backends.numba.elementwise import parameters

Array = np.ndarray[Any, Any]

_TEXT = """
def kernel(item, dimensions, steps, parameters):
    out, rows, places = pointer(parameters[0], number), pointer(parameters[1], number), pointer(parameters[2], int64)
    count, width = parameters[3], parameters[4]
    for i in range(count):
        to, source = places[i] * width, i * width
        for j in range(item[0][0], item[0][1]):
            store(out, to + j, out[to + j] + load(rows, source + j))
"""


@cache
def _kernel(dtype: np.dtype[Any]) -> compiler.Kernel:
    return compiler.kernel("add_rows", _TEXT.replace("number", dtype.name), dict)


def add_rows(out: Array, places: Array, rows: Array) -> None:
    """Add each row to the one of out that its place names, in their order.

    Every thread adds some of the columns, so that no two write to one place.

    Args:
        out: Shape (n, ...), in row-major order.
        places: int64 from 0 to n - 1, in row-major order.
        rows: Shape (*places.shape, ...), of out's dtype, in row-major order.
    """
    width = math.prod(out.shape[1:])
    work = threads.parts(width, threads.count_for(rows.size, rows.itemsize), 64 // out.itemsize)
    numbers = [address(out), address(rows), address(places), places.size, width]
    threads.run(_kernel(out.dtype), parameters(numbers), work)
