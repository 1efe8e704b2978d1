"""Parts, threads, and what happens in a process that was forked."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from minigrad.backends.numba import NumbaBackend, threads
from minigrad.machine._numba import numba

BACKEND = NumbaBackend()
A, B = ("in", 0), ("in", 1)


@pytest.mark.parametrize(
    ("total", "count", "multiple"), [(10, 3, 1), (1000, 4, 64), (5, 8, 1), (1, 1, 64), (130, 2, 64)]
)
def test_parts_cover_the_whole_once(total, count, multiple):
    """Parts follow each other without gaps, and all but the last are multiples long."""
    work = threads.parts(total, count, multiple)
    numbers = list(work._items)
    spans = list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))
    assert [start for start, _, _ in spans] == [0, *[stop for _, stop, _ in spans[:-1]]]
    assert spans[-1][1] == total and len(spans) <= count
    assert [ordinal for _, _, ordinal in spans] == list(range(len(spans)))
    assert all((stop - start) % multiple == 0 for start, stop, _ in spans[:-1])


def test_set_num_threads_is_respected():
    """Numba's own switch says how many threads work."""
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert threads.thread_count() == 1
    finally:
        numba.set_num_threads(before)
    assert threads.thread_count() == before
    assert threads.layer() in ("tbb", "omp", "workqueue")


def test_python_threads_may_compute_at_once():
    """Several Python threads inside the backend get right results, whatever the threading layer can stand."""
    x = np.random.default_rng(2).normal(size=200_000)
    wanted, found = x * x, []

    def work():
        for _ in range(20):
            found.append(np.array_equal(BACKEND.elementwise(("mul", A, A), [x], np.float64), wanted))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [True] * 80


def run(code, **variables):
    """Run Python code in a process of its own; return what it printed, on stderr too."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | variables,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("layer", ["default", "workqueue"])
def test_a_forked_child_computes(layer):
    """A child of a process whose threads run, computes too: serially, and the same."""
    code = """
        import os, warnings
        import numpy as np
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 says that it is risky to fork beside threads
        from minigrad.backends.numba import NumbaBackend, threads
        backend, x = NumbaBackend(), np.arange(300_000.0)
        def total():
            doubled = backend.elementwise(("add", ("in", 0), ("in", 0)), [x], np.float64)
            return float(backend.reduce("add", doubled, (0,), np.float64))
        wanted = total()
        child = os.fork()
        if child == 0:
            os._exit(0 if total() == wanted and threads.thread_count() == 1 else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), total() == wanted)
    """
    assert run(code, NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="2").split() == ["0", "True"]


def test_the_environment_is_left_as_it_was():
    """What is set for OpenMP while it is loaded is gone afterwards."""
    code = """
        import os
        before = dict(os.environ)
        from minigrad.backends.numba import threads
        threads.thread_count()
        changed = {k for k in os.environ if os.environ[k] != before.get(k)} | (before.keys() - os.environ.keys())
        print(sorted(changed))
    """
    assert run(code).strip() == "[]"


FIRST_COMES_A_STUDENTS_KERNEL = """
    import numpy as np
    from minigrad.compiling import compile_kernel
    from numba import prange, threading_layer
    def kernel(out):
        for i in prange(len(out)):
            out[i] = 2.0
    out = np.zeros(4)
    compile_kernel(kernel)(out)
    print(out.sum(), threading_layer())
"""


@pytest.mark.full("a student's kernel is compiled in a process of its own", share=12)
def test_a_students_kernel_starts_the_threads_that_the_library_would():
    """Numba takes the same layer, whoever comes first."""
    library_first = run("from minigrad.backends.numba import threads; print(threads.layer())")
    assert run(FIRST_COMES_A_STUDENTS_KERNEL).split() == ["8.0", *library_first.split()]


@pytest.mark.full("a student's kernel is compiled in a process of its own", share=12)
def test_openmp_does_not_spin_where_a_students_kernel_starts_it(monkeypatch):
    """Its threads leave the processor to others while they wait; who has set something else keeps it."""
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    openmp = {"NUMBA_THREADING_LAYER": "omp", "OMP_DISPLAY_ENV": "verbose"}
    shown = run(FIRST_COMES_A_STUDENTS_KERNEL, **openmp)
    if "8.0 omp" not in shown or "GOMP" not in shown:
        pytest.skip("GNU OpenMP is not what Numba runs on here")
    assert "GOMP_SPINCOUNT = '2000'" in shown
    assert "GOMP_SPINCOUNT = '7'" in run(FIRST_COMES_A_STUDENTS_KERNEL, GOMP_SPINCOUNT="7", **openmp)
    assert "GOMP_SPINCOUNT = '2000'" not in run(FIRST_COMES_A_STUDENTS_KERNEL, OMP_WAIT_POLICY="active", **openmp)


def test_a_tbb_that_cannot_be_loaded_is_none(tmp_path):
    """Where a library is broken, Numba takes another: neither kernels nor CUDA's simulator need it."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libtbb.so.12").write_text("no library")
    code = f"import sys\nsys.prefix = {str(tmp_path)!r}\n" + textwrap.dedent(FIRST_COMES_A_STUDENTS_KERNEL)
    assert run(code).startswith("8.0 ")


@pytest.mark.full("a process is started", share=8)
def test_a_threading_layer_that_is_none_is_told_in_a_sentence():
    """A misspelt NUMBA_THREADING_LAYER is named with the layers that there are, at the first shared loop."""
    code = "import minigrad as mg; x = mg.ones(3_000_000); print((x * 2.0 + x).sum().item())"
    environment = os.environ | {"NUMBA_THREADING_LAYER": "nonsense"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stderr.splitlines()[-1] == (
        "ValueError: NUMBA_THREADING_LAYER is 'nonsense', which Numba cannot load (The threading layer requested "
        "'nonsense' is unknown to Numba); unset it, or set it to 'omp', 'tbb' or 'workqueue'"
    )


COMPILING = """
import os, signal, threading
from minigrad.backends.numba import compiler

def compile_one(number):
    text = f"def kernel(item, dimensions, steps, parameters):\\n    pointer(parameters[0], int64)[0] = {number}\\n"
    compiler.kernel("one", text, dict, keep=False)

def compile_many():
    for number in range(20):
        compile_one(number)

compile_one(-1)
thread, children = threading.Thread(target=compile_many), []
thread.start()
while thread.is_alive():
    children.append(os.fork())
    if not children[-1]:
        signal.alarm(30)
        compile_one(1000)
        os._exit(0)
    assert os.waitpid(children[-1], 0)[1] == 0, "a child waits for ever"
assert children
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_forked_while_another_thread_compiles():
    """LLVM's lock, which the other thread holds then, is free again in the child."""
    run(COMPILING)
