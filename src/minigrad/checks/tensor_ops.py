"""Visible tests of the loops over tensors, on numbers worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

from minigrad.checks.expectation import expect
from minigrad.checks.kernels import arguments, difference, halve_and_add, run, tenfold
from minigrad.checks.runner import visible

MAP = "05 'One function for every element'"
ZIP = "05 'Two tensors at once'"
REDUCE = "05 'Folding an axis away'"

UNWRITTEN = "-77 is what out held before: the results belong into out itself, at every place of it"


@visible("tensor_ops.tensor_map", MAP)
def every_element(student: SimpleNamespace) -> None:
    """10 x + 1 of [[0, 1], [2, 3]] is [[1, 11], [21, 31]], written into out."""
    out = run(student.tensor_map(tenfold), arguments([2, 2], [2, 1], ([0, 1, 2, 3], [2, 2], [2, 1])))
    when = {(-77.0,) * 4: UNWRITTEN, (1.0, 11.0, 21.0, -77.0): "the last element is missing: len(out) steps"}
    expect(out, [1.0, 11.0, 21.0, 31.0], hint="one step of the loop for each element of out", when=when)


@visible("tensor_ops.tensor_map", MAP)
def transposed_input(student: SimpleNamespace) -> None:
    """A transposed view is read by its strides."""
    out = run(student.tensor_map(tenfold), arguments([2, 3], [3, 1], ([0, 1, 2, 3, 4, 5], [2, 3], [1, 2])))
    when = {(1.0, 11.0, 21.0, 31.0, 41.0, 51.0): "this is the order of the storage, not that of the indices"}
    hint = "the strides are (1, 2): the element at (i, j) stands at i + 2 j, which index_to_position computes"
    expect(out, [1.0, 21.0, 41.0, 11.0, 31.0, 51.0], hint=hint, when=when)


@visible("tensor_ops.tensor_map", MAP)
def transposed_output(student: SimpleNamespace) -> None:
    """A transposed out is written by its strides."""
    out = run(student.tensor_map(tenfold), arguments([2, 3], [1, 2], ([0, 1, 2, 3, 4, 5], [2, 3], [3, 1])))
    hint = "the number of an element is not its position: out has strides too, here (1, 2)"
    expect(out, [1.0, 31.0, 11.0, 41.0, 21.0, 51.0], hint=hint)


@visible("tensor_ops.tensor_map", MAP)
def smaller_input(student: SimpleNamespace) -> None:
    """A column is repeated for each column of out, and a row of two for each row."""
    kernel = student.tensor_map(tenfold)
    column = run(kernel, arguments([2, 3], [3, 1], ([5, 6], [2, 1], [1, 1])))
    hint = "broadcast_index gives the index in the input: 0 along its axis of size 1"
    expect(column, [51.0, 51.0, 51.0, 61.0, 61.0, 61.0], hint=hint)
    row = run(kernel, arguments([2, 2], [2, 1], ([5, 6], [2], [1])))
    when = {(51.0, 51.0, 61.0, 61.0): "shapes are aligned at their last axes: the input's only axis is the columns"}
    expect(row, [51.0, 61.0, 51.0, 61.0], hint="an input with one axis, for an out with two", when=when)


@visible("tensor_ops.tensor_zip", ZIP)
def a_comes_first(student: SimpleNamespace) -> None:
    """a - 2 b of [3, 4] and [10, 20] is [-17, -36]."""
    out = run(student.tensor_zip(difference), arguments([2], [1], ([3, 4], [2], [1]), ([10, 20], [2], [1])))
    when = {(-77.0, -77.0): UNWRITTEN, (4.0, 12.0): "this is b - 2 a: fn gets the element of a first"}
    expect(out, [-17.0, -36.0], hint="fn(a, b) for each element", when=when)


@visible("tensor_ops.tensor_zip", ZIP)
def strides_of_its_own(student: SimpleNamespace) -> None:
    """b is a transposed view, a is not: each is read by its own strides."""
    given = arguments([2, 2], [2, 1], ([1, 2, 3, 4], [2, 2], [2, 1]), ([10, 20, 30, 40], [2, 2], [1, 2]))
    when = {(-19.0, -38.0, -57.0, -76.0): "b is read by the strides of a: its own are (1, 2)"}
    hint = "[[1, 2], [3, 4]] minus twice [[10, 30], [20, 40]]"
    expect(run(student.tensor_zip(difference), given), [-19.0, -58.0, -37.0, -76.0], hint=hint, when=when)


@visible("tensor_ops.tensor_zip", ZIP)
def both_are_broadcast(student: SimpleNamespace) -> None:
    """A column of 2 and a row of 3 give a table of 2 by 3."""
    given = arguments([2, 3], [3, 1], ([1, 2], [2, 1], [1, 1]), ([10, 20, 30], [3], [1]))
    wanted = [-19.0, -39.0, -59.0, -18.0, -38.0, -58.0]
    hint = "the index in out becomes an index in a, and by a second broadcast_index one in b"
    expect(run(student.tensor_zip(difference), given), wanted, hint=hint)


@visible("tensor_ops.tensor_reduce", REDUCE)
def start_and_order(student: SimpleNamespace) -> None:
    """With result / 2 + element, from 8 on, the elements 1, 2, 3 give 5.25."""
    given = arguments([1], [1], ([1, 2, 3], [3], [1]), start=8.0)
    when = {
        (8.0,): "8 is what out held before: the results belong into out itself",
        (4.25,): "this fold starts from 0 or from the first element: it starts from what out holds",
        (3.75,): "this is the fold from the last element to the first",
    }
    hint = "((8 / 2 + 1) / 2 + 2) / 2 + 3: the result so far is the first argument of fn"
    expect(run(student.tensor_reduce(halve_and_add), [*given, 0]), [5.25], hint=hint, when=when)


@visible("tensor_ops.tensor_reduce", REDUCE)
def rows_and_columns(student: SimpleNamespace) -> None:
    """[[1, 2, 3], [4, 5, 6]] is folded along axis 1 to 2 numbers, along axis 0 to 3."""
    table = ([1, 2, 3, 4, 5, 6], [2, 3], [3, 1])
    kernel = student.tensor_reduce(lambda result, element: result + element)
    rows = run(kernel, [*arguments([2, 1], [1, 1], table, start=0.0), 1])
    columns = run(kernel, [*arguments([1, 3], [3, 1], table, start=0.0), 0])
    hint = "the sums of the rows, then those of the columns: the index moves along reduce_dim and nowhere else"
    expect([rows, columns], [[6.0, 15.0], [5.0, 7.0, 9.0]], hint=hint)


@visible("tensor_ops.tensor_reduce", REDUCE)
def by_strides(student: SimpleNamespace) -> None:
    """A transposed view is folded by its strides."""
    given = arguments([2, 1], [1, 1], ([1, 2, 3, 4, 5, 6], [2, 3], [1, 2]), start=0.0)
    when = {(6.0, 15.0): "1, 2, 3 and 4, 5, 6 are the rows of the storage, not those of this view"}
    hint = "the rows of this view are 1, 3, 5 and 2, 4, 6"
    expect(
        run(student.tensor_reduce(lambda result, element: result + element), [*given, 1]),
        [9.0, 12.0],
        hint=hint,
        when=when,
    )
