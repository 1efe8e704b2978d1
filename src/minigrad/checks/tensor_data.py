"""Visible tests of strides, indices, positions, permuted views and broadcasting, on numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.checks.expectation import Expectation, expect
from minigrad.checks.runner import visible
from minigrad.errors import IndexingError
from minigrad.tensor_data import TensorData

STRIDES = "04 'Steps through the storage'"
INDICES = "04 'From a number to an index'"
VIEWS = "04 'Another order, the same storage'"
WINDOWS = "04 'Strides by hand'"
SHAPES = "05 'Shapes that go together'"
BROADCAST = "05 'Which element takes part'"

COMPILES = "Numba must be able to compile it for fast loops: write a for loop with numbers in it, without generators"
BUFFER = "a kernel's index buffer may have more places than there are axes: {0} how many axes there are"
UNWRITTEN = "nothing has been written: fill out_index, a returned list is not used"
FLOATS = "`/` makes a float, which is exact up to 2**53 only; `//` stays with whole numbers"
NO_AXES = "there is no axis here: let the loop take care of every axis, the first and the last one too"


def plain(seen: object) -> Any:
    """Numbers of numpy as Python's, a list for a tuple or an array of them. Anything else is returned as it is."""
    if isinstance(seen, np.ndarray | tuple | list):
        return [plain(each) for each in seen]
    return int(seen) if isinstance(seen, np.integer) else seen


@contextmanager
def index_errors(hint: str) -> Iterator[None]:
    """Turn an IndexError in the block into a failed expectation with a hint."""
    try:
        yield
    except IndexError as error:
        raise Expectation(error, None, f"raised IndexError: {error}", hint, None) from error


def run_compiled(kernel: Callable[..., Any], *args: object) -> Any:
    """Run a function compiled by Numba with its helpers. Where Numba refuses its code, one line says which."""
    from minigrad.compiling import compile_kernel
    from minigrad.machine._numba import numba

    try:
        return compile_kernel(kernel, parallel=False).dispatcher(*args)
    except numba.core.errors.NumbaError as error:
        raise Expectation(None, None, f"Numba refuses: {_line_of(str(error))}", COMPILES, None) from None


def _line_of(message: str) -> str:
    """The first line of Numba's message that says something."""
    lines = [line.strip(" -") for line in message.splitlines()]
    said = [line for line in lines if line and not line.startswith(("Failed in", "During", "File", "<source"))]
    return (said or ["it does not say why"])[0][:120]


@visible("tensor_data.strides_from_shape", section=STRIDES)
def rows_of_three(student: SimpleNamespace) -> None:
    """In shape (2, 3) a step down passes three elements, a step to the right one: (3, 1)."""
    when = {
        (1, 2): "this is an array that lies column by column: the last axis runs fastest, so begin there",
        (6, 3): "a step along an axis passes the sizes after it, not its own",
        (2, 3): "this is the shape; the stride of an axis is the product of the sizes after it",
        (3, 2): "the last stride is 1: no sizes come after the last axis",
        (24, 8): "these are bytes; count elements",
    }
    expect(plain(student.strides_from_shape((2, 3))), [3, 1], hint="one row has three elements", when=when)


@visible("tensor_data.strides_from_shape", section=STRIDES)
def three_axes(student: SimpleNamespace) -> None:
    """Shape (2, 3, 4) has the strides (12, 4, 1)."""
    when = {
        (3, 4, 1): "a step along the first axis passes 3 rows of 4: multiply all sizes after it",
        (1, 2, 6): "the last axis runs fastest, so begin there",
    }
    expect(plain(student.strides_from_shape((2, 3, 4))), [12, 4, 1], hint="12 = 3 * 4, 4, 1", when=when)


@visible("tensor_data.strides_from_shape", section=STRIDES)
def few_axes(student: SimpleNamespace) -> None:
    """A row has the strides (1,), a single number none: ()."""
    seen = [plain(student.strides_from_shape(shape)) for shape in ((5,), ())]
    when = {((1,), (1,)): "() has no axes, and so no strides"}
    expect(seen, [[1], []], hint="one stride for each axis", when=when)


@visible("tensor_data.strides_from_shape", section=STRIDES)
def a_tuple_of_strides(student: SimpleNamespace) -> None:
    """The strides are a tuple."""
    expect(type(student.strides_from_shape((2, 3))).__name__, "tuple", hint="tuple(...) makes one of a list")


@visible("tensor_data.index_to_position", section=STRIDES)
def along_rows_and_columns(student: SimpleNamespace) -> None:
    """With strides (3, 1), index (2, 1) stands at 2 * 3 + 1 * 1 = 7."""
    when = {
        5: "the first index belongs to the first stride",
        1: "only the last axis counts here: add up what each axis brings",
        6: "only the first axis counts here: add up what each axis brings",
    }
    expect(plain(student.index_to_position((2, 1), (3, 1))), 7, hint="index times stride, axis by axis", when=when)


@visible("tensor_data.index_to_position", section=STRIDES)
def any_strides(student: SimpleNamespace) -> None:
    """With strides (1, 3), as in a permuted array, index (2, 1) stands at 5; with (0, 4), index (3, 2) at 8."""
    seen = [plain(student.index_to_position(index, strides)) for index, strides in (((2, 1), (1, 3)), ((3, 2), (0, 4)))]
    when = {(3, 2): "the last stride is not always 1: multiply by it"}
    expect(seen, [5, 8], hint="2 * 1 + 1 * 3, and 3 * 0 + 2 * 4", when=when)


@visible("tensor_data.index_to_position", section=STRIDES)
def any_number_of_axes(student: SimpleNamespace) -> None:
    """One axis and three axes: positions 8 and 33."""
    seen = [
        plain(student.index_to_position(index, strides)) for index, strides in (((4,), (2,)), ((1, 2, 3), (20, 5, 1)))
    ]
    when = {(8, 30): "the third axis is missing: loop over all axes"}
    expect(seen, [8, 33], hint="one product for each axis: 4 * 2, and 1 * 20 + 2 * 5 + 3 * 1", when=when)


@visible("tensor_data.index_to_position", section=STRIDES)
def no_axes_position(student: SimpleNamespace) -> None:
    """A single number, with index () and strides (), stands at position 0."""
    with index_errors(NO_AXES):
        expect(plain(student.index_to_position((), ())), 0, hint="begin with 0")


@visible("tensor_data.index_to_position", section=STRIDES)
def buffered_position(student: SimpleNamespace) -> None:
    """Numbers behind the index in a longer buffer do not count."""
    hint = BUFFER.format("len(strides) says")
    with index_errors(hint):
        seen = plain(student.index_to_position((2, 1, 9, 9), (3, 1)))
    expect(seen, 7, hint=hint)


@visible("tensor_data.index_to_position", section=STRIDES, slow=True)
def compiled_position(student: SimpleNamespace) -> None:
    """Numba compiles it, and the result is the same."""
    index, strides = np.array([2, 1]), np.array([3, 1])
    seen = plain(run_compiled(student.index_to_position, index, strides))
    expect(seen, 7, hint="Numba's result, for index (2, 1) and strides (3, 1)")


def indices(
    student: SimpleNamespace, shape: Sequence[int], ordinals: Sequence[int], before: Sequence[int]
) -> list[Any]:
    """Return the indices that to_index writes for some ordinals, into buffers with the same earlier contents."""
    buffers = [list(before) for _ in ordinals]
    for ordinal, buffer in zip(ordinals, buffers, strict=True):
        student.to_index(ordinal, shape, buffer)
    return [plain(buffer) for buffer in buffers]


def _float_hint(seen: Sequence[Sequence[Any]] | Sequence[Any]) -> str:
    """Return a hint if an index is a float, else nothing."""
    numbers = [number for each in seen for number in (each if isinstance(each, list) else [each])]
    return FLOATS if any(isinstance(number, float) for number in numbers) else ""


@visible("tensor_data.to_index", section=INDICES)
def two_rows(student: SimpleNamespace) -> None:
    """In shape (2, 3) the elements 0 to 5 are (0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)."""
    when = {
        ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)): "this runs through the first axis first: begin with the last",
        ((0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5)): "the last index runs over: % takes what is left of a row",
        ((0, 0),) * 6: UNWRITTEN,
        ((0, 0), (0, 1), (0, 2), (1, 0), (2, 1), (2, 2)): "divide by the size of the axis whose remainder was taken",
    }
    seen = indices(student, (2, 3), range(6), [0, 0])
    hint = _float_hint(seen) or "from the last axis on: the remainder is the index, the quotient goes on"
    expect(seen, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]], hint=hint, when=when)


@visible("tensor_data.to_index", section=INDICES)
def three_axes_of_their_own(student: SimpleNamespace) -> None:
    """Element 23 of shape (2, 3, 4) is (1, 2, 3)."""
    seen = indices(student, (2, 3, 4), [23], [0, 0, 0])
    hint = _float_hint(seen) or "23 = 1 * 12 + 2 * 4 + 3: each axis is divided by its own size"
    expect(seen, [[1, 2, 3]], hint=hint)


@visible("tensor_data.to_index", section=INDICES)
def no_axes_index(student: SimpleNamespace) -> None:
    """A single number has an index without numbers."""
    with index_errors(NO_AXES):
        expect(indices(student, (), [0], []), [[]])


@visible("tensor_data.to_index", section=INDICES)
def used_buffer(student: SimpleNamespace) -> None:
    """The buffer's earlier contents make no difference."""
    seen = indices(student, (2, 3), [3], [7, 8])
    when = {((8, 8),): "the numbers are added to what was there: write them in its place", ((7, 8),): UNWRITTEN}
    expect(seen, [[1, 0]], hint=_float_hint(seen) or "out_index[axis] = ..., for every axis", when=when)


@visible("tensor_data.to_index", section=INDICES)
def beyond_floats(student: SimpleNamespace) -> None:
    """The last of 2**60 elements is found exactly."""
    big = 2**30
    seen = indices(student, (big, big), [big * big - 1], [0, 0])
    is_rounded = any(isinstance(number, float) for number in seen[0]) or seen[0][1] == big - 1 != seen[0][0]
    hint = FLOATS if is_rounded else f"the index of element 2**60 - 1 in shape ({big}, {big})"
    expect(seen, [[big - 1, big - 1]], hint=hint, when={((0, 0),): UNWRITTEN})


@visible("tensor_data.to_index", section=INDICES)
def buffered_index(student: SimpleNamespace) -> None:
    """In a longer buffer the index stands at the front."""
    hint = BUFFER.format("len(shape) says")
    with index_errors(hint):
        seen = indices(student, (2, 3), [5], [9] * 4)[0]
    expect(seen[:2], [1, 2], hint=_float_hint(seen) or hint, when={(9, 9): UNWRITTEN})


@visible("tensor_data.to_index", section=INDICES, slow=True)
def compiled_index(student: SimpleNamespace) -> None:
    """Numba compiles it, and the result is the same."""
    seen = np.full(2, 9)
    run_compiled(student.to_index, 5, np.array([2, 3]), seen)
    expect(plain(seen), [1, 2], hint="Numba's result, for element 5 of shape (2, 3)", when={(9, 9): UNWRITTEN})


def permuted(student: SimpleNamespace, data: TensorData, *order: int) -> TensorData:
    """Return the result of permute if it is a TensorData."""
    return as_view(student.permute(data, *order))


def as_view(result: Any) -> TensorData:
    """Return what a student's function returned if it is a TensorData."""
    if not isinstance(result, TensorData):
        hint = "return TensorData(storage, shape, strides, offset)"
        reason = f"got {'None' if result is None else f'a {type(result).__name__}'}, expected a TensorData"
        raise Expectation(result, None, reason, hint, None)
    return result


@visible("tensor_data.permute", section=VIEWS)
def rows_become_columns(student: SimpleNamespace) -> None:
    """[[0, 1, 2], [3, 4, 5]] becomes [[0, 3], [1, 4], [2, 5]]."""
    data = TensorData(np.arange(100.0), (2, 3), (3, 1))
    when = {
        ((0.0, 1.0), (3.0, 4.0), (6.0, 7.0)): "the strides must go with their axes",
        ((0.0, 3.0, 6.0), (1.0, 4.0, 7.0)): "the sizes must go with their axes",
        ((0.0, 1.0), (2.0, 3.0), (4.0, 5.0)): "new strides read row by row again: take the old ones, in the new order",
    }
    seen = permuted(student, data, 1, 0).array.tolist()
    expect(seen, [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], hint="put sizes and strides into the new order", when=when)


@visible("tensor_data.permute", section=VIEWS)
def where_axes_come_from(student: SimpleNamespace) -> None:
    """With order (2, 0, 1) the shape (2, 3, 4) becomes (4, 2, 3)."""
    data = TensorData(np.arange(100.0), (2, 3, 4), (12, 4, 1))
    result = permuted(student, data, 2, 0, 1)
    back = "order[i] is where axis i comes from; this puts it where axis i goes to"
    expect(list(result.shape), [4, 2, 3], hint="shape[order[i]], for each i", when={(3, 4, 2): back})
    seen = result.array[1].tolist()
    expect(seen, [[1.0, 5.0, 9.0], [13.0, 17.0, 21.0]], hint="strides[order[i]], for each i")


@visible("tensor_data.permute", section=VIEWS)
def permuted_twice(student: SimpleNamespace) -> None:
    """A view that was permuted before is permuted as well."""
    data = TensorData(np.arange(100.0), (2, 2, 2), (1, 4, 2))
    hint = "use data.strides; those of its shape belong to an array that lies row by row"
    seen = permuted(student, data, 2, 0, 1).array.tolist()  # an order that does not lead back to row by row
    expect(seen, [[[0.0, 4.0], [1.0, 5.0]], [[2.0, 6.0], [3.0, 7.0]]], hint=hint)


@visible("tensor_data.permute", section=VIEWS)
def a_part_permuted(student: SimpleNamespace) -> None:
    """A part of an array begins inside its storage, and so does the permuted part."""
    data = TensorData(np.arange(100.0), (2, 2), (4, 1), 5)
    when = {((0.0, 4.0), (1.0, 5.0)): "this begins at the storage's first element: hand data.offset on"}
    expect(permuted(student, data, 1, 0).array.tolist(), [[5.0, 9.0], [6.0, 10.0]], when=when)


@visible("tensor_data.permute", section=VIEWS)
def one_storage(student: SimpleNamespace) -> None:
    """The view shares the storage, and the array that it was made from is left as it is."""
    storage = np.arange(100.0)
    data = TensorData(storage, (2, 3), (3, 1))
    result = permuted(student, data, 1, 0)
    storage[2] = 50.0
    copied = "the elements were copied: give the result the same storage"
    expect(float(result.array[2, 0]), 50.0, hint="element 2 was changed in the storage", when={2.0: copied})
    expect([list(data.shape), list(data.strides)], [[2, 3], [3, 1]], hint="make a new TensorData, leave data alone")


@visible("tensor_data.unfold", section=WINDOWS)
def windows_of_a_line(student: SimpleNamespace) -> None:
    """Of 0, 1, 2, 3, 4 the windows of three are [0, 1, 2], [1, 2, 3] and [2, 3, 4]."""
    data = TensorData(np.arange(100.0), (5,), (1,))
    when = {
        ((0.0, 1.0, 2.0), (1.0, 2.0, 3.0)): "the last window is missing: 5 - 3 + 1 fit",
        ((0.0, 1.0, 2.0), (3.0, 4.0, 5.0), (6.0, 7.0, 8.0)): "each window begins one element after the last, not size",
    }
    seen = as_view(student.unfold(data, 0, 3, 1)).array.tolist()
    wanted = [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, 3.0, 4.0]]
    expect(seen, wanted, hint="one step to the next window and one step inside of it pass one element each", when=when)


@visible("tensor_data.unfold", section=WINDOWS)
def windows_with_steps(student: SimpleNamespace) -> None:
    """Of six elements two windows of three with steps of two fit: [0, 1, 2] and [2, 3, 4]."""
    data = TensorData(np.arange(100.0), (6,), (1,))
    when = {
        ((0.0, 1.0, 2.0), (1.0, 2.0, 3.0)): "the next window begins `step` elements further on",
        (
            (0.0, 2.0, 4.0),
            (2.0, 4.0, 6.0),
        ): "inside of a window the elements stay side by side: the step is between windows",
        ((0.0, 1.0, 2.0), (2.0, 3.0, 4.0), (4.0, 5.0, 6.0)): "the third one would end beyond the axis: only whole ones",
    }
    seen = as_view(student.unfold(data, 0, 3, 2)).array.tolist()
    expect(seen, [[0.0, 1.0, 2.0], [2.0, 3.0, 4.0]], hint="(6 - 3) // 2 + 1 windows", when=when)


@visible("tensor_data.unfold", section=WINDOWS)
def windows_of_columns(student: SimpleNamespace) -> None:
    """Along axis 0 of three rows of three, there are two windows of two rows; each row keeps its three columns."""
    data = TensorData(np.arange(100.0), (3, 3), (3, 1))
    result = as_view(student.unfold(data, 0, 2, 1))
    when = {
        (2, 2): "a new axis, the last, runs through a window: there are three axes",
        (2, 2, 3): "the new axis stands behind all others",
    }
    expect(list(result.shape), [2, 3, 2], hint="the axis stays where it is and counts windows", when=when)
    wanted = [[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], [[3.0, 6.0], [4.0, 7.0], [5.0, 8.0]]]
    expect(result.array.tolist(), wanted, hint="inside of a window a step is data.strides[axis] elements")


@visible("tensor_data.unfold", section=WINDOWS)
def windows_of_a_part(student: SimpleNamespace) -> None:
    """Every third element from number 4 on: the view has a stride and an offset, and one storage with its windows."""
    storage = np.arange(100.0)
    data = TensorData(storage, (3,), (3,), 4)
    result = as_view(student.unfold(data, 0, 2, 1))
    when = {
        ((0.0, 3.0), (3.0, 6.0)): "this begins at the storage's first element: hand data.offset on",
        ((4.0, 5.0), (5.0, 6.0)): "use data.strides[axis]; a stride of 1 belongs to an array without gaps",
    }
    expect(result.array.tolist(), [[4.0, 7.0], [7.0, 10.0]], when=when)
    storage[7] = 50.0
    copied = "the elements were copied: give the result the same storage"
    seen = result.array.tolist()
    expect(seen, [[4.0, 50.0], [50.0, 10.0]], when={((4.0, 7.0), (7.0, 10.0)): copied})


def together(student: SimpleNamespace, one: tuple[int, ...], other: tuple[int, ...]) -> Any:
    """The broadcast shape, or the name of the error."""
    try:
        return plain(student.shape_broadcast(one, other))
    except IndexingError:
        return "IndexingError"
    except (ValueError, IndexError, TypeError) as error:
        return type(error).__name__


@visible("tensor_data.shape_broadcast", section=SHAPES)
def row_and_matrix(student: SimpleNamespace) -> None:
    """(2, 3) and (3,) give (2, 3), in either order."""
    seen = [together(student, (2, 3), (3,)), together(student, (3,), (2, 3))]
    when = {
        ("IndexingError",) * 2: "align the shapes at their last axes: the shorter one gets ones on its left",
        ((3,), (3,)): "zip stops with the shorter shape: count missing sizes as 1",
    }
    expect(seen, [[2, 3], [2, 3]], hint="compare the last sizes first", when=when)


@visible("tensor_data.shape_broadcast", section=SHAPES)
def ones_grow(student: SimpleNamespace) -> None:
    """(4, 1) and (1, 6) give (4, 6); (7, 2, 1, 5) and (2, 3, 1) give (7, 2, 3, 5)."""
    seen = [together(student, (4, 1), (1, 6)), together(student, (7, 2, 1, 5), (2, 3, 1))]
    when = {("IndexingError",) * 2: "a 1 in the first shape grows as well as one in the second"}
    expect(seen, [[4, 6], [7, 2, 3, 5]], hint="a 1 takes the size of the other shape, from the right", when=when)


@visible("tensor_data.shape_broadcast", section=SHAPES)
def numbers_and_empty_ones(student: SimpleNamespace) -> None:
    """() goes with every shape; 1 and 0 give 0."""
    seen = [together(student, (), (2, 3)), together(student, (), ()), together(student, (0,), (1,))]
    when = {((2, 3), (), (1,)): "1 beside 0 gives 0, the size that is not 1; the larger one is not always right"}
    expect(
        seen, [[2, 3], [], [0]], hint="missing sizes count as 1; where one size is 1, the other one counts", when=when
    )


@visible("tensor_data.shape_broadcast", section=SHAPES)
def refused(student: SimpleNamespace) -> None:
    """(2, 3) and (2,), and (0,) and (3,), raise IndexingError."""
    seen = [together(student, (2, 3), (2,)), together(student, (0,), (3,))]
    when = {
        ("ValueError", "ValueError"): "raise IndexingError itself, with a sentence that names both shapes",
        ((2, 3), (0,)): "nothing is refused: raise IndexingError",
        ((2, 3), (3,)): "nothing is refused: raise IndexingError",
        ("IndexingError", (0,)): "0 and 3 differ, and neither of them is 1",
        ("IndexingError", (3,)): "0 and 3 differ, and neither of them is 1",
    }
    hint = "sizes must match, or one of them must be 1"
    expect(seen, ["IndexingError", "IndexingError"], hint=hint, when=when)


@visible("tensor_data.shape_broadcast", section=SHAPES)
def a_tuple_of_sizes(student: SimpleNamespace) -> None:
    """The shape is a tuple."""
    expect(type(student.shape_broadcast((2, 3), (2, 3))).__name__, "tuple", hint="tuple(...) makes one of a list")


def taking_part(
    student: SimpleNamespace, index: Sequence[int], big: Sequence[int], shape: Sequence[int], before: Sequence[int]
) -> Any:
    """Return the index that broadcast_index writes into a buffer."""
    buffer = list(before)
    student.broadcast_index(list(index), big, shape, buffer)
    return plain(buffer)


@visible("tensor_data.broadcast_index", section=BROADCAST)
def one_for_all_rows(student: SimpleNamespace) -> None:
    """In a result of shape (3, 2), at (2, 1), element (0, 1) of shape (1, 2) takes part, and (2, 0) of shape (3, 1)."""
    seen = [taking_part(student, (2, 1), (3, 2), small, [0, 0]) for small in ((1, 2), (3, 1))]
    when = {((2, 1), (2, 1)): "along an axis of size 1 there is only index 0"}
    expect(seen, [[0, 1], [2, 0]], hint="index 0 along axes of size 1, the same index along the others", when=when)


@visible("tensor_data.broadcast_index", section=BROADCAST)
def fewer_axes(student: SimpleNamespace) -> None:
    """At (2, 1) in a result of shape (3, 2), element (1,) of shape (2,) takes part."""
    with index_errors("the small array has fewer axes: write one number for each axis of shape, and no more"):
        seen = taking_part(student, (2, 1), (3, 2), (2,), [0])
    when = {
        (2,): "this is the row: align the shapes at their last axes",
        (0,): "axis 0 of shape stands beside the last axis of big_shape, not beside the first",
    }
    expect(seen, [1], hint="skip the first len(big_shape) - len(shape) axes of big_index", when=when)


@visible("tensor_data.broadcast_index", section=BROADCAST)
def no_axes_small_index(student: SimpleNamespace) -> None:
    """A single number takes part everywhere, with an index without numbers."""
    with index_errors(NO_AXES):
        expect(taking_part(student, (2, 1), (3, 2), (), []), [])


@visible("tensor_data.broadcast_index", section=BROADCAST)
def only_the_buffer_is_written(student: SimpleNamespace) -> None:
    """The buffer's earlier contents make no difference, and big_index stays as it is."""
    big_index = [2, 1]
    seen = taking_part(student, big_index, (3, 2), (1, 2), [7, 8])
    when = {(7, 1): "the first place still holds what was there before: write the 0", (7, 8): UNWRITTEN}
    expect(seen, [0, 1], hint="write each place of out_index", when=when)
    student.broadcast_index(big_index, (3, 2), (1, 2), [0, 0])
    expect(big_index, [2, 1], hint="big_index is still needed by the caller: write to out_index only")


@visible("tensor_data.broadcast_index", section=BROADCAST)
def buffered_broadcast(student: SimpleNamespace) -> None:
    """In longer buffers both indices stand at the front."""
    hint = BUFFER.format("the shapes say")
    with index_errors(hint):
        buffered = taking_part(student, (2, 1, 9, 9, 9), (3, 2), (2,), [8, 8, 8])[:1]
    expect(buffered, [1], hint=hint, when={(8,): UNWRITTEN})


@visible("tensor_data.broadcast_index", section=BROADCAST, slow=True)
def compiled_broadcast(student: SimpleNamespace) -> None:
    """Numba compiles it, and the result is the same."""
    seen = np.full(2, 9)
    run_compiled(student.broadcast_index, np.array([2, 1]), np.array([3, 2]), np.array([1, 2]), seen)
    expect(plain(seen), [0, 1], hint="Numba's result, for index (2, 1) in shape (3, 2)", when={(9, 9): UNWRITTEN})
