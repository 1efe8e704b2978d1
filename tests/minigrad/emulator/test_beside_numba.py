"""The emulator gives what Numba's simulator gives, as long as there is one: for kernels of lessons and backend."""

import importlib
import linecache
from contextlib import suppress

import numpy as np
import pytest

import minigrad
from minigrad import cuda_ops, first_kernels
from minigrad.backends.gpu import CudaBackend, expressions, from_host, fused, launch, launching, products, reductions
from minigrad.compiling import reaching
from minigrad.emulator import barriers
from minigrad.errors import KernelError
from minigrad.machine._numba import cuda, is_simulator, numba

if not is_simulator():
    pytest.skip("needs a machine without a GPU: there both simulators run", allow_module_level=True)

pytest.importorskip("numba.cuda.simulator", reason="this Numba has no simulator to compare with")
numbas = importlib.import_module("numba.cuda")

X, Y = ("in", 0), ("in", 1)
KEEPING = (expressions, fused, products, reductions)  # kernels that have been made ready


class OfKernel:
    """The simulated cuda in a helper function: Numba puts it into a kernel's own globals alone."""

    def __init__(self, kernel):
        kernel.__globals__.setdefault("cuda", numbas)
        self.kernel = kernel

    def __getattr__(self, name):
        return getattr(self.kernel.__globals__["cuda"], name)


def for_numba(kernel):
    """A kernel for Numba's simulator: with that one's cuda in it, and in all that it calls."""
    copies = []
    function = reaching.rebuild(kernel, lambda _, copy: copies.append(copy) or copy, launching._in_python)
    for copy in copies:
        theirs = numbas if copy is function else OfKernel(function)
        copy.__globals__.update({name: theirs for name, value in copy.__globals__.items() if value is cuda})
        for cell in copy.__closure__ or ():
            with suppress(ValueError):  # a variable that was never set
                cell.cell_contents = OfKernel(function) if cell.cell_contents is cuda else cell.cell_contents
    return numbas.jit(function)


@pytest.fixture
def beside_numba(monkeypatch):
    """Let each kernel run in both, and compare all arrays. Returns the list of the compared kernels' names."""
    compared = []
    emulated = launching._simulated

    def both(kernel):
        run, theirs = emulated(kernel), for_numba(kernel)

        def run_both(grid, block, *args):
            given = [np.array(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
            theirs[grid, block](*given)
            run(grid, block, *args)
            for mine, wanted in zip(args, given, strict=True):
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


# --- what a kernel can do ------------------------------------------------------------------------------------------


def places(out):
    """Every index of the device, in one number for each thread."""
    x, y, z = cuda.grid(3)
    number = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.blockIdx.x + 1000 * cuda.blockIdx.z
    out[x, y, z] = number + cuda.gridDim.z + cuda.blockDim.y + cuda.gridsize(1)


def strided(out):
    """A loop in steps of the whole grid."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] += i


def of_a_type(dtype):
    """Shared and local memory of a type: sums of what neighbours brought, in that type."""

    def kernel(out):
        shared, t = cuda.shared.array(8, dtype), cuda.threadIdx.x
        own = cuda.local.array(2, dtype)
        shared[t], own[0] = 20.7 * t, 1
        cuda.syncthreads()
        out[cuda.grid(1)] = shared[7 - t] / 3 + own[0]

    return kernel


def two_tables(out):
    """Two shared arrays of two axes, which are different memory."""
    a = cuda.shared.array((2, 3), numba.float64)
    b = cuda.shared.array((3, 2), numba.float64)
    x, y = cuda.grid(2)
    a[x, y], b[y, x] = x + 10 * y, -1.0
    cuda.syncthreads()
    out[x, y] = a[1 - x, 2 - y] + b[y, x]


def counted(out, x):
    """Atomic operations of many threads on one place, and on one place for each."""
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, x[i])
    cuda.atomic.max(out, 1, x[i])
    cuda.atomic.min(out, 2, x[i])
    cuda.atomic.sub(out, 3, 1.0)
    out[4 + i] = cuda.atomic.exch(x, i, 7.0) + cuda.atomic.compare_and_swap(x[i : i + 1], 7.0, 8.0)


def voted(out):
    """Barriers that return what all threads of the block say."""
    t = cuda.threadIdx.x
    out[t] = cuda.syncthreads_count(t > 1) + 10 * cuda.syncthreads_and(t < 9) + 100 * cuda.syncthreads_or(t == 0)


def in_rounds(out, x):
    """A sum by halves: a barrier in a loop, and threads that have nothing to do any more still come to it."""
    shared, t = cuda.shared.array(8, numba.float64), cuda.threadIdx.x
    shared[t] = x[cuda.grid(1)]
    half = 4
    while half:
        cuda.syncthreads()
        if t < half:
            shared[t] += shared[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = shared[0]


@cuda.jit(device=True)
def waits_for_others(shared, t):
    cuda.syncthreads()
    return shared[(t + 1) % 4]


def helped(out):
    """A function of the device that waits at a barrier."""
    shared, t = cuda.shared.array(4, numba.int64), cuda.threadIdx.x
    shared[t] = t
    out[t] = waits_for_others(shared, t)


KINDS = {
    "indices": (places, (2, 2, 2), (3, 2, 1), np.zeros((6, 4, 2))),
    "strides": (strided, 2, 3, np.zeros(20)),
    "float64": (of_a_type(numba.float64), 2, 8, np.zeros(16)),
    "float32": (of_a_type(numba.float32), 2, 8, np.zeros(16)),
    "int32": (of_a_type(numba.int32), 2, 8, np.zeros(16)),
    "types of NumPy": (of_a_type(np.float16), 2, 8, np.zeros(16)),
    "two tables": (two_tables, 1, (2, 3), np.zeros((2, 3))),
    "atomics": (counted, 2, 4, np.zeros(12), random(8)),
    "votes": (voted, 1, 6, np.zeros(6)),
    "rounds": (in_rounds, 3, 8, np.zeros(3), random(24)),
    "helpers": (helped, 1, 4, np.zeros(4)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_thing_that_a_kernel_can_do(beside_numba, kind):
    """Grids of one to three axes, memory of each type, barriers, votes, atomic operations, helpers: the same."""
    kernel, grid, block, out, *rest = KINDS[kind]
    launch(kernel, grid, block, out, *rest)
    assert len(beside_numba) == 1
    assert np.isfinite(out).all()
    assert out.any()


def beyond(out):
    """An index beyond the array, in the last thread."""
    out[cuda.threadIdx.x] = 1.0


def unwilling(out):
    """An error in one thread."""
    if cuda.threadIdx.x == 2:
        raise ValueError("not this one")


@pytest.mark.parametrize("kernel", [beyond, unwilling])
def test_errors_of_a_kernel(kernel):
    """An error has the same type in both, and both name the thread."""
    told = []
    for run in (for_numba(kernel)[1, 4], cuda.jit(kernel)[1, 4]):
        with pytest.raises((IndexError, ValueError)) as error:
            run(np.zeros(3))
        told.append((error.type, str(error.value)))
    (theirs, their_text), (ours, our_text) = told
    assert ours is theirs
    assert ("3, 0, 0" if kernel is beyond else "2, 0, 0") in our_text.replace("x=", "").replace("y=", "")
    assert our_text.split(" (")[0] in their_text


@pytest.mark.parametrize(("grid", "block"), [(0, 4), (1, 0), (1, 2048), (1, (64, 32))])
def test_launches_of_impossible_sizes(grid, block):
    """A grid or a block of nothing, and a block that no GPU has room for, are refused; Numba's runs some of them."""
    out = np.zeros(4096)
    with pytest.raises(KernelError, match=r"empty|takes from 1 to 1024"):
        cuda.jit(strided)[grid, block](out)
    assert not out.any()


def leaves_early(out, size):
    """Threads left over return before the barrier."""
    shared, t = cuda.shared.array(4, numba.float64), cuda.threadIdx.x
    if t >= size:
        return
    shared[t] = t
    cuda.syncthreads()
    out[t] = shared[size - 1 - t]


def test_a_return_before_a_barrier_is_told():
    """Numba's simulator says nothing of it, and gives a result; here it is named as the mistake that it is."""
    out = np.zeros(4)
    for_numba(leaves_early)[1, 4](out, 3)
    assert out.tolist() == [2.0, 1.0, 0.0, 0.0]
    with pytest.raises(KernelError, match=r"has returned: all threads of a block must come to the same syncthreads"):
        launch(leaves_early, 1, 4, np.zeros(4), 3)
    launch(leaves_early, 1, 3, out, 3)
