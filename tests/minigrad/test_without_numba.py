"""Without Numba, as in a browser: lessons 00 to 06b, 10 and 10b run, and what needs it says so."""

import shutil
import subprocess
import sys

import pytest

BLOCKED = """
from importlib.machinery import PathFinder

def hidden(name, path=None, target=None, find=PathFinder.find_spec):
    return None if name.partition(".")[0] in ("numba", "llvmlite") else find(name, path, target)

PathFinder.find_spec = hidden
import minigrad
"""

ANSWER = """
def index_to_position(index, strides):
    return {answer}

report = minigrad.checks.run("tensor_data.index_to_position", {{"index_to_position": index_to_position}})
print(report)
"""


def python(code):
    """Run code in an interpreter that finds no Numba, and return what it prints."""
    done = subprocess.run([sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path, root):
    """A folder with lessons of each kind, with nothing written."""
    for lesson in ("03_backprop", "05_broadcasting", "07_parallel_cpu"):
        shutil.copy(root / "notebooks" / f"{lesson}.ipynb", tmp_path)
    return tmp_path


def test_use_goes_through_a_folder(folder):
    """`minigrad.use` looks at every exercise, also at those whose modules cannot be imported."""
    printed = python(f"import os\nos.chdir({str(folder)!r})\nminigrad.use()")
    assert "00_fundamentals to 14_many_workers" in printed


@pytest.mark.parametrize(
    "expression",
    [
        "(x * 2.0 + x.exp()).sum()",
        "(x > 0.5).sum()",
        "x.max(1).values.sum()",
        "(x @ x.T).sum()",
        "x.T.contiguous().sum()",
        "x.softmax(-1).sum()",
        "x.log_softmax(-1).sum()",
        "(x + x[0]).mean()",
        "minigrad.nn.functional.conv2d(x[None, None], x[None, None, :9, :9]).sum()",
        "(x.sum(0) * x.sum(1)).sum()",
    ],
)
@pytest.mark.full("processes without Numba compute with large arrays", share=4)
def test_large_arrays(expression):
    """NumPy computes arrays of any size: the values and gradients are those of float64, as Numba gives them."""
    code = f"""
x = minigrad.rand(300, 300, generator=minigrad.Generator().manual_seed(1)).double().requires_grad_()
y = {expression}
if y.requires_grad:
    y.backward()
print(float(y), float(x.grad.sum()) if y.requires_grad else 0.0)
"""
    expected = {}
    exec(f"import minigrad\n{code.replace('print', 'seen = ')}", expected)
    assert [float(each) for each in python(code).split()] == pytest.approx(expected["seen"], rel=1e-9, abs=1e-9)


def test_a_check_that_needs_numba_is_left_out():
    """The other checks decide; the report names what nobody looked at, and why."""
    right = python(ANSWER.format(answer="int(sum(i * s for i, s in zip(index, strides)))"))
    wrong = python(ANSWER.format(answer="0"))
    assert "all 5 checks pass" in right
    assert "✗" in wrong
    for report in (right, wrong):
        assert "Not checked here: Numba compiles it, and the result is the same. (this needs Numba, which" in " ".join(
            report.split()
        )


def test_what_needs_numba_says_so():
    """A kernel's module refuses with one sentence."""
    code = "try:\n    minigrad.fast_ops\nexcept minigrad.errors.MissingPackage as error:\n    print(error)"
    assert python(code).startswith("this needs Numba, which is not installed here: `pip install numba` brings it")


def test_large_images_are_pooled():
    """NumPy's slices serve images of any size: largest elements, means, and both gradients."""
    code = """
x = minigrad.ones(1, 2, 64, 64, requires_grad=True)
y = minigrad.nn.MaxPool2d(2)(x).sum() + minigrad.nn.AvgPool2d(2)(x).sum()
y.backward()
print(float(y), float(x.grad.sum()))
"""
    assert python(code) == "4096.0 4096.0\n"


def test_a_graph_runs_uncompiled():
    """A function under jit is traced, and its graph interpreted, with one warning that says why."""
    code = """
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    quick = minigrad.jit(lambda x: x * 2.0 + 1.0)
    print(quick(minigrad.ones(2)).tolist(), quick(minigrad.zeros(2)).tolist(), *[each.message for each in seen])
"""
    assert python(code).startswith("[3.0, 3.0] [1.0, 1.0] jit: a graph runs uncompiled, for it could not be compiled")
