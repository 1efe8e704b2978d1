"""The kernels of `minigrad.cuda_ops`: on the device, and watched by the race detector."""

import numpy as np
import pytest

from minigrad import cuda_ops, exercises, operators
from minigrad.backends.gpu import CudaBackend, from_host, launch, teaching
from minigrad.backends.gpu.launching import block_dim
from minigrad.checks import launches
from minigrad.cuda_ops import THREADS_PER_BLOCK
from minigrad.debug import cuda_races
from minigrad.errors import KernelError
from minigrad.machine._numba import cuda, numba

BLOCK = cuda_ops.BLOCK_DIM
gpu = CudaBackend()


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


# --- on the device ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("view", "shape"),
    [
        (lambda x: x, (3, 4, 5)),
        (lambda x: x.T, (5, 4, 3)),
        (lambda x: x[1:, ::2], (2, 2, 5)),
        (lambda x: x[0, 0], (2, 7, 5)),
        (lambda x: x[:, :1, 0], (3, 6)),
        (lambda x: x[2, 3, 4], ()),
    ],
)
def test_map_on_the_device(view, shape, dtype):
    """Inputs of any layout, broadcast to any shape, are mapped."""
    values = random(3, 4, 5).astype(dtype)
    out = gpu.empty(shape, dtype)
    teaching.run_map(cuda_ops.tensor_map(operators.neg), out, view(from_host(values)))
    np.testing.assert_array_equal(out.to_host(), np.broadcast_to(-view(values), shape))


def test_map_into_a_view():
    """The output may have any strides, too."""
    whole, x = from_host(np.zeros((4, 6))), random(3, 4)
    teaching.run_map(cuda_ops.tensor_map(operators.exp), whole.T[::2], from_host(x))
    wanted = np.zeros((4, 6))
    wanted.T[::2] = np.exp(x)
    np.testing.assert_allclose(whole.to_host(), wanted, rtol=1e-15)


def test_zip_on_the_device():
    """Two inputs of different ranks and layouts are combined in their order."""
    a, b = random(4, 1, 5), random(5, 3, seed=1)
    out = gpu.empty((4, 3, 5), np.float64)
    teaching.run_zip(cuda_ops.tensor_zip(operators.div), out, from_host(a), from_host(b).T)
    np.testing.assert_allclose(out.to_host(), a / b.T, rtol=1e-15)


def test_zip_of_more_elements_than_a_block():
    """Many blocks, the last one not full, compute everything once."""
    a, b = random(1001), random(1001, seed=1)
    out = gpu.empty((1001,), np.float64)
    teaching.run_zip(cuda_ops.tensor_zip(operators.sub), out, from_host(a), from_host(b))
    np.testing.assert_array_equal(out.to_host(), a - b)


@pytest.mark.parametrize("size", [1, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK * BLOCK + 3])
@pytest.mark.parametrize("kernel", ["add", "mul", "max"])
def test_reduce_on_the_device(kernel, size):
    """An axis of any length is folded, again and again where it is longer than a block."""
    values, start = random(2, size, 2), {"add": 0.0, "mul": 1.0, "max": -np.inf}[kernel]
    x = from_host(values.transpose(2, 1, 0)).T
    found = teaching.reduce_axis(getattr(operators, kernel), x, 1, start, np.dtype(np.float64))
    numpys = {"add": np.sum, "mul": np.prod, "max": np.max}[kernel]
    np.testing.assert_allclose(found.to_host(), numpys(values, axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("size", [1, BLOCK, 3 * BLOCK - 2])
def test_sum_practice_on_the_device(size):
    """Each block's sum stands in its place."""
    values = random(2, size)[:, ::-1]
    out = teaching.sum_practice(from_host(values)[1, ::-1])
    values = values[1, ::-1]
    wanted = [values[start : start + BLOCK].sum() for start in range(0, size, BLOCK)]
    np.testing.assert_allclose(out.to_host(), wanted, rtol=1e-14)


@pytest.mark.parametrize("size", [1, 5, 40])
@pytest.mark.full("kernels are launched in the simulator of a GPU", share=4)
def test_turn_practice_on_the_device(size):
    """A matrix of part of a tile, and one of several tiles, is turned."""
    tile, values = cuda_ops.TILE_DIM, random(size, size).astype(np.float32)
    a, out = from_host(values.ravel()), from_host(np.zeros(size * size, np.float32))
    tiles = -(-size // tile)
    launch(cuda_ops._turn_practice, (tiles, tiles), (tile, tile), out, a, size)
    assert out.tolist() == values.T.ravel().tolist()


def test_turn_practice_costs_no_more_than_it_must():
    """Four transactions for each row of a tile, and no two threads that wait for one bank."""
    values = np.arange(64.0 * 64.0, dtype=np.float32)
    report = cuda_races(cuda_ops._turn_practice, (2, 2), (32, 32), np.zeros_like(values), values, 64, runs=1)
    assert report.transactions() == {"a": 512, "out": 512}
    assert report.passes() == {"tile": 256}


@pytest.mark.parametrize("size", [1, 3, BLOCK])
def test_mm_practice_on_the_device(size):
    """Small matrices are multiplied by one block."""
    a, b, out = random(size * size), random(size * size, seed=1), from_host(np.zeros(size * size))
    launch(cuda_ops._mm_practice, 1, (BLOCK, BLOCK), out, from_host(a), from_host(b), size)
    wanted = a.reshape(size, size) @ b.reshape(size, size)
    np.testing.assert_allclose(out.to_host().reshape(size, size), wanted, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", ["pool", "scan"])
def test_kernels_of_neighbours_on_the_device(name):
    """The sums of three neighbours, and the running totals of a block, are those of NumPy."""
    kernel, size = getattr(cuda_ops, f"_{name}_practice"), 2 * BLOCK + 3
    a, out = random(size), from_host(np.zeros(size))
    launch(kernel, 3, BLOCK, out, from_host(a), size)
    parts = [a[start : start + BLOCK].cumsum() for start in range(0, size, BLOCK)]
    wanted = np.convolve(a, np.ones(3))[:size] if name == "pool" else np.concatenate(parts)
    np.testing.assert_allclose(out.to_host(), wanted, rtol=1e-13)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((1, 1), (1, 1)),
        ((5, 9), (9, 4)),
        ((BLOCK + 1, 3), (3, BLOCK + 2)),
        ((2, 1, 2, 3), (3, 3, 2)),
        ((3, 2, 2), (2, 2)),
    ],
)
def test_products_on_the_device(a, b):
    """Stacks that broadcast, and turned matrices, are multiplied by the exercise's kernel."""
    a, b = random(*a), random(*b, seed=1)
    dtype = np.dtype(np.float64)
    found = teaching.matmul(from_host(a), from_host(b), dtype)
    np.testing.assert_allclose(found.to_host(), a @ b, rtol=1e-12)
    order = (*range(a.ndim - 2), a.ndim - 1, a.ndim - 2)
    turned = from_host(np.swapaxes(a, -1, -2)).permute(*order)
    np.testing.assert_allclose(teaching.matmul(turned, from_host(b), dtype).to_host(), a @ b, rtol=1e-12)


# --- watched ------------------------------------------------------------------------------------------------


def kernels():
    x, y = random(4, 3), random(5, 3, seed=1)
    yield launches.run_map(cuda_ops.tensor_map(launches.scaled), launches.result(3, 4, order=(1, 0)), x.T, blocks=9)
    yield launches.run_map(cuda_ops.tensor_zip(launches.add), launches.result(2, 4, 3), x, x[0], threads=5)
    yield launches.sum_practice(cuda_ops._sum_practice, 2, 3)
    yield launches.run_reduce(cuda_ops.tensor_reduce(launches.larger), launches.result(5, 1), y, 1, -np.inf, spare=1)
    yield launches.turn_practice(cuda_ops._turn_practice, 5)
    yield launches.pool_practice(cuda_ops._pool_practice, 2, 3)
    yield launches.scan_practice(cuda_ops._scan_practice, 2, 3)
    stack = random(2, BLOCK + 1, 3), random(1, 3, 2)
    yield launches.matmul(cuda_ops._tensor_matrix_multiply, launches.result(2, BLOCK + 1, 2, order=(2, 0, 1)), *stack)


def test_no_kernel_makes_a_mistake_with_memory():
    """No race, no read of unwritten memory, nothing out of bounds, and all threads at every barrier."""
    assert [seen["kinds"] for seen in kernels()] == [[]] * 8


def test_how_much_memory_the_busiest_thread_touches():
    """Map, reductions, the transpose and the scan read once, zip and products twice; each writes once.

    The first threads of a block bring the two elements before it as well, for a sum of three neighbours.
    """
    traffic = [(seen["reads"], seen["writes"]) for seen in kernels()]
    assert traffic == [(1, 1), (2, 1), (1, 1), (1, 1), (1, 1), (3, 1), (1, 1), (2, 1)]


def test_no_product_reads_global_memory_more_than_its_tiles_need():
    """A thread reads two elements for each tile along k."""
    a, b = random(1, 2, 2 * BLOCK + 1), random(1, 2 * BLOCK + 1, 2)
    seen = launches.matmul(cuda_ops._tensor_matrix_multiply, launches.result(1, 2, 2), a, b)
    np.testing.assert_allclose(seen["out"], a @ b, rtol=1e-12)
    assert seen["reads"] == 6


# --- a student's kernels ------------------------------------------------------------------------------------


def test_jitted_kernels_and_helpers_are_taken_apart():
    """What cuda.jit has made, of kernels and of helpers, runs like plain functions."""

    @cuda.jit(device=True)
    def twice(x):
        return once(x) + once(x)

    def once(x):
        return x

    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = twice(x[i])

    out = from_host(np.zeros(5))
    launch(kernel, 2, 4, out, from_host(np.arange(5.0)))
    assert out.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_the_block_that_a_kernel_was_written_for():
    """BLOCK_DIM is found where the kernel has it from: inside, around it, among its globals, or nowhere."""

    def inside(out):
        BLOCK_DIM = 16  # noqa: N806 (MiniTorch's name)
        out[0] = BLOCK_DIM

    def make():
        BLOCK_DIM = 64  # noqa: N806

        def around(out):
            out[0] = BLOCK_DIM

        return around

    def nowhere(out):
        out[0] = 1.0

    found = [block_dim(kernel, 5) for kernel in (inside, make(), cuda_ops._sum_practice, nowhere)]
    assert found == [16, 64, BLOCK, 5]


def test_a_block_size_has_many_names():
    """A size is followed through other names, sums, powers and modules; else the first shared array tells it."""

    def by_name(out):
        BLOCK_DIM = THREADS_PER_BLOCK  # noqa: N806
        out[0] = BLOCK_DIM

    def by_module(out):
        BLOCK_DIM: int = cuda_ops.THREADS_PER_BLOCK // 2  # noqa: N806
        out[0] = BLOCK_DIM

    def by_pair(out):
        half, other = 6, 7
        BLOCK_DIM = half + other  # noqa: N806
        out[0] = BLOCK_DIM

    def by_array(out):
        TILE_SIZE = 16  # noqa: N806
        tile = cuda.shared.array((TILE_SIZE, TILE_SIZE), numba.float64)
        tile[0, 0] = 1.0

    def by_imported_name(out):
        tile = cuda.shared.array(shape=THREADS_PER_BLOCK, dtype=numba.float64)
        tile[0] = 1.0

    class Sizes:
        tile = 8

    def by_power(out):
        BLOCK_DIM = 2**3 + (1 << 4)  # noqa: N806
        out[0] = BLOCK_DIM

    def by_choice(out):
        BLOCK_DIM = int(min(THREADS_PER_BLOCK, 64, max(9, Sizes.tile)))  # noqa: N806
        out[0] = BLOCK_DIM

    def by_the_launch(out):
        BLOCK_DIM = cuda.blockDim.x  # noqa: N806
        out[0] = BLOCK_DIM

    kernels = (by_name, by_module, by_pair, by_array, by_imported_name, by_power, by_choice, by_the_launch)
    assert [block_dim(kernel, 5) for kernel in kernels] == [32, 16, 13, 16, 32, 24, 9, 5]


def test_kernels_may_say_numba_cuda():
    """The whole name of cuda, through numba, means the simulated one as well."""

    def kernel(out):
        out[numba.cuda.threadIdx.x] = numba.cuda.blockDim.x

    out = np.zeros(3)
    launch(kernel, 1, 3, out)
    assert out.tolist() == [3.0, 3.0, 3.0]


def test_a_block_that_no_gpu_has():
    """A BLOCK_DIM beyond what a GPU takes is refused by its value."""

    def kernel(out):
        BLOCK_DIM = 4096  # noqa: N806
        out[0] = BLOCK_DIM

    with pytest.raises(KernelError, match="BLOCK_DIM is 4096; a block has from 1 to 1024 threads"):
        block_dim(kernel, 5)


def test_installed_indexing_reaches_names_that_were_imported():
    """A kernel that mentions to_index, imported by name, calls the one that is installed."""
    calls = []

    def to_index(ordinal, shape, out_index):
        out_index[0] = len(shape) - 1  # always the second element

    kernel = cuda_ops.tensor_map(operators.neg)
    out = from_host(np.zeros(2))
    with exercises.install({"tensor_data.to_index": to_index}):
        calls.append(kernel)
        teaching.run_map(kernel, out, from_host(np.array([3.0, 4.0])))
    assert out.tolist()[0] == -3.0


def test_float32_stays_float32():
    """The exercises' kernels write whatever type their output has."""
    values = random(6).astype(np.float32)
    out = gpu.empty((1,), np.float32)
    teaching.run_reduce(cuda_ops.tensor_reduce(operators.add), out, from_host(values), 0, 0.0)
    assert out.dtype == np.float32
    assert abs(out.item() - values.sum(dtype=np.float64)) < 1e-6


def test_setup_names():
    """The names that a lesson's kernels need can be imported from here."""
    assert cuda_ops.cuda is cuda
    assert cuda_ops.numba is numba
    assert cuda_ops.MAX_DIMS == 32
    report = cuda_races(cuda_ops.tensor_map(launches.scaled), 1, 1, np.zeros(1), (), (), 1, np.ones(1), (), ())
    assert report.args[0][0] == 3.0
