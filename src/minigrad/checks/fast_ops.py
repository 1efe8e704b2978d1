"""Visible tests of the kernels for all cores.

Values are looked at in plain Python, where an index out of bounds is an error; races by `minigrad.debug.races`, which
finds them each time; and one test compiles the kernel and runs it in parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad import fast_ops
from minigrad.checks.expectation import Expectation, expect, hinting
from minigrad.checks.kernels import (
    OUT_OF_BOUNDS,
    WHOLE,
    arguments,
    halve_and_add,
    is_float_index,
    run,
    tenfold,
    touches,
)
from minigrad.checks.runner import visible
from minigrad.compiling import compile_kernel, interpreted
from minigrad.debug import races
from minigrad.errors import KernelError

MAP = "07 'A map on all cores'"
REDUCE = "07 'Who folds what'"
HUNT = "07 'A hunt'"
MATMUL = "07b 'Matrices in parallel'"

SIX = [0, 1, 2, 3, 4, 5]
PARALLEL = "is the outermost loop a range? `prange` shares its iterations out between the threads"
MEET = "what an iteration writes into must be its own: make index arrays inside the loop, keep sums in local variables"


def _expect_no_races(kernel: Callable[..., Any], *cases: Sequence[Any]) -> None:
    """Run a kernel with every access recorded: its loop is parallel, and no two iterations meet."""
    for given in cases:
        report = races(kernel, *given)
        if report:
            first = report.races[0]
            if is_float_index(first.message):
                raise Expectation(report.kinds, set(), f"an index is no whole number: `{first.source}`", WHOLE, None)
            hint = OUT_OF_BOUNDS if first.kind == "out of bounds" else MEET
            raise Expectation(report.kinds, set(), first.message, hint, None)
        if not any(loop.iterations > 1 for loop in report.loops):
            where = f"out of shape {given[1].tolist()} with strides {given[2].tolist()}"
            raise Expectation([], None, f"no loop ran in parallel for an {where}", PARALLEL, None)


def _expect_compiled(kernel: Callable[..., Any], given: Sequence[Any], wanted: list[float]) -> None:
    """Compile a kernel and run it in parallel."""
    try:
        out = run(compile_kernel(kernel), given)
    except KernelError as error:
        raise Expectation(None, None, str(error), "arrays, numbers and loops are what it is made for", None) from None
    expect(out, wanted, hint="if the values are right in plain Python, one iteration depends on another one")


def _expect_no_more(
    kernel: Callable[..., Any], few: Sequence[Any], many: Sequence[Any], places: Sequence[int], what: str, hint: str
) -> None:
    """Run a kernel on less and on more, and count that it touches its arguments at these places equally often."""
    more = touches(kernel, many, places) - touches(kernel, few, places)
    if more:
        raise Expectation(more, 0, f"{more} more {what}", hint, None)


def _expect_no_indices(kernel: Callable[..., Any]) -> None:
    """Run a kernel where all layouts are equal: shapes and strides are compared once, not read for each element."""
    few, many = (
        arguments([3, columns], [columns, 1], (range(3 * columns), [3, columns], [columns, 1])) for columns in (2, 10)
    )
    layouts = [at for at in range(len(few)) if at % 3]
    what = "reads of shapes and strides for 24 more elements, although all layouts are equal"
    hint = "compare the layouts before the loop; where they are equal, element i stands at position i of each storage"
    _expect_no_more(kernel, few, many, layouts, what, hint)


@visible("fast_ops.tensor_map", MAP)
def map_of_every_layout(student: SimpleNamespace) -> None:
    """10 x + 1 is right where the layouts agree, where the strides differ, and where the input is smaller."""
    same = arguments([2, 3], [1, 2], (SIX, [2, 3], [1, 2]))
    turned = arguments([2, 3], [3, 1], (SIX, [2, 3], [1, 2]))
    smaller = arguments([2, 3], [3, 1], ([5, 6, 7, 90, 91, 92], [1, 3], [3, 1]))
    kernel = interpreted(student.tensor_map(tenfold))
    expect(run(kernel, same), [1.0, 11.0, 21.0, 31.0, 41.0, 51.0], hint="the same layout: out[i] is fn(in_storage[i])")
    hint = "the same shape is not enough to walk both storages side by side: the strides must agree too"
    expect(run(kernel, turned), [1.0, 21.0, 41.0, 11.0, 31.0, 51.0], hint=hint)
    hint = "the same strides are not enough to walk both storages side by side: the shapes must agree too"
    expect(run(kernel, smaller), [51.0, 61.0, 71.0] * 2, hint=hint)


@visible("fast_ops.tensor_map", MAP)
def map_of_equal_layouts(student: SimpleNamespace) -> None:
    """Where the layouts are equal, more elements take no more reads of shapes and strides."""
    _expect_no_indices(interpreted(student.tensor_map(tenfold)))


@visible("fast_ops.tensor_map", MAP)
def map_in_parallel(student: SimpleNamespace) -> None:
    """Its loops run in parallel, and no two iterations meet."""
    kernel = student.tensor_map(tenfold)
    same, turned = (arguments([2, 3], [3, 1], (SIX, [2, 3], strides)) for strides in ([3, 1], [1, 2]))
    smaller = arguments([2, 3], [3, 1], ([5, 6, 7], [1, 3], [3, 1]))
    _expect_no_races(kernel, turned, same, smaller)


@visible("fast_ops.tensor_map", MAP, slow=True)
def map_compiled(student: SimpleNamespace) -> None:
    """It compiles, and gives the same on all cores."""
    given = arguments([2, 3], [3, 1], (SIX, [2, 3], [1, 2]))
    _expect_compiled(student.tensor_map(tenfold), given, [1.0, 21.0, 41.0, 11.0, 31.0, 51.0])


def _right_map(fn: Callable[[float], float]) -> Callable[..., None]:
    def kernel(out: Any, out_shape: Any, out_strides: Any, storage: Any, shape: Any, strides: Any) -> None:
        def view(numbers: Any, sizes: Any, steps: Any) -> Any:
            return np.lib.stride_tricks.as_strided(numbers, sizes, [step * numbers.itemsize for step in steps])

        numbers = np.broadcast_to(view(storage, shape, strides), tuple(out_shape))
        view(out, out_shape, out_strides)[...] = np.array([fn(x) for x in numbers.ravel()]).reshape(numbers.shape)

    return kernel


def _map_by_shape(fn: Callable[[float], float]) -> Callable[..., None]:
    def kernel(out: Any, out_shape: Any, out_strides: Any, storage: Any, shape: Any, strides: Any) -> None:
        if tuple(out_shape) == tuple(shape):
            out[:] = [fn(x) for x in storage[: len(out)]]
        else:
            _right_map(fn)(out, out_shape, out_strides, storage, shape, strides)

    return kernel


def _broken_map(fn: Callable[[float], float]) -> Callable[..., None]:
    raise IndexError("this map is wrong: it raises an error")


@visible("fast_ops.is_map", HUNT)
def right_maps_pass(student: SimpleNamespace) -> None:
    """The library's map passes, and so does one made of NumPy's views."""
    of = "the verdict on a right map"
    hint = "this map is right: compare out with fn of the input, broadcast to the shape of out"
    expect(bool(student.is_map(fast_ops.tensor_map)), True, hint=hint, of=of)
    expect(bool(student.is_map(_right_map)), True, hint=hint, of=of)


@visible("fast_ops.is_map", HUNT)
def wrong_maps_are_refused(student: SimpleNamespace) -> None:
    """The map of the lesson that compares shapes alone is refused, and so is one that raises an error."""
    of = "the verdict on a wrong map"
    hint = "this is the map of the lesson: let an input be transposed, and the output not"
    expect(bool(student.is_map(_map_by_shape)), False, hint=hint, of=of)
    with hinting("the error comes from the map that is judged: `try` it, and return False", IndexError):
        expect(bool(student.is_map(_broken_map)), False, hint="this map raises an error", of=of)


@visible("fast_ops.tensor_reduce", REDUCE)
def reduce_along_each_axis(student: SimpleNamespace) -> None:
    """result / 2 + element is right along either axis of [[1, 2, 3], [4, 5, 6]], from 8 on."""
    kernel = interpreted(student.tensor_reduce(halve_and_add))
    table = ([1, 2, 3, 4, 5, 6], [2, 3], [3, 1])
    rows = run(kernel, [*arguments([2, 1], [1, 1], table, start=8.0), 1])
    when = {(4.25, 9.5): "this fold starts from 0 or from the first element: it starts from what out holds"}
    expect(rows, [5.25, 10.5], hint="((8 / 2 + 1) / 2 + 2) / 2 + 3, and the same with 4, 5, 6", when=when)
    columns = run(kernel, [*arguments([1, 3], [3, 1], table, start=8.0), 0])
    hint = "along axis 0: (8 / 2 + 1) / 2 + 4, and so on; a step there moves by a_strides[0]"
    expect(columns, [6.5, 8.0, 9.5], hint=hint)


@visible("fast_ops.tensor_reduce", REDUCE)
def reduce_in_parallel(student: SimpleNamespace) -> None:
    """The loop over out runs in parallel, and no two iterations meet."""
    table = ([1, 2, 3, 4, 5, 6], [2, 3], [3, 1])
    _expect_no_races(student.tensor_reduce(halve_and_add), [*arguments([2, 1], [1, 1], table, start=0.0), 1])


@visible("fast_ops.tensor_reduce", REDUCE, slow=True)
def reduce_compiled(student: SimpleNamespace) -> None:
    """It compiles, and gives the same on all cores."""
    table = ([1, 2, 3, 4, 5, 6], [2, 3], [3, 1])
    given = [*arguments([1, 3], [3, 1], table, start=0.0), 0]
    _expect_compiled(student.tensor_reduce(lambda result, element: result + element), given, [5.0, 7.0, 9.0])


A = [1, 2, 3, 4, 5, 6]
B = [1, 0, 2, 1, 0, 3]
"""As [[1, 2, 3], [4, 5, 6]] @ [[1, 0], [2, 1], [0, 3]] = [[5, 11], [14, 23]]."""


@visible("fast_ops._tensor_matrix_multiply", MATMUL)
def rows_times_columns(student: SimpleNamespace) -> None:
    """[[1, 2, 3], [4, 5, 6]] @ [[1, 0], [2, 1], [0, 3]] is [[5, 11], [14, 23]]; transposed views give the same."""
    kernel = interpreted(student._tensor_matrix_multiply)
    when = {
        (-72.0, -66.0, -63.0, -54.0): "out held -77 before: set it to the sum, do not add to it",
        (-77.0,) * 4: "nothing was written to out",
    }
    plain = arguments([1, 2, 2], [4, 2, 1], (A, [1, 2, 3], [6, 3, 1]), (B, [1, 3, 2], [6, 2, 1]))
    expect(
        run(kernel, plain), [5.0, 11.0, 14.0, 23.0], hint="out[i, j] is the sum of a[i, k] * b[k, j] over k", when=when
    )
    views = ([1, 4, 2, 5, 3, 6], [1, 2, 3], [6, 1, 2]), ([1, 2, 0, 0, 1, 3], [1, 3, 2], [6, 1, 3])
    hint = "both are transposed views here: a[i, k] stands at i * a_strides[1] + k * a_strides[2]"
    expect(run(kernel, arguments([1, 2, 2], [4, 2, 1], *views)), [5.0, 11.0, 14.0, 23.0], hint=hint)


@visible("fast_ops._tensor_matrix_multiply", MATMUL)
def one_matrix_for_all(student: SimpleNamespace) -> None:
    """A batch of two matrices times one: each of the two is multiplied by it; times two: each meets its own."""
    batch = ([1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 2], [4, 2, 1])
    swap = ([0, 1, 1, 0, 90, 91, 92, 93], [1, 2, 2], [4, 2, 1])
    out = run(interpreted(student._tensor_matrix_multiply), arguments([2, 2, 2], [4, 2, 1], batch, swap))
    when = {(2.0, 1.0, 4.0, 3.0) * 2: "the first matrix came twice: a step along the batch moves by a_strides[0]"}
    hint = "b has a batch of size 1: a step along it moves by 0"
    expect(out, [2.0, 1.0, 4.0, 3.0, 6.0, 5.0, 8.0, 7.0], hint=hint, when=when)
    partners = ([0, 1, 1, 0, 2, 0, 0, 2], [2, 2, 2], [4, 2, 1])
    out = run(interpreted(student._tensor_matrix_multiply), arguments([2, 2, 2], [4, 2, 1], batch, partners))
    when = {(2.0, 1.0, 4.0, 3.0, 6.0, 5.0, 8.0, 7.0): "b's first matrix came twice: along the batch b moves, too"}
    hint = "out[n] is a[n] @ b[n]: a step along the batch moves by the first stride of each"
    expect(out, [2.0, 1.0, 4.0, 3.0, 10.0, 12.0, 14.0, 16.0], hint=hint, when=when)


@visible("fast_ops._tensor_matrix_multiply", MATMUL)
def matmul_writes_after_the_inner_loop(student: SimpleNamespace) -> None:
    """An element of out is written once, however many products are summed."""
    few, many = (
        arguments(
            [1, 2, 2], [4, 2, 1], (range(2 * k), [1, 2, k], [2 * k, k, 1]), (range(2 * k), [1, k, 2], [2 * k, 2, 1])
        )
        for k in (2, 7)
    )
    what = "reads and writes of out for 20 more products"
    hint = "sum in a local variable, and write it to out after the inner loop"
    _expect_no_more(interpreted(student._tensor_matrix_multiply), few, many, [0], what, hint)


@visible("fast_ops._tensor_matrix_multiply", MATMUL)
def matmul_in_parallel(student: SimpleNamespace) -> None:
    """A loop around the sums runs in parallel, and no two iterations meet."""
    batch = ([1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 2], [4, 2, 1])
    _expect_no_races(student._tensor_matrix_multiply, arguments([2, 2, 2], [4, 2, 1], batch, batch))


@visible("fast_ops._tensor_matrix_multiply", MATMUL, slow=True)
def matmul_compiled(student: SimpleNamespace) -> None:
    """It compiles, and gives the same on all cores."""
    given = arguments([1, 2, 2], [4, 2, 1], (A, [1, 2, 3], [6, 3, 1]), (B, [1, 3, 2], [6, 2, 1]))
    _expect_compiled(student._tensor_matrix_multiply, given, [5.0, 11.0, 14.0, 23.0])
