"""The functions without branches, against NumPy's in longer numbers."""

import numpy as np
import pytest

from minigrad import operators
from minigrad.backends.numba import NumbaBackend, vector

NAMES = vector.NAMES
DTYPES = [np.float32, np.float64]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 709.7, 709.8, -745.1, -745.2, -800.0, 800.0, 88.7, 88.8]
SPECIAL += [-103.9, -104.0, 1e-310, -1e-310, 5e-324, 1e-40, -1e-45, 1e300, -1e300, 3e38, 1.7976931348623157e308]


@pytest.fixture(autouse=True)
def every_function_in_a_loop(monkeypatch):
    """Make operators of the functions that only help others, so that a loop can apply them."""
    for name in NAMES:
        monkeypatch.setitem(operators.FORMS, name, operators.Form(float_line=f"{name}({{0}})"))


def computed(name, x):
    """Apply a function in the backend."""
    return NumbaBackend().elementwise((name, ("in", 0)), [x], x.dtype)


def exact(name, x):
    """Apply a function in numbers with a longer mantissa: more than float64 has where the platform has them."""
    x = x.astype(np.longdouble if x.dtype == np.float64 else np.float64)
    with np.errstate(all="ignore"):
        if name == "sigmoid":
            power = np.exp(-np.abs(x))
            return np.where(x >= 0, 1 / (1 + power), power / (1 + power))
        if name == "softplus":
            return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
        if name in ("erf", "erfc"):
            return by_mpmath(name, x)
        return getattr(np, name)(x)


def by_mpmath(name, x):
    """Apply a function of mpmath, which sympy and so PyTorch bring along; NumPy has no error function."""
    mpmath = pytest.importorskip("mpmath", reason="mpmath, which PyTorch brings along, is not installed")

    def one(number):
        if number == 0 and name == "erf":
            return number  # mpmath's zero has no sign
        value = getattr(mpmath, name)(mpmath.mpf(str(number)))
        return np.longdouble(mpmath.nstr(value, 25))

    with mpmath.workdps(30):
        # Beyond 100 both functions are what they are at 100, to 4000 digits.
        return np.array([one(number) for number in np.clip(x, -100, 100)], x.dtype)


def arguments(name, dtype, rng):
    """Draw numbers from where the function does something, over all magnitudes and close to its difficult places."""
    info = np.finfo(dtype)
    spread = 10.0 ** rng.uniform(np.log10(info.smallest_subnormal), np.log10(info.max) - 1, 20_000)
    if name == "log":
        parts = [spread, rng.uniform(0.5, 2.0, 40_000), 1 + rng.normal(0, 1e-4, 5_000)]
    elif name == "log1p":
        parts = [spread, -(10.0 ** rng.uniform(-30, 0, 10_000)), rng.uniform(-1, 1, 20_000)]
    elif name in ("erf", "erfc"):
        end = 1.05 * np.sqrt(-np.log(info.smallest_subnormal))
        small = spread[spread < 1.0][::20]
        parts = [rng.uniform(-end, end, 1_500), rng.normal(0, 1, 1_500), small, -small]
    else:
        end = 1.05 * np.log(np.finfo(dtype).max)
        small = spread[spread < 1.0]
        parts = [rng.uniform(-end, end, 40_000), rng.normal(0, 1, 40_000), small, -small]
    return np.concatenate(parts).astype(dtype)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="this platform has no numbers longer than float64")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_results_are_within_two_units_in_the_last_place(name, dtype):
    """Over the whole range, subnormal results included, no result is further than 2 ulp from the true value; erfc 4."""
    x = arguments(name, dtype, np.random.default_rng(7))
    wanted = exact(name, x)
    with np.errstate(over="ignore"):
        rounded = wanted.astype(dtype)
    finite = np.isfinite(rounded)
    unit = np.spacing(np.abs(rounded[finite])).astype(wanted.dtype)
    error = np.abs(computed(name, x)[finite].astype(wanted.dtype) - wanted[finite]) / unit
    assert float(error.max()) <= (4.0 if name == "erfc" else 2.0), x[finite][error.argmax()]


def float32_errors(name, step):
    """Yield the largest error in units in the last place, and its argument, of each few million of all float32."""
    torch = pytest.importorskip("torch", reason="PyTorch, whose error functions are exact enough, is not installed")
    for first in range(0, 2**32, 2**22 * step):
        bits = np.arange(first, min(first + 2**22 * step, 2**32), step, dtype=np.uint64).astype(np.uint32)
        x = bits.view(np.float32)
        with np.errstate(all="ignore"):
            in_float64 = torch.from_numpy(x.astype(np.float64))
            wanted = getattr(torch.special, name)(in_float64).numpy() if name in ("erf", "erfc") else exact(name, x)
            rounded = wanted.astype(np.float32)
            finite = np.isfinite(rounded)
            error = np.abs(computed(name, x) - wanted)[finite] / np.spacing(np.abs(rounded[finite]))
            assert np.isnan(computed(name, x)[np.isnan(rounded)]).all()
        if error.size:
            yield float(error.max()), float(x[finite][error.argmax()])


@pytest.mark.full("ten million numbers are computed for each function", share=8)
@pytest.mark.parametrize("name", NAMES)
def test_float32_of_every_magnitude_is_within_two_units(name):
    """Every 401st of all float32 numbers, nan included; with a step of 1 it is all of them."""
    worst, x = max(float32_errors(name, 401))
    assert worst <= (4.0 if name == "erfc" else 2.0), x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_special_values_are_ieee(name, dtype):
    """Infinities, nan, zeros with their sign, overflow and subnormal numbers give what IEEE 754 says."""
    with np.errstate(over="ignore", under="ignore"):
        x = np.array(SPECIAL, dtype)
        wanted = exact(name, x).astype(dtype)
    y = computed(name, x)
    np.testing.assert_allclose(y, wanted, rtol=4 * np.finfo(dtype).eps, atol=2 * np.finfo(dtype).smallest_subnormal)
    zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(y[zero]), np.signbit(wanted[zero]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_position_in_a_vector_gives_the_same(dtype):
    """A number's result does not depend on whether it was computed in a vector or in the loop's rest."""
    x = np.linspace(-5, 5, 37).astype(dtype)
    for name in ("exp", "tanh", "sigmoid"):
        alone = np.array([computed(name, x[i : i + 1])[0] for i in range(x.size)])
        np.testing.assert_array_equal(computed(name, x), alone)
