"""Numerical derivatives: formulas, arguments, and errors of the order that the docstrings promise."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigrad import Scalar, derivatives


def test_the_formulas_to_the_last_bit():
    """One-sided: (f(x + h) - f(x)) / h. Central: (f(x + h) - f(x - h)) / 2h."""
    f = math.exp
    x, h = 0.3, 0.125
    assert derivatives.forward_difference(f, x, epsilon=h) == (f(x + h) - f(x)) / h
    assert derivatives.central_difference(f, x, epsilon=h) == (f(x + h) - f(x - h)) / (2 * h)


def test_epsilon_is_a_millionth_by_default():
    """The default step is 1e-6."""
    for difference in (derivatives.forward_difference, derivatives.central_difference):
        assert difference(math.sin, 1.0) == difference(math.sin, 1.0, epsilon=1e-6)


@pytest.mark.parametrize(("arg", "wanted"), [(0, 6.0), (1, 3.0), (2, 2.0), (-1, 2.0), (-3, 6.0)])
def test_arg_chooses_the_argument(arg, wanted):
    """Only the chosen argument moves; a negative number counts from the last."""

    def f(x, y, z):
        return x * y * z

    for difference in (derivatives.forward_difference, derivatives.central_difference):
        assert difference(f, 1.0, 2.0, 3.0, arg=arg) == pytest.approx(wanted, rel=1e-6)


def test_arg_out_of_range():
    """An argument that is not there raises IndexError."""
    with pytest.raises(IndexError):
        derivatives.central_difference(math.sin, 1.0, arg=1)


def test_errors_shrink_with_the_order_promised():
    """A ten times smaller step: a ten times smaller error to one side, a hundred times smaller to both."""
    for difference, order in ((derivatives.forward_difference, 1), (derivatives.central_difference, 2)):
        coarse, fine = (abs(difference(math.exp, 1.0, epsilon=h) - math.e) for h in (1e-2, 1e-3))
        assert coarse / fine == pytest.approx(10.0**order, rel=0.01)


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6))
def test_gradient_lists_all_partial_derivatives(xs):
    """gradient gives one central difference for each argument, in order."""

    def f(*values):
        return sum((i + 1) * math.sin(v) for i, v in enumerate(values))

    seen = derivatives.gradient(f, *xs, epsilon=1e-5)
    assert seen == pytest.approx([(i + 1) * math.cos(v) for i, v in enumerate(xs)], abs=1e-8)
    assert seen == [derivatives.central_difference(f, *xs, arg=i, epsilon=1e-5) for i in range(len(xs))]


def test_the_function_is_called_as_often_as_needed():
    """Two evaluations for a difference, 2n for a gradient."""
    calls = []

    def f(*values):
        calls.append(values)
        return values[0]

    derivatives.forward_difference(f, 1.0, 2.0)
    derivatives.central_difference(f, 1.0, 2.0)
    assert len(calls) == 4
    derivatives.gradient(f, 1.0, 2.0, 3.0)
    assert len(calls) == 10


def test_backward_agrees_with_the_differences(engine):
    """Exact gradients are judged by central differences of the same program."""

    def f(x, y):
        return (x * y).sin() / (x.exp() + y * y) if isinstance(x, Scalar) else math.sin(x * y) / (math.exp(x) + y * y)

    x, y = Scalar(0.4), Scalar(-1.3)
    f(x, y).backward()
    assert [x.grad, y.grad] == pytest.approx(derivatives.gradient(f, 0.4, -1.3), rel=1e-8)
