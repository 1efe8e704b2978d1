"""Integers near their limits, mixed types, tensors of no axes and of no elements, beside PyTorch."""

import itertools
import math
import warnings

import numpy as np
import pytest
from pytorch import torch

import minigrad as mg

TYPES = ("bool", "int32", "int64", "float32", "float64")
LEAST = {"int32": -(2**31), "int64": -(2**63)}
NUMBERS = (True, 3, -2, 2**31, 0.5, 2.0, math.inf, math.nan)
SHAPES = ((), (0,), (3,), (1, 3), (2, 0), (2, 3))
pytestmark = pytest.mark.filterwarnings("ignore:.*degrees of freedom.*")


def values(dtype, shape=(3,), shift=0):
    """Numbers of a type, its limits among them."""
    pools = {
        "bool": [True, False],
        "int32": [2**31 - 1, -(2**31), 0, -7, 5, 100_000],
        "int64": [2**63 - 1, -(2**63), 0, -7, 5, 2**53 + 1],
        "float32": [16777216.0, -0.0, math.inf, -2.5, math.nan, 0.75],
        "float64": [1e300, -0.0, -math.inf, -2.5, math.nan, 0.75],
    }
    pool = np.roll(np.array(pools[dtype], dtype), -shift)
    return np.resize(pool, shape) if math.prod(shape) else np.zeros(shape, dtype)


def seen(m, program, *arrays):
    """Values and types, or None where the library refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = program(m, *[m.tensor(x) if isinstance(x, np.ndarray) else x for x in arrays])
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, ArithmeticError):
        return None
    return [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]


def agrees(program, *arrays, only=None):
    """Compare with PyTorch where both libraries compute."""
    ours, theirs = seen(mg, program, *arrays), seen(torch, program, *arrays)
    if ours is None or theirs is None:
        return
    for a, b in zip(ours, theirs, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), arrays
        tolerance = 1e-6 if a.dtype == np.float32 else 1e-15
        np.testing.assert_allclose(a, b, rtol=tolerance if a.dtype.kind == "f" else 0, err_msg=repr(arrays))


BINARY = {
    "+": lambda m, x, y: x + y,
    "-": lambda m, x, y: x - y,
    "*": lambda m, x, y: x * y,
    "/": lambda m, x, y: x / y,
    "//": lambda m, x, y: x // y,
    "%": lambda m, x, y: x % y,
    "<": lambda m, x, y: x < y,
    "==": lambda m, x, y: x == y,
    "fmod": lambda m, x, y: x.fmod(y),
    "maximum": lambda m, x, y: m.maximum(x, y),
    "minimum": lambda m, x, y: m.minimum(x, y),
    "where": lambda m, x, y: m.where(m.tensor([True, False, True]), x, y),
    "masked_fill": lambda m, x, y: x.masked_fill(m.tensor([True, False, True]), y),
    "fill nowhere": lambda m, x, y: x.masked_fill(m.tensor([False] * 3), y),
    "add": lambda m, x, y: x.add(y, alpha=2),
    "add a part": lambda m, x, y: x.add(y, alpha=0.1),
    "sub": lambda m, x, y: x.sub(y, alpha=3),
    "addcmul": lambda m, x, y: x.addcmul(y, m.ones_like(y), value=2),
    "addcdiv": lambda m, x, y: x.addcdiv(y, y, value=2),
    "lerp": lambda m, x, y: x.lerp(y, 0.75),
    "lerp to the end": lambda m, x, y: x.lerp(y, 1.0),
    "isclose": lambda m, x, y: x.isclose(y),
}


@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_all_types_are_pytorchs(name):
    """Values and types of all pairs of types, with the limits of integers against each other."""
    for a, b in itertools.product(TYPES, TYPES):
        for shift in range(6):
            agrees(BINARY[name], values(a), values(b, shift=shift))
            if name not in ("//", "%", "fmod") or not np.array_equal(values(b, (), shift), 0):
                agrees(BINARY[name], values(a), values(b, (), shift))


def _kept(dtype, number):
    """Whether a type of integers holds a number; PyTorch wraps it round elsewhere, where this library refuses."""
    return dtype not in LEAST or not isinstance(number, int) or LEAST[dtype] <= number < -LEAST[dtype]


@pytest.mark.parametrize(
    "name", ["+", "-", "*", "/", "//", "%", "fmod", "maximum", "fill nowhere", "masked_fill", "**"]
)
def test_python_numbers_beside_all_types_are_pytorchs(name):
    """Also whole numbers as floats, and integers too large for a type, which are refused in words."""
    program = (BINARY | {"**": lambda m, x, y: x**y}).get(name)
    for dtype, number in itertools.product(TYPES, NUMBERS):
        if name == "**" and dtype == "bool" and number is True:
            continue  # PyTorch alone gives booleans for it; of a 1 both give integers
        if _kept(dtype, number):
            agrees(program, values(dtype), number)
        elif name != "/":
            with pytest.raises(OverflowError, match="2147483648 is outside of int32"):
                program(mg, mg.tensor(values(dtype)), number)


METHODS = {
    "sum": ((), (0,), (-1,), ((0,), True)),
    "mean": ((), (0,), ((0,), True)),
    "prod": ((), (0,)),
    "max": ((), (0,), (-1, True)),
    "min": ((), (0,), (-1, True)),
    "amax": ((), (0,)),
    "amin": ((), (0,)),
    "argmax": ((), (0,)),
    "argmin": ((), (0,)),
    "any": ((), (0,)),
    "all": ((), (0,)),
    "sort": ((), (0,)),
    "topk": ((1,),),
    "kthvalue": ((1,),),
    "median": ((), (0,)),
    "cumsum": ((0,),),
    "cumprod": ((0,),),
    "var": ((),),
    "std": ((),),
    "repeat": ((1, 1), (2, 1)),
    "tile": ((1,), (2,)),
    "roll": ((0,), (1,)),
    "movedim": ((0, 0), (0, -1), (-1, 0)),
    "trunc": ((),),
    "sign": ((),),
    "square": ((),),
    "nonzero": ((),),
    "flip": ((0,),),
    "unique": ((),),
    "count_nonzero": ((),),
    "clone": ((),),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_all_types_and_small_shapes_are_pytorchs(name):
    """No axes, no elements, and the limits of integers, where both libraries compute."""
    for dtype, shape, given, shift in itertools.product(TYPES, SHAPES, METHODS[name], range(6)):
        agrees(lambda m, x: tuple(_listed(getattr(x, name)(*given))), values(dtype, shape, shift))  # noqa: B023


def _listed(found):
    return tuple(found) if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("name", METHODS)
def test_results_share_memory_where_pytorchs_do(name):
    """A result of one element, or along no axis, is as much a copy as any other."""
    for dtype, shape, given in itertools.product(TYPES, SHAPES, METHODS[name]):
        answers = []
        for m in (mg, torch):
            x = m.tensor(values(dtype, shape))
            try:
                found = _listed(getattr(x, name)(*given))
            except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
                break
            answers.append([np.shares_memory(np.asarray(x), np.asarray(each)) for each in found])
        assert len(answers) < 2 or answers[0] == answers[1], (dtype, shape, given)


def test_a_result_along_no_axis_is_a_copy():
    """Here () names no axis, in PyTorch all of them."""
    for name, dtype in itertools.product(("sum", "prod", "amax", "amin"), TYPES):
        x = mg.tensor(values(dtype))
        found = getattr(x, name)(dim=())
        assert not np.shares_memory(np.asarray(found), np.asarray(x))
        np.testing.assert_array_equal(np.asarray(found), np.asarray(x))


MESSAGES = {
    "neg": lambda x: -x,
    "isclose": lambda x: x.isclose(x),
    "movedim": lambda x: x.movedim(0, -1),
    "where": lambda x: mg.where(x > 0),
    "nonzero": lambda x: x.nonzero(as_tuple=True),
    "sub": lambda x: x - x,
    "times": lambda x: x * 2**31,
    "power": lambda x: x**0.5,
    "narrow": lambda x: x.narrow(0, 0, 1),
    "split": lambda x: x.split(1),
    "chunk": lambda x: x.chunk(2),
    "unbind": lambda x: x.unbind(),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 0),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_no_error_is_numpys_own(name):
    """Of booleans, of no axes, of no elements: a value, or a sentence of this library's."""
    for dtype, shape in itertools.product(TYPES, SHAPES):
        said = ": "
        try:
            MESSAGES[name](mg.tensor(values(dtype, shape)))
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            said = str(error)
        assert ": " in said
        assert "numpy" not in said.lower()
        assert "out of bounds for" not in said


@pytest.mark.parametrize("condition", [[1, 0], [1.0, 0.0]])
def test_a_condition_is_boolean(condition):
    """Numbers as conditions are refused, as by PyTorch."""
    x, mask = mg.tensor([1.0, 2.0]), mg.tensor(condition)
    for refused in (
        lambda: mg.where(mask, x, 0.0),
        lambda: x.where(mask, 0.0),
        lambda: x.masked_fill(mask, 0.0),
        lambda: x.masked_fill_(mask, 0.0),
        lambda: x.masked_select(mask),
    ):
        with pytest.raises(TypeError, match=r"a condition is a tensor of booleans, not a tensor of .*; compare"):
            refused()


TOO_LARGE = (
    lambda m: m.tensor([2**63]),
    lambda m: m.tensor(-(2**63) - 1),
    lambda m: m.tensor([-1, 2**63]),
    lambda m: m.tensor([2**31], dtype=m.int32),
    lambda m: m.tensor([2.0**40], dtype=m.int32),
    lambda m: m.tensor([math.nan], dtype=m.int64),
    lambda m: m.full((2,), 2**63),
    lambda m: m.full((2,), -(2**31) - 1, dtype=m.int32),
    lambda m: m.full((2,), 1e300, dtype=m.float32),
    lambda m: m.zeros(2, dtype=m.int32).new_full((2,), 2**31),
    lambda m: m.zeros(2, dtype=m.int32).fill_(2**31),
    lambda m: m.zeros(2, dtype=m.int32).fill_(math.nan),
    lambda m: m.zeros(2, dtype=m.int32).masked_fill(m.tensor([True, False]), 2**31),
    lambda m: m.zeros(2, dtype=m.int32).clamp(2**31),
    lambda m: m.arange(2**63),
    lambda m: m.arange(5, 0),
    lambda m: m.arange(0, 5, -1),
    lambda m: m.arange(math.inf),
)


@pytest.mark.parametrize("program", TOO_LARGE)
def test_numbers_that_a_type_does_not_hold_are_refused(program):
    """PyTorch refuses them too."""
    with pytest.raises((OverflowError, ValueError), match=r"outside of int|too large for float|arange"):
        program(mg)
    with pytest.raises((RuntimeError, OverflowError, ValueError)):
        program(torch)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.full("programs are compiled", share=12))]
)
def test_the_mean_of_ones_is_one(dtype, compiled):
    """A total times the rounded 1/n is not: 1/49 * 49 is 1 - 2^-53."""
    wrap = mg.jit if compiled else (lambda f: f)
    for n in (*range(1, 40 if compiled else 400), 49, 4097, 33_000, 40_001):
        x = mg.ones(n, dtype=dtype)
        assert wrap(lambda x: x.mean())(x).item() == 1.0, n
        assert wrap(lambda x: mg.nn.functional.mse_loss(x, x * 2.0))(x).item() == 1.0, n
        assert wrap(lambda x: (x.view(-1, 1) * 2.0).var(0, False).sum())(x).item() == 0.0, n


@pytest.mark.parametrize("kernel", [3, 7])
@pytest.mark.parametrize("size", [14, 210])
def test_the_mean_of_a_window_of_ones_is_one(kernel, size):
    """The same for average pooling, with loops of NumPy's and compiled ones."""
    for dtype in ("float32", "float64"):
        assert (mg.nn.functional.avg_pool2d(mg.ones(1, 1, size, size, dtype=dtype), kernel) == 1.0).all()


@pytest.mark.parametrize("name", ["//", "%", "fmod"])
@pytest.mark.parametrize("wrap", [lambda f: f, mg.jit, mg.vmap], ids=["eager", "jit", "vmap"])
def test_integers_divided_by_zero_are_refused_everywhere(name, wrap):
    """Under jit and vmap too, by a number and by an element."""
    x = mg.tensor([[3, 4], [5, 6]])
    with pytest.raises(ZeroDivisionError, match="integers cannot be divided by 0"):
        wrap(lambda x, y: BINARY[name](mg, x, y))(x, mg.tensor([[1, 0], [1, 1]]))
    with pytest.raises(ZeroDivisionError, match="integers cannot be divided by 0"):
        wrap(lambda x: BINARY[name](mg, x, 0))(x)


def test_the_slope_of_fmod_at_zero_is_one():
    """As PyTorch's, and not that of abs(x)."""
    for m in (mg, torch):
        x = m.tensor([0.0, 5.0, -5.0], requires_grad=True)
        x.fmod(3.0).sum().backward()
        assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_the_variance_of_too_few_elements_is_pytorchs():
    """Infinite where the distances are not 0, else nan."""
    for numbers, correction in itertools.product([[1.0, 2.0], [1.0, 1.0], [1.0], []], [0, 1, 2, 3]):
        agrees(lambda m, x: (x.var(correction=correction), x.std(correction=correction)), np.array(numbers))  # noqa: B023
