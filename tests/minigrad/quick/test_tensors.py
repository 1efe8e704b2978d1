"""The quick forms of Tensor's operators give what NumPy gives, on both sides of each border between two ways."""

import operator

import numpy as np
import pytest

import minigrad
from minigrad.backends import arrays

OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv]
SIZES = [1, 100, arrays.LARGE - 1, arrays.LARGE, arrays.LARGE + 5]
NUMBERS = [2, 2.5, -0.0, True, float("nan"), 2**62, 2**63, -(2**70), 10**30, 10**39]


def layouts(size, dtype):
    """Draw an array, and a view of one that takes every second element."""
    numbers = np.random.default_rng(size).standard_normal(2 * size).astype(dtype)
    return [numbers[:size], numbers[::2]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("apply", OPERATORS)
def test_two_arrays(apply, size, dtype):
    """Arrays of every layout, and their gradients."""
    for x in layouts(size, dtype):
        for y in layouts(size, dtype):
            a, b = minigrad.from_numpy(x).requires_grad_(), minigrad.from_numpy(y)
            result = apply(a, b)
            assert result.dtype == dtype
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(result.detach().numpy(), apply(x, y))
    result.sum().backward()
    slopes = {operator.mul: y, operator.truediv: 1 / y}
    np.testing.assert_allclose(a.grad.numpy(), slopes.get(apply, np.ones_like(y)), rtol=1e-6)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("apply", OPERATORS)
def test_an_array_and_a_number_on_either_side(apply, number, size):
    """A number of Python takes the array's type, whatever the size."""
    x = layouts(size, np.float32)[1]
    with np.errstate(over="ignore"):
        like = np.float32(number)
    a = minigrad.from_numpy(x)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(apply(a, number).numpy(), apply(x, like))
        np.testing.assert_array_equal(apply(number, a).numpy(), apply(like, x))


@pytest.mark.parametrize("size", SIZES)
def test_refusals_are_the_same_for_every_size(size):
    """Operators refuse what no float holds, what is no number, and shapes that do not go together."""
    a = minigrad.zeros(size)
    with pytest.raises((OverflowError, ValueError), match="too large"):
        a * 10**400
    with pytest.raises(TypeError, match="unsupported"):
        a * None
    with pytest.raises(ValueError, match="broadcast"):
        minigrad.zeros(size, 2) + minigrad.zeros(size, 3)


def test_two_small_arrays_may_broadcast_to_a_large_one():
    """(300, 1) and (300,) make 90,000 elements."""
    x, y = np.arange(300.0).reshape(300, 1), np.arange(300.0)
    np.testing.assert_array_equal((minigrad.tensor(x) - minigrad.tensor(y)).numpy(), (x - y).astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [*SIZES, arrays.LARGE_AND_DEAR - 1, arrays.LARGE_AND_DEAR])
@pytest.mark.parametrize("name", ["exp", "log", "relu", "sigmoid", "tanh", "sqrt", "square"])
def test_methods_without_operands(name, size, dtype):
    """Arrays of every layout, nan and infinities among them, beside NumPy in float64."""
    for x in layouts(size, dtype):
        x[: min(size, 3)] = [np.nan, np.inf, -np.inf][: min(size, 3)]
        a = minigrad.from_numpy(x).requires_grad_()
        result = getattr(a, name)()
        assert result.dtype == dtype
        wide = x.astype(np.float64)
        with np.errstate(all="ignore"):
            forms = {"relu": np.maximum(wide, 0), "sigmoid": 1 / (1 + np.exp(-wide))}
            wanted = forms[name] if name in forms else getattr(np, name)(wide)
        np.testing.assert_allclose(result.detach().numpy(), wanted, rtol=8 * np.finfo(dtype).eps)
        result.sum().backward()
        assert a.grad.shape == a.shape


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [*SIZES, arrays.LARGE_AND_DEAR, 50_000, 100_000])
@pytest.mark.parametrize("apply", [*OPERATORS, operator.pow, minigrad.maximum])
def test_a_tensor_without_axes_on_either_side(apply, size, dtype):
    """It goes with every element, as a number does, and its gradient is the sum of theirs."""
    for order in (1, -1):
        a, b = minigrad.tensor(3.0, dtype=dtype, requires_grad=True), minigrad.tensor(np.full(size, 2.0, dtype))
        result = apply(*(a, b)[::order])
        wanted = apply(*(minigrad.tensor(np.full(size, 3.0, dtype)), b)[::order])
        np.testing.assert_array_equal(result.detach().numpy(), wanted.numpy())
        result.sum().backward()
        assert a.grad.shape == () and np.isfinite(a.grad.item())
