"""Hidden tests of the loops over tensors: map, zip and reduce.

Storages are longer than their tensors need, as they are for views, so that a wrong position finds a number that is
nobody's element. Where all of out must be written, it holds -77 before.
"""

import numpy as np
import pytest

from autograder import expect

MAP = "tensor_ops.tensor_map"
ZIP = "tensor_ops.tensor_zip"
REDUCE = "tensor_ops.tensor_reduce"


def run_map(mg, out_shape, out_strides, storage, in_shape, in_strides):
    """Run the student's kernel of 10 x + 1; return out."""
    out = np.full(int(np.prod(out_shape)), -77.0)
    kernel = mg.tensor_ops.tensor_map(lambda x: 10.0 * x + 1.0)
    parts = [np.array(part, dtype=np.int64) for part in (out_shape, out_strides, in_shape, in_strides)]
    try:
        kernel(out, parts[0], parts[1], np.array(storage), parts[2], parts[3])
    except (IndexError, ZeroDivisionError) as error:
        if str(error).startswith("only integers"):
            raise  # an index is a float: the message and its line say more
        return type(error).__name__
    return out.tolist()


def run_zip(mg, out_shape, out_strides, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides):
    """Run the student's kernel of a - 2 b; return out."""
    out = np.full(int(np.prod(out_shape)), -77.0)
    kernel = mg.tensor_ops.tensor_zip(lambda a, b: a - 2.0 * b)
    shapes = [
        np.array(part, dtype=np.int64) for part in (out_shape, out_strides, a_shape, a_strides, b_shape, b_strides)
    ]
    try:
        kernel(out, *shapes[:2], np.array(a_storage), *shapes[2:4], np.array(b_storage), *shapes[4:])
    except (IndexError, ZeroDivisionError) as error:
        if str(error).startswith("only integers"):
            raise  # an index is a float: the message and its line say more
        return type(error).__name__
    return out.tolist()


def run_sum(mg, out_shape, out_strides, storage, a_shape, a_strides, dim):
    """Run the student's kernel of a sum from 0: what a fold starts from, and its order, make no difference; return out."""
    out = np.zeros(int(np.prod(out_shape)))
    kernel = mg.tensor_ops.tensor_reduce(lambda result, element: result + element)
    shapes = [np.array(part, dtype=np.int64) for part in (out_shape, out_strides, a_shape, a_strides)]
    try:
        kernel(out, *shapes[:2], np.array(storage), *shapes[2:], dim)
    except (IndexError, ZeroDivisionError) as error:
        if str(error).startswith("only integers"):
            raise  # an index is a float: the message and its line say more
        return type(error).__name__
    return out.tolist()


def run_reduce(mg, start, out_shape, out_strides, storage, a_shape, a_strides, dim):
    """Run the student's kernel of result / 2 + element + 1, whose order matters; return out."""
    out = np.full(int(np.prod(out_shape)), start)
    kernel = mg.tensor_ops.tensor_reduce(lambda result, element: result / 2.0 + element + 1.0)
    shapes = [np.array(part, dtype=np.int64) for part in (out_shape, out_strides, a_shape, a_strides)]
    try:
        kernel(out, *shapes[:2], np.array(storage), *shapes[2:], dim)
    except (IndexError, ZeroDivisionError) as error:
        if str(error).startswith("only integers"):
            raise  # an index is a float: the message and its line say more
        return type(error).__name__
    return out.tolist()


def fold(start, *elements):
    """What the kernel of `run_reduce` should compute."""
    for element in elements:
        start = start / 2.0 + element + 1.0
    return start


# --- tensor_map ---------------------------------------------------------------------------------------------


@pytest.mark.exercise(MAP, group="values", because="tensor_ops.tensor_map: 'applies fn to every element of a tensor'")
def test_map_reaches_every_element(student):
    """Every element of out is fn of the element of the input at its place."""
    expect(
        student(run_map, [2, 3], [3, 1], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [2, 3], [3, 1]),
        [1.0, 11.0, 21.0, 31.0, 41.0, 51.0],
        hint="one step of the loop for each element of out, from the first to the last",
        misconception="last-element-skipped",
        when={(-77.0,) * 6: ("out-left-alone", "the results belong into out itself: nobody gets what _map returns")},
    )


@pytest.mark.exercise(MAP, group="corners", because="tensor_ops.tensor_map: 'It writes every element of out once'")
def test_map_of_a_single_number(student):
    """A tensor without dimensions has one element."""
    expect(
        student(run_map, [], [], [4.0, 900.0], [], []),
        [41.0],
        hint="the shape (): no axes, one element; its index is empty, its position 0; len(out) says how many there are",
        misconception="needs-an-axis",
    )


@pytest.mark.exercise(
    MAP, group="corners", because="tensor_ops.tensor_map: 'Its out has exactly as many elements as out_shape says'"
)
def test_map_of_nothing(student):
    """A tensor with an axis of size 0 has no elements, and nothing happens."""
    expect(
        student(run_map, [2, 0], [1, 1], [], [2, 0], [1, 1]),
        [],
        hint="without elements there is nothing to do, and no first one to begin with",
        misconception="empty-tensor-breaks",
    )


@pytest.mark.exercise(MAP, group="layouts", because="tensor_ops.tensor_map: 'Both may have any strides'")
def test_map_follows_the_input_strides(student):
    """The input is found by its strides, as in a transposed view."""
    expect(
        student(run_map, [2, 3], [3, 1], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 900.0], [2, 3], [1, 2]),
        [1.0, 21.0, 41.0, 11.0, 31.0, 51.0],
        hint="here the input's strides are (1, 2): the element at (i, j) stands at i + 2 j",
        misconception="input-taken-for-contiguous",
    )


@pytest.mark.exercise(
    MAP, group="layouts", because="tensor_ops.tensor_map: 'an element stands where its index and the strides say'"
)
def test_map_follows_the_output_strides(student):
    """The results are written where the strides of out say."""
    expect(
        student(run_map, [2, 3], [1, 2], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [2, 3], [3, 1]),
        [1.0, 31.0, 11.0, 41.0, 21.0, 51.0],
        hint="the loop counts elements; where the one at an index stands in out, index_to_position says",
        misconception="position-is-not-ordinal",
    )


@pytest.mark.exercise(
    MAP,
    group="layouts",
    because="tensor_ops.tensor_map: 'The input may be smaller than the output, and is then broadcast'",
)
def test_map_repeats_axes_of_size_one(student):
    """An axis of size 1 is repeated, whatever its stride."""
    expect(
        student(run_map, [2, 3], [3, 1], [5.0, 6.0, 900.0, 901.0, 902.0, 903.0], [2, 1], [1, 1]),
        [51.0, 51.0, 51.0, 61.0, 61.0, 61.0],
        hint="along an axis where the input has size 1 its index is 0 everywhere: that is what broadcast_index sees to",
        misconception="size-one-not-repeated",
    )


@pytest.mark.exercise(MAP, group="layouts", because="tensor_ops.tensor_map: 'in_shape broadcasts to out_shape'")
def test_map_aligns_shapes_at_the_right(student):
    """An input with fewer axes is aligned at the last ones."""
    expect(
        student(run_map, [2, 2, 2], [4, 2, 1], [1.0, 2.0, 3.0, 4.0], [2, 2], [2, 1]),
        [11.0, 21.0, 31.0, 41.0, 11.0, 21.0, 31.0, 41.0],
        hint="shapes are aligned at their last axes: the index in the input has the last two numbers of that in out",
        misconception="left-aligned",
    )


@pytest.mark.exercise(
    MAP,
    group="layouts",
    because="tensor_ops.tensor_map: 'find its index, and the index in the input that belongs to it'",
)
def test_map_of_many_axes(student):
    """Four axes, permuted in out, one of them repeated: every element is where it belongs."""
    out_shape, out_strides = [2, 1, 3, 2], [1, 12, 4, 2]
    storage, in_shape, in_strides = [float(i) for i in range(8)], [1, 3, 1], [7, 2, 5]
    wanted = np.zeros(12)
    for i in range(2):
        for k in range(3):
            for n in range(2):
                wanted[i + 4 * k + 2 * n] = 10.0 * storage[2 * k] + 1.0
    expect(
        student(run_map, out_shape, out_strides, storage, in_shape, in_strides),
        wanted.tolist(),
        hint="to_index works for any number of axes; loops nested by hand do not",
        misconception="at-most-two-axes",
    )


# --- tensor_zip ---------------------------------------------------------------------------------------------


@pytest.mark.exercise(
    ZIP, group="values", because="tensor_ops.tensor_zip: 'Two numbers, from a and from b in this order'"
)
def test_zip_passes_a_first(student):
    """fn gets the element of a, then that of b."""
    expect(
        student(
            run_zip, [2, 2], [2, 1], [1.0, 2.0, 3.0, 4.0], [2, 2], [2, 1], [10.0, 20.0, 30.0, 40.0], [2, 2], [2, 1]
        ),
        [-19.0, -38.0, -57.0, -76.0],
        hint="fn(a, b), not fn(b, a): a difference tells the two apart, a sum does not",
        misconception="arguments-swapped",
        when={(-77.0,) * 4: ("out-left-alone", "the results belong into out itself: nobody gets what _zip returns")},
    )


@pytest.mark.exercise(ZIP, group="corners", because="tensor_ops.tensor_zip: 'It writes every element of out once'")
def test_zip_of_single_numbers(student):
    """Tensors without dimensions have one element each."""
    expect(
        student(run_zip, [], [], [7.0, 900.0], [], [], [2.0, 901.0], [], []),
        [3.0],
        hint="the shape (): no axes, one element; its index is empty, its position 0",
        misconception="needs-an-axis",
    )


@pytest.mark.exercise(
    ZIP, group="corners", because="tensor_ops.tensor_zip: 'Its out has exactly as many elements as out_shape says'"
)
def test_zip_of_nothing(student):
    """A tensor with an axis of size 0 has no elements, and nothing happens."""
    expect(
        student(run_zip, [2, 0], [1, 1], [], [2, 0], [1, 1], [5.0], [1], [1]),
        [],
        hint="without elements there is nothing to do, and no first one to begin with",
        misconception="empty-tensor-breaks",
    )


@pytest.mark.exercise(ZIP, group="layouts", because="tensor_ops.tensor_zip: 'all three may have any strides'")
def test_zip_has_strides_for_each_input(student):
    """Each input is found by strides of its own."""
    a, b = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 900.0], [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    expect(
        student(run_zip, [2, 3], [3, 1], a, [2, 3], [1, 2], b, [2, 3], [4, 1]),
        [a[i + 2 * j] - 2.0 * b[4 * i + j] for i in range(2) for j in range(3)],
        hint="the position in b comes from b's index and b's strides",
        misconception="strides-of-a-for-b",
    )


@pytest.mark.exercise(ZIP, group="layouts", because="tensor_ops.tensor_zip: 'all three may have any strides'")
def test_zip_follows_the_output_strides(student):
    """The results are written where the strides of out say."""
    a, b = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    expect(
        student(run_zip, [2, 3], [1, 2], a, [2, 3], [3, 1], b, [2, 3], [3, 1]),
        [-19.0 * k for k in (0, 3, 1, 4, 2, 5)],
        hint="the loop counts elements; where the one at an index stands in out, index_to_position says",
        misconception="position-is-not-ordinal",
    )


@pytest.mark.exercise(
    ZIP, group="layouts", because="tensor_ops.tensor_zip: 'Each input is broadcast to the output's shape by itself'"
)
def test_zip_broadcasts_b(student):
    """Where b has size 1 and a has not, b is repeated."""
    a, b = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [10.0, 20.0, 900.0, 901.0]
    expect(
        student(run_zip, [2, 3], [3, 1], a, [2, 3], [3, 1], b, [2, 1], [1, 1]),
        [a[3 * i + j] - 2.0 * b[i] for i in range(2) for j in range(3)],
        hint="the index in b is another one than that in a: broadcast_index, once for each input",
        misconception="index-of-a-for-b",
    )


@pytest.mark.exercise(
    ZIP, group="layouts", because="tensor_ops.tensor_zip: 'Each input is broadcast to the output's shape by itself'"
)
def test_zip_broadcasts_a(student):
    """Where a has size 1 and b has not, a is repeated."""
    a, b = [10.0, 20.0, 900.0, 901.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    expect(
        student(run_zip, [2, 3], [3, 1], a, [2, 1], [1, 1], b, [2, 3], [3, 1]),
        [a[i] - 2.0 * b[3 * i + j] for i in range(2) for j in range(3)],
        hint="the result may be larger than a: its shape is out_shape",
        misconception="only-b-is-broadcast",
    )


@pytest.mark.exercise(
    ZIP, group="layouts", because="tensor_ops.tensor_zip: 'their shapes may differ, also in the number of dimensions'"
)
def test_zip_aligns_shapes_at_the_right(student):
    """Inputs with fewer axes are aligned at the last ones, be it a or b that has fewer."""
    large, small = [1.0, 2.0, 3.0, 4.0], [10.0, 20.0]
    expect(
        [
            student(run_zip, [2, 2], [2, 1], large, [2, 2], [2, 1], small, [2], [1]),
            student(run_zip, [2, 2], [2, 1], small, [2], [1], large, [2, 2], [2, 1]),
        ],
        [[-19.0, -38.0, -17.0, -36.0], [8.0, 16.0, 4.0, 12.0]],
        hint="shapes are aligned at their last axes: the only axis of an input runs along the columns",
        misconception="left-aligned",
    )


@pytest.mark.exercise(ZIP, group="layouts", because="tensor_ops.tensor_zip: 'combines two tensors, element by element'")
def test_zip_of_many_axes(student):
    """Three axes, of which each input repeats another one: every element is where it belongs."""
    a, b = [float(i) for i in range(7)], [10.0 * i for i in range(8)]
    wanted = [a[j + 2 * k] - 2.0 * b[4 * i + k] for i in range(2) for j in range(2) for k in range(3)]
    expect(
        student(run_zip, [2, 2, 3], [6, 3, 1], a, [1, 2, 3], [9, 1, 2], b, [2, 1, 3], [4, 9, 1]),
        wanted,
        hint="to_index works for any number of axes",
        misconception="at-most-two-axes",
    )


# --- tensor_reduce ------------------------------------------------------------------------------------------


@pytest.mark.exercise(
    REDUCE,
    group="values",
    because="tensor_ops.tensor_reduce: 'Before the kernel runs, every element of out holds the start value'",
)
def test_reduce_starts_from_out(student):
    """The fold starts from what out holds, and takes every element once."""
    expect(
        student(run_reduce, 64.0, [2, 1], [1, 1], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3], [3, 1], 1),
        [fold(64.0, 1.0, 2.0, 3.0), fold(64.0, 4.0, 5.0, 6.0)],
        hint="out holds the start value: fold the elements into it, each of them once",
        misconception="start-value-ignored",
        when={
            (fold(0.0, 1.0, 2.0, 3.0), fold(0.0, 4.0, 5.0, 6.0)): (
                "start-taken-for-zero",
                "0 is the start of a sum; others start from something else",
            ),
            (fold(1.0, 1.0, 2.0, 3.0), fold(4.0, 4.0, 5.0, 6.0)): (
                "first-element-counted-twice",
                "if the first element were the start, it would not be folded in again",
            ),
            (fold(64.0, 2.0, 3.0), fold(64.0, 5.0, 6.0)): (
                "first-element-skipped",
                "the first element, at index 0, is folded in too",
            ),
        },
    )


@pytest.mark.exercise(
    REDUCE,
    group="values",
    because="tensor_ops.tensor_reduce: 'the result so far is the first argument of fn, the next element the second'",
)
def test_reduce_passes_the_result_first(student):
    """fn gets the result so far, then the element."""

    def observe(mg):
        out = np.zeros(1)
        kernel = mg.tensor_ops.tensor_reduce(lambda result, element: result + 100.0 * element)
        shape, strides = np.array([3], dtype=np.int64), np.array([1], dtype=np.int64)
        kernel(out, np.array([1], dtype=np.int64), strides, np.array([1.0, 2.0, 3.0]), shape, strides, 0)
        return out.tolist()

    expect(
        student(observe),
        [600.0],
        hint="fn(result, element): a sum would not tell the two apart",
        misconception="arguments-swapped",
    )


@pytest.mark.exercise(
    REDUCE,
    group="values",
    because="tensor_ops.tensor_reduce: 'folds the elements into it one after the other, from the first to the last'",
)
def test_reduce_goes_from_the_first_to_the_last(student):
    """The first element is folded in first, the last one last."""
    expect(
        student(run_reduce, 0.0, [1], [1], [8.0, 4.0, 2.0], [3], [1], 0),
        [fold(0.0, 8.0, 4.0, 2.0)],
        hint="fn(fn(fn(start, first), second), third): from the first element to the last",
        misconception="folded-from-the-end",
    )


@pytest.mark.exercise(
    REDUCE, group="values", because="tensor_ops.tensor_reduce: 'with size 1 in the dimension reduce_dim'"
)
def test_reduce_of_the_chosen_axis(student):
    """Only the axis reduce_dim is folded, here the middle one of three."""
    storage = [float(i * i) for i in range(12)]
    wanted = [fold(0.0, storage[6 * i + k], storage[6 * i + 3 + k]) for i in range(2) for k in range(3)]
    expect(
        student(run_reduce, 0.0, [2, 1, 3], [3, 3, 1], storage, [2, 2, 3], [6, 3, 1], 1),
        wanted,
        hint="the index moves along the axis reduce_dim, and stays in all others",
        misconception="last-axis-only",
    )


@pytest.mark.exercise(
    REDUCE,
    group="empty",
    because="tensor_ops.tensor_reduce: 'Where the dimension has size 0, the start value is the result'",
)
def test_reduce_of_nothing(student):
    """Folding an axis of size 0 leaves the start value, and folding another axis does not."""
    # Rows that begin with 0, and a stride of 0 along them in out: mistakes with these are asked elsewhere.
    rows = student(run_sum, [2, 1], [1, 0], [0.0, 5.0, 0.0, 7.0], [2, 2], [2, 1], 1)
    expect(
        [student(run_reduce, 3.0, [2, 1], [1, 1], [], [2, 0], [1, 1], 1), rows],
        [[3.0, 3.0], [5.0, 7.0]],
        hint="without elements there is nothing to fold in, and none to begin with",
        misconception="empty-axis-breaks",
    )


@pytest.mark.exercise(REDUCE, group="layouts", because="tensor_ops.tensor_reduce: 'All strides are possible.'")
def test_reduce_follows_the_input_strides(student):
    """The elements are found by the strides of a, as in a transposed view."""
    storage = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 900.0]
    expect(
        student(run_sum, [2, 1], [1, 1], storage, [2, 3], [1, 2], 1),
        [9.0, 12.0],
        hint="here the strides of a are (1, 2): the element at (i, j) stands at i + 2 j",
        misconception="input-taken-for-contiguous",
    )


@pytest.mark.exercise(REDUCE, group="layouts", because="tensor_ops.tensor_reduce: 'All strides are possible.'")
def test_reduce_follows_the_output_strides(student):
    """The results are written where the strides of out say."""
    storage = [float(i) for i in range(8)]
    sums = [[sum(storage[4 * i + 2 * j : 4 * i + 2 * j + 2]) for j in range(2)] for i in range(2)]
    expect(
        student(run_sum, [2, 2, 1], [1, 2, 4], storage, [2, 2, 2], [4, 2, 1], 2),
        [sums[0][0], sums[1][0], sums[0][1], sums[1][1]],
        hint="the loop counts elements; where the one at an index stands in out, index_to_position says",
        misconception="position-is-not-ordinal",
    )


@pytest.mark.exercise(REDUCE, group="layouts", because="tensor_ops.tensor_reduce: 'into a single element'")
def test_reduce_keeps_to_one_place(student):
    """All elements of a fold go to the same place of out, whatever stride out has along the folded axis."""
    expect(
        student(run_sum, [1, 2], [2, 1], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2], [2, 1], 0),
        [9.0, 12.0],
        hint="find the position in out before the index moves along the folded axis",
        misconception="out-position-moves",
    )
