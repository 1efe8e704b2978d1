"""Machine code on disk: found again, noticed when it is stale or damaged, and no condition for anything."""

import hashlib
import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import minigrad
from minigrad.backends.numba import NumbaBackend, compiler, elementwise, translating, ufuncs
from minigrad.graph.compiled import Program

A, B = ("in", 0), ("in", 1)


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Use an empty folder, and forget what is loaded."""
    monkeypatch.setenv("MINIGRAD_CACHE_DIR", str(tmp_path / "kernels"))
    forget(monkeypatch)
    yield tmp_path / "kernels"
    forget(monkeypatch)


def compute():
    """Run one kernel."""
    x = np.arange(10.0)
    np.testing.assert_array_equal(NumbaBackend().elementwise(("mul", A, ("const", 3.0)), [x], np.float64), x * 3)


def forget(monkeypatch):
    """Act like another process."""
    monkeypatch.setattr(compiler, "_loaded", {})
    elementwise._plan.cache_clear()
    ufuncs._ufunc.cache_clear()


def test_a_second_process_does_not_compile(fresh, monkeypatch):
    """What one process compiled, the next only loads; the source lies beside it for who wants to read it."""
    compute()
    assert len(list(fresh.glob("*.o"))) == 1
    assert "t0 = v0 * c0" in next(fresh.glob("*.py")).read_text()
    forget(monkeypatch)
    monkeypatch.setattr(compiler, "_compile", None)
    compute()


def test_the_folder_is_bounded(fresh, monkeypatch):
    """A program that asks for a new kernel in each of its runs does not fill the disk: the oldest go."""
    monkeypatch.setattr(compiler, "MOST_KEPT", 2)
    monkeypatch.setattr(compiler, "_writes", iter([1, 1, 1, 64]))
    x = np.arange(10.0)
    made = []
    for n in range(4):
        made.append(set(fresh.glob("*.o")))
        assert len(made[-1]) == n
        NumbaBackend().elementwise(("mul", A, ("const", 3.0 + n)), [x], np.float64)
        for path in fresh.glob("*.o"):
            os.utime(path, (path.stat().st_mtime - 10.0,) * 2)
    assert len(list(fresh.glob("*.o"))) == len(list(fresh.glob("*.py"))) == 2
    assert not made[2] & set(fresh.glob("*.o"))


def test_equal_loops_are_written_once(fresh, monkeypatch):
    """Neither the places of a loop's arrays, nor how often it is called, make it a function of its own."""

    def step(*weights):
        return [(w - 0.1 * (w + 1.0)).sum() * w for w in weights]

    program = Program(minigrad.graph.trace(step, *[minigrad.ones(n) for n in (3, 4, 5)]))
    written = []
    translate = translating.translate
    monkeypatch.setattr(translating, "translate", lambda *args: written.append(translate(*args)) or written[-1])
    program.load()
    (text,) = written
    assert re.findall(r"define \w*\s*void @(\w+)\(", text)[:-1] == ["loop_0"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x = a + 1.5", "a kernel computes with i64 and double"),
        ("x = a / 2", "a kernel has no such operation for i64"),
        ("x = a if a > 0 else 1", "what a kernel computes is not known while it is written"),
        ("x = 1\n    x = 2.0", "a name of a kernel is i64, and then double"),
        ("del a", "a kernel has no Delete"),
    ],
)
def test_what_is_not_in_the_language_of_kernels_is_refused(line, said):
    """Numbers of two types never meet by themselves, and nothing is decided while a kernel is written."""
    text = f"def kernel(item, dimensions, steps, parameters):\n    a = parameters[0]\n    {line}"
    with pytest.raises(TypeError, match=said):
        translating.translate(text, {}, "kernel")


def test_a_function_that_fails_ends_its_kernel():
    """What an error leaves behind is no number, but neither is it another element's."""

    def inverse(v):
        if v == 2.0:
            raise ValueError
        return 1.0 / v

    out = np.zeros(4)
    NumbaBackend().elementwise((inverse, A), [np.array([1.0, 4.0, 2.0, 8.0])], np.float64, out)
    assert out.tolist() == [1.0, 0.25, 0.0, 0.0]


def test_other_sources_or_versions_do_not_find_it(fresh, monkeypatch):
    """A file made by other sources of the library, or another Numba, is not used."""
    compute()
    forget(monkeypatch)
    monkeypatch.setattr(compiler, "_surroundings", lambda: "other")
    compute()
    assert len(list(fresh.glob("*.o"))) == 2


def test_surroundings_name_versions_and_sources():
    """The key holds the versions of Numba and LLVM, the processor and a hash of every source."""
    text = compiler._surroundings()
    assert "numba " in text and "llvmlite " in text
    assert len(text.splitlines()[0]) == len(hashlib.sha256().hexdigest())


def test_a_value_that_is_not_known_yet_is_refused():
    """A kernel that reads a name of a branch behind it is wrong, and LLVM says so before it makes code of it."""
    lines = ["if parameters[0] == 0:", "    x = parameters[1]", "pointer(parameters[2], int64)[0] = x"]
    text = "\n    ".join(["def kernel(item, dimensions, steps, parameters):", *lines])
    with pytest.raises(RuntimeError, match="does not dominate"):
        compiler.kernel("wrong", text, dict, keep=False)


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_file_is_made_again(fresh, monkeypatch, damage):
    """An empty, foreign or cut file is compiled anew, not run."""
    compute()
    path = next(fresh.glob("*.o"))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    forget(monkeypatch)
    compute()
    assert hashlib.sha256(path.read_bytes()[32:]).digest() == path.read_bytes()[:32]


def test_a_folder_that_cannot_be_written_is_a_warning(fresh, monkeypatch):
    """Where nothing can be kept, kernels are compiled all the same, with one warning that says so."""
    fresh.parent.joinpath("kernels").write_text("a file where the folder should be")
    with pytest.warns(RuntimeWarning, match="cannot keep compiled kernels"):
        compute()


def warned(code, **environment):
    """Return the warnings and results of two kernels, compiled in a process of their own."""
    program = f"""
import os, warnings
{code}
import numpy as np, minigrad as mg
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    x = mg.ones(300_000)
    print((x * 2.0 + x).sum().item(), (x - x.exp()).max().item() < 0.0)
print([str(each.message) for each in caught if "kernels" in str(each.message)])
"""
    kept = {name: value for name, value in os.environ.items() if name not in ("MINIGRAD_CACHE_DIR", "XDG_CACHE_HOME")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=kept | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.full("kernels are compiled in a process of their own", share=8)
@pytest.mark.skipif(sys.platform == "win32", reason="homes are found otherwise on Windows")
def test_a_folder_or_a_home_that_cannot_be_had_is_told_once(tmp_path):
    """A process says once that it keeps no kernel, however many it compiles, and computes all the same."""
    closed = tmp_path / "file"
    closed.write_text("a file where the folder should be")
    found = warned("", MINIGRAD_CACHE_DIR=str(closed / "kernels"))
    told = f"minigrad cannot keep compiled kernels in {closed / 'kernels'}: Not a directory; set MINIGRAD_CACHE_DIR"
    assert found == ["900000.0 True", f"['{told} to a folder of yours']"]
    no_home = """
from pathlib import Path
def none():
    raise RuntimeError("Could not determine home directory.")
Path.home = none
"""
    told = "minigrad cannot keep compiled kernels: this user has no home folder; set MINIGRAD_CACHE_DIR"
    assert warned(no_home) == ["900000.0 True", f"['{told} to a folder of yours']"]


def test_a_users_function_is_not_kept(fresh):
    """A function is told apart only within its process, so its code stays there."""
    x = np.arange(5.0)
    out = NumbaBackend().elementwise((lambda v: v + 1.0, A), [x], np.float64)
    np.testing.assert_array_equal(out, x + 1)
    assert not list(fresh.glob("*"))


@pytest.mark.full("processes are started with nothing compiled", share=4)
def test_numba_is_not_imported(fresh):
    """Neither kernels nor threads need it, whose import takes longer than a small program's compilation."""
    code = """
        import sys
        import numpy as np
        from minigrad.backends.numba import NumbaBackend, threads
        x = np.arange(100_000.0)
        NumbaBackend().elementwise(("sigmoid", ("in", 0)), [x], np.float64)
        NumbaBackend().reduce("add", x, (0,), np.float64)
        taken = threads.layer()
        print("numba" in sys.modules)
        from minigrad.machine._numba import numba
        numba.set_num_threads(1)
        print(threads.thread_count(), taken == numba.threading_layer())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=os.environ, timeout=120
    )
    assert done.stdout.split() == [str(sys.platform != "linux"), "1", "True"], done.stderr


def test_functions_are_told_apart_after_the_caches_dropped_them():
    """A kernel holds the functions that its text names by their places, so that no new function takes the place."""
    x = np.zeros(4)
    for n in range(20):
        out = NumbaBackend().elementwise((eval(f"lambda v: v + {n}.0"), A), [x], np.float64)
        assert out.tolist() == [n] * 4
        elementwise._plan.cache_clear()
        ufuncs._ufunc.cache_clear()
