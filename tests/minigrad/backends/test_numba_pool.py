"""The pool of buffers: reuse, limits, and never two arrays over one block."""

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

from minigrad.backends.numba import NumbaBackend, pool

LARGE = (512, 1024)


@pytest.fixture(autouse=True)
def empty_pool():
    """Start and end with nothing idle."""
    gc.collect()
    pool.clear()
    yield
    pool.clear()


def test_a_dead_array_leaves_its_memory_to_the_next():
    """The memory of an array that is gone serves the next one of its size; it is aligned to cache lines."""
    first = pool.empty(LARGE, np.float64)
    address = first.ctypes.data
    assert address % 64 == 0 and first.flags.c_contiguous and first.flags.writeable and first.shape == LARGE
    before = pool.stats().reused
    del first
    assert pool.stats().idle_bytes >= 512 * 1024 * 8
    second = pool.empty((1024, 512), np.float64)
    assert second.ctypes.data == address and pool.stats().reused == before + 1


def test_a_view_keeps_the_memory():
    """As long as any view lives, nobody else gets the block."""
    first = pool.empty(LARGE, np.float64)
    address, view = first.ctypes.data, first[3:, ::2].T
    view[...] = 7.0
    del first
    second = pool.empty(LARGE, np.float64)
    second[...] = 0.0
    assert second.ctypes.data != address
    assert (view == 7.0).all()


def test_small_arrays_do_not_come_from_the_pool():
    """Below the limit NumPy's own memory is used."""
    before = pool.stats()
    pool.empty((10, 10), np.float64)
    assert pool.stats() == before


def test_what_lies_idle_is_bounded(monkeypatch):
    """Beyond the limit blocks go back to the system, the oldest first."""
    monkeypatch.setattr(pool, "limit", lambda: 9 << 20)
    held = [pool.empty((1 << 20,), np.float32) for _ in range(4)]
    del held
    gc.collect()
    assert 0 < pool.stats().idle_bytes <= 9 << 20


def test_when_memory_runs_out_idle_blocks_are_given_back(monkeypatch):
    """A refusal empties the pool and is tried again; a second refusal is a MemoryError."""
    held = pool.empty(LARGE, np.float64)
    del held
    assert pool.stats().idle_bytes > 0
    original, refusals = pool._Block, [True, False]

    def refuse(capacity):
        if refusals.pop(0):
            raise MemoryError
        return original(capacity)

    monkeypatch.setattr(pool, "_Block", refuse)
    taken = pool.empty((1024, 1024), np.float64)
    assert taken.shape == (1024, 1024) and pool.stats().idle_bytes == 0
    refusals[:] = [True, True]
    with pytest.raises(MemoryError):
        pool.empty((1024, 2048), np.float64)


def test_more_than_the_machine_has_is_refused():
    """A size that no machine has raises MemoryError, and the backend works on."""
    with pytest.raises(MemoryError):
        NumbaBackend().empty((1 << 50,), np.float64)
    assert NumbaBackend().empty(LARGE, np.float64).shape == LARGE


def test_threads_never_share_a_block():
    """Many threads that take and give back find their own numbers in their arrays."""
    wrong = []

    def work(number):
        for _ in range(200):
            x = pool.empty((40_000,), np.float64)
            x.fill(number)
            if not (x == number).all():
                wrong.append(number)
            del x

    workers = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_results_in_use_are_not_overwritten():
    """Results of kernels that are kept do not change while others are computed."""
    backend, x = NumbaBackend(), np.ones(LARGE)
    kept = [backend.elementwise(("mul", ("in", 0), ("in", 1)), [x, float(n)], np.float64) for n in range(20)]
    assert [float(y[5, 5]) for y in kept] == [float(n) for n in range(20)]


def test_memory_that_is_held_to_the_end():
    """A large array that outlives the library's modules, when Python ends, says nothing."""
    code = "import numpy; from minigrad.backends.numba import pool; numpy.kept = pool.empty((1 << 20,), 'f8')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
