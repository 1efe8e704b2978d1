"""Hidden tests of strides, indices, positions, permuted views and broadcasting."""

import functools

import numpy as np
import pytest

from autograder import expect, pictures

strides_from_shape = functools.partial(pytest.mark.exercise, "tensor_data.strides_from_shape")
index_to_position = functools.partial(pytest.mark.exercise, "tensor_data.index_to_position")
to_index = functools.partial(pytest.mark.exercise, "tensor_data.to_index")
permute = functools.partial(pytest.mark.exercise, "tensor_data.permute")
unfold = functools.partial(pytest.mark.exercise, "tensor_data.unfold")
shape_broadcast = functools.partial(pytest.mark.exercise, "tensor_data.shape_broadcast")
broadcast_index = functools.partial(pytest.mark.exercise, "tensor_data.broadcast_index")

COMPILED = "tensor_data: 'Numba compiles this function for fast loops: use loops and arithmetic only, no generators and no classes.'"
PLAIN = "Numba must be able to compile it for the loops of later lessons: write a for loop with numbers in it, without generators and without numpy's special functions"
BUFFER = "on a GPU, index buffers have room for many axes: the shape or the strides say how many there are, the index does not"


# --- tensor_data.strides_from_shape -------------------------------------------------------------------------


def strides_of(mg, shape):
    """Probe: the strides as a list."""
    return [int(stride) for stride in mg.tensor_data.strides_from_shape(tuple(shape))]


@strides_from_shape(
    group="values", because="tensor_data.strides_from_shape: 'The last axis runs fastest: its stride is 1.'"
)
def test_last_axis_runs_fastest(student):
    """In shape (2, 3) a step down passes a row of three elements, a step to the right one element."""
    when = {
        (1, 2): (
            "column-major",
            "these are the strides of an array that lies column by column: begin with the last axis",
        ),
        (6, 3): ("own-size-included", "a step along an axis passes the axes after it, not itself"),
        (24, 8): ("counted-in-bytes", "strides count elements of the storage, not bytes"),
    }
    seen = student(strides_of, [2, 3])
    expect(seen, [3, 1], hint="the last stride is 1", when=when, picture=lambda: pictures.steps([2, 3], seen, [3, 1]))


@strides_from_shape(
    group="values", because="tensor_data.strides_from_shape: 'the product of the sizes of all axes after it'"
)
def test_products_of_all_later_sizes(student):
    """With more axes a stride is a product of several sizes."""
    seen = [student(strides_of, shape) for shape in ([5], [4, 1, 3], [2, 3, 5, 7])]
    expect(
        seen,
        [[1], [3, 3, 1], [105, 35, 7, 1]],
        hint="multiply the sizes of all axes after it, not only of the next one",
        misconception="next-size-only",
    )


@strides_from_shape(group="special", because="tensor_data.strides_from_shape: 'A tuple with one stride for each axis'")
def test_strides_are_a_tuple(student):
    """The strides come as a tuple, as shapes do."""

    def observe(mg, shape):
        strides = mg.tensor_data.strides_from_shape(tuple(shape))
        return [type(strides).__name__, *(int(stride) for stride in strides)]

    expect(student(observe, [2, 3]), ["tuple", 3, 1], hint="wrap the list in tuple(...)", misconception="list-returned")


@strides_from_shape(group="special", because="tensor_data.strides_from_shape: '() for ()'")
def test_no_axes_no_strides(student):
    """A single number has no axes, and no strides."""

    def observe(mg):
        try:
            return [int(stride) for stride in mg.tensor_data.strides_from_shape(())]
        except IndexError:
            return "IndexError"

    expect(
        student(observe),
        [],
        hint="one stride for each axis: here there is none",
        misconception="one-axis-assumed",
        example="the shape ()",
    )


# --- tensor_data.index_to_position --------------------------------------------------------------------------


def position_of(mg, index, strides):
    """Probe: the position, or the name of the error."""
    try:
        return int(mg.tensor_data.index_to_position(tuple(index), tuple(strides)))
    except (IndexError, ValueError) as error:
        return type(error).__name__


def position_in_kernels(mg, index, strides):
    """Probe: the same, of arrays."""
    import numpy as np

    own = mg.tensor_data.index_to_position
    try:
        return int(own(np.array(index, np.int64), np.array(strides, np.int64)))
    except (IndexError, ValueError) as error:
        return type(error).__name__


@index_to_position(
    group="values",
    because="tensor_data.index_to_position: 'The position is the sum of each axis's index times that axis's stride'",
)
def test_position_is_a_sum_of_products(student):
    """Index (2, 1) in an array with strides (3, 1) stands at 2 * 3 + 1 * 1 = 7."""
    when = {
        5: ("strides-reversed", "the first index belongs to the first stride"),
        1: ("last-axis-wins", "add up what every axis brings: += instead of ="),
    }
    expect(student(position_of, [2, 1], [3, 1]), 7, hint="2 * 3 + 1 * 1", when=when)


@index_to_position(group="values", because="tensor_data.index_to_position: 'whatever the strides are'")
def test_positions_under_any_strides(student):
    """The strides of a permuted and of an expanded array are in any order, and may be 0."""
    seen = [
        student(position_of, index, strides)
        for index, strides in (([2, 1], [1, 3]), ([1, 2], [5, 2]), ([3, 2], [0, 4]), ([4, 7], [1, 0]))
    ]
    expect(
        seen,
        [5, 9, 8, 4],
        hint="the last stride need not be 1: permuted arrays have it elsewhere, slices have larger ones",
        misconception="last-stride-one",
    )


@index_to_position(group="values", because="tensor_data.index_to_position: 'The rank is the number of strides.'")
def test_positions_for_any_rank(student):
    """One, three and four axes are as good as two."""
    seen = [
        student(position_of, index, strides)
        for index, strides in (([4], [2]), ([1, 2, 3], [20, 5, 1]), ([1, 0, 2, 1], [30, 10, 2, 1]))
    ]
    expect(seen, [8, 33, 35], hint="loop over the axes instead of writing them out", misconception="two-axes-only")


@index_to_position(group="special", because="tensor_data.index_to_position: '0 for a single number, which has no axes'")
def test_position_without_axes(student):
    """A single number stands at position 0, and one index is enough for a line."""
    expect(
        [student(position_in_kernels, [], []), student(position_in_kernels, [2], [3])],
        [0, 6],
        hint="begin with 0 and let the loop do the rest, the first axis included",
        misconception="one-axis-assumed",
    )


@index_to_position(
    group="kernels",
    because="tensor_data.index_to_position: 'It may be a buffer that is longer than strides; what comes after is not used.'",
)
def test_position_from_a_buffer(student):
    """What a longer buffer holds behind the index does not count."""
    seen = [student(position_in_kernels, [2, 1, 9, 9], [3, 1]), student(position_in_kernels, [5], [])]
    expect(seen, [7, 0], hint=BUFFER, misconception="index-length-used")


@index_to_position(group="kernels", because=COMPILED)
def test_position_compiled(student):
    """Numba compiles the function, and it gives the same."""

    def observe(mg, index, strides):
        import numpy as np

        from minigrad.compiling import compile_kernel

        own = mg.tensor_data.index_to_position
        try:
            compiled = compile_kernel(own, parallel=False).dispatcher
            return int(compiled(np.array(index), np.array(strides)))
        except Exception as error:
            return f"Numba: {type(error).__name__}"

    expect(student(observe, [2, 1, 3], [20, 5, 1]), 48, hint=PLAIN, misconception="python-only")


# --- tensor_data.to_index -----------------------------------------------------------------------------------


def index_of(mg, ordinal, shape, out_index):
    """Probe: the buffer after to_index, or the name of the error."""
    try:
        mg.tensor_data.to_index(ordinal, tuple(shape), out_index)
    except (IndexError, ValueError) as error:
        return type(error).__name__
    return [int(i) for i in out_index]


def index_in_kernels(mg, ordinal, shape, out_index):
    """Probe: the same, of arrays."""
    import numpy as np

    buffer = np.array(out_index, np.int64)
    try:
        mg.tensor_data.to_index(ordinal, np.array(shape, np.int64), buffer)
    except (IndexError, ValueError) as error:
        return type(error).__name__
    return buffer.tolist()


@to_index(
    group="values",
    because="tensor_data.to_index: 'Counting runs through the last axis first, as the digits of a number do'",
)
def test_counting_runs_through_the_last_axis(student):
    """In shape (2, 2) the elements 0 to 3 have the indices (0, 0), (0, 1), (1, 0), (1, 1)."""
    seen = [student(index_of, ordinal, [2, 2], [0, 0]) for ordinal in range(4)]
    when = {
        ((0, 0), (1, 0), (0, 1), (1, 1)): (
            "column-major",
            "this runs through the first axis first: begin with the last",
        ),
        ((0, 0), (0, 1), (1, 2), (1, 3)): ("remainder-forgotten", "the last index runs over: take a remainder, too"),
        ((0, 0), (0, 0), (0, 0), (0, 0)): ("returned-not-filled", "nothing was written into out_index"),
    }
    hint = "the last index changes at every step, the first one once a row"
    expect(seen, [[0, 0], [0, 1], [1, 0], [1, 1]], hint=hint, when=when)


@to_index(
    group="values",
    because="tensor_data.to_index: 'in shape (2, 3) the elements 0 to 5 have the indices (0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)'",
)
def test_each_axis_has_its_own_size(student):
    """Sizes that differ, and sizes of 1, are divided by in their places."""
    cases = ((5, [2, 3]), (3, [2, 3]), (23, [2, 3, 4]), (17, [3, 1, 2, 4]), (4, [5]), (6, [7, 1]))
    seen = [student(index_of, ordinal, shape, [0] * len(shape)) for ordinal, shape in cases]
    expect(
        seen,
        [[1, 2], [1, 0], [1, 2, 3], [2, 0, 0, 1], [4], [6, 0]],
        hint="remainder and quotient of a step belong to the same axis",
        misconception="neighbours-size-divided",
    )


@to_index(group="values", because="tensor_data.to_index: 'What it held before means nothing'")
def test_what_the_buffer_held_does_not_count(student):
    """A used buffer gives the same index as a new one."""
    expect(
        student(index_of, 3, [2, 3], [7, 8]),
        [1, 0],
        hint="write each number into its place, also a 0, and do not add to what is there",
        misconception="old-values-added",
    )


@to_index(group="special", because="tensor_data.to_index: 'It may exceed 2**53, beyond which `/` is no longer exact.'")
def test_large_numbers_stay_exact(student):
    """The last element of a shape of 2**60 elements is found exactly."""
    expect(
        student(index_in_kernels, 2**60 - 1, [2**30, 2**30], [0, 0]),
        [2**30 - 1, 2**30 - 1],
        hint="// divides whole numbers exactly; / makes floats, which have 53 digits in base 2",
        misconception="float-division",
    )


@to_index(group="special", because="tensor_data.to_index: 'The size of each axis.'")
def test_no_axes_no_index(student):
    """A single number has an index without any numbers."""
    expect(
        student(index_in_kernels, 0, [], []),
        [],
        hint="let the loop take care of every axis, the last one included: here there is none",
        misconception="one-axis-assumed",
    )


@to_index(
    group="kernels",
    because="tensor_data.to_index: 'it may be a buffer that is longer than shape'",
)
def test_index_into_a_longer_buffer(student):
    """In a longer buffer the index stands at the front."""
    seen = student(index_in_kernels, 5, [2, 3], [9, 9, 9, 9])
    expect(seen[:2] if isinstance(seen, list) else seen, [1, 2], hint=BUFFER, misconception="index-length-used")


@to_index(group="kernels", because=COMPILED)
def test_index_compiled(student):
    """Numba compiles the function, and a compiled loop gives the same."""

    def observe(mg, shape):
        import numba
        import numpy as np

        from minigrad.compiling import compile_kernel

        own = mg.tensor_data.to_index
        found = np.full((6, 4), 9, np.int32)
        try:
            compiled = compile_kernel(own, parallel=False).dispatcher

            @numba.njit
            def count(out, sizes):
                for i in range(out.shape[0]):
                    compiled(i, sizes, out[i])

            count(found, np.array([*shape, 7, 7])[:2])  # who reads behind the end, which nobody checks, reads 7
        except Exception as error:
            return f"Numba: {type(error).__name__}"
        return found[:, :2].tolist()

    wanted = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    expect(student(observe, [2, 3]), wanted, hint=PLAIN, misconception="python-only")


# --- tensor_data.permute ------------------------------------------------------------------------------------


@permute(group="values", because="tensor_data.permute: 'a view of the same storage with its axes in another order'")
def test_sizes_follow_their_axes(student):
    """Two rows of three become three rows of two."""

    def observe(mg):
        data = mg.tensor_data.TensorData([0.0] * 20, (2, 3), (3, 1))
        return [int(size) for size in mg.tensor_data.permute(data, 1, 0).shape]

    expect(
        student(observe),
        [3, 2],
        hint="the sizes go with their axes",
        misconception="strides-only",
        example="a view of shape (2, 3) with strides (3, 1), permuted with the order (1, 0)",
    )


@permute(group="values", because="tensor_data.permute: 'Axis i of the result is axis `order[i]` of data.'")
def test_transposed(student):
    """Two rows of three become three rows of two: [[0, 1, 2], [3, 4, 5]] to [[0, 3], [1, 4], [2, 5]]."""

    def observe(mg):
        storage = [float(i) for i in range(20)]
        data = mg.tensor_data.TensorData(storage, (2, 3), (3, 1))
        return mg.tensor_data.permute(data, 1, 0).array.tolist()

    when = {
        ((0.0, 1.0), (3.0, 4.0), (6.0, 7.0)): ("shape-only", "the strides go with their axes"),
        ((0.0, 1.0), (2.0, 3.0), (4.0, 5.0)): (
            "strides-made-anew",
            "new strides for the new shape read row by row again",
        ),
    }
    hint = "shape and strides are both put into the new order"
    seen = student(observe)
    expect(
        seen,
        [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]],
        hint=hint,
        when=when,
        example="shape (2, 3), strides (3, 1), order (1, 0)",
        picture=lambda: pictures.view(6, seen, [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]),
    )


@permute(group="values", because="tensor_data.permute: 'Axis i of the result is axis `order[i]` of data.'")
def test_order_says_where_axes_come_from(student):
    """With order (2, 0, 1) the shape (2, 3, 4) becomes (4, 2, 3), not (3, 4, 2)."""

    def observe(mg, order):
        storage = [float(i) for i in range(24)]
        data = mg.tensor_data.TensorData(storage, (2, 3, 4), (12, 4, 1))
        result = mg.tensor_data.permute(data, *order)
        return [list(result.shape), result.array[1].tolist()]

    seen = student(observe, [2, 0, 1])
    expect(
        seen,
        [[4, 2, 3], [[1.0, 5.0, 9.0], [13.0, 17.0, 21.0]]],
        hint="order[i] is where axis i comes from, not where it goes to",
        example="shape (2, 3, 4), strides (12, 4, 1), order (2, 0, 1)",
        picture=lambda: pictures.view(24, seen[1], [[1, 5, 9], [13, 17, 21]], note="(number 1 along its first axis)"),
        misconception="order-inverted",
    )


@permute(group="values", because="tensor_data.permute: 'Any view, also a permuted, sliced or expanded one.'")
def test_permuted_again(student):
    """A view whose strides are in another order already, or 0, is permuted as well."""

    def observe(mg):
        storage = [float(i) for i in range(6)]
        turned = mg.tensor_data.TensorData(storage, (3, 2), (1, 3))
        wide = mg.tensor_data.TensorData(storage, (3, 2), (0, 1))
        return [mg.tensor_data.permute(data, 1, 0).array.tolist() for data in (turned, wide)]

    seen = student(observe)
    expect(
        seen,
        [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]],
        hint="use data.strides: those of the shape belong to an array that lies row by row",
        example="shape (3, 2), once with strides (1, 3), once with (0, 1); order (1, 0)",
        picture=lambda: (
            pictures.view(6, seen[0], [[0, 1, 2], [3, 4, 5]]) or pictures.view(6, seen[1], [[0, 0, 0], [1, 1, 1]])
        ),
        misconception="row-by-row-assumed",
    )


@permute(
    group="views",
    because="tensor_data.permute: 'Nothing is copied: writing through one of the two shows in the other.'",
)
def test_nothing_is_copied(student):
    """What is written through the view is in the array, and the other way round."""

    def observe(mg):
        storage = [0.0] * 6
        data = mg.tensor_data.TensorData(storage, (2, 3), (3, 1))
        view = mg.tensor_data.permute(data, 1, 0)
        view.set((2, 0), 5.0)
        data.set((1, 0), 7.0)
        return [float(data.get((0, 2))), float(view.get((0, 1)))]

    expect(
        student(observe),
        [5.0, 7.0],
        hint="give the result the same storage",
        misconception="copied",
        example="shape (2, 3), order (1, 0); view[2, 0] = 5, data[1, 0] = 7; then data[0, 2] and view[0, 1]",
    )


@permute(
    group="views",
    because="tensor_data.permute: 'A view that does not begin at the storage's first element keeps its offset.'",
)
def test_offset_is_kept(student):
    """A slice begins inside its storage, and so does the slice permuted."""

    def observe(mg):
        storage = [float(i) for i in range(12)]
        data = mg.tensor_data.TensorData(storage, (2, 2), (4, 1), 5)
        return mg.tensor_data.permute(data, 1, 0).array.tolist()

    seen = student(observe)
    expect(
        seen,
        [[5.0, 9.0], [6.0, 10.0]],
        hint="hand data.offset on, or begin with data._storage, which starts there",
        example="shape (2, 2), strides (4, 1), offset 5, order (1, 0)",
        picture=lambda: pictures.view(12, seen, [[5, 9], [6, 10]]),
        misconception="offset-forgotten",
    )


@permute(group="views", because="tensor_data.permute: 'A new view; data itself is left as it is.'")
def test_data_is_left_as_it_is(student):
    """The array that was permuted keeps its shape and strides."""

    def observe(mg):
        storage = [float(i) for i in range(6)]
        data = mg.tensor_data.TensorData(storage, (2, 3), (3, 1))
        view = mg.tensor_data.permute(data, 1, 0)
        return [data.array.tolist(), view.array.tolist()]

    expect(
        student(observe),
        [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]],
        hint="make a new TensorData instead of changing the one that was given",
        example="shape (2, 3), strides (3, 1), order (1, 0): data, then the view",
        misconception="data-changed",
    )


# --- tensor_data.unfold -------------------------------------------------------------------------------------


def unfolded(mg, shape, strides, offset, *how):
    """Probe: the windows of a view of the numbers 0, 1, 2 and so on, whose storage goes far beyond it."""
    storage = [float(i) for i in range(200)]
    data = mg.tensor_data.TensorData(storage, tuple(shape), tuple(strides), offset)
    result = mg.tensor_data.unfold(data, *how)
    return [list(result.shape), result.array.tolist()]


def windows(shape, strides, offset, axis, size, step):
    """The windows that `unfolded` should give, one by one."""
    line = np.arange(200.0)[offset:]
    array = np.lib.stride_tricks.as_strided(line, shape, [8 * stride for stride in strides])
    starts = [start for start in range(0, shape[axis], step) if start + size <= shape[axis]]
    found = [np.moveaxis(array.take(range(start, start + size), axis), axis, -1) for start in starts]
    stacked = np.stack(found, axis)
    return [list(stacked.shape), stacked.tolist()]


OF_FOUR_AXES = [([2, 3, 4, 5], [60, 20, 5, 1], 0, axis, 2, 1) for axis in range(4)]
"""Views of four axes, with their windows of two along each."""


@unfold(group="values", because="tensor_data.unfold: 'as long as there is a whole one'")
def test_all_windows_of_a_line(student):
    """Seven elements have four windows of four, and one of seven."""
    given = ([7], [1], 0)
    seen = [student(unfolded, *given, 0, size, 1) for size in (4, 7)]
    expect(
        seen,
        [windows(*given, 0, size, 1) for size in (4, 7)],
        hint="of n elements, n - size + 1 can be the first of a window",
        misconception="last-window-missing",
    )


@unfold(
    group="values",
    because="tensor_data.unfold: 'The axis then counts windows, and a new axis, the last, runs through a window'",
)
def test_windows_take_the_place_of_their_axis(student):
    """Windows along the first of two axes, and along the middle of three."""
    cases = [([4, 3], [3, 1], 0, 0, 2, 1), ([2, 4, 3], [12, 3, 1], 0, 1, 3, 1)]
    expect(
        [student(unfolded, *case) for case in cases],
        [windows(*case) for case in cases],
        hint="the axis keeps its place; one axis more comes behind all others",
        misconception="new-axis-beside-the-old",
    )


@unfold(
    group="values",
    because="tensor_data.unfold: 'The axis then counts windows, and a new axis, the last, runs through a window'",
)
def test_windows_along_each_of_four_axes(student):
    """Of four axes, each can be the one that windows lie along."""
    expect(
        [student(unfolded, *case) for case in OF_FOUR_AXES],
        [windows(*case) for case in OF_FOUR_AXES],
        hint="the number of axes makes no difference: shape and strides change at `axis`, and get one number more",
        misconception="last-axis-of-many",
    )


@unfold(group="values", because="tensor_data.unfold: 'Any view, also a permuted, sliced or expanded one.'")
def test_windows_of_any_view(student):
    """Strides of a permuted and of an expanded view are handed on."""
    cases = [([3, 4], [1, 3], 0, 1, 2, 1), ([4, 3], [0, 2], 0, 0, 3, 1)]
    expect(
        [student(unfolded, *case) for case in cases],
        [windows(*case) for case in cases],
        hint="both new strides come from data.strides[axis]",
        misconception="row-by-row-assumed",
    )


@unfold(group="steps", because="tensor_data.unfold: 'the next one `step` elements further on'")
def test_windows_that_leave_some_out(student):
    """A step of two, and one that is larger than the window."""
    cases = [([9], [1], 0, 0, 3, 2), ([10], [1], 0, 0, 2, 7)]
    expect(
        [student(unfolded, *case) for case in cases],
        [windows(*case) for case in cases],
        hint="from one window to the next it is step times the axis's stride, inside of a window the stride itself",
        misconception="step-inside-the-window",
    )


@unfold(group="steps", because="tensor_data.unfold: 'the next one `step` elements further on'")
def test_windows_side_by_side(student):
    """With steps as long as a window, no element lies in two of them."""
    cases = [([6], [1], 0, 0, 2, 2), ([2, 6], [6, 1], 0, 1, 3, 3)]
    expect(
        [student(unfolded, *case) for case in cases],
        [windows(*case) for case in cases],
        hint="from one window to the next it is step elements of the axis",
        misconception="step-ignored",
    )


@unfold(group="steps", because="tensor_data.unfold: 'as long as there is a whole one'")
def test_no_window_reaches_beyond(student):
    """With steps that do not end at the last element, the rest is left out."""
    cases = [([8], [1], 0, 0, 3, 2), ([7], [1], 0, 0, 2, 4), ([5, 2], [2, 1], 0, 0, 2, 2)]
    expect(
        [student(unfolded, *case) for case in cases],
        [windows(*case) for case in cases],
        hint="whole steps only: (n - size) // step + 1 windows",
        misconception="last-window-reaches-beyond",
    )


@unfold(
    group="views",
    because="tensor_data.unfold: 'Nothing is copied: elements that lie in several windows are there once.'",
)
def test_windows_are_a_view(student):
    """A number that is written through one window is in the next one and in the array."""

    def observe(mg):
        data = mg.tensor_data.TensorData([0.0] * 6, (6,))
        view = mg.tensor_data.unfold(data, 0, 3, 1)
        view.set((1, 2), 5.0)
        data.set((0,), 7.0)
        return [float(each) for each in (data.get((3,)), view.get((2, 1)), view.get((0, 0)))]

    expect(
        student(observe),
        [5.0, 5.0, 7.0],
        hint="give the result the same storage",
        misconception="copied",
    )


def shared(mg, cases):
    """Probe: for each case, the type of the windows' storage, and whether they lie in the memory of the view."""
    import numpy as np

    found = []
    for dtype, shape, strides, offset, *how in cases:
        data = mg.tensor_data.TensorData(np.arange(200, dtype=dtype), tuple(shape), tuple(strides), offset)
        result = mg.tensor_data.unfold(data, *how)
        found.append([str(result.storage.dtype), bool(np.shares_memory(result.array, data.array))])
    return found


SAME_STORAGE = "tensor_data.unfold: 'Return all windows along one axis, as a view of the same storage.'"


@unfold(group="views", because=SAME_STORAGE)
def test_windows_of_any_view_share_its_storage(student):
    """Windows of permuted views and of parts, also of three axes and of four, lie in the memory of the view."""
    views = [([3, 4], [1, 3], 0, 1, 2, 1), ([4, 3], [6, 2], 5, 0, 2, 1), ([3, 2, 4], [1, 12, 3], 0, 2, 2, 1)]
    cases = [("float64", *view) for view in (*views, *OF_FOUR_AXES)]
    expect(
        student(shared, cases),
        [["float64", True]] * len(cases),
        hint="the type of the storage, and whether the windows lie in the memory of the view: the same storage, however the view lies in it",
        misconception="copied-where-it-has-gaps",
    )


@unfold(group="views", because=SAME_STORAGE)
def test_windows_with_steps_share_the_storage(student):
    """Windows with a step of two, and with one that is larger than a window, lie in the memory of the view."""
    cases = [("float64", [9], [1], 0, 0, 3, 2), ("float64", [2, 10, 3], [30, 3, 1], 0, 1, 2, 7)]
    expect(
        student(shared, cases),
        [["float64", True]] * len(cases),
        hint="the type of the storage, and whether the windows lie in the memory of the view: a step is a larger stride",
        misconception="copied-if-there-are-steps",
    )


@unfold(group="views", because=SAME_STORAGE)
def test_windows_of_other_types(student):
    """Windows of float32 and of int64 keep the storage, and with it the type."""
    cases = [("float32", [4, 3], [3, 1], 0, 0, 2, 1), ("int64", [7], [1], 0, 0, 2, 1)]
    expect(
        student(shared, cases),
        [["float32", True], ["int64", True]],
        hint="the type of the storage, and whether the windows lie in the memory of the view: give them data.storage as it is",
        misconception="stored-as-float64",
    )


@unfold(group="views", because="tensor_data.unfold: 'A new view, with one axis more; data itself is left as it is.'")
def test_unfolded_data_is_left_as_it_is(student):
    """The array whose windows were taken keeps its shape, its strides and its elements."""

    def observe(mg):
        data = mg.tensor_data.TensorData([float(i) for i in range(20)], (3, 4), (1, 3), 2)
        view = mg.tensor_data.unfold(data, 1, 2, 2)
        return [[list(each.shape), each.array.tolist()] for each in (view, data)]

    columns = [[2.0, 5.0, 8.0, 11.0], [3.0, 6.0, 9.0, 12.0], [4.0, 7.0, 10.0, 13.0]]
    expect(
        student(observe),
        [[[3, 2, 2], [[row[:2], row[2:]] for row in columns]], [[3, 4], columns]],
        hint="make a new TensorData, and new lists for its shape and strides, instead of changing the one that was given",
        misconception="unfolded-in-place",
    )


@unfold(group="views", because="tensor_data.unfold: 'Any view, also a permuted, sliced or expanded one.'")
def test_windows_begin_where_the_view_begins(student):
    """A part of an array begins inside its storage, and so do its windows."""
    case = ([5], [1], 9, 0, 2, 1)
    expect(
        student(unfolded, *case),
        windows(*case),
        hint="hand data.offset on",
        misconception="offset-forgotten",
    )


# --- tensor_data.shape_broadcast ----------------------------------------------------------------------------


def broadcast_shape(mg, shape1, shape2):
    """Probe: the shape as a list, or the name of the error."""
    try:
        return list(map(int, mg.tensor_data.shape_broadcast(tuple(shape1), tuple(shape2))))
    except mg.errors.IndexingError:
        return "IndexingError"
    except Exception as error:
        return f"another error: {type(error).__name__}"


def drawn_shapes(cases, seen, wanted):
    """A picture of the first two shapes of which a wrong one came."""
    for (a, b), came, right in zip(cases, seen, wanted, strict=True):
        if came != right:
            return pictures.aligned({"shape1": a, "shape2": b}, "came", came, right)
    return None


@shape_broadcast(group="shapes", because="tensor_data.shape_broadcast: 'The shapes are aligned at their last axes'")
def test_aligned_at_the_last_axis(student):
    """A row of three goes with two rows of three; the shorter shape gets its ones on the left."""
    cases = (([2, 3], [3]), ([3], [2, 3]), ([7, 2, 1, 5], [2, 3, 1]))
    seen = [student(broadcast_shape, a, b) for a, b in cases]
    wanted = [[2, 3], [2, 3], [7, 2, 3, 5]]
    expect(
        seen,
        wanted,
        hint="compare the last sizes first, and go to the left from there",
        picture=lambda: drawn_shapes(cases, seen, wanted),
        misconception="ones-on-the-right",
    )


@shape_broadcast(group="shapes", because="tensor_data.shape_broadcast: 'as long as the longer of the two'")
def test_axes_of_the_longer_shape_stay(student):
    """What only one of the shapes has is kept, also beside a single number's shape, ()."""
    cases: list[tuple[list[int], list[int]]] = [([5, 5, 5], [5]), ([], [2, 3]), ([2, 3], []), ([], [])]
    seen = [student(broadcast_shape, a, b) for a, b in cases]
    wanted = [[5, 5, 5], [2, 3], [2, 3], []]
    expect(
        seen,
        wanted,
        hint="zip stops at the end of the shorter one: count missing sizes as 1",
        picture=lambda: drawn_shapes(cases, seen, wanted),
        misconception="shorter-shape-wins",
    )


@shape_broadcast(group="shapes", because="tensor_data.shape_broadcast: 'the order of the two makes no difference'")
def test_ones_on_both_sides(student):
    """Either shape may have the ones, in different places."""
    cases = (([4, 1], [4, 6]), ([4, 6], [4, 1]), ([4, 1], [1, 6]))
    seen = [student(broadcast_shape, a, b) for a, b in cases]
    wanted = [[4, 6]] * 3
    expect(
        seen,
        wanted,
        hint="a 1 in the first shape grows as well",
        misconception="only-second-grows",
        picture=lambda: drawn_shapes(cases, seen, wanted),
    )


@shape_broadcast(
    group="corners",
    because="tensor_data.shape_broadcast: 'Where one of them is 1, the other one is the size, even if it is 0.'",
)
def test_one_beside_zero(student):
    """An axis of size 1 shrinks to an empty one."""
    cases = (([0], [1]), ([3, 1], [3, 0]), ([0, 2], [2]), ([0], [0]))
    seen = [student(broadcast_shape, a, b) for a, b in cases]
    wanted = [[0], [3, 0], [0, 2], [0]]
    expect(
        seen,
        wanted,
        hint="the larger of 1 and 0 is not the answer: take the size that is not 1",
        picture=lambda: drawn_shapes(cases, seen, wanted),
        misconception="zero-becomes-one",
    )


@shape_broadcast(group="corners", because="tensor_data.shape_broadcast: 'A tuple, as long as the longer of the two.'")
def test_shape_is_a_tuple(student):
    """The shape comes as a tuple."""

    def observe(mg, shape1, shape2):
        return type(mg.tensor_data.shape_broadcast(tuple(shape1), tuple(shape2))).__name__

    expect(student(observe, [2, 1], [3]), "tuple", hint="wrap the list in tuple(...)", misconception="list-returned")


@shape_broadcast(
    group="errors",
    because="tensor_data.shape_broadcast: 'IndexingError: If two sizes differ and neither of them is 1.'",
)
def test_sizes_that_differ_are_refused(student):
    """Sizes 2 and 3 do not go together, wherever they stand; 6 and 6 do, and 4 and 1."""
    cases = (([2], [3]), ([2, 3], [3, 3]), ([4, 2, 3], [2, 1, 3]), ([2, 4], [2]), ([4, 6], [1, 6]))
    seen = [student(broadcast_shape, a, b) for a, b in cases]
    expect(
        ["refused" if "rror" in each else each for each in seen],
        [*["refused"] * 4, [4, 6]],
        hint="raise IndexingError where sizes differ and neither of them is 1, and only there",
        example="(2) and (3); (2, 3) and (3, 3); (4, 2, 3) and (2, 1, 3); (2, 4) and (2); (4, 6) and (1, 6)",
        picture=lambda: drawn_shapes(cases, seen, [*["IndexingError"] * 4, [4, 6]]),
        misconception="never-refused",
    )


@shape_broadcast(
    group="errors",
    because="tensor_data.shape_broadcast: 'IndexingError: If two sizes differ and neither of them is 1.'",
)
def test_zero_is_no_one(student):
    """An empty axis does not go with one of size 3."""
    cases = (([0], [3]), ([2, 0], [2, 3]), ([3, 4], [0, 4]))
    seen = [student(broadcast_shape, a, b) for a, b in cases]
    expect(
        ["refused" if "rror" in each else each for each in seen],
        ["refused"] * 3,
        hint="only a size of exactly 1 goes with any other: 0 and 3 differ",
        example="(0) and (3); (2, 0) and (2, 3); (3, 4) and (0, 4)",
        picture=lambda: drawn_shapes(cases, seen, ["IndexingError"] * 3),
        misconception="zero-goes-with-all",
    )


@shape_broadcast(group="errors", because="tensor_data.shape_broadcast: 'IndexingError'")
def test_the_error_is_an_indexing_error(student):
    """Shapes that do not go together raise IndexingError, which callers look for."""
    expect(
        student(broadcast_shape, [2, 3], [2]),
        "IndexingError",
        hint="raise IndexingError with a sentence that names both shapes",
        misconception="another-error",
    )


# --- tensor_data.broadcast_index ----------------------------------------------------------------------------


def small_index(mg, big_index, big_shape, shape, out_index):
    """Probe: the buffer after broadcast_index, or the name of the error."""
    try:
        mg.tensor_data.broadcast_index(list(big_index), tuple(big_shape), tuple(shape), out_index)
    except (IndexError, ValueError) as error:
        return type(error).__name__
    return [int(i) for i in out_index]


def small_index_in_kernels(mg, big_index, big_shape, shape, out_index):
    """Probe: the same, of arrays."""
    import numpy as np

    big_index, big_shape, shape, buffer = (
        np.array(each, np.int64) for each in (big_index, big_shape, shape, out_index)
    )
    try:
        mg.tensor_data.broadcast_index(big_index, big_shape, shape, buffer)
    except (IndexError, ValueError) as error:
        return type(error).__name__
    return buffer.tolist()


def drawn_indices(cases, seen, wanted):
    """A picture of the first index of which a wrong one came."""
    for (index, big, small), came, right in zip(cases, seen, wanted, strict=True):
        if came != right:
            given = {"big_shape": big, "big_index": index, "shape": small}
            return pictures.aligned(given, "came", came, right)
    return None


@broadcast_index(
    group="values",
    because="tensor_data.broadcast_index: 'The shapes are aligned at their last axes, so axes that only big_shape has are passed over.'",
)
def test_extra_axes_are_passed_over(student):
    """A row of two in a result of shape (3, 2): the column counts, the row does not."""
    cases = [([i, j], [3, 2], [2]) for i in range(3) for j in range(2)]
    seen = [student(small_index, *case, [0]) for case in cases]
    wanted = [[0], [1], [0], [1], [0], [1]]
    when = {
        ((0,), (0,), (1,), (1,), (2,), (2,)): ("left-aligned", "this is the row: align the shapes at their last axes"),
        ("IndexError",) * 6: ("same-rank-assumed", "the small array has fewer axes, and out_index fewer places"),
        ((0,),) * 6: ("sizes-compared-unaligned", "compare sizes that stand at the same place from the end"),
    }
    hint = "axis i of the small shape is axis i + len(big_shape) - len(shape) of the big one"
    expect(seen, wanted, hint=hint, when=when, picture=lambda: drawn_indices(cases, seen, wanted))


@broadcast_index(
    group="values",
    because="tensor_data.broadcast_index: 'Along an axis where shape has size 1, its only element, at index 0, takes part everywhere'",
)
def test_one_element_takes_part_everywhere(student):
    """Along an axis of size 1 the index is 0, along the others it is that of the result."""
    cases = (
        ([2, 1], [3, 2], [1, 2]),
        ([2, 1], [3, 2], [3, 1]),
        ([4, 2, 1], [5, 3, 2], [3, 1]),
        ([0, 2, 1], [1, 3, 2], [1, 3, 2]),
    )
    seen = [student(small_index, index, big, small, [0] * len(small)) for index, big, small in cases]
    expect(
        seen,
        [[0, 1], [2, 0], [2, 0], [0, 2, 1]],
        hint="where the small shape has size 1, only index 0 is there",
        picture=lambda: drawn_indices(cases, seen, [[0, 1], [2, 0], [2, 0], [0, 2, 1]]),
        misconception="size-one-kept",
    )


@broadcast_index(group="values", because="tensor_data.broadcast_index: 'What it held before means nothing'")
def test_a_used_buffer(student):
    """A used buffer gives the same index as a new one."""
    expect(
        student(small_index, [2, 1], [3, 2], [1, 2], [7, 8]),
        [0, 1],
        hint="write the 0 as well: the buffer holds what was in it before",
        misconception="zero-not-written",
    )


@broadcast_index(group="values", because="tensor_data.broadcast_index: 'and it is not changed'")
def test_big_index_is_not_changed(student):
    """The index into the result is still needed: for the other input, and for the position to write to."""

    def observe(mg):
        big_index, out_index = [2, 1], [0, 0]
        mg.tensor_data.broadcast_index(big_index, (3, 2), (1, 2), out_index)
        return [big_index, [int(i) for i in out_index]]

    expect(
        student(observe),
        [[2, 1], [0, 1]],
        hint="write to out_index only",
        example="big_index [2, 1], big_shape (3, 2), shape (1, 2): big_index afterwards, and out_index",
        misconception="big-index-changed",
    )


@broadcast_index(group="special", because="tensor_data.broadcast_index: 'may have fewer axes'")
def test_a_single_number_takes_part(student):
    """An array without axes takes part with its only element: its index has no numbers; that of a line has one."""
    expect(
        [student(small_index_in_kernels, [2, 1], [3, 2], shape, out) for shape, out in (([], []), ([2], [7]))],
        [[], [1]],
        hint="there is no axis to write an index for",
        misconception="one-axis-assumed",
    )


@broadcast_index(
    group="kernels",
    because="tensor_data.broadcast_index: 'It may be a buffer that is longer than big_shape'",
)
def test_index_from_a_buffer(student):
    """Buffers may be longer than both shapes; the shapes say how many axes there are."""
    seen = student(small_index_in_kernels, [2, 1, 9, 9, 9], [3, 2], [2], [8, 8, 8])
    expect(seen[:1] if isinstance(seen, list) else seen, [1], hint=BUFFER, misconception="index-length-used")


@broadcast_index(group="kernels", because=COMPILED)
def test_broadcast_compiled(student):
    """Numba compiles the function, and a compiled loop gives the same."""

    def observe(mg, big_shape, shape):
        import numba
        import numpy as np

        from minigrad.compiling import compile_kernel

        own = mg.tensor_data.broadcast_index
        found = np.full((6, 3), 9, np.int32)
        try:
            compiled = compile_kernel(own, parallel=False).dispatcher

            @numba.njit
            def visit(out, big_shape, shape):
                for i in range(out.shape[0]):
                    big_index = np.array([i // 2, i % 2])
                    compiled(big_index, big_shape, shape, out[i])

            visit(found, np.array(big_shape), np.array(shape))
        except Exception as error:
            return f"Numba: {type(error).__name__}"
        return found[:, :1].ravel().tolist()

    expect(student(observe, [3, 2], [2]), [0, 1, 0, 1, 0, 1], hint=PLAIN, misconception="python-only")
