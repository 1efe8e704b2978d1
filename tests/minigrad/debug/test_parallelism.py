"""The parallelism report: which loops run in parallel, what was fused and what was hoisted."""

import numpy as np
import pytest

from minigrad._numba import numba
from minigrad.compiling import compile_kernel
from minigrad.debug.parallelism import parallel_report

prange = numba.prange


def _hoisting(out, x):
    for i in prange(len(out)):
        place = np.empty(2, np.int64)
        place[0] = i
        out[i] = x[place[0]] * 2.0


def _nested(out):
    for i in prange(out.shape[0]):
        for j in prange(out.shape[1]):
            out[i, j] = i + j


def _serial(out):
    for i in range(len(out)):
        out[i] = i


def test_a_hoisted_allocation_is_shown():
    """The report names the loop's line and threads, and the allocation that is made once for all iterations."""
    kernel = compile_kernel(_hoisting)
    report = parallel_report(kernel, np.zeros(5), np.ones(5))
    first = _hoisting.__code__.co_firstlineno
    assert report.parallel and [loop.line for loop in report.loops] == [first + 1]
    assert report.loops[0].hoisted == (f"line {first + 2}: place = np.empty(2, np.int64)",)
    assert f"on {numba.get_num_threads()} threads" in str(report)
    assert "for i in prange(len(out)):" in str(report) and "Parallel loop listing" in report.details


def test_the_inner_of_two_loops_is_serial():
    """Only the outer of two nested parallel loops is shared out, and the report says why."""
    report = parallel_report(numba.njit(parallel=True)(_nested), np.zeros((3, 4)))
    assert [loop.parallel for loop in report.loops] == [True, False]
    assert f"inside the parallel loop of line {report.loops[0].line}" in report.loops[1].reason


def test_a_serial_kernel_says_how_to_change_that():
    """Without prange nothing runs in parallel, and the report says what would."""
    report = parallel_report(numba.njit(_serial), np.zeros(3))
    assert not report.parallel and "prange" in str(report)


def test_the_notebook_shows_a_table():
    """In a notebook the report is a table, with Numba's own words folded away and everything escaped."""
    html = parallel_report(compile_kernel(_hoisting), np.zeros(5), np.ones(5))._repr_html_()
    assert html.count("<tr>") == 2 and "<details>" in html and "allocated once" in html


def test_what_is_not_compiled_is_refused():
    """A plain function, and a kernel that was never called, are refused in words."""
    with pytest.raises(TypeError, match="not compiled"):
        parallel_report(_serial)
    with pytest.raises(ValueError, match="never called"):
        parallel_report(numba.njit(_serial))
