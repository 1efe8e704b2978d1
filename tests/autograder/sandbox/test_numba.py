"""Kernels compile and run in the sandbox, in parallel and for the CUDA simulator, behind every wall that there is."""

from dataclasses import replace

import numpy as np
import pytest
from small_edition import ISOLATED, LIMITS, RIGHT, added, available, solution, write_edition

from autograder.building.editions import cached_edition
from autograder.course.loading import load_course
from autograder.sandbox import ExerciseSpec, Limits, ProbeError, Sandbox, pack_probe

TIMES = replace(Limits(), cell_seconds=20.0, test_seconds=20.0)
DOUBLE = ExerciseSpec("sums.double", ("sums.double",))

KERNEL = solution(
    """
    import numpy as np
    from numba import njit, prange

    @njit(cache=True)
    def twice(x):
        return x + x

    @njit(parallel=True)
    def double(out, values):
        for i in prange(len(values)):
            out[i] = twice(values[i])
    """
)

# The session has threads when it is forked; and a kernel that cannot run in parallel, of which Numba warns on stderr.
WARNS = added(
    """
    double(np.zeros(10), np.ones(10))

    import numba

    numba.config.DISABLE_PERFORMANCE_WARNINGS = 0

    @njit(parallel=True)
    def alone(values):
        return values[0]

    assert alone(np.ones(3)) == 1.0
    import os
    os.write(2, b"straight to the descriptor")
    """
)

CUDA = solution(
    """
    import numpy as np
    from numba import cuda, float64

    @cuda.jit
    def kernel(out, values):
        shared = cuda.shared.array(64, float64)
        i = cuda.threadIdx.x
        shared[i] = values[i]
        cuda.syncthreads()
        out[i] = 2.0 * shared[63 - i]

    def double(values):
        out = np.zeros(64)
        kernel[1, 64](out, values)
        return out
    """
)


@pytest.fixture(scope="module", params=available((*ISOLATED, "none")))
def box(request, tmp_path_factory):
    """A sandbox with Numba imported, behind each wall in turn."""
    edition = write_edition(tmp_path_factory.mktemp("edition"))
    with Sandbox(edition, TIMES, isolation=request.param, preload=("numba",)) as sandbox:
        yield sandbox


def parallel(mg, values):
    """What the student's kernel makes of values."""
    import numpy

    mg.sums.double(out := numpy.empty_like(values), values)
    return out


def threads(mg, values):
    """How many threads a parallel kernel has, and by what."""
    import numba

    mg.sums.double(values.copy(), values)
    return [numba.get_num_threads(), numba.threading_layer(), numba.config.CACHE_DIR, numba.config.ENABLE_CUDASIM]


@pytest.mark.full("kernels are compiled in the sandbox", share=24)
@pytest.mark.parametrize("before", [[], [WARNS]], ids=["at once", "after a parallel cell"])
def test_a_parallel_kernel_runs_in_every_fork(box, before):
    """A kernel with a helper of its own runs where cells, probes and their children run; a warning costs nothing."""
    values = np.arange(5000.0, dtype=np.float32)
    with box.session([KERNEL, *before], DOUBLE) as session:
        assert [cell.sentence() for cell in session.cells if not cell.ok] == []
        for _ in range(2):
            seen = session.observe(pack_probe(parallel), [values])
            assert seen.ok, seen.failure
            assert seen.value.dtype == np.float32
            assert np.array_equal(seen.value, 2 * values)
        seen = session.observe(pack_probe(threads), [values])
        assert seen.ok, seen.failure
        count, layer, cache, simulator = seen.value
        assert (count, simulator) == (2, 1)
        assert layer in ("tbb", "workqueue")  # a child that is forked under omp dies
        assert cache == ("/scratch" if box.isolation.name in ("bubblewrap", "namespaces", "gvisor") else cache)


@pytest.mark.full("kernels are compiled in the sandbox", share=16)
def test_a_cuda_kernel_runs_in_the_simulator(box):
    """A block has a thread of the sandbox for each of its own, more than the default; they wait for each other."""

    def observe(mg, values):
        return mg.sums.double(values)

    wide = Sandbox(box.edition, replace(TIMES, processes=100), box.isolation.name, preload=("numba",))
    with wide, wide.session([CUDA], DOUBLE) as session:
        seen = session.observe(pack_probe(observe), [np.arange(64.0)])
        assert seen.ok, seen.failure
        assert np.array_equal(seen.value, 2.0 * np.arange(64.0)[::-1])


COMPILED_BEFORE = added(
    """
    import numpy as np
    from numba import njit, prange
    from numba.core import config
    from numba.np.ufunc import parallel

    from minigrad.compiling import _helpers

    found = sorted(helper.__name__ for helper in _helpers.values() if helper.overloads)
    print(int(config.OPT), parallel._is_initialized, parallel._backend_init_process_lock, found)
    """
)

LOOPS = added(
    """
    @njit(parallel=True)
    def same(out, values):
        if (out == values).all():
            out[0] = 7.0
        for i in prange(len(out)):
            out[i] = values[i]

    same(np.zeros(3), np.ones(3))
    print(same.get_metadata(same.signatures[0])["parfor_diagnostics"].count_parfors())
    """
)


@pytest.mark.full("kernels are compiled in the sandbox", share=24)
@pytest.mark.parametrize("parallel", [True, False])
def test_a_session_begins_with_helpers_compiled_and_no_threads(parallel):
    """Where kernels will be parallel, what they call is compiled; nothing that sessions share is left of that."""
    course = load_course()
    own = ExerciseSpec("fast_ops.tensor_map", ("fast_ops.tensor_map",))
    preload = ("numba", "minigrad.fast_ops") if parallel else ("numba",)
    helpers = ["broadcast_index", "index_to_position", "to_index"] if parallel else []
    with Sandbox(cached_edition(course, [own.id]), TIMES, preload=preload) as box:
        for _ in range(2):
            with box.session([COMPILED_BEFORE, LOOPS], own) as session:
                said = [cell.output.strip() or cell.sentence() for cell in session.cells]
                seen = session.observe(pack_probe(optimization))
            assert said == [f"3 False None {helpers}", "1"]
            assert seen.value == 0


def optimization(mg):
    """How much the compiler optimizes."""
    import numba

    return int(numba.config.OPT)


def test_a_compiler_is_imported_only_where_it_is_asked_for(tmp_path):
    """A sandbox without `preload` holds no Numba."""
    edition = write_edition(tmp_path)
    for preload in ((), ("numba",)):
        look = added("import sys; print('numba' in sys.modules)")
        with Sandbox(edition, TIMES, preload=preload) as box, box.session([look, RIGHT], DOUBLE) as session:
            assert session.cells[0].output.strip() == str(bool(preload))


def test_numba_is_imported_inside_a_probe_only():
    """A probe may import Numba where it runs; beside the tests it would be imported without need."""
    import numba

    def inside(mg):
        import numba as compiler

        return compiler.__version__

    def outside(mg):
        return numba.__version__

    assert pack_probe(inside)
    with pytest.raises(ProbeError):
        pack_probe(outside)


ARRAYS = {
    "float32": np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3),
    "bool": np.array([[True], [False]]),
    "int64": np.arange(6, dtype=np.int64)[::-1],
    "int32": np.arange(6, dtype=np.int32)[::2],
    "zero-size": np.zeros((3, 0, 2), dtype=np.float32),
    "no axis": np.array(2.5, dtype=np.float32),
    "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "not contiguous": np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)[::2],
    "broadcast": np.broadcast_to(np.arange(3.0), (2, 3)),
    "no number": np.array([np.nan, np.inf, -0.0]),
}


@pytest.mark.full("kernels are compiled in the sandbox", share=16)
@pytest.mark.parametrize("name", ARRAYS)
def test_every_array_travels_to_a_probe_and_back(name, tmp_path_factory):
    """Values, shape and dtype arrive, whatever the strides; what comes is an array of its own."""

    def observe(mg, array):
        return [array, array.dtype.name, list(array.shape), bool(array.flags.writeable), array.T]

    array = ARRAYS[name]
    with Sandbox(write_edition(tmp_path_factory.mktemp("edition")), LIMITS) as box, box.session([RIGHT], DOUBLE) as run:
        seen = run.observe(pack_probe(observe), [array])
    assert seen.ok, seen.failure
    back, dtype, shape, writeable, turned = seen.value
    assert (dtype, shape, writeable) == (array.dtype.name, list(array.shape), True)
    assert back.dtype == array.dtype and np.array_equal(back, array, equal_nan=array.dtype.kind == "f")
    assert turned.shape == array.T.shape


SLOW_TO_COMPILE = solution(
    """
    from numba import njit

    lines = [f"    y = y * {n}.5 + x if y > {n} else y - x / {n + 1}" for n in range(80)]
    exec("def slow(x):\\n    y = x\\n" + "\\n".join(lines) + "\\n    return 2 * x")
    slow = njit(slow)

    def double(x):
        if x < 0:
            while True:
                pass
        return slow(x)
    """
)


@pytest.mark.full("kernels are compiled in the sandbox", share=24)
def test_compiling_uses_up_no_time(tmp_path):
    """A kernel may take longer to compile than its question and its session may take; a loop beside it may not."""
    # A busy machine may use 0.4 s for the cell and for each of the four questions: 2 s in all.
    limits = replace(LIMITS, cell_seconds=0.4, test_seconds=0.4, submission_seconds=2.4, memory_mb=2048)

    def twice(mg, x):
        return mg.sums.double(x)

    with (
        Sandbox(write_edition(tmp_path), limits, preload=("numba",)) as box,
        box.session([SLOW_TO_COMPILE], DOUBLE) as session,
    ):
        started = session.apart
        for x in (2.0, 3.0, 4.0):
            assert session.observe(pack_probe(twice), [x]).value == 2 * x
        assert session.apart - started > 0.9  # else this proves nothing
        assert session.observe(pack_probe(twice), [-1.0]).failure.message == "no answer within 0.4 s"
