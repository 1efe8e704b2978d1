"""Elementwise expressions in compiled loops: every layout, every dtype, every operator."""

import itertools
import math

import numpy as np
import pytest

from minigrad import operators
from minigrad.backends.numba import NumbaBackend, elementwise

BACKEND = NumbaBackend()
A, B, C = ("in", 0), ("in", 1), ("in", 2)
RNG = np.random.default_rng(3)


def layouts(shape):
    """Return arrays that broadcast to a shape, with all sorts of strides."""
    yield RNG.normal(size=shape)
    yield RNG.normal(size=shape[::-1]).transpose()
    yield RNG.normal(size=tuple(2 * n + 1 for n in shape))[tuple(slice(1, None, 2) for _ in shape)]
    yield np.broadcast_to(RNG.normal(size=shape[-1:]), shape)
    yield np.broadcast_to(RNG.normal(size=(*shape[:1], *[1] * (len(shape) - 1))), shape)
    yield RNG.normal(size=shape[-1:])
    yield RNG.normal(size=())


@pytest.mark.full("kernels are compiled for each layout", share=12)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (1, 9), (129, 65), (6, 7, 80), (2, 3, 4, 5), (0, 4), (3, 0, 2)])
def test_all_layouts_agree_with_numpy(shape):
    """Contiguous, transposed, strided and broadcast inputs give NumPy's bits, in a new row-major array."""
    for a, b in itertools.product(list(layouts(shape)), repeat=2):
        out = BACKEND.elementwise(("sub", ("mul", A, B), C), [a, b, 2.5], np.float64)
        assert out.flags.c_contiguous and out.flags.writeable
        np.testing.assert_array_equal(out, a * b - 2.5)


def test_many_axes_that_cannot_be_merged():
    """Five axes of a permuted array are walked in the right order."""
    x = RNG.normal(size=(3, 4, 2, 5, 6)).transpose(3, 0, 4, 2, 1)[:, ::2]
    np.testing.assert_array_equal(BACKEND.contiguous(x), x)


def test_an_array_without_axes():
    """0-d arrays give a 0-d result."""
    out = BACKEND.elementwise(("add", A, B), [np.array(2.0), np.array(3.0)], np.float64)
    assert out.shape == () and out[()] == 5.0


def test_a_large_result_is_written_past_the_caches_correctly(monkeypatch):
    """The streaming form gives the same as the ordinary one, also where the end fills no cache line."""
    monkeypatch.setattr(elementwise, "STREAM_FROM", 1 << 20)
    for dtype, size in ((np.float64, 150_003), (np.float32, 300_017)):
        x, y = RNG.normal(size=(2, size)).astype(dtype)
        np.testing.assert_array_equal(BACKEND.elementwise(("add", A, B), [x, y], dtype), x + y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_computation_keeps_its_dtype(dtype):
    """float32 stays float32 in every step: the result has float32's rounding, constants and numbers included."""
    x = RNG.normal(size=1000).astype(dtype)
    out = BACKEND.elementwise(("add", ("mul", A, ("const", 0.1)), B), [x, 0.3], dtype)
    assert out.dtype == dtype
    np.testing.assert_array_equal(out, x * dtype(0.1) + dtype(0.3))


def test_a_number_that_varies_does_not_compile_again():
    """Python numbers are arguments of the kernel, not part of it."""
    from minigrad.backends.numba import compiler

    x = RNG.normal(size=50)
    BACKEND.elementwise(("mul", A, B), [x, 1.5], np.float64)
    known = len(compiler._loaded)
    for factor in (2.5, -3.0, math.inf):
        np.testing.assert_array_equal(BACKEND.elementwise(("mul", A, B), [x, factor], np.float64), x * factor)
    assert len(compiler._loaded) == known


def test_zero_and_negative_zero_are_different_constants():
    """A constant -0.0 is not taken for 0.0 in the same expression."""
    x = np.array([-1.0, 1.0])
    out = BACKEND.elementwise(("where", ("lt", A, ("const", 0.0)), ("const", -0.0), ("const", 0.0)), [x], np.float64)
    np.testing.assert_array_equal(np.signbit(out), [True, False])


@pytest.mark.parametrize("kernel", ["lt", "gt", "le", "ge", "eq", "ne"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32, np.bool_])
def test_comparisons_give_booleans(kernel, dtype):
    """A comparison's result is bool, whatever is compared; nan is unequal to everything."""
    a, b = RNG.integers(-3, 4, (2, 200)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        a[::7] = np.nan
    compare = {"lt": np.less, "gt": np.greater, "le": np.less_equal, "ge": np.greater_equal}
    compare |= {"eq": np.equal, "ne": np.not_equal}
    out = BACKEND.elementwise((kernel, A, B), [a, b], np.bool_)
    assert out.dtype == np.bool_
    np.testing.assert_array_equal(out, compare[kernel](a, b))


def test_large_integers_are_exact():
    """int64 is computed in int64: no number passes through a float."""
    a = np.array([2**62 - 1, -(2**61) + 1, 5])
    b = np.array([1, 2**60 + 1, -7])
    out = BACKEND.elementwise(("add", A, B), [a, b], np.int64)
    assert out.dtype == np.int64
    np.testing.assert_array_equal(out, a + b)
    np.testing.assert_array_equal(BACKEND.elementwise(("max", A, B), [a, b], np.int64), np.maximum(a, b))


def test_int32_stays_int32():
    """Sums and products wrap around as NumPy's do, and a number joins them in their type."""
    a, b = RNG.integers(-(2**31), 2**31, (2, 500), np.int32)
    for kernel, form in (("add", np.add), ("mul", np.multiply), ("max", np.maximum)):
        out = BACKEND.elementwise((kernel, A, B), [a, b], np.int32)
        assert out.dtype == np.int32
        np.testing.assert_array_equal(out, form(a, b))
    np.testing.assert_array_equal(BACKEND.elementwise(("add", A, B), [a // 2, 7], np.int32), a // 2 + 7)


def test_a_mask_multiplies_and_selects():
    """Booleans among the inputs count as 0 and 1, and choose in where."""
    mask, x = RNG.random(100) < 0.5, RNG.normal(size=100).astype(np.float32)
    np.testing.assert_array_equal(BACKEND.elementwise(("mul", A, B), [mask, x], np.float32), mask * x)
    found = BACKEND.elementwise(("where", A, B, C), [mask, x, 2.0], np.float32)
    np.testing.assert_array_equal(found, np.where(mask, x, np.float32(2)))


ARITY = {"add": 2, "sub": 2, "mul": 2, "div": 2, "pow": 2, "max": 2, "min": 2, "clip": 3, "where": 3, "is_close": 2}
ARITY |= dict.fromkeys(("log_back", "inv_back", "exp_back", "sigmoid_back", "relu_back"), 2)
ARITY |= dict.fromkeys(("neg", "id", "inv", "relu", "exp", "log", "sigmoid", "sin", "cos", "tanh", "sqrt"), 1)
ARITY |= dict.fromkeys(("square", "abs", "sign", "erf", "erfc", "gelu"), 1)
VALUES = [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 3.0, 40.0, -700.0, 1e-300, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("kernel", sorted(ARITY))
def test_every_operator_equals_its_specification(kernel):
    """Each operator gives, for all combinations of ordinary and special values, what its Python function gives."""
    arguments = np.array(list(itertools.product(VALUES, repeat=ARITY[kernel]))).T.copy()
    inputs = [("in", i) for i in range(ARITY[kernel])]
    out = BACKEND.elementwise((kernel, *inputs), list(arguments), np.float64)
    wanted = [getattr(operators, kernel)(*column) for column in arguments.T.tolist()]
    np.testing.assert_allclose(out, wanted, rtol=1e-14, atol=5e-324)


@pytest.mark.parametrize("exponent", [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, -2.0])
def test_constant_powers(exponent):
    """A power with a constant exponent equals the general one."""
    x = np.array(VALUES)
    out = BACKEND.elementwise(("pow", A, ("const", exponent)), [x], np.float64)
    wanted = [operators.pow(v, exponent) for v in VALUES]
    np.testing.assert_allclose(out, wanted, rtol=1e-15)


def half_of(x):
    """A helper of a user's operator."""
    return x / 2.0


def test_a_function_as_operator():
    """A Python function takes an operator's place, with the helpers that it calls."""

    def tent(x):
        return half_of(x) if x < 0.5 else half_of(1.0 - x)

    x = RNG.random(100).astype(np.float32)
    out = BACKEND.elementwise(("mul", (tent, A), ("const", 4.0)), [x], np.float32)
    np.testing.assert_allclose(out, 2 * np.minimum(x, 1 - x), rtol=1e-6)


def test_common_parts_are_computed_once():
    """A part that occurs twice is written once."""
    from minigrad.backends.numba.expressions import Formula

    part = ("exp", ("mul", A, B))
    formula = Formula(("div", part, ("add", part, ("const", 1.0))), np.dtype(np.float64))
    assert sum("exp" in line for line in formula.lines) == 1 and len(formula.lines) == 4


def test_a_given_output():
    """A result can be put into a strided array, or over one of the inputs."""
    x, y = RNG.normal(size=(2, 60, 50))
    target = np.zeros((60, 100))
    assert BACKEND.elementwise(("add", A, B), [x, y], np.float64, out=target[:, ::2]).base is target
    np.testing.assert_array_equal(target[:, ::2], x + y)
    assert not target[:, 1::2].any()
    wanted = x * 2 + y
    BACKEND.elementwise(("add", ("mul", A, ("const", 2.0)), B), [x, y], np.float64, out=x)
    np.testing.assert_array_equal(x, wanted)


def test_steps_that_are_no_whole_elements():
    """A field of a structured array is read correctly."""
    record = np.zeros(40, dtype=[("flag", np.int8), ("value", np.float64)])
    record["value"] = RNG.normal(size=40)
    np.testing.assert_array_equal(BACKEND.contiguous(record["value"]), record["value"])


def test_more_inputs_than_llvm_compares():
    """Twelve inputs are no special case."""
    inputs = [RNG.normal(size=300) for _ in range(12)]
    expression = ("in", 0)
    for i in range(1, 12):
        expression = ("add", expression, ("in", i))
    wanted = inputs[0]
    for x in inputs[1:]:
        wanted = wanted + x
    np.testing.assert_array_equal(BACKEND.elementwise(expression, inputs, np.float64), wanted)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_whole_powers_wrap_round(dtype):
    """Powers of whole numbers are those of NumPy, beyond the largest number too."""
    x, y = np.array([-3, 0, 7, 2, -1, 3], dtype), np.array([3, 0, 4, 31, 77, 200], dtype)
    np.testing.assert_array_equal(BACKEND.elementwise(("pow", A, B), [x, y], dtype), x**y)
