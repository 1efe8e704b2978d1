"""Numbers that others have published for the same expressions."""

import math

import pytest

from minigrad import Scalar


def test_micrograds_expression(engine):
    """The program of micrograd's README: 24.7041, with derivatives 138.8338 and 645.5773."""
    a = Scalar(-4.0)
    b = Scalar(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    g.backward()
    assert (f"{g.data:.4f}", f"{a.grad:.4f}", f"{b.grad:.4f}") == ("24.7041", "138.8338", "645.5773")


def test_derivatives_add_up_until_they_are_set_to_zero(engine):
    """Two passes without zeroing leave 2 + 3 = 5 and 1 + 1 = 2; after zeroing the second leaves 3 and 1."""
    x1, x2 = Scalar(10.0), Scalar(20.0)
    (x1 * 2.0 + x2).backward()
    y = x1 * 3.0 + x2
    y.backward()
    assert (x1.derivative, x2.derivative) == (5.0, 2.0)
    x1.derivative = 0.0
    x2.derivative = 0.0
    y.backward()
    assert (x1.derivative, x2.derivative) == (3.0, 1.0)


def test_only_the_leaf_stores_a_derivative(engine):
    """50 -> 100 -> 300: the derivative 6 arrives at the leaf; the others have None."""
    z1 = Scalar(50)
    z2 = z1 * 2
    z3 = z2 * 3
    z3.backward()
    assert (z1.data, z2.data, z3.data) == (50.0, 100.0, 300.0)
    assert (z1.derivative, z2.derivative, z3.derivative) == (6.0, None, None)
    assert z2.history.ctx.saved_values == (50.0, 2.0)
    assert z3.history.ctx.saved_values == (100.0, 3.0)


@pytest.mark.parametrize("x", [-2.0, -0.5, 0.0, 1.0, 3.7])
def test_a_polynomial_with_two_paths(x, engine):
    """y = x^3 + x^2 has the derivative 3x^2 + 2x."""
    v = Scalar(x)
    y = v**3 + v**2
    y.backward()
    assert (y.data, v.grad) == pytest.approx((x**3 + x**2, 3 * x**2 + 2 * x))


@pytest.mark.parametrize("x", [-2.0, -0.5, 1e-3, 1.0, 3.7])
def test_a_quotient_with_two_paths(x, engine):
    """y = sin x / x has the derivative cos x / x - sin x / x^2."""
    v = Scalar(x)
    y = v.sin() / v
    y.backward()
    assert (y.data, v.grad) == pytest.approx((math.sin(x) / x, math.cos(x) / x - math.sin(x) / x**2), rel=1e-9)


def test_the_square_of_a_sum(engine):
    """a = x + 2, L = a^2 at x = 1: 9, with derivative 6."""
    x = Scalar(1.0)
    loss = (x + 2) ** 2
    loss.backward()
    assert (loss.data, x.grad) == (9.0, 6.0)


def test_a_line_squared(engine):
    """z = wx + b, L = z^2 at w = 2, x = 3, b = 1: 49, with derivatives 42, 28 and 14."""
    w, x, b = Scalar(2.0), Scalar(3.0), Scalar(1.0)
    loss = (w * x + b) ** 2
    loss.backward()
    assert (loss.data, w.grad, x.grad, b.grad) == (49.0, 42.0, 28.0, 14.0)


def test_an_order_that_works(engine):
    """z = ab, a = 2x, b = 3a at x = 5: 120."""
    x = Scalar(5.0)
    a = 2 * x
    (a * (3 * a)).backward()
    assert x.grad == 120.0
