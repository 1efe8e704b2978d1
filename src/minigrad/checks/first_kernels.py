"""Visible tests of the first kernels, which are run in Python with every access to memory watched."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.checks.cuda_ops import ADVICE
from minigrad.checks.expectation import Expectation, expect
from minigrad.checks.runner import visible
from minigrad.debug import cuda_races

SECTION = "08 'A thread for each element'"
SIX = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0])


def _run(kernel: Callable[..., Any], grid: Any, block: Any, a: Any, *sizes: int) -> Any:
    """Return what a kernel writes; what goes wrong with memory is a failed expectation."""
    report = cuda_races(kernel, grid, block, np.full(a.shape, np.nan), a.copy(), *sizes)
    if report.races:
        advice = next((ADVICE[kind] for kind in ADVICE if kind in report.kinds), None)
        raise Expectation(sorted(report.kinds), [], report.races[0].message, advice, None)
    return report.args[0].tolist()


@visible("first_kernels.add_ten", section=SECTION)
def one_block(student: SimpleNamespace) -> None:
    """add_ten: six threads in one block, one for each element."""
    seen = _run(student.add_ten, 1, 6, SIX)
    meanings = {
        (
            10.0,
            11.0,
            12.0,
            13.0,
            14.0,
            15.0,
        ): "this is the thread's number and ten: take the element of a with this number"
    }
    expect(seen, (SIX + 10.0).tolist(), hint="write a[i] + 10.0 into out[i]", when=meanings)


@visible("first_kernels.add_ten", section=SECTION)
def several_blocks(student: SimpleNamespace) -> None:
    """add_ten_guarded: three blocks of two threads, one thread for each element."""
    seen = _run(student.add_ten_guarded, 3, 2, SIX, 6)
    hint = "the number in the grid: cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, or cuda.grid(1)"
    expect(seen, (SIX + 10.0).tolist(), hint=hint)


@visible("first_kernels.add_ten", section=SECTION)
def threads_left_over(student: SimpleNamespace) -> None:
    """add_ten_guarded: two blocks of four threads for six elements, and two blocks of three for five."""
    expect(_run(student.add_ten_guarded, 2, 4, SIX, 6), (SIX + 10.0).tolist(), hint="i < size")
    expect(_run(student.add_ten_guarded, 2, 3, SIX[:5], 5), (SIX[:5] + 10.0).tolist(), hint="i < size")


@visible("first_kernels.add_ten", section=SECTION)
def rows_and_columns(student: SimpleNamespace) -> None:
    """add_ten_2d: a table of 6 rows and 1 column, with threads left over in both directions."""
    table = SIX.reshape(6, 1)
    seen = _run(student.add_ten_2d, (1, 4), (2, 2), table, 6, 1)
    expect(
        seen, (table + 10.0).tolist(), hint="the number in x counts columns, that in y rows: cuda.grid(2) returns both"
    )
