"""Storage, strides, indices, broadcasting and views, with NumPy as the judge."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from minigrad import tensor_data
from minigrad.errors import IndexingError, MinigradError
from minigrad.tensor_data import TensorData

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def counted(shape):
    """An array of the numbers 0, 1, 2, ... and its description."""
    array = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    return array, TensorData.of(array)


def in_elements(array):
    return tuple(stride // array.itemsize for stride in array.strides)


def agree(data, array):
    """Whether a description shows the same elements as an array, at the same places in memory."""
    seen = data.array
    same = data.shape == array.shape and np.array_equal(seen, array)
    if array.size == 0:
        return same
    address = seen.__array_interface__["data"][0] == array.__array_interface__["data"][0]
    steps = [(n, s) for n, s in zip(array.shape, in_elements(array), strict=True) if n > 1]
    return same and address and steps == [(n, s) for n, s in zip(data.shape, data.strides, strict=True) if n > 1]


@st.composite
def views(draw):
    """An array with its description, after some changes that copy nothing."""
    array, data = counted(draw(shapes))
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["permute", "part", "expand", "view"]))
        if kind == "permute":
            order = draw(st.permutations(range(array.ndim)))
            array, data = array.transpose(order), data.permute(*order)
        elif kind == "part":
            key = draw(keys(array.shape))
            array, data = np.asarray(array[(*key, ...)]), data[key]  # with `...` NumPy gives a view, never a number
        elif kind == "expand":
            shape = tuple(draw(st.integers(0, 3)) if n == 1 else n for n in array.shape)
            shape = (*draw(st.lists(st.integers(1, 3), max_size=1)), *shape)
            array, data = np.broadcast_to(array, shape), data.expand(shape)
        elif data.is_contiguous():
            shape = (-1,) if array.size else array.shape
            array, data = array.view().reshape(shape), data.view(shape)
    return array, data


@st.composite
def keys(draw, shape):
    """A key for an array: integers, slices with positive steps, new axes, an ellipsis."""
    key = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        ends = st.none() | st.integers(-size - 2, size + 2)
        part = st.builds(slice, ends, ends, st.none() | st.integers(1, 3))
        key.append(draw(part | st.integers(-size, size - 1) if size else part))
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), None)
    return tuple(key)


# --- the exercises ------------------------------------------------------------------------------------------


@given(shapes)
def test_strides_are_numpys(shape):
    """The strides of an array without gaps are those that NumPy gives it."""
    assume(0 not in shape)
    assert tensor_data.strides_from_shape(shape) == in_elements(np.empty(shape))


def test_strides_of_no_axes_and_of_lists():
    """A single number has no strides; a list and an array of sizes do as well as a tuple."""
    assert tensor_data.strides_from_shape(()) == ()
    assert tensor_data.strides_from_shape([2, 3, 4]) == (12, 4, 1)
    assert tensor_data.strides_from_shape(np.array([2, 3, 4])) == (12, 4, 1)


@given(shapes)
def test_indices_count_like_numpy(shape):
    """to_index agrees with unravel_index, into a buffer with room for more."""
    for ordinal in range(int(np.prod(shape, dtype=int))):
        buffer = np.full(6, -7)
        tensor_data.to_index(ordinal, shape, buffer)
        wanted = [int(i) for i in np.unravel_index(ordinal, shape)] if shape else []
        assert buffer.tolist() == wanted + [-7] * (6 - len(shape))


@given(views())
def test_positions_are_where_numpy_reads(made):
    """The element at index i stands at offset + position in the storage, however the view was made."""
    array, data = made
    for index in np.ndindex(*array.shape):
        position = tensor_data.index_to_position(index, data.strides)
        assert data.storage[data.offset + position] == array[index]
        assert tensor_data.index_to_position([*index, 99], data.strides) == position


@given(shapes, shapes)
def test_broadcast_shapes_are_numpys(a, b):
    """shape_broadcast agrees with broadcast_shapes, and refuses what that refuses; the order makes no difference."""
    try:
        wanted = np.broadcast_shapes(a, b)
    except ValueError:
        for one, other in ((a, b), (b, a)):
            with pytest.raises(IndexingError, match="cannot broadcast"):
                tensor_data.shape_broadcast(one, other)
    else:
        assert tensor_data.shape_broadcast(a, b) == tensor_data.shape_broadcast(list(b), np.array(a, int)) == wanted


@given(st.data(), shapes)
def test_broadcast_indices_are_numpys(data, big_shape):
    """broadcast_index finds the element that NumPy's broadcast puts at an index."""
    small = tuple(data.draw(st.sampled_from([1, n])) for n in big_shape)[data.draw(st.integers(0, len(big_shape))) :]
    array, _ = counted(small)
    big = np.broadcast_to(array, big_shape)
    for index in np.ndindex(*big_shape):
        given_index, out = [*index, 99], [-7] * 5
        tensor_data.broadcast_index(given_index, big_shape, small, out)
        assert array[tuple(out[: len(small)])] == big[index]
        assert (given_index, out[len(small) :]) == ([*index, 99], [-7] * (5 - len(small)))


def test_the_functions_of_indices_compile():
    """Numba compiles to_index, broadcast_index and index_to_position as they are written; parallel loops call them."""
    numba = pytest.importorskip("minigrad.machine._numba").numba
    to_index, broadcast_index, index_to_position = (
        numba.njit(getattr(tensor_data, name)) for name in ("to_index", "broadcast_index", "index_to_position")
    )

    @numba.njit(parallel=True)
    def read(out, big_shape, storage, shape, strides):
        for i in numba.prange(out.size):
            big_index, index = np.empty(32, np.int32), np.empty(32, np.int32)
            to_index(i, big_shape, big_index)
            broadcast_index(big_index, big_shape, shape, index)
            out[i] = storage[index_to_position(index, strides)]

    array, data = counted((3, 1, 2))
    data = data.permute(2, 1, 0)
    big = np.broadcast_to(array.transpose(2, 1, 0), (4, 2, 5, 3))
    out = np.empty(big.size)
    read(out, np.array(big.shape), *(data.tuple()[i] for i in (0, 1, 2)))
    assert np.array_equal(out.reshape(big.shape), big)


def test_to_index_may_be_inlined_into_a_parallel_loop():
    """MiniTorch inlines it, and then what it is given is the loop's variable, which must not be assigned to."""
    numba = pytest.importorskip("minigrad.machine._numba").numba
    to_index = numba.njit(inline="always")(tensor_data.to_index)

    @numba.njit(parallel=True)
    def count(out, shape):
        for i in numba.prange(len(out)):
            index = np.empty(2, np.int64)
            to_index(i, shape, index)
            out[i] = 10 * index[0] + index[1]

    out = np.empty(6)
    count(out, np.array([2, 3]))
    assert out.tolist() == [0, 1, 2, 10, 11, 12]


# --- making one ---------------------------------------------------------------------------------------------


@given(views())
def test_views_show_what_numpy_shows(made):
    """After any changes the description has NumPy's elements, at NumPy's places in memory."""
    array, data = made
    assert agree(data, array)
    assert (data.size, data.dims) == (array.size, array.ndim)


@given(views())
def test_an_array_described_again_is_the_same(made):
    """of(data.array) finds the same storage, offset and steps again."""
    _, data = made
    again = TensorData.of(data.array)
    assert agree(again, data.array)
    if data.size:
        assert np.shares_memory(again.storage, data.storage)
        assert (again.offset, len(again.storage)) == (data.offset, len(data.storage))


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.arange(24.0).reshape(2, 3, 4)[:, 1:, ::2],
        lambda: np.asfortranarray(np.arange(24.0).reshape(4, 6))[1:, 2:],
        lambda: np.arange(6, dtype=np.float32)[None, :, None],
        lambda: np.array(3.0),
        lambda: np.zeros((0, 3)),
        lambda: np.zeros((2, 5))[2:, ::-1],
        lambda: np.arange(24.0).reshape(2, 3, 4)[:, ::2][:, :1][:, ::-1],
        lambda: np.arange(8.0).view(np.int64)[2:],
        lambda: np.broadcast_to(np.arange(3.0), (2, 3)),
        lambda: np.frombuffer(bytes(range(16)), np.uint8).reshape(4, 4)[:, 1:],
        lambda: np.lib.stride_tricks.sliding_window_view(np.arange(6.0), 3),
        lambda: np.arange(12.0).reshape(3, 4)[:, :2].copy()[1:],
        lambda: np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", "f8"), ("b", "f8")])["b"],
    ],
)
def test_any_array_is_described_without_a_copy(make):
    """Slices, other layouts, other types of the same memory, read-only and empty arrays: all share memory."""
    array = make()
    data = TensorData.of(array)
    assert agree(data, array)
    assert data.storage.ndim == 1 and data.storage.dtype == array.dtype
    assert array.size == 0 or np.shares_memory(data.storage, array)


def test_a_slice_knows_the_whole_storage():
    """A part of an array keeps the whole storage and begins at an offset."""
    array = np.arange(12.0).reshape(3, 4)
    data = TensorData.of(array[1:, 1:])
    assert (len(data.storage), data.offset, data.strides) == (12, 5, (4, 1))


def test_views_made_by_strides_find_their_storage():
    """as_strided puts a box between a view and its array; the whole storage is found behind it."""
    array = np.arange(12.0)
    data = TensorData.of(np.lib.stride_tricks.as_strided(array[2:], (3, 2), (16, 8)))
    assert (len(data.storage), data.offset, data.strides) == (12, 2, (2, 1))


def test_numbers_of_numpy_and_lists():
    """A NumPy number is an array without axes; a list of numbers may be the storage."""
    assert TensorData.of(np.float64(2.5)).get(()) == 2.5
    data = TensorData([1.0, 2.0, 3.0, 4.0], (2, 2), (1, 2))
    assert data.array.tolist() == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
def test_types_are_kept(dtype):
    """The elements keep their type."""
    assert TensorData.of(np.ones((2, 2), dtype)).permute(1, 0)[1:].array.dtype == dtype


def test_arrays_of_a_device():
    """An array in a device's memory is described, viewed, read and written there; its words come from the host."""
    gpu = pytest.importorskip("minigrad.backends.gpu")
    array = gpu.from_host(np.arange(12, dtype=np.float32).reshape(3, 4))
    part = TensorData.of(array).permute(1, 0)[1:, ::2]
    assert (part.shape, part.strides, part.offset) == ((3, 2), (1, 8), 1)
    part.set((2, 1), 50.0)
    assert part.get((2, 1)) == 50.0 and array.to_host()[2, 3] == 50.0
    assert part.array.to_host().tolist() == [[1.0, 9.0], [2.0, 10.0], [3.0, 50.0]]
    assert repr(part[0]) == "TensorData([1., 9.], shape=(2,), strides=(8,), offset=1)"
    assert part.contiguous().is_contiguous() and part.contiguous().array.to_host().tolist() == part.array.tolist()


# --- MiniTorch's members ------------------------------------------------------------------------------------


def test_minitorchs_names():
    """_storage, _shape, _strides, tuple, size and dims, where positions count from the first element."""
    data = TensorData.of(np.arange(12.0).reshape(3, 4))[1:, 2:]
    storage, shape, strides = data.tuple()
    assert storage.tolist() == [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]
    assert np.shares_memory(storage, data.storage) and np.shares_memory(data._storage, data.storage)
    assert (shape.tolist(), strides.tolist()) == ([2, 2], [4, 1])
    assert (data._shape.dtype, data._strides.dtype) == (np.int64, np.int64)
    assert (data.size, data.dims) == (4, 2)
    assert storage[data.index((1, 1))] == data.get((1, 1)) == 11.0
    assert TensorData.shape_broadcast((2, 1), (3,)) == (2, 3)


@given(views())
def test_get_and_indices_go_through_all_elements(made):
    """indices() counts like ndindex, and get reads what NumPy reads, from either end."""
    array, data = made
    assert list(data.indices()) == list(np.ndindex(*array.shape))
    for index in data.indices():
        backwards = tuple(i - n for i, n in zip(index, array.shape, strict=True))
        assert data.get(index) == data.get(list(backwards)) == array[index]


def test_a_number_alone_is_an_index_of_one_axis():
    """get(2) and get((2,)) are the same."""
    data = TensorData.of(np.arange(4.0))
    assert data.get(2) == data.get((2,)) == data.get(np.array([2])) == data.get(np.int64(2)) == 2.0
    assert type(data.index(2)) is int


def test_members_call_the_exercises_through_the_module(monkeypatch):
    """What is put in the place of an exercise is what TensorData uses."""
    called = []
    for name in ("strides_from_shape", "index_to_position", "to_index", "permute", "shape_broadcast"):
        ours = getattr(tensor_data, name)
        monkeypatch.setattr(tensor_data, name, lambda *a, f=ours, n=name: (called.append(n), f(*a))[1])
    data = TensorData([1.0, 2.0], (2, 1))
    data.permute(1, 0).get((0, 1))
    list(data.indices())
    data.shape_broadcast((1,), (2,))
    assert set(called) == {"strides_from_shape", "index_to_position", "to_index", "permute", "shape_broadcast"}


def test_describing_and_viewing_needs_no_exercise(monkeypatch):
    """of, array, view, expand, slices and repr work while every exercise is still to be written."""
    for name in ("strides_from_shape", "index_to_position", "to_index", "permute", "broadcast_index"):
        monkeypatch.delattr(tensor_data, name)
    data = TensorData.of(np.arange(6.0).reshape(2, 3)).view(3, 2)[1:].expand(4, 2, 2)
    assert data.array.tolist() == [[[2.0, 3.0], [4.0, 5.0]]] * 4
    assert "strides=(0, 2, 1)" in repr(data)


def test_the_answer_of_minitorch_for_permute_is_right_for_slices():
    """A body that knows of no offset, TensorData(data._storage, shape, strides), gives the right view."""
    data = TensorData.of(np.arange(12.0).reshape(3, 4))[1:, 2:]
    turned = TensorData(data._storage, data.shape[::-1], data.strides[::-1])
    assert turned.array.tolist() == [[6.0, 10.0], [7.0, 11.0]]
    assert np.shares_memory(turned.storage, data.storage)


# --- how the elements lie -----------------------------------------------------------------------------------


@given(views())
def test_contiguous_is_numpys(made):
    """is_contiguous agrees with NumPy's flag; contiguous() copies only where it must, and shows the same."""
    array, data = made
    assert data.is_contiguous() == array.flags.c_contiguous
    whole = data.contiguous()
    assert whole.is_contiguous() and np.array_equal(whole.array, array)
    assert (whole is data) == data.is_contiguous()
    assert data.is_contiguous() or array.size == 0 or not np.shares_memory(whole.storage, data.storage)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=4))
def test_overlaps_tells_whether_a_position_repeats(axes):
    """overlaps() is true exactly where two indices share a position, for any strides."""
    shape, strides = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    data = TensorData(np.zeros(150), shape, strides)
    positions = [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(*shape)]
    assert data.overlaps() == (len(set(positions)) < len(positions))


def test_overlaps_where_only_counting_tells():
    """Strides 2 and 3 reach into each other: sizes (2, 2) share nothing, (4, 3) share position 6."""
    assert not TensorData(np.zeros(20), (2, 2), (2, 3)).overlaps()
    assert TensorData(np.zeros(20), (4, 3), (2, 3)).overlaps()


def test_overlaps_of_very_many_indices():
    """An array expanded to 10**12 elements overlaps, which needs no counting."""
    assert TensorData.of(np.zeros((1, 3))).expand(10**12, 3).overlaps()
    assert TensorData(np.zeros(30), (10**6, 10**6, 3), (0, 0, 7)).overlaps()


@given(views())
def test_collapsed_axes_visit_the_same_positions(made):
    """collapse gives as few axes as possible that visit the same positions in the same order."""
    array, data = made
    runs = tensor_data.collapse(data.shape, data.strides)
    assert all(size != 1 for size, _ in runs)
    assert all(outer[1] != inner[0] * inner[1] for outer, inner in itertools.pairwise(runs))
    if array.size:
        joined = TensorData(data.storage, [n for n, _ in runs], [s for _, s in runs], data.offset)
        assert joined.array.ravel().tolist() == array.ravel().tolist()


# --- views --------------------------------------------------------------------------------------------------


@st.composite
def regroupings(draw):
    """A view, and another shape with as many elements."""
    array, data = draw(views())
    assume(array.size)
    left, shape = array.size, []
    while left > 1:
        size = draw(st.sampled_from([n for n in range(1, left + 1) if left % n == 0]))
        shape.append(size)
        left //= size
        if len(shape) > 5:
            shape, left = [*shape, left], 1
    return array, data, tuple(shape)


@given(regroupings())
def test_view_copies_nothing_wherever_that_is_possible(made):
    """view succeeds exactly where NumPy can change the shape without copying, and shares memory."""
    array, data, shape = made
    try:
        wanted = array.reshape(shape, copy=False)
    except ValueError:
        with pytest.raises(ValueError, match="without copying"):
            data.view(shape)
    else:
        assert agree(data.view(*shape), wanted)


def test_view_of_what_lies_row_by_row_has_plain_strides():
    """Axes of size 1 get the strides that a new array would have."""
    data = TensorData.of(np.arange(6.0))
    for shape in ((1, 2, 1, 3, 1), (6, 1), (1, 1, 6), (3, 2)):
        assert data.view(shape).strides == tensor_data.strides_from_shape(shape)


def test_view_fills_in_a_size():
    """-1 stands for what is left over; a single element may lose all its axes; empty arrays change shape freely."""
    data = TensorData.of(np.arange(6.0))
    assert data.view(2, -1).shape == (2, 3) and data.view([-1]).shape == (6,)
    assert data[:1].view(()).get(()) == 0.0 and data[:1].view(1, -1).shape == (1, 1)
    empty = TensorData.of(np.zeros((0, 3)))
    assert empty.view(3, 0, 2).shape == (3, 0, 2) and empty.view(3, -1).shape == (3, 0)


@given(views(), st.data())
def test_permute_is_transpose(made, draw):
    """permute is NumPy's transpose, with axes counted from either end."""
    array, data = made
    order = draw.draw(st.permutations(range(array.ndim)))
    signed = [axis - array.ndim if draw.draw(st.booleans()) else axis for axis in order]
    assert agree(data.permute(*signed), array.transpose(order))
    assert agree(data.permute(signed), array.transpose(order))


def test_writing_through_a_view_shows_everywhere():
    """set on a view of a view changes the array that it all began with."""
    array = np.zeros((3, 4))
    view = TensorData.of(array).permute(1, 0)[1:, ::2].view(3, 1, 2).expand(5, 3, 1, 2)
    view.set((4, 2, 0, 1), 7.0)
    assert array[2, 3] == 7.0 and array.sum() == 7.0
    assert view.get((0, -1, 0, -1)) == 7.0


# --- words --------------------------------------------------------------------------------------------------


def test_repr_shows_elements_shape_strides_and_offset():
    """A description reads like NumPy's, with what lies behind it; the offset only where there is one."""
    data = TensorData.of(np.arange(6.0).reshape(2, 3))
    assert repr(data) == ("TensorData([[0., 1., 2.],\n            [3., 4., 5.]], shape=(2, 3), strides=(3, 1))")
    assert repr(data[1, 1:]) == "TensorData([4., 5.], shape=(2,), strides=(1,), offset=4)"
    assert repr(data[1, 2]) == "TensorData(5., shape=(), strides=(), offset=5)"
    assert data.to_string() == "[[0., 1., 2.],\n [3., 4., 5.]]"
    assert len(repr(TensorData.of(np.zeros((100, 100))))) < 1000


T = TensorData.of(np.arange(24.0).reshape(2, 3, 4))
BAD = [
    (lambda: tensor_data.shape_broadcast((2, 3), (2,)), IndexingError,
     "cannot broadcast (2, 3) with (2,): axis -1 has sizes 3 and 2; they must match or one must be 1"),
    (lambda: tensor_data.shape_broadcast((0, 3), (2, 3)), IndexingError,
     "cannot broadcast (0, 3) with (2, 3): axis -2 has sizes 0 and 2; they must match or one must be 1"),
    (lambda: T.get((0, 3, 0)), IndexingError,
     "cannot index shape (2, 3, 4) with [0, 3, 0]: 3 is out of range for axis 1 of size 3; its indices go from "
     "-3 to 2"),
    (lambda: T.get((0, 0)), IndexingError, "cannot index shape (2, 3, 4) with [0, 0]: 2 indices for 3 axes"),
    (lambda: T.get((0, 0, 1.0)), TypeError, "cannot index shape (2, 3, 4): an index must be an integer, not 1.0"),
    (lambda: T[:0].get((0, 0, 0)), IndexingError,
     "cannot index shape (0, 3, 4) with [0, 0, 0]: 0 is out of range for axis 0 of size 0; it has no indices"),
    (lambda: T[..., -5], IndexingError,
     "cannot index shape (2, 3, 4) with [..., -5]: -5 is out of range for axis 2 of size 4; its indices go from "
     "-4 to 3"),
    (lambda: T[0, None, :2, 1:3:2, 0], IndexingError,
     "cannot index shape (2, 3, 4) with [0, None, :2, 1:3:2, 0]: 4 indices for 3 axes"),
    (lambda: T[..., ...], IndexingError, "cannot index shape (2, 3, 4) with [..., ...]: there may be one ellipsis"),
    (lambda: T[::-1], ValueError,
     "cannot slice shape (2, 3, 4) with step -1: steps must be positive (flip copies)"),
    (lambda: T[True], TypeError,
     "cannot index shape (2, 3, 4): what is neither slice, None nor ... must be an integer, not True"),
    (lambda: T.permute(0, 0, 1), ValueError,
     "cannot permute shape (2, 3, 4) by (0, 0, 1): each of its axes must be named once"),
    (lambda: T.permute(0, 1), ValueError,
     "cannot permute shape (2, 3, 4) by (0, 1): each of its axes must be named once"),
    (lambda: T.permute(0, 1, 3), IndexingError,
     "permute of shape (2, 3, 4): axis 3 is out of range for 3 axes; axes go from -3 to 2"),
    (lambda: T.permute(0, 1, 2.0), TypeError, "permute: an axis must be an integer, not 2.0"),
    (lambda: tensor_data.normal_axis(0, 0, "sum"), IndexingError,
     "sum: axis 0 is out of range for 0 axes; a single number has none"),
    (lambda: T.view(5, 5), ValueError, "cannot view (2, 3, 4) as (5, 5): 24 elements cannot become 25"),
    (lambda: T.view(-1, 7), ValueError, "cannot view (2, 3, 4) as (-1, 7): 24 elements cannot be divided by 7"),
    (lambda: T.view(-1, -1), ValueError, "cannot view (2, 3, 4) as (-1, -1): only one size can be left over (-1)"),
    (lambda: T.view(-2, 12), ValueError,
     "cannot view (2, 3, 4) as (-2, 12): sizes are at least 0, or -1 for what is left over"),
    (lambda: T[:0].view(0, -1), ValueError,
     "cannot view (0, 3, 4) as (0, -1): any size would do for -1; write the one that is meant"),
    (lambda: T.view(2.0, 12), TypeError, "view: a size must be an integer, not 2.0"),
    (lambda: T.permute(2, 1, 0).view(24), ValueError,
     "cannot view shape (4, 3, 2) with strides (1, 4, 12) as (24,) without copying; use reshape, or contiguous() "
     "before view"),
    (lambda: T.expand(2, 5, 4), IndexingError,
     "cannot expand (2, 3, 4) to (2, 5, 4): axis -2 has size 3; only a size of 1 can change"),
    (lambda: T.expand(3, 4), IndexingError, "cannot expand (2, 3, 4) to (3, 4): these are fewer axes than before"),
    (lambda: T.expand(-1, 2, 3, 4), IndexingError,
     "cannot expand (2, 3, 4) to (-1, 2, 3, 4): sizes are at least 0; -1 keeps a size, which a new axis does not have"),
    (lambda: TensorData([1.0, 2.0], (3,)), ValueError,
     "TensorData: shape (3,) with strides (1,) and offset 0: the last element stands at position 2, but the storage "
     "has 2 elements"),
    (lambda: TensorData([1.0], (1,), (1,), 1), ValueError,
     "TensorData: shape (1,) with strides (1,) and offset 1: the last element stands at position 1, but the storage "
     "has 1 element"),
    (lambda: TensorData([1.0, 2.0], (2,), (1, 1)), ValueError,
     "TensorData: shape (2,) with strides (1, 1) and offset 0: there must be one stride for each axis"),
    (lambda: TensorData([1.0, 2.0], (2,), (-1,), 1), ValueError,
     "TensorData: shape (2,) with strides (-1,) and offset 1: none of these may be negative"),
    (lambda: TensorData([1.0, 2.0], (2.0,)), TypeError, "TensorData: a size must be an integer, not 2.0"),
    (lambda: TensorData(np.zeros((2, 2)), (2, 2)), ValueError,
     "TensorData: a storage has one axis and no gaps, this one has the shape (2, 2) and strides of (16, 8) bytes"),
    (lambda: TensorData(np.zeros(4)[::2], (2,)), ValueError,
     "TensorData: a storage has one axis and no gaps, this one has the shape (2,) and strides of (16,) bytes"),
    (lambda: TensorData.of(np.arange(3.0)[::-1]), ValueError,
     "TensorData.of: shape (3,) with strides of (-8,) bytes, for elements of 8 bytes: strides must be at least 0 and "
     "whole elements; copy the array first"),
    (lambda: TensorData.of(np.zeros(3, [("a", "i4"), ("b", "f8")])["b"]), ValueError,
     "TensorData.of: shape (3,) with strides of (12,) bytes, for elements of 8 bytes: strides must be at least 0 and "
     "whole elements; copy the array first"),
]  # fmt: skip


@pytest.mark.parametrize(("do", "error", "message"), BAD, ids=[message[:60] for _, _, message in BAD])
def test_bad_input_gets_one_sentence(do, error, message):
    """An error names the operation, the values and the rule."""
    with pytest.raises(error) as caught:
        do()
    assert str(caught.value) == message
    assert type(caught.value) is error


def test_an_indexing_error_is_pythons_own_too():
    """Code that expects IndexError or ValueError finds it."""
    assert issubclass(IndexingError, MinigradError)
    assert issubclass(IndexingError, IndexError) and issubclass(IndexingError, ValueError)
    assert tensor_data.IndexingError is IndexingError


def test_importing_it_imports_no_compiler():
    """numpy is all that tensor_data needs."""
    code = "import sys, minigrad.tensor_data; print('numba' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
