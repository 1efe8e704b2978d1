"""The guarded module: private APIs of NumPy and CPython, and the same results without them."""

import subprocess
import sys

import numpy as np
import pytest

from minigrad.backends import guarded

PROGRAM = """
import sys, warnings
import numpy, numpy.random
if {without}:
    name = "numpy._core._multiarray_umath"
    private, sys.modules[name] = sys.modules[name], None
    del sys.getrefcount
    import minigrad.backends.guarded
    sys.modules[name] = private
warnings.simplefilter("error")
import minigrad as mg
from minigrad.errors import GraphError
x = mg.tensor([0.0, -1.0, 1000.0], requires_grad=True)
y = (x.log() + x.exp() / 0.0) * x
y.sum().backward()
print(y.tolist(), x.grad.tolist())
a, b = mg.ones(2, requires_grad=True), mg.ones(2, requires_grad=True)
(a + b).sum().backward()
a.grad += 1.0
print(a.grad.tolist(), b.grad.tolist())
base = mg.zeros(4)
try:
    with_history = base.detach().mul_(a.sum())
except GraphError as error:
    print(error)
numpy.seterr(all="raise")
mg.tensor([1.0]) / 0.0
try:
    numpy.array([1.0]) / 0.0
except FloatingPointError:
    print("the user's own setting stays")
"""


@pytest.mark.parametrize("without", [False, True])
def test_results_are_the_same_without_private_apis(without):
    """Infinities pass in silence, gradients are not shared, a view is refused, and the user's setting stays."""
    code = PROGRAM.format(without=without)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1:] == [
        "[2.0, 2.0] [1.0, 1.0]",
        "mul_: this tensor is a view of another, whose history would not know of the change; assign to the other one, "
        "as in x[0] = value, or clone() the view",
        "the user's own setting stays",
    ]
    assert lines[0].count("nan") >= 2


def test_an_array_with_one_name_is_told_from_one_with_two():
    """A second name, a list that holds it and a view count as owners."""
    x = np.ones(3)
    assert guarded.is_held_once(x)
    held = [x]
    assert not guarded.is_held_once(x)
    held.clear()
    view = x[1:]
    assert not guarded.is_held_once(x)
    assert guarded.has_other_views(view)
    del x
    assert not guarded.has_other_views(view)
