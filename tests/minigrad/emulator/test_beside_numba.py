"""The emulator gives what Numba's own simulator gives: for the kernels of lesson 08, and for those of the backend."""

import linecache

import numpy as np
import pytest

import minigrad
from minigrad import cuda_ops, first_kernels
from minigrad.backends.gpu import CudaBackend, expressions, from_host, fused, launch, launching, products, reductions
from minigrad.compiling import reaching
from minigrad.emulator import barriers
from minigrad.machine._numba import cuda, is_simulator

if not is_simulator():
    pytest.skip("needs a machine without a GPU: there Numba's simulator runs", allow_module_level=True)

X, Y = ("in", 0), ("in", 1)
KEEPING = (expressions, fused, products, reductions)  # kernels that have been made ready


class OfKernel:
    """The simulated cuda in a helper function: Numba puts it into a kernel's own globals alone."""

    def __init__(self, kernel):
        self.kernel = kernel

    def __getattr__(self, name):
        return getattr(self.kernel.__globals__["cuda"], name)


@pytest.fixture
def beside_numba(monkeypatch):
    """Let each kernel run in both, and compare all arrays. Returns the list of the compared kernels' names."""
    compared = []
    emulated = launching._simulated

    def both(kernel):
        run, copies = emulated(kernel), []
        function = reaching.rebuild(kernel, lambda _, copy: copies.append(copy) or copy, launching._in_python)
        for helper in copies:
            if helper is not function and "cuda" in helper.__globals__:
                helper.__globals__["cuda"] = OfKernel(function)
        numbas = cuda.jit(function)

        def run_both(grid, block, *args):
            plain = [getattr(arg, "_ary", arg) for arg in args]
            given = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in plain]
            numbas[grid, block](*given)
            run(grid, block, *args)
            for mine, wanted in zip(plain, given, strict=True):
                np.testing.assert_array_equal(mine, wanted)
            compared.append(kernel.__code__.co_name)

        return run_both

    monkeypatch.setattr(launching, "_simulated", both)
    for module in KEEPING:
        module._kernel.cache_clear()
    yield compared
    for module in KEEPING:
        module._kernel.cache_clear()


def random(*shape, dtype=float):
    return (9 * np.random.default_rng(len(shape)).normal(size=shape)).astype(dtype)


def parts(array):
    """An array as kernels of lesson 08 get it: storage, shape, strides."""
    strides = np.array(array.strides) // array.itemsize
    return array.T.ravel() if array.flags.f_contiguous else array.ravel(), np.array(array.shape), strides


def add(x, y):
    return x + y


def scaled(x):
    return 2.0 * x + 1.0


def lesson_kernels():
    """Each kernel of lesson 08 with a grid, a block and arguments. Threads are left over, and tiles not full."""
    out, x, column = np.zeros((5, 7)), random(5, 7), random(5, 1)
    turned = np.asfortranarray(random(5, 20))
    a, b, c = random(2, 9, 10), random(1, 10, 11), np.zeros((2, 9, 11))
    short, shorter = np.zeros(3), np.zeros((5, 3))
    square = random(40 * 40).astype(np.float32)
    six = random(6)
    return [
        (first_kernels.add_ten, 1, 6, np.zeros(6), six),
        (first_kernels.add_ten_guarded, 2, 4, np.zeros(6), six, 6),
        (first_kernels.add_ten_2d, (3, 2), (3, 3), out.copy(), x, 5, 7),
        (cuda_ops.tensor_map(scaled), 2, 32, *parts(out.copy()), out.size, *parts(column)),
        (cuda_ops.tensor_zip(add), 2, 32, *parts(out.copy()), out.size, *parts(x), *parts(column)),
        (cuda_ops._pool_practice, 3, cuda_ops.BLOCK_DIM, np.zeros(21), random(21), 21),
        (cuda_ops._sum_practice, 3, cuda_ops.BLOCK_DIM, short, random(21), 21),
        (cuda_ops._scan_practice, 3, cuda_ops.BLOCK_DIM, np.zeros(21), random(21), 21),
        (cuda_ops.tensor_reduce(add), 15, cuda_ops.BLOCK_DIM, *parts(shorter), 15, *parts(turned), 1, 0.0),
        (cuda_ops._turn_practice, (2, 2), (32, 32), np.zeros(1600, np.float32), square, 40),
        (cuda_ops._mm_practice, 1, (8, 8), np.zeros(36), random(36), random(36)[::-1].copy(), 6),
        (cuda_ops._tensor_matrix_multiply, (2, 2, 2), (8, 8), *parts(c), c.size, *parts(a), *parts(b)),
    ]


@pytest.mark.parametrize("number", range(12))
def test_kernels_of_the_lesson(beside_numba, number):
    """Each kernel leaves the same in all of its arrays, and does something."""
    kernel, grid, block, out, *rest = lesson_kernels()[number]
    launch(kernel, grid, block, out, *rest)
    assert len(beside_numba) == 1
    assert np.count_nonzero(out) == out.size


def test_every_kernel_of_the_lesson_is_compared():
    """The list has the kernels of both modules, and those that their functions make."""
    made = {getattr(kernel, "__qualname__", "").partition(".")[0] for kernel, *_ in lesson_kernels()}
    exercises = {
        name
        for module in (cuda_ops, first_kernels)
        for name, each in vars(module).items()
        if getattr(each, "__module__", "") == module.__name__ and callable(each)
    }
    assert made == exercises


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_kernels_of_the_backend(beside_numba, dtype):
    """Expressions, reductions along the last and the first axis, in one and two passes, and products: the same."""
    gpu = CudaBackend()
    x, y, long = (from_host(random(*shape, dtype=dtype)) for shape in [(4, 19), (3, 4, 1), (2, 70)])
    gpu.elementwise(("mul", ("add", X, Y), X), (x, y), np.dtype(dtype))
    for axis in (0, 1):
        gpu.reduce("add", long, (axis,), np.dtype(dtype))
        gpu.reduce("max", long.permute(1, 0), (axis,), np.dtype(dtype))
    gpu.matmul(x, x.permute(1, 0))
    assert len(beside_numba) >= 7


def test_kernels_of_a_compiled_loop(beside_numba):
    """A loop of a compiled function, which folds what it has computed: the same."""
    minigrad.jit(lambda x: ((x * x + 1.0).log() * x).sum(1))(minigrad.tensor(random(3, 9), device="cuda"))
    assert fused._kernel.cache_info().currsize
    assert beside_numba


def test_the_text_of_the_backends_kernels_may_be_forgotten():
    """Kernels are still made ready after Python's cache of source lines was cleared."""
    x, gpu = from_host(random(2, 70)), CudaBackend()
    for _ in range(2):
        for module in KEEPING:
            module._kernel.cache_clear()
        barriers._code.cache_clear()
        linecache.clearcache()
        assert np.isfinite(gpu.reduce("add", x, (1,), np.dtype(float)).to_host()).all()
