"""The parallelism report: which loops run in parallel, what was fused and what was hoisted."""

import re

import numpy as np
import pytest

from minigrad import compiling
from minigrad.compiling import compile_kernel
from minigrad.debug.parallelism import parallel_report
from minigrad.errors import KernelError
from minigrad.machine._numba import numba

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


def _fused_inside(out, x):
    twice = x * 2.0
    for i in prange(len(out)):
        row = np.zeros(4)
        for j in prange(4):
            row[j] = twice[i] * j
        out[i] = row.sum()


def _refused(out):
    for i in prange(len(out)):
        out[i] = "a"


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
    assert "once for each thread, whose iterations use it in turn: line" in str(report)
    assert "before the loop" not in str(report)  # a buffer made there is one for all threads
    assert "for i in prange(len(out)):" in str(report) and "Parallel loop listing" in report.details


def test_the_inner_of_two_loops_is_serial():
    """Only the outer of two nested parallel loops is shared out, and the report says why."""
    report = parallel_report(numba.njit(parallel=True)(_nested), np.zeros((3, 4)))
    assert [loop.parallel for loop in report.loops] == [True, False]
    assert f"inside the parallel loop of line {report.loops[0].line}" in report.loops[1].reason


def test_a_serial_kernel_says_how_to_change_that():
    """Without prange nothing runs in parallel, and the report says what would."""
    report = parallel_report(numba.njit(_serial), np.zeros(3))
    assert not report.parallel and "`for i in prange(n)` makes one" in str(report)


def test_a_prange_loop_without_parallel_says_what_is_missing():
    """A kernel that has its prange loop and is compiled without parallel=True is told of the latter."""
    told = str(parallel_report(numba.njit(_hoisting), np.zeros(5), np.ones(5)))
    assert "its prange loop needs parallel=True" in told and "makes one" not in told
    compiling.set_parallel(False)
    try:
        assert "set_parallel(False)" in str(parallel_report(compile_kernel(_hoisting), np.zeros(5), np.ones(5)))
    finally:
        compiling.set_parallel(True)


def test_what_is_fused_with_a_serial_loop_is_serial():
    """A loop that was joined to one inside a parallel loop does not run in parallel either."""
    report = parallel_report(numba.njit(parallel=True)(_fused_inside), np.zeros(5), np.ones(5))
    first = _fused_inside.__code__.co_firstlineno
    loops = {loop.line - first: loop for loop in report.loops}
    assert [loops[line].parallel for line in (1, 2, 3, 4)] == [True, True, False, False]
    assert loops[4].reason == f"fused with the loop of line {first + 3}: both in one"


def test_a_kernel_that_the_compiler_refuses_is_explained():
    """The compiler's refusal comes as one sentence with the student's line, as when the kernel is called itself."""
    with pytest.raises(KernelError, match="_refused cannot be compiled: a string cannot be an element") as caught:
        parallel_report(numba.njit(parallel=True)(_refused), np.zeros(3))
    assert 'out[i] = "a"' in str(caught.value) and "\n" not in str(caught.value)


def test_a_line_without_text_is_a_number_alone():
    """Where the source is not known, as in a program read from the standard input, no empty text is printed."""
    names = {"np": np, "prange": prange}
    lines = [
        "def f(out):",
        " for i in prange(len(out)):",
        "  place = np.empty(2)",
        "  place[0] = i",
        "  out[i] = place[0]",
    ]
    exec(compile("\n".join(lines), "<stdin>", "exec"), names)
    shown = str(parallel_report(numba.njit(parallel=True)(names["f"]), np.zeros(3))).splitlines()
    assert shown[1] == "line 2" and shown[-1].endswith("in turn: line 3")


def test_the_notebook_shows_a_table():
    """In a notebook the report is a table, with Numba's own words folded away and everything escaped."""
    html = parallel_report(compile_kernel(_hoisting), np.zeros(5), np.ones(5))._repr_html_()
    assert html.count("<tr>") == 2 and "<details>" in html and "allocated once for each thread" in html
    heads, cells = (re.findall(rf"<{tag}(| style='text-align:left')>", html) for tag in ("th", "td"))
    assert heads == cells != []  # each heading stands over its column


def test_what_is_not_compiled_is_refused():
    """A plain function, and a kernel that was never called, are refused in words."""
    with pytest.raises(TypeError, match="not compiled"):
        parallel_report(_serial)
    with pytest.raises(ValueError, match="never called"):
        parallel_report(numba.njit(_serial))
