"""The quick twins equal the specification: values, gradients and second derivatives of random programs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from minigrad import Scalar, exercises, functions, no_grad
from minigrad.machine import overrides
from minigrad.quick import scalar

# Of two values a and b, and one number n. Every operation is bounded, so that random programs stay finite.
OPERATIONS = {
    "a + b": lambda a, b, n: a + b,
    "a - b": lambda a, b, n: a - b,
    "a * b": lambda a, b, n: a.tanh() * b,
    "a / b": lambda a, b, n: a / (b * b + 1.0),
    "a ** n": lambda a, b, n: a.sigmoid() ** n,
    "a ** b": lambda a, b, n: (a.sigmoid() + 0.1) ** b.tanh(),
    "n ** a": lambda a, b, n: (abs(n) + 0.5) ** a.tanh(),
    "a + n": lambda a, b, n: a + n,
    "n + a": lambda a, b, n: n + a,
    "a - n": lambda a, b, n: a - n,
    "n - a": lambda a, b, n: n - a,
    "a * n": lambda a, b, n: a * n,
    "n * a": lambda a, b, n: n * a,
    "a / n": lambda a, b, n: a / (abs(n) + 0.5),
    "n / a": lambda a, b, n: n / (a.exp() + 1.0) if a.data < 50 else a,
    "-a": lambda a, b, n: -a,
    "abs a": lambda a, b, n: abs(a),
    "exp a": lambda a, b, n: a.tanh().exp(),
    "log a": lambda a, b, n: (a * a + 0.5).log(),
    "sin a": lambda a, b, n: a.sin(),
    "cos a": lambda a, b, n: a.cos(),
    "tanh a": lambda a, b, n: a.tanh(),
    "sigmoid a": lambda a, b, n: a.sigmoid(),
    "relu a": lambda a, b, n: a.relu(),
    "max": lambda a, b, n: functions.maximum(a, b),
    "where": lambda a, b, n: functions.where(a < b, a, b * 2),
    "dot": lambda a, b, n: functions.dot([a.sin(), n, b.cos()], [b, a.sin(), n], a),
    "dot of variables": lambda a, b, n: functions.dot([a.sin(), b.sin()], [a, b], b),
    "detach": lambda a, b, n: a + b.detach(),
    "constant": lambda a, b, n: a * Scalar(n, requires_grad=False),
}
numbers = st.one_of(
    st.floats(-2.0, 2.0).map(lambda x: round(x, 3)),
    st.integers(-3, 3),
    st.booleans(),
    st.floats(-2.0, 2.0).map(lambda x: np.float64(round(x, 3))),
    st.floats(-2.0, 2.0, width=32).map(np.float32),
    st.integers(-3, 3).map(np.int64),
)
steps = st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 50), st.integers(0, 50), numbers)
programs = st.lists(steps, min_size=1, max_size=25)
leaf_values = st.lists(st.floats(-2.0, 2.0).map(lambda x: round(x, 3)), min_size=3, max_size=3)


def run(program, values):
    """Run a program: each step's result may be used, often more than once, by every later step."""
    leaves = [Scalar(v) for v in values]
    nodes = list(leaves)
    for operation, i, j, n in program:
        # The first index counts from the end, so that programs grow deep and not only wide.
        nodes.append(OPERATIONS[operation](nodes[-1 - i % min(len(nodes), 4)], nodes[j % len(nodes)], n))
    return leaves, nodes


def everything(program, values, create_graph=False):
    """Return all values, and the gradient of the last node in the leaves."""
    leaves, nodes = run(program, values)
    if nodes[-1].requires_grad:
        nodes[-1].backward(1.5, create_graph=create_graph)
    if create_graph:
        total = sum((leaf.grad * leaf.grad for leaf in leaves if isinstance(leaf.grad, Scalar)), Scalar(0.0, False))
        for leaf in leaves:
            leaf.zero_grad()
        if total.requires_grad:
            total.backward()
    return [node.data for node in nodes], [0.0 if leaf.grad is None else float(leaf.grad) for leaf in leaves]


def specified(program, values, create_graph=False):
    """The same with the specification."""
    overrides.use_twins(False)
    try:
        return everything(program, values, create_graph)
    finally:
        overrides.use_twins(True)


def agree(seen, wanted, tolerance):
    scale = max(1.0, *map(abs, wanted))
    return all(abs(a - b) <= tolerance * scale for a, b in zip(seen, wanted, strict=True))


@settings(max_examples=250)
@given(programs, leaf_values)
def test_values_and_gradients_are_equal(program, values):
    """Both engines agree to 1e-12 on random programs with shared nodes, constants and every kind of number."""
    data, grads = everything(program, values)
    assume(max(map(abs, data + grads)) < 1e4)
    wanted_data, wanted_grads = specified(program, values)
    assert agree(data, wanted_data, 1e-13)
    assert agree(grads, wanted_grads, 1e-12)


@settings(max_examples=60)
@given(st.lists(steps, min_size=1, max_size=8), leaf_values)
def test_second_derivatives_are_equal(program, values):
    """Both engines agree on the gradient of the squared length of the gradient."""
    data, grads = everything(program, values, create_graph=True)
    assume(max(map(abs, data + grads)) < 1e4)
    assert agree(grads, specified(program, values, create_graph=True)[1], 1e-10)


@settings(max_examples=60)
@given(programs, leaf_values)
def test_one_engine_goes_through_the_others_graph(program, values):
    """A graph made by either engine can be differentiated by the other."""
    wanted = specified(program, values)[1]
    assume(max(map(abs, wanted)) < 1e4)
    for make_fast in (True, False):
        if not make_fast:
            overrides.use_twins(False)
        leaves, nodes = run(program, values)
        overrides.use_twins(True)
        if nodes[-1].requires_grad:
            if make_fast:
                with exercises.install({}):
                    nodes[-1].backward(1.5)
            else:
                nodes[-1].backward(1.5)
        assert agree([0.0 if leaf.grad is None else leaf.grad for leaf in leaves], wanted, 1e-12)


_POSITIVE = (0.0, 5e-324, 1e-310, 2.0**-1022, 1e-300, 1e-160, 0.5, 1.0, 2.0, 3.0, 710.0, 1000.0, 1e160, 1e300, math.inf)
SPECIAL = (*_POSITIVE, *(-x for x in _POSITIVE), math.nan)
BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "dot": lambda a, b: functions.dot([a], [b], a),
}
UNARY = ("__neg__", "exp", "log", "sin", "cos", "tanh", "sigmoid", "relu")


def outcome(compute, values, kinds):
    """Return the value and the gradients of a function of Scalars or numbers."""
    inputs = [Scalar(v) if kind == "variable" else v for v, kind in zip(values, kinds, strict=True)]
    y = compute(*inputs)
    y.backward()
    return [y.data, *(float(x.grad) for x in inputs if isinstance(x, Scalar))]


UPSTREAM = (1.0, -1.0, 0.0, math.inf)


def same(seen, wanted):
    """Equal to the last digits, those of denormal numbers too, with equal signs of infinities and zeros."""
    pairs = [(a, b) for a, b in zip(seen, wanted, strict=True) if not (a != a and b != b)]
    if any(a == b == 0.0 and math.copysign(1.0, a) != math.copysign(1.0, b) for a, b in pairs):
        return False
    return all(a == b or abs(a - b) <= max(1e-12 * abs(b), 1.5e-323) for a, b in pairs)


def differing(compute, inputs, kinds):
    """The inputs, with what both engines give, for which the engines differ."""
    found = []
    for values, upstream in itertools.product(inputs, UPSTREAM):
        seen = outcome(lambda *given: compute(*given) * upstream, values, kinds)  # noqa: B023 called at once
        overrides.use_twins(False)
        try:
            wanted = outcome(lambda *given: compute(*given) * upstream, values, kinds)  # noqa: B023 likewise
        finally:
            overrides.use_twins(True)
        if not same(seen, wanted):
            found.append((values, upstream, seen, wanted))
    return found


@pytest.mark.parametrize("symbol", BINARY)
@pytest.mark.parametrize(
    "kinds",
    [
        ("variable", "variable"),
        pytest.param(("variable", "number"), marks=pytest.mark.full("all pairs again, one of them a number", share=12)),
        pytest.param(("number", "variable"), marks=pytest.mark.full("all pairs again, one of them a number", share=12)),
    ],
)
def test_special_values_are_equal(symbol, kinds):
    """All pairs of zeros, denormals, largest numbers, infinities, nan: both engines give one value, one gradient."""
    assert not differing(BINARY[symbol], itertools.product(SPECIAL, SPECIAL), kinds)


@pytest.mark.parametrize("method", UNARY)
def test_special_values_of_methods_are_equal(method):
    """The same for methods of one number."""
    assert not differing(lambda x: getattr(x, method)(), [(x,) for x in SPECIAL], ["variable"])


def test_the_twins_are_in_place():
    """The quick methods are what a Scalar has by default, and disable() takes every one of them out."""
    names = list(scalar._twins)
    quick = [getattr(Scalar, name) for name in names]
    assert [method.__module__ for method in quick] == ["minigrad.quick.scalar"] * len(names)
    overrides.use_twins(False)
    try:
        assert {getattr(Scalar, name).__module__ for name in names} == {"minigrad.scalar"}
    finally:
        overrides.use_twins(True)
    assert [getattr(Scalar, name) for name in names] == quick


def test_every_operator_has_a_twin_or_needs_none(engine):
    """Results under no_grad and of constants are constants in both engines."""
    k = Scalar(2.0, requires_grad=False)
    with no_grad():
        for compute in BINARY.values():
            assert not compute(Scalar(2.0), Scalar(3.0)).requires_grad
    for compute in BINARY.values():
        assert not compute(k, 3.0).requires_grad


def test_counts_are_zero_after_every_pass():
    """The slots that a pass uses are clean afterwards, also after an error."""
    x = Scalar(2.0)
    y = x * x
    freed = x + 1.0
    freed.backward(retain_graph=False)
    z = y * y + freed * y
    with pytest.raises(Exception, match="freed"):
        z.backward()
    assert (x._uses, y._uses, z._uses, freed._uses) == (0, 0, 0, 0)
