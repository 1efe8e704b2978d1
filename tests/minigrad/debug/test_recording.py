"""What a recording of a CUDA kernel keeps for pictures, and which index functions a kernel calls."""

import numpy as np

from minigrad import exercises, tensor_data
from minigrad.debug import cuda_races, races
from minigrad.debug.grid import MOMENTS
from minigrad.machine._numba import cuda, numba
from minigrad.tensor_data import index_to_position

SIZE = 2


def exchange(out, a):
    cache = cuda.shared.array(SIZE, numba.float64)
    t = cuda.threadIdx.x
    cache[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = cache[SIZE - 1 - t]
    cuda.syncthreads()
    cache[t] = 0.0


def gather(out, a):
    index = cuda.local.array(1, numba.int32)
    index[0] = cuda.threadIdx.x
    out[cuda.threadIdx.x] = a[index_to_position(index, (1,))]


def test_accesses_know_how_many_barriers_came_before():
    """Each access has the number of barriers that its block had passed, counted anew in each block."""
    report = cuda_races(exchange, 2, SIZE, np.zeros(4), np.arange(4.0))
    seen = {(event.root.name, event.kind > 0, event.interval) for event in report.events}
    assert seen == {("a", False, 0), ("cache", True, 0), ("cache", False, 1), ("out", True, 1), ("cache", True, 2)}


def test_shared_memory_is_kept_at_each_barrier():
    """For each block there is a copy of its shared memory from each barrier, and from the end."""
    report = cuda_races(exchange, 2, SIZE, np.zeros(4), np.arange(4.0))
    kept = [
        (moment.block[0], moment.interval, [held.tolist() for held in moment.held.values()])
        for moment in report.moments
    ]
    first = [(0, 0, [[0.0, 1.0]]), (0, 1, [[0.0, 1.0]]), (0, 2, [[0.0, 0.0]])]
    second = [(1, 0, [[2.0, 3.0]]), (1, 1, [[2.0, 3.0]]), (1, 2, [[0.0, 0.0]])]
    assert kept == first + second


def test_not_more_is_kept_than_a_picture_can_show():
    """Of a large grid the first states of shared memory are kept."""
    blocks = MOMENTS
    report = cuda_races(exchange, blocks, SIZE, np.zeros(2 * blocks), np.zeros(2 * blocks))
    assert len(report.moments) == MOMENTS


def test_kernels_call_the_index_functions_that_are_installed():
    """A kernel that imported an index function by its name calls the one that has taken its place in the library."""
    asked = []

    def mine(index, strides):
        asked.append(int(index[0]))
        return 2 - index[0]

    with exercises.install({"tensor_data.index_to_position": mine}):
        report = cuda_races(gather, 1, 3, np.zeros(3), np.arange(3.0), runs=1)
    assert (report.args[0].tolist(), asked) == ([2.0, 1.0, 0.0], [0, 1, 2])
    assert cuda_races(gather, 1, 3, np.zeros(3), np.arange(3.0)).args[0].tolist() == [0.0, 1.0, 2.0]


def test_loops_call_the_index_functions_that_are_installed():
    """The same holds in a prange loop."""

    def mine(index, strides):
        return 2 - index[0]

    def copy(out, a):
        for i in numba.prange(3):
            out[i] = a[index_to_position((i,), (1,))]

    with exercises.install({"tensor_data.index_to_position": mine}):
        report = races(copy, np.zeros(3), np.arange(3.0))
    assert not report and report.args[0].tolist() == [2.0, 1.0, 0.0]
    assert tensor_data.index_to_position is index_to_position
