"""The table of elementwise operations: what an entry gives is there, documented, and known to type checkers."""

import importlib.util

import pytest

import minigrad
from minigrad import Scalar, Tensor, functions, operators
from minigrad.elementwise.entry import OPS


def test_type_checkers_read_what_the_table_gives(root):
    """The stubs are what scripts/types_of_names.py writes now."""
    spec = importlib.util.spec_from_file_location("types_of_names", root / "scripts" / "types_of_names.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert {place: place.read_text(encoding="utf-8") for place, _ in script.stubs()} == dict(script.stubs())


@pytest.mark.parametrize("name", OPS)
def test_what_an_entry_gives_is_documented(name):
    """Each object tells in its own words what is computed: of x, of every element, of this number."""
    op = OPS[name]
    assert getattr(operators, name).__doc__
    assert getattr(functions, op.function).__doc__
    if op.generic:
        assert getattr(functions, op.generic).__doc__ == op.sentence
    if op.method:
        assert getattr(Tensor, op.method).__doc__.startswith(f"Return {op.about('every element')}.\n\n>>> ")
        assert f".{op.method}()" in getattr(Tensor, op.method).__doc__
        assert callable(getattr(minigrad, op.method))
    if op.module:
        assert getattr(minigrad.nn, op.module).__doc__.startswith(f"Computes {op.about('every element')}.\n\n>>> ")
        assert getattr(minigrad.nn.functional, op.method).__doc__.startswith(f"Compute {op.about('every element')}.")
    if op.method and op.of_numbers:
        assert "this number" in getattr(Scalar, op.method).__doc__


@pytest.mark.parametrize("name", [op.method for op in OPS.values() if op.method and op.in_place])
def test_a_change_in_place_gives_the_methods_values(name):
    """The tensor itself holds the values that the method without an underscore returns, and has its gradient."""
    results = []
    for ending in ("", "_"):
        x = minigrad.tensor([0.5, 1.5], requires_grad=True)
        y = getattr(x * 1.0, name + ending)()
        y.backward(minigrad.tensor([1.0, 2.0]))
        results.append((y.tolist(), x.grad.tolist()))
    assert results[0] == results[1]
