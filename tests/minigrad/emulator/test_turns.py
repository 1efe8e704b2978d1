"""Where there is no GPU: threads one at a time, in a fixed order, and the mistakes that this shows."""

import signal
import threading
import time

import numpy as np
import pytest

from minigrad.backends.gpu import launch
from minigrad.errors import KernelError
from minigrad.machine._numba import cuda, is_simulator, numba

if not is_simulator():
    pytest.skip("needs a machine without a GPU: there the simulator runs", allow_module_level=True)

from minigrad.emulator.grid import ORDERS, order


def neighbours(out, x):
    """Each thread reads what its right neighbour has brought."""
    shared = cuda.shared.array(4, numba.float64)
    t = cuda.threadIdx.x
    shared[t] = x[t]
    cuda.syncthreads()
    out[t] = shared[(t + 1) % 4]


def impatient(out, x):
    """As neighbours, without waiting."""
    shared = cuda.shared.array(4, numba.float64)
    t = cuda.threadIdx.x
    shared[t] = x[t]
    out[t] = shared[(t + 1) % 4]


X = np.array([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("turns", ORDERS)
def test_threads_that_wait_see_what_others_wrote(turns):
    """With a barrier the result does not depend on the order of the threads."""
    out = np.zeros(4)
    with order(turns):
        launch(neighbours, 1, 4, out, X)
    assert out.tolist() == [2.0, 3.0, 4.0, 1.0]


def test_a_forgotten_barrier_shows():
    """Without a barrier nan comes out where the neighbour had not written yet, the same in each run."""
    out = np.zeros(4)
    for _ in range(3):
        launch(impatient, 1, 4, out, X)
        np.testing.assert_array_equal(out, [np.nan, np.nan, np.nan, 1.0])
    with order("reverse"):
        launch(impatient, 1, 4, out, X)
    np.testing.assert_array_equal(out, [2.0, 3.0, 4.0, np.nan])


def test_an_unknown_order():
    """Threads run forward or in reverse; anything else is refused."""
    with pytest.raises(ValueError, match="'forward' or 'reverse', not 'sideways'"), order("sideways"):
        pass


def test_every_block_has_memory_of_its_own():
    """What one block leaves in shared memory is not seen by the next one."""

    def kernel(out):
        shared = cuda.shared.array(1, numba.float64)
        out[cuda.blockIdx.x] = shared[0]
        shared[0] = 5.0

    out = np.zeros(3)
    launch(kernel, 3, 1, out)
    assert np.isnan(out).all()


def test_two_arrays_on_one_line_are_two():
    """Shared arrays are known by the call that makes them, as on a GPU, not by their line."""

    def kernel(out):
        a, b = cuda.shared.array(1, numba.float64), cuda.shared.array(1, numba.float64)
        a[0] = 1.0
        b[0] = 2.0
        out[0] = a[0]

    out = np.zeros(1)
    launch(kernel, 1, 1, out)
    assert out[0] == 1.0


def test_integers_that_were_not_written_are_no_index():
    """A local array of integers begins with a value that no array has as an index."""

    def kernel(out):
        index = cuda.local.array(2, numba.int32)
        out[index[0]] = 1.0

    with pytest.raises(IndexError, match=r"out of bounds.*\(thread \(0, 0, 0\) of block \(0, 0, 0\)\)"):
        launch(kernel, 1, 1, np.zeros(3))


def test_different_barriers():
    """Threads that wait at different lines are named, with both lines."""

    def kernel(out):
        if cuda.threadIdx.x == 0:
            cuda.syncthreads()
        else:
            cuda.syncthreads()

    with pytest.raises(KernelError, match=r"thread \(0, 0, 0\) waits at .* but thread \(1, 0, 0\) waits at"):
        launch(kernel, 1, 2, np.zeros(1))


def test_threads_that_leave_while_others_wait():
    """A thread that has returned when others wait is named."""

    def kernel(out):
        if cuda.threadIdx.x == 1:
            return
        cuda.syncthreads()

    with pytest.raises(
        KernelError, match=r"in block \(1, 0, 0\)|in block \(0, 0, 0\) .* thread \(1, 0, 0\) has returned"
    ):
        launch(kernel, 2, 3, np.zeros(1))


def test_indices_of_three_dimensions():
    """blockIdx, threadIdx, grid and gridsize count x first, then y, then z."""

    def kernel(out):
        x, y, z = cuda.grid(3)
        width, height, depth = cuda.gridsize(3)
        out[(z * height + y) * width + x] = (
            cuda.blockIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z + 1000 * depth
        )

    out = np.zeros(2 * 2 * 3 * 2)
    launch(kernel, (2, 1, 1), (2, 3, 2), out)
    x = np.arange(4) // 2
    wanted = 2000 + np.add.outer(100 * np.arange(2), np.add.outer(10 * np.arange(3), x))
    assert out.tolist() == wanted.ravel().tolist()


def test_votes():
    """syncthreads_count, _and and _or tell every thread what all have brought."""

    def kernel(out):
        t = cuda.threadIdx.x
        out[t] = 100 * cuda.syncthreads_count(t > 0) + 10 * cuda.syncthreads_and(t > 0) + cuda.syncthreads_or(t > 0)

    out = np.zeros(4)
    launch(kernel, 1, 4, out)
    assert out.tolist() == [301.0] * 4


def test_a_kernel_whose_text_is_not_known():
    """A kernel that waits needs its source text; one that does not runs without."""
    scope = {"cuda": cuda}
    exec("def waits(out):\n    cuda.syncthreads()\ndef writes(out):\n    out[cuda.threadIdx.x] = 1.0", scope)
    out = np.zeros(2)
    launch(scope["writes"], 1, 2, out)
    assert out.tolist() == [1.0, 1.0]
    with pytest.raises(KernelError, match="cannot run waits: its source text is not known"):
        launch(scope["waits"], 1, 2, out)


def test_barriers_in_functions_that_a_kernel_calls():
    """A device function, and one inside the kernel, may wait for the block."""

    def exchanged(shared, x):
        t = cuda.threadIdx.x
        shared[t] = x
        cuda.syncthreads()
        return shared[(t + 1) % 4]

    def kernel(out):
        def all_have_come():
            return cuda.syncthreads_count(True)

        shared = cuda.shared.array(4, numba.float64)
        out[cuda.threadIdx.x] = 10 * exchanged(shared, cuda.threadIdx.x) + all_have_come()

    out = np.zeros(4)
    launch(kernel, 1, 4, out)
    assert out.tolist() == [14.0, 24.0, 34.0, 4.0]


def test_a_barrier_in_a_comprehension():
    """Threads cannot take turns there: it is refused."""

    def kernel(out):
        [cuda.syncthreads() for _ in range(2)]

    with pytest.raises(KernelError, match="cannot stand in a comprehension"):
        launch(kernel, 1, 2, np.zeros(1))


def test_names_that_a_device_does_not_have():
    """Cooperative groups are told apart from names that do not exist."""

    def groups(out):
        cuda.cg.this_grid().sync()

    def unknown(out):
        out[0] = cuda.thread_index

    with pytest.raises(KernelError, match="cooperative groups"):
        launch(groups, 1, 1, np.zeros(1))
    with pytest.raises(AttributeError, match=r"cuda.thread_index is not simulated; known are .*threadIdx"):
        launch(unknown, 1, 1, np.zeros(1))


@pytest.mark.parametrize(("value", "wanted"), [(0, (0, 32, 0)), (1, (1 << 31, 31, 1)), (12, (3 << 28, 28, 3))])
def test_bits(value, wanted):
    """brev turns 32 bits round, clz counts the zeros before the first one, ffs numbers the last one from 1."""

    def kernel(out, value):
        out[0], out[1], out[2] = cuda.brev(value), cuda.clz(value), cuda.ffs(value)

    out = np.zeros(3)
    launch(kernel, 1, 1, out, value)
    assert tuple(out) == wanted


def test_atomic_operations():
    """Threads of all blocks add to one element."""

    def kernel(out):
        cuda.atomic.add(out, 0, 1.0)

    out = np.zeros(1)
    launch(kernel, 3, 5, out)
    assert out[0] == 15.0


def test_errors_keep_their_type_and_line():
    """What a kernel raises comes out with its type and the thread, and the traceback ends in the kernel."""

    def kernel(out):
        cuda.syncthreads()
        out[cuda.threadIdx.x] = 1.0

    with pytest.raises(IndexError, match=r"thread \(2, 0, 0\)") as caught:
        launch(kernel, 1, 4, np.zeros(2))
    assert caught.traceback[-1].name == "kernel"


def test_no_thread_is_left_behind():
    """After an error all threads of the system have ended, also those that waited."""
    before = threading.active_count()
    for kernel in (neighbours, impatient):
        with pytest.raises(IndexError):
            launch(kernel, 1, 4, np.zeros(4), np.zeros(2))
    deadline = time.monotonic() + 5.0
    while threading.active_count() > before and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    assert threading.active_count() == before


def test_a_kernel_without_end_can_be_interrupted():
    """An interrupt stops the launch, and the thread that was running."""

    def kernel(out):
        cuda.syncthreads()
        while True:
            out[0] += 1.0

    def interrupt():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    out, before = np.zeros(1), threading.active_count()
    timer = threading.Timer(0.2, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        launch(kernel, 1, 2, out)
    timer.join()
    deadline = time.monotonic() + 5.0
    while threading.active_count() > before and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    assert threading.active_count() == before


def test_functions_that_call_themselves_and_each_other():
    """Device functions may be recursive, and may sit in closures."""

    def make(limit):
        def is_even(n):
            return True if n == 0 else is_odd(n - 1)

        def is_odd(n):
            return False if n == 0 else is_even(n - 1)

        def kernel(out):
            out[cuda.threadIdx.x] = 1.0 if is_even(limit + cuda.threadIdx.x) else 0.0

        return kernel

    out = np.zeros(4)
    launch(make(3), 1, 4, out)
    assert out.tolist() == [0.0, 1.0, 0.0, 1.0]
