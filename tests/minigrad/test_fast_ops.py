"""The parallel kernels: no iteration meets another one, and compiled they give what they give in Python."""

import numpy as np
import pytest

from minigrad import compiling, fast_ops, operators, tensor_ops
from minigrad.compiling import compile_kernel
from minigrad.debug import races

SHAPE = np.array([2, 3], dtype=np.int64)
ROWS = np.array([3, 1], dtype=np.int64)
COLUMNS = np.array([1, 2], dtype=np.int64)


def map_arguments(strides, dtype=np.float64):
    return np.full(6, -77.0, dtype), SHAPE, ROWS, np.linspace(-2.0, 3.0, 6).astype(dtype), SHAPE, strides


def zip_arguments(strides):
    return *map_arguments(ROWS), np.linspace(1.0, 9.0, 6), SHAPE, strides


def reduce_arguments():
    shape = np.array([1, 3], dtype=np.int64)
    return np.zeros(3), shape, ROWS, np.linspace(-2.0, 3.0, 6), SHAPE, COLUMNS, 0


def matmul_arguments():
    shape, strides = np.array([2, 2, 2], dtype=np.int64), np.array([4, 2, 1], dtype=np.int64)
    one = np.array([1, 2, 2], dtype=np.int64)
    return np.full(8, -77.0), shape, strides, np.arange(8.0), shape, strides, np.arange(4.0), one, strides


KERNELS = {
    "map": (lambda: fast_ops.tensor_map(operators.sigmoid), lambda: map_arguments(COLUMNS)),
    "map-aligned": (lambda: fast_ops.tensor_map(operators.sigmoid), lambda: map_arguments(ROWS)),
    "zip": (lambda: fast_ops.tensor_zip(operators.sub), lambda: zip_arguments(COLUMNS)),
    "zip-aligned": (lambda: fast_ops.tensor_zip(operators.sub), lambda: zip_arguments(ROWS)),
    "reduce": (lambda: fast_ops.tensor_reduce(operators.add), reduce_arguments),
    "matmul": (lambda: fast_ops._tensor_matrix_multiply, matmul_arguments),
}


@pytest.mark.parametrize("name", KERNELS)
def test_no_two_iterations_meet(name):
    """The race detector finds nothing, and one loop that ran in parallel, over more than one element."""
    make, arguments = KERNELS[name]
    report = races(make(), *arguments())
    assert not report, str(report)
    assert [loop.iterations > 1 for loop in report.loops] == [True]


@pytest.mark.parametrize("name", KERNELS)
def test_out_is_written_once(name):
    """Every element of out is written once; a sum is held in a local variable."""
    make, arguments = KERNELS[name]
    given = arguments()
    traffic = races(make(), *given).traffic["out"]
    assert traffic.writes == len(given[0])
    assert traffic.reads == (len(given[0]) if name == "reduce" else 0)


@pytest.mark.full("kernels are compiled for each function", share=12)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("parallel", [True, False])
def test_compiled_kernels_give_the_same(name, parallel):
    """On all cores and on one, the compiled kernel gives what Python gives."""
    make, arguments = KERNELS[name]
    seen, wanted = arguments(), arguments()
    compile_kernel(make(), parallel)(*seen)
    compiling.interpreted(make())(*wanted)
    np.testing.assert_allclose(seen[0], wanted[0], rtol=1e-15)


@pytest.mark.full("kernels are compiled", share=4)
def test_compiled_kernels_keep_float32():
    """A kernel of float32 storages is the one of float64, rounded."""
    seen, wanted = map_arguments(COLUMNS, np.float32), map_arguments(COLUMNS)
    kernel = compile_kernel(fast_ops.tensor_map(operators.sigmoid))
    kernel(*seen)
    kernel(*wanted)
    assert seen[0].dtype == np.float32
    np.testing.assert_allclose(seen[0], wanted[0], rtol=1e-6)


def test_many_threads_give_what_the_specification_gives():
    """On a large permuted, broadcast input the parallel kernel agrees with the plain loops in every element."""
    x = np.random.default_rng(0).standard_normal((40, 1, 30)).transpose(2, 1, 0)
    shape, strides = np.array([30, 20, 40], dtype=np.int64), np.array([800, 40, 1], dtype=np.int64)
    x_shape, x_strides = np.array(x.shape, dtype=np.int64), np.array([1, 30, 30], dtype=np.int64)
    storage = np.ascontiguousarray(x.transpose(2, 1, 0)).ravel()
    seen, wanted = np.zeros(24_000), np.zeros(24_000)
    compile_kernel(fast_ops.tensor_map(operators.sigmoid))(seen, shape, strides, storage, x_shape, x_strides)
    tensor_ops.tensor_map(operators.sigmoid)(wanted, shape, strides, storage, x_shape, x_strides)
    np.testing.assert_allclose(seen, wanted, rtol=1e-15)
    np.testing.assert_array_equal(wanted.reshape(30, 20, 40)[:, 7, :], wanted.reshape(30, 20, 40)[:, 0, :])
