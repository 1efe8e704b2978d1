"""Three kernels of a line or three for a GPU, with which lesson 08 begins: add ten to each element of a plain array."""

from __future__ import annotations

from typing import Any

from minigrad.cuda_ops import cuda


def add_ten(out: Any, a: Any) -> None:
    """Add ten to each element of a: a CUDA kernel.

    One block runs it, with as many threads as there are elements. ``cuda.threadIdx.x``
    is the number of a thread in its block.

    Args:
        out: For the sums, as many numbers as in a.
        a: The numbers.
    """
    ### BEGIN SOLUTION
    i = cuda.threadIdx.x
    out[i] = a[i] + 10.0
    ### END SOLUTION


def add_ten_guarded(out: Any, a: Any, size: int) -> None:
    """Add ten to each element of a, with any number of blocks: a CUDA kernel.

    The thread whose number in the whole grid is i computes element i. There may be more
    threads than elements: those left over touch nothing.

    Args:
        out: For the sums.
        a: The numbers.
        size: How many there are.
    """
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] + 10.0
    ### END SOLUTION


def add_ten_2d(out: Any, a: Any, rows: int, columns: int) -> None:
    """Add ten to each element of a table: a CUDA kernel.

    Blocks and grid have two axes. x counts columns, and y rows, so that neighbours in x
    have elements side by side: ``cuda.grid(2)`` is the pair of a thread's numbers in x
    and in y. Threads left over, beyond the last row or the last column, touch nothing.

    Args:
        out: For the sums: a table, ``out[i, j]``.
        a: The numbers: ``a[i, j]``.
        rows: The number of rows.
        columns: The number of columns.
    """
    ### BEGIN SOLUTION
    x, y = cuda.grid(2)
    if x < columns and y < rows:
        out[y, x] = a[y, x] + 10.0
    ### END SOLUTION
