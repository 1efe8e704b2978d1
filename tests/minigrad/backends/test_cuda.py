"""The backend of NVIDIA GPUs, on a GPU if there is one, else in the simulator. NumPy says what is right."""

import gc
import subprocess
import sys

import numpy as np
import pytest

from minigrad import backends, exercises, operators
from minigrad.backends.gpu import CudaBackend, DeviceArray, from_host, launch, pool, products, reductions
from minigrad.backends.gpu.sources import collapse
from minigrad.errors import IndexingError, KernelError
from minigrad.machine import _numba
from minigrad.machine._numba import is_simulator

FLOATS = (np.float32, np.float64)
TYPES = (*FLOATS, np.int64, np.int32, np.bool_)
X, Y, Z = ("in", 0), ("in", 1), ("in", 2)

gpu = CudaBackend()
on_a_gpu = pytest.mark.skipif(is_simulator(), reason="needs a GPU")


def random(*shape, dtype=np.float64, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return (
        (values * 9).astype(dtype)
        if np.dtype(dtype).kind == "i"
        else (values > 0)
        if dtype == np.bool_
        else values.astype(dtype)
    )


def agree(found, wanted, tolerance=0.0):
    found, wanted = found.to_host(), np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    if tolerance:
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(found, wanted)  # assert_allclose would compare large integers as floats


def close(dtype):
    return {"float32": 2e-6, "float64": 1e-14}.get(np.dtype(dtype).name, 0.0)


# --- memory and views ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (2, 0, 3)])
def test_there_and_back(shape, dtype):
    """What is copied to the device comes back as it was, whatever its shape and type."""
    values = random(*shape, dtype=dtype)
    there = from_host(values)
    agree(there, values)
    assert (there.shape, there.ndim, there.size) == (values.shape, values.ndim, values.size)
    assert (there.itemsize, there.nbytes) == (values.itemsize, values.nbytes)


def test_a_copy_on_the_device_is_a_copy():
    """Changing the host's array afterwards does not change the device's."""
    values = np.ones(3)
    there = from_host(values)
    values[0] = 7.0
    assert there.tolist() == [1.0, 1.0, 1.0]


VIEWS = {
    "permute": (lambda x: x.permute(2, 0, 1), lambda x: x.transpose(2, 0, 1)),
    "T": (lambda x: x.T, lambda x: x.T),
    "slice": (lambda x: x[1:, ::2, -1], lambda x: x[1:, ::2, -1]),
    "newaxis": (lambda x: x[:, None, ..., 1:3], lambda x: x[:, None, ..., 1:3]),
    "integer": (lambda x: x[-1], lambda x: x[-1]),
    "expand": (lambda x: x[:, :1].expand(2, 3, -1, 5), lambda x: np.broadcast_to(x[:, :1], (2, 3, 4, 5))),
    "view": (lambda x: x.view(3, -1), lambda x: x.reshape(3, -1)),
    "reshape": (lambda x: x[1:].reshape(4, 10), lambda x: x[1:].reshape(4, 10)),
    "ravel": (lambda x: x.ravel(), lambda x: x.ravel()),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_show_what_numpys_show(name):
    """Every kind of view shows the elements that NumPy's shows, in the same storage."""
    ours, numpys = VIEWS[name]
    values = random(3, 4, 5)
    if name == "expand":
        values = values[:, :1]
        numpys, ours = (
            (lambda x: np.broadcast_to(x.transpose(1, 0, 2), (2, 3, 5))),
            (lambda x: x.permute(1, 0, 2).expand(2, -1, 5)),
        )
    there = from_host(values)
    view = ours(there)
    agree(view, numpys(values))
    assert view.storage is there.storage


def test_reshape_copies_only_where_strides_ask_for_it():
    """A permuted array must be copied to become flat; NumPy's values come out."""
    values = random(3, 4)
    there = from_host(values)
    agree(there.T.reshape(-1), values.T.reshape(-1))
    assert there.T.reshape(4, 1, 3).storage is there.storage
    with pytest.raises(ValueError, match="without copying"):
        there.T.view(12)


def test_slices_that_run_backwards_are_copied():
    """A negative step gives NumPy's elements, in a storage of their own."""
    values = random(4, 5)
    there = from_host(values)
    agree(there[::-1, 3:0:-2], values[::-1, 3:0:-2])
    agree(there[2:0:-1], values[2:0:-1])
    assert there[::-1].storage is not there.storage


def test_arrays_select_through_the_host():
    """Booleans and integers in an array select what they select in NumPy, and can be written to."""
    values = random(4, 5)
    there = from_host(values)
    agree(there[values > 0], values[values > 0])
    agree(there[from_host(values > 0)], values[values > 0])
    agree(there[[2, 0, 2]], values[[2, 0, 2]])
    there[values > 0] = 0.0
    agree(there, np.where(values > 0, 0.0, values))


def test_writing_into_a_view_shows_in_the_array():
    """Numbers, NumPy's arrays and device arrays can be written through any strides, and broadcast."""
    values = random(3, 4)
    there, wanted = from_host(values), values.copy()
    there.T[1:3, ::2] = 5.0
    wanted.T[1:3, ::2] = 5.0
    there[2] = np.arange(4.0)
    wanted[2] = np.arange(4.0)
    there[:, 1:] = from_host(np.array([[1.0], [2.0], [3.0]]))
    wanted[:, 1:] = [[1.0], [2.0], [3.0]]
    agree(there, wanted)
    there.fill(-1.0)
    agree(there, np.full((3, 4), -1.0))


def test_writing_an_array_into_itself_turned_round():
    """What is read is what was there before, although it lies in the storage that is written."""
    values = random(5, 5)
    there = from_host(values)
    there[:] = there.T
    agree(there, values.T)


def test_bad_views_name_shape_and_rule():
    """An impossible view is refused with the shape and the reason."""
    x = from_host(np.zeros((2, 3)))
    with pytest.raises(IndexingError, match=r"axis 2 is out of range"):
        x.permute(0, 2)
    with pytest.raises(ValueError, match=r"cannot permute shape \(2, 3\) by \(0, 0\)"):
        x.permute(0, 0)
    with pytest.raises(ValueError, match=r"cannot view \(2, 3\) as \(4,\)"):
        x.reshape(4)
    with pytest.raises(IndexingError, match="5 is out of range for axis 0 of size 2"):
        x[5]
    with pytest.raises(ValueError, match="has 6 elements, not one"):
        x.item()
    with pytest.raises(TypeError, match="in a device's memory"):
        np.asarray(x)


def test_types_that_the_device_does_not_hold():
    """An array of another type is refused by name."""
    with pytest.raises(TypeError, match="not complex128"):
        from_host(np.zeros(3, complex))


def test_out_of_memory_leaves_things_usable(monkeypatch):
    """Where there is no room the error says how much was asked for, and the arrays that exist go on working."""
    x = from_host(np.ones(3))
    with pytest.raises(MemoryError, match=r"no room for 1,152,921,504,606,846,976 elements of float64"):
        gpu.empty((2**60,), np.float64)
    agree(gpu.elementwise(("add", X, X), (x,), np.float64), [2.0, 2.0, 2.0])


def test_memory_is_asked_for_twice(monkeypatch):
    """A first refusal gives back what is no longer used; the second attempt may succeed."""
    asked, real = [], pool._asked

    def refuse_once(count, dtype):
        asked.append(count)
        if len(asked) == 1:
            raise MemoryError
        return real(count, dtype)

    pool.clear()
    monkeypatch.setattr(pool, "_asked", refuse_once)
    assert gpu.empty((3,), np.float64).shape == (3,)
    assert len(asked) == 2


def test_memory_that_is_held_to_the_end():
    """A storage that outlives the library's modules, when Python ends, says nothing."""
    code = "import numpy; from minigrad.backends.gpu import pool; numpy.kept = pool._Lease(pool._Block(512))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""


@on_a_gpu
def test_memory_is_used_again():
    """What a storage leaves serves the next one of about its size, and not before the last view of it has gone."""
    first = from_host(random(1000))
    address, view = first.storage.device_ctypes_pointer.value, first[500:]
    del first
    other = from_host(np.zeros(1000))
    assert other.storage.device_ctypes_pointer.value != address
    agree(view, random(1000)[500:])
    view = view.flat  # a slice of the storage, by Numba
    assert from_host(np.zeros(1000)).storage.device_ctypes_pointer.value != address
    np.testing.assert_array_equal(view.copy_to_host(), random(1000)[500:])
    del view
    first = from_host(np.zeros(999))
    assert first.storage.device_ctypes_pointer.value == address
    garbage = [first]
    garbage.append(garbage)
    del first, garbage
    gc.collect()
    again = from_host(random(1000))
    assert again.storage.device_ctypes_pointer.value == address
    agree(again, random(1000))


def test_tensor_data_on_the_device():
    """An array's TensorData shares its storage, and the way back from it is a view."""
    x = from_host(random(3, 4))[1:].T
    data = x.data
    assert (data.shape, data.strides, data.offset) == ((4, 2), (1, 4), 4)
    assert gpu.from_data(data).storage is x.storage
    agree(gpu.from_data(data), x.to_host())
    assert float(data.get((2, 1))) == x.to_host()[2, 1]


# --- elementwise --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_fused_expression(dtype):
    """An expression of several operators, numbers and broadcast views is what NumPy computes step by step."""
    a, b = random(3, 4, 5, dtype=dtype), random(4, 1, dtype=dtype, seed=1)
    expression = ("mul", ("sigmoid", ("add", X, Y)), ("sub", ("mul", X, Z), ("const", 2.0)))
    found = gpu.elementwise(expression, (from_host(a), from_host(b), 1.5), np.dtype(dtype))
    agree(found, (1 / (1 + np.exp(-(a + b))) * (a * dtype(1.5) - dtype(2))).astype(dtype), 10 * close(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values_are_numpys(dtype):
    """Infinities, nan, overflow and division by zero give IEEE's results, without an error or a warning."""
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e30, 1000.0], dtype)
    a, b = np.repeat(special, special.size), np.tile(special, special.size)
    with np.errstate(all="ignore"):
        for name, wanted in [("div", a / b), ("mul", a * b), ("max", np.maximum(a, b)), ("min", np.minimum(a, b))]:
            agree(gpu.elementwise((name, X, Y), (from_host(a), from_host(b)), np.dtype(dtype)), wanted)
        for name, wanted in [("exp", np.exp(a)), ("log", np.log(a)), ("inv", 1 / a), ("sqrt", np.sqrt(a))]:
            agree(gpu.elementwise((name, X), (from_host(a),), np.dtype(dtype)), wanted.astype(dtype), close(dtype))


def test_float32_is_computed_in_float32():
    """What overflows float32 on the way is infinite, as in NumPy: nothing is computed in a wider type."""
    x = from_host(np.array([1e30, 3.0], np.float32))
    agree(gpu.elementwise(("div", ("mul", X, X), X), (x,), np.dtype(np.float32)), np.array([np.inf, 3.0], np.float32))


def test_signs_of_zero_constants_differ():
    """0.0 and -0.0 are equal as keys, but not as constants."""
    one = from_host(np.ones(1))
    for zero, wanted in ((0.0, np.inf), (-0.0, -np.inf)):
        agree(gpu.elementwise(("div", X, ("const", zero)), (one,), np.dtype(np.float64)), [wanted])
    both = ("add", ("div", X, ("const", 0.0)), ("div", X, ("const", -0.0)))
    agree(gpu.elementwise(both, (one,), np.dtype(np.float64)), [np.nan])


def test_constants_that_are_no_finite_numbers():
    """Infinities and nan can stand in an expression."""
    x = from_host(np.array([1.0, -3.0]))
    for value in (np.inf, -np.inf, np.nan):
        agree(gpu.elementwise(("add", X, ("const", value)), (x,), np.dtype(np.float64)), [value, value])


def test_comparisons_and_conditions():
    """Comparisons give booleans, of floats and of integers beyond 2**53; where takes booleans."""
    a, b = random(3, 4), random(4, seed=1)
    less = gpu.elementwise(("lt", X, Y), (from_host(a), from_host(b)), np.dtype(bool))
    agree(less, a < b)
    agree(gpu.elementwise(("where", X, Y, Z), (less, from_host(a), 0.5), np.dtype(np.float64)), np.where(a < b, a, 0.5))
    large = np.array([2**53, 2**53 + 1])
    agree(
        gpu.elementwise(("eq", X, Y), (from_host(large), from_host(large[::-1])), np.dtype(bool)), large == large[::-1]
    )


def test_integers_stay_exact():
    """Integers beyond 2**53, which float64 cannot hold, come out exact."""
    a, b = np.array([2**60 + 1, -(2**60) - 3, 5]), np.array([3, 2**55 + 1, -7])
    x, y = from_host(a), from_host(b)
    for name, wanted in [("add", a + b), ("sub", a - b), ("mul", a * b), ("max", np.maximum(a, b))]:
        agree(gpu.elementwise((name, X, Y), (x, y), np.dtype(np.int64)), wanted)
    for name, wanted in [("neg", -a), ("abs", np.abs(a)), ("sign", np.sign(a)), ("relu", np.maximum(a, 0))]:
        agree(gpu.elementwise((name, X), (x,), np.dtype(np.int64)), wanted)


@pytest.mark.parametrize("there", TYPES)
@pytest.mark.parametrize("here", TYPES)
def test_changing_the_type(here, there):
    """astype converts as NumPy does, between all types."""
    values = random(7, dtype=here)
    agree(from_host(values).astype(there), values.astype(there), close(np.float32))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1, 1)])
def test_shapes_without_and_with_one_element(shape):
    """Arrays without axes and without elements go through every operation."""
    x = from_host(np.ones(shape))
    agree(gpu.elementwise(("add", X, ("const", 1.0)), (x,), np.dtype(np.float64)), np.full(shape, 2.0))
    agree(gpu.reduce("add", x, tuple(range(len(shape))), np.dtype(np.float64)), np.ones(shape).sum())
    agree(gpu.contiguous(x), np.ones(shape))


def test_all_strides_and_ranks():
    """Non-contiguous inputs of different ranks, whose axes cannot be joined, give NumPy's result."""
    a, b, c = random(2, 3, 4, 5), random(5, 4), random(1, 2, 3, 1, seed=3)
    inputs = from_host(a).permute(3, 1, 0, 2)[1:], from_host(b)[1:, None, None], from_host(c).T
    wanted = a.transpose(3, 1, 0, 2)[1:] * b[1:, None, None] + c.T
    agree(gpu.elementwise(("add", ("mul", X, Y), Z), inputs, np.dtype(np.float64)), wanted, 1e-15)


def test_axes_are_joined_where_all_arrays_run_on():
    """Contiguous arrays become one axis, whatever their rank; a broadcast one splits them."""
    assert collapse((2, 3, 4), (12, 4, 1), (12, 4, 1)) == ((24,), [(1,), (1,)])
    assert collapse((2, 3, 4), (12, 4, 1), (0, 4, 1)) == ((2, 12), [(12, 1), (0, 1)])
    assert collapse((1, 1), (7, 9)) == ((1,), [(0,)])


def test_large_enough_for_several_rounds():
    """More elements than the grid has threads are all computed."""
    values = np.arange(1003.0)
    agree(gpu.elementwise(("mul", X, X), (from_host(values),), np.dtype(np.float64)), values * values)


def test_host_arrays_are_refused():
    """An array on the host among the device's is an error that says how to move it; a number without axes is not."""
    x = from_host(np.ones(3))
    with pytest.raises(TypeError, match="is on the cpu"):
        gpu.elementwise(("add", X, Y), (x, np.ones(3)), np.dtype(np.float64))
    agree(gpu.elementwise(("add", X, Y), (x, np.float64(2.0)), np.dtype(np.float64)), [3.0, 3.0, 3.0])


def test_unknown_operators_are_named():
    """An operator that does not exist is refused by its name."""
    with pytest.raises(KernelError, match="no operator 'frobnicate'"):
        gpu.elementwise(("frobnicate", X), (from_host(np.ones(1)),), np.dtype(np.float64))


# --- reductions and products --------------------------------------------------------------------------------

REDUCTIONS = {"add": np.sum, "mul": np.prod, "max": np.max, "min": np.min}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kernel", REDUCTIONS)
def test_reductions_over_any_axes(kernel, dtype):
    """Every set of axes, on contiguous, permuted and expanded arrays, gives NumPy's result."""
    values = random(3, 4, 5, dtype=dtype)
    turned = values.transpose(2, 0, 1)
    stretched = np.broadcast_to(values[:, :1], (3, 6, 5))
    there = from_host(values)
    arrays = (there, values), (there.permute(2, 0, 1), turned), (there[:, :1].expand(3, 6, 5), stretched)
    for axes in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]:
        for ours, numpys in arrays:
            wanted = REDUCTIONS[kernel](numpys, axis=axes)
            agree(gpu.reduce(kernel, ours, axes, np.dtype(dtype)), wanted, 20 * close(dtype))


@pytest.mark.parametrize("shape", [(37,), (300,), (300, 2), (2, 300), (9, 8)])
def test_long_reductions_are_cut_into_chunks(shape):
    """Chunks of any length, the last one not full, add up to the whole."""
    values = random(*shape)
    for axis in range(len(shape)):
        agree(gpu.reduce("add", from_host(values), (axis,), np.dtype(np.float64)), values.sum(axis), 1e-12)
        agree(gpu.reduce("max", from_host(values), (axis,), np.dtype(np.float64)), values.max(axis))


def test_a_long_sum_of_float32_stays_precise():
    """Ten thousand times 0.1 in float32 is off by less than a rounding of the result."""
    found = gpu.reduce("add", from_host(np.full(10_000, 0.1, np.float32)), (0,), np.dtype(np.float32))
    assert abs(found.item() - 1000.0) < 1e-4


def test_threads_side_by_side_read_neighbours(monkeypatch):
    """A block folds a row together; columns are folded by a thread each."""
    chosen, real = [], reductions._kernel
    monkeypatch.setattr(reductions, "_kernel", lambda by_rows, *rest: chosen.append(by_rows) or real(by_rows, *rest))
    x = from_host(random(6, 5))
    for array, axis in ((x, 1), (x, 0), (x.T, 0), (x.T, 1), (x[0], 0)):
        gpu.reduce("add", array, (axis,), np.dtype(np.float64))
    assert chosen == [True, False, True, False, True]


@pytest.mark.parametrize("kernel", ["max", "min"])
@pytest.mark.parametrize("place", [0, 5, 11])
def test_nan_wins_in_max_and_min(kernel, place):
    """A nan anywhere makes the result nan."""
    values = random(12)
    values[place] = np.nan
    agree(gpu.reduce(kernel, from_host(values), (0,), np.dtype(np.float64)), np.nan)


def test_reductions_of_integers_and_booleans():
    """Integers are exact; of booleans, max is any and min is all."""
    numbers, truths = np.array([[2**60, 1], [3, -5]]), np.array([[True, False], [True, True]])
    for kernel, fold in REDUCTIONS.items():
        agree(gpu.reduce(kernel, from_host(numbers), (1,), np.dtype(np.int64)), fold(numbers, axis=1))
    small = (numbers % 7).astype(np.int32)
    for kernel, fold in REDUCTIONS.items():
        agree(gpu.reduce(kernel, from_host(small), (1,), np.dtype(np.int32)), fold(small, axis=1).astype(np.int32))
    agree(gpu.reduce("max", from_host(truths), (1,), np.dtype(bool)), truths.any(1))
    agree(gpu.reduce("min", from_host(truths), (1,), np.dtype(bool)), truths.all(1))
    agree(gpu.reduce("add", from_host(truths), (0, 1), np.dtype(np.int64)), np.int64(3))


def test_reducing_nothing():
    """Without axes a reduction is a copy; over no elements it is the start value."""
    x = from_host(np.ones((2, 3)))
    copied = gpu.reduce("add", x, (), np.dtype(np.float64))
    assert copied.storage is not x.storage
    agree(copied, np.ones((2, 3)))
    empty = from_host(np.ones((2, 0)))
    agree(gpu.reduce("add", empty, (1,), np.dtype(np.float64)), np.zeros(2))
    agree(gpu.reduce("mul", empty, (0, 1), np.dtype(np.float64)), 1.0)
    agree(gpu.reduce("add", empty, (0,), np.dtype(np.float64)), np.zeros(0))


SHAPES = [
    ((1, 1), (1, 1)),
    ((3, 4), (4, 5)),
    ((5, 7), (7, 1)),
    ((2, 1, 5, 6), (3, 6, 9)),
    ((3, 2, 4), (3, 4, 2)),
    ((2, 0), (0, 3)),
    ((0, 2), (2, 3)),
    ((0, 2, 2), (2, 2)),
]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shapes", SHAPES)
def test_products(shapes, dtype):
    """Sizes that are no multiple of a tile, stacks that broadcast, and turned matrices give NumPy's product."""
    a, b = random(*shapes[0], dtype=dtype), random(*shapes[1], dtype=dtype, seed=1)
    wanted = np.matmul(a, b)
    agree(gpu.matmul(from_host(a), from_host(b)), wanted, 10 * close(dtype))
    order = (*range(a.ndim - 2), a.ndim - 1, a.ndim - 2)
    turned = from_host(np.swapaxes(a, -1, -2)).permute(*order)
    agree(gpu.matmul(turned, from_host(b)), wanted, 10 * close(dtype))


@on_a_gpu
@pytest.mark.parametrize("dtype", TYPES)
def test_large_products(dtype):
    """Where there are enough of them for the whole device tiles are large; the last ones of a row are cut."""
    test_products(((1537, 67), (67, 1553)), dtype)


def test_more_matrices_than_a_grid_is_deep(monkeypatch):
    """A stack of more matrices than there are blocks in z is multiplied to its end."""
    monkeypatch.setattr(products, "MOST_BLOCKS_Z", 2)
    a, b = random(5, 2, 3), random(3, 2, seed=1)
    agree(gpu.matmul(from_host(a), from_host(b)), a @ b, 1e-14)


def test_products_that_do_not_fit():
    """The error of a product names both shapes and the two sizes."""
    with pytest.raises(ValueError, match=r"\(2, 3\) times \(4, 5\).* 3, .* 4"):
        gpu.matmul(from_host(np.ones((2, 3))), from_host(np.ones((4, 5))))


# --- students' objects --------------------------------------------------------------------------------------


def test_an_installed_operator_is_what_runs():
    """A student's operator takes part in the fused kernel as soon as it is installed, and no longer than that."""
    x = from_host(np.array([2.0, 5.0]))
    add = ("add", X, ("const", 1.0))
    with exercises.install({"operators.add": lambda x, y: x * 10.0 + y}):
        agree(gpu.elementwise(add, (x,), np.dtype(np.float64)), [21.0, 51.0])
    agree(gpu.elementwise(add, (x,), np.dtype(np.float64)), [3.0, 6.0])


def counting(calls, name, kernel):
    def wrapper(*args):
        calls.append(name)
        return kernel(*args)

    return wrapper


def test_installed_exercises_are_what_runs():
    """With an exercise of this lesson installed, map, zip, reduce and the product come from the exercises."""
    from minigrad import cuda_ops

    calls, names = [], ("tensor_map", "tensor_reduce")
    a, b = random(3, 4), random(4, 20, seed=1)
    x, y = from_host(a), from_host(b)
    expression = ("mul", ("neg", X), ("where", ("lt", X, ("const", 0.0)), ("const", 2.0), X))
    with exercises.install({f"cuda_ops.{n}": counting(calls, n, getattr(cuda_ops, n)) for n in names}):
        agree(gpu.elementwise(expression, (x,), np.dtype(np.float64)), -a * np.where(a < 0, 2.0, a))
        agree(gpu.elementwise(("lt", X, Y), (x, 0.0), np.dtype(bool)), a < 0)
        agree(gpu.matmul(x, y), a @ b, 1e-14)
        agree(
            gpu.matmul(from_host(random(2, 1, 3, 4)), from_host(random(5, 4, 2))).reshape(-1),
            (random(2, 1, 3, 4) @ random(5, 4, 2)).ravel(),
            1e-14,
        )
        agree(gpu.reduce("add", y, (0, 1), np.dtype(np.float64)), b.sum(), 1e-13)
        agree(gpu.reduce("max", y.T, (1,), np.dtype(np.float64)), b.max(0))
        agree(gpu.reduce("max", from_host(b > 0), (1,), np.dtype(bool)), (b > 0).any(1))
    assert set(calls) == set(names)


def test_an_installed_product_is_what_runs():
    """A student's matrix multiplication is launched for every product."""

    def _tensor_matrix_multiply(out, out_shape, out_strides, out_size, a, a_shape, a_strides, b, b_shape, b_strides):
        for i in range(out_size):
            out[i] = 7.0

    with exercises.install({"cuda_ops._tensor_matrix_multiply": _tensor_matrix_multiply}):
        agree(gpu.matmul(from_host(np.ones((2, 3))), from_host(np.ones((3, 2)))), np.full((2, 2), 7.0))


def test_installed_indexing_reaches_the_kernels():
    """A student's broadcast_index is called by the kernels, on the device: here it always finds the first element."""

    def broadcast_index(big_index, big_shape, shape, out_index):
        for axis in range(len(shape)):
            out_index[axis] = 0

    with exercises.install({"tensor_data.broadcast_index": broadcast_index}):
        found = gpu.elementwise(("neg", X), (from_host(np.array([4.0, 5.0])),), np.dtype(np.float64))
    assert found.tolist() == [-4.0, -4.0]


# --- choosing the backend -----------------------------------------------------------------------------------


def test_the_backend_is_found_by_its_name():
    """`minigrad.backends` hands out this backend for arrays on the device."""
    x = from_host(np.ones(2))
    assert isinstance(backends.current(x), CudaBackend)
    assert isinstance(backends.cuda().empty((2,), np.float32), DeviceArray)
    assert CudaBackend.name == "cuda"


def test_a_launch_names_what_is_wrong_with_it():
    """Blocks that are too large or empty, and things that are no kernels, are refused in one sentence."""
    with pytest.raises(KernelError, match="2048 threads; a GPU takes from 1 to 1024"):
        launch(operators.add, 1, (64, 32), 1.0, 2.0)
    with pytest.raises(KernelError, match=r"a grid of .* is empty"):
        launch(operators.add, 0, 32)
    with pytest.raises(KernelError, match="not NoneType"):
        launch(None, 1, 32)


def test_a_device_for_which_nothing_can_be_compiled(monkeypatch):
    """Where no kernel can be compiled one sentence says why, names the versions, and what to do."""

    class Cuda:
        @staticmethod
        def jit(signature):
            raise AttributeError("module 'numpy' has no attribute 'row_stack'")

    monkeypatch.setattr(_numba, "cuda", Cuda)
    _numba._why_no_kernel.cache_clear()
    said = _numba._why_no_kernel()
    _numba._why_no_kernel.cache_clear()
    assert "can be compiled for the NVIDIA device (AttributeError: module 'numpy' has no attribute 'row_stack')" in said
    assert f"numba {_numba.numba.__version__}" in said
    assert f"numpy {np.__version__}" in said
    assert said.endswith("'numpy<2.5', or set NUMBA_ENABLE_CUDASIM=1 for the simulator")
