"""Hidden tests of the first three kernels: what they compute, and which memory they touch.

Probes launch them by `minigrad.debug.cuda_races`, which runs them in Python and watches every access.
"""

import functools

import numpy as np
import pytest

from autograder import expect, pictures

WATCHED = ("line", "guard", "table")
"""Groups whose points rest on what a witness inside the sandbox reports: see `autograder.judging.watched`."""

kernels = functools.partial(pytest.mark.exercise, "first_kernels.add_ten")

EACH = "first_kernels.add_ten: 'with as many threads as there are elements'"
LEFT_OVER = "first_kernels.add_ten_guarded: 'those left over touch nothing.'"


def numbers(*shape):
    """Return numbers without a pattern, which no kernel can know without reading them; all differ."""
    return np.resize(np.random.default_rng(1010).permutation(101) + 1.0, int(np.prod(shape))).reshape(shape)


def launched(mg, name, grid, block, a, *sizes):
    """Probe: what a kernel writes, the kinds of mistakes, and the reads and writes of the busiest thread."""
    from minigrad.debug import cuda_races

    grid, block = (tuple(x) if isinstance(x, list) else x for x in (grid, block))
    report = cuda_races(getattr(mg.first_kernels, name), grid, block, np.full(a.shape, np.nan), a, *sizes)
    kinds = sorted(report.kinds | (set() if report.steady else {"order"}))
    return [report.args[0].tolist(), kinds, report.most.global_reads, report.most.global_writes]


def added(seen, a, **options):
    """Expect ten more than each element, and no mistakes."""
    wanted = (a + 10.0).tolist()
    drawn = lambda: pictures.together(pictures.array("out", seen[0], wanted, came=True))  # noqa: E731 where it is asked for
    expect(seen[:2], [wanted, []], picture=drawn, **options)


@kernels(group="line", because="first_kernels.add_ten: 'Add ten to each element of a'")
def test_ten_is_added_to_the_element(student):
    """The element of a thread is what stands in a at its number."""
    a = numbers(7)
    added(
        student(launched, "add_ten", 1, 7, a),
        a,
        hint="read a[i] and write out[i], where i is the thread's number",
        misconception="number-instead-of-element",
    )


@kernels(group="line", because=EACH)
def test_a_thread_has_one_element(student):
    """A thread reads one element and writes one."""
    seen = student(launched, "add_ten", 1, 5, numbers(5))
    expect(
        seen[2:],
        [1, 1],
        hint="all threads run the same line: the block is the loop",
        misconception="every-thread-does-all",
    )


@kernels(group="guard", because="first_kernels.add_ten_guarded: 'The thread whose number in the whole grid is i'")
def test_threads_of_all_blocks_take_part(student):
    """Three blocks compute three times as many elements."""
    a = numbers(12)
    added(
        student(launched, "add_ten_guarded", 3, 4, a, 12),
        a,
        hint="threadIdx counts within a block; the number in the grid is cuda.grid(1)",
        misconception="number-in-block",
    )


@kernels(group="guard", because=LEFT_OVER)
def test_threads_left_over_touch_nothing(student):
    """Threads beyond the last element, and whole blocks of them, do nothing."""
    a = numbers(5)
    added(
        student(launched, "add_ten_guarded", 4, 3, a, 5),
        a,
        hint="a thread whose number is not below size has no element",
        misconception="no-guard",
    )


@kernels(group="guard", because=LEFT_OVER)
def test_the_first_thread_too_many(student):
    """The thread whose number equals the number of elements is the first one too many."""
    a = numbers(3)
    added(
        student(launched, "add_ten_guarded", 1, 4, a, 3),
        a,
        hint="elements are numbered from 0 to size - 1",
        misconception="guard-one-too-many",
    )


@kernels(group="table", because="first_kernels.add_ten_2d: 'beyond the last row or the last column, touch nothing.'")
def test_threads_beyond_rows_and_columns(student):
    """A thread may be beyond the last row, beyond the last column, or both."""
    a = numbers(3, 5)
    added(
        student(launched, "add_ten_2d", [3, 3], [3, 2], a, 3, 5),
        a,
        hint="two comparisons: one with rows, one with columns",
        misconception="one-comparison",
    )


@kernels(group="table", because="first_kernels.add_ten_2d: 'x counts columns, and y rows'")
def test_x_counts_columns(student):
    """A tall table, and a grid that is as tall."""
    a = numbers(7, 2)
    added(
        student(launched, "add_ten_2d", [1, 4], [2, 2], a, 7, 2),
        a,
        hint="j, i = cuda.grid(2): the first number is that in x, and counts columns",
        misconception="axes-swapped",
    )
