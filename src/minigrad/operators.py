"""The operators of the library: plain functions of Python floats.

Each one is the *kernel* of a differentiable function in `minigrad.functions`: the specification that every
faster form must equal. They follow IEEE 754 where Python raises: ``inv(0.0)`` is ``inf``, ``exp(1000.0)`` is
``inf``, ``log(-1.0)`` is ``nan``. The decorator `ieee` sees to that, so that the bodies can stay textbook formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from minigrad.elementwise.entry import kernels_in
from minigrad.elementwise.forms import FORMS as FORMS
from minigrad.elementwise.forms import Expression as Expression
from minigrad.elementwise.forms import Form as Form
from minigrad.elementwise.ieee import divide_by_zero, ieee
from minigrad.elementwise.several import *  # noqa: F403 (what nobody writes is one entry of the table for each)
from minigrad.elementwise.several import _if_false as _if_false
from minigrad.elementwise.several import _if_true as _if_true
from minigrad.elementwise.table import *  # noqa: F403

__all__ = [
    "add",
    "addLists",
    "div",
    "eq",
    "exp",
    "exp_back",
    "id",
    "ieee",
    "inv",
    "inv_back",
    "is_close",
    "is_reduce",
    "log",
    "log_back",
    "lt",
    "map",
    "max",
    "mul",
    "neg",
    "negList",
    "prod",
    "reduce",
    "relu",
    "relu_back",
    "sigmoid",
    "sigmoid_back",
    "sum",
    "zipWith",
    *kernels_in(globals()),
]


# --- arithmetic ---------------------------------------------------------------------------------------------


def add(x: float, y: float) -> float:
    """Return x + y."""
    ### BEGIN SOLUTION
    return x + y
    ### END SOLUTION


FORMS["add"] = Form(numpy="add", line="{0} + {1}", keeps_integers=True, start=0.0, fold="add_any_order")


def mul(x: float, y: float) -> float:
    """Return x * y."""
    ### BEGIN SOLUTION
    return x * y
    ### END SOLUTION


FORMS["mul"] = Form(numpy="multiply", line="{0} * {1}", keeps_integers=True, start=1.0, fold="mul_any_order")


def neg(x: float) -> float:
    """Return -x, as a float also where x is an int."""
    ### BEGIN SOLUTION
    return -float(x)
    ### END SOLUTION


FORMS["neg"] = Form(numpy="negative", line="-{0}", keeps_integers=True)


@ieee(divide_by_zero)
def div(x: float, y: float) -> float:
    """Return x / y; x / 0 is an infinity with the sign of x / y, and 0 / 0 is nan.

    >>> minigrad.operators.div(1.0, 4.0), minigrad.operators.div(-1.0, 0.0)
    (0.25, -inf)
    """
    return x / y


FORMS["div"] = Form(numpy="true_divide", line="{0} / {1}")


# --- comparison ---------------------------------------------------------------------------------------------


def lt(x: float, y: float) -> float:
    """Return 1.0 if x is less than y, else 0.0."""
    ### BEGIN SOLUTION
    return 1.0 if x < y else 0.0
    ### END SOLUTION


FORMS["lt"] = Form(numpy="less", line="select({0} < {1}, one, zero)", compares=True, keeps_integers=True)


def eq(x: float, y: float) -> float:
    """Return 1.0 if x equals y, else 0.0."""
    ### BEGIN SOLUTION
    return 1.0 if x == y else 0.0
    ### END SOLUTION


FORMS["eq"] = Form(numpy="equal", line="select({0} == {1}, one, zero)", compares=True, keeps_integers=True)


def max(x: float, y: float) -> float:
    """Return the larger of x and y; nan if either is nan."""
    ### BEGIN SOLUTION
    if x != x or x > y:
        return x
    return y
    ### END SOLUTION


FORMS["max"] = Form(numpy="maximum", line="maximum({0}, {1})", keeps_integers=True, start=-math.inf, fold="maximum")


def is_close(x: float, y: float) -> float:
    """Return 1.0 if x and y differ by less than 0.01, else 0.0."""
    ### BEGIN SOLUTION
    return 1.0 if abs(x - y) < 1e-2 else 0.0
    ### END SOLUTION


# --- elementary functions -----------------------------------------------------------------------------------


def id(x: float) -> float:
    """Return x unchanged."""
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION


FORMS["id"] = Form(numpy="positive", line="{0}", keeps_integers=True)


@ieee(lambda x: divide_by_zero(1.0, x))
def inv(x: float) -> float:
    """Return 1 / x."""
    ### BEGIN SOLUTION
    return 1.0 / x
    ### END SOLUTION


FORMS["inv"] = Form(numpy="inverse", line="one / {0}")


def relu(x: float) -> float:
    """Return x where x is positive, else 0.0; nan stays nan."""
    ### BEGIN SOLUTION
    return 0.0 if x <= 0.0 else x
    ### END SOLUTION


FORMS["relu"] = Form(
    numpy="rectified",
    line="select({0} <= zero, zero, {0})",
    keeps_integers=True,
)


@ieee(lambda x: math.inf if x > 0.0 else None)
def exp(x: float) -> float:
    """Return e to the power x."""
    ### BEGIN SOLUTION
    return math.exp(x)
    ### END SOLUTION


FORMS["exp"] = Form(numpy="exp", float_line="exp({0})", is_dear=True)


@ieee(lambda x: -math.inf if x == 0.0 else math.nan if x < 0.0 else None)
def log(x: float) -> float:
    """Return the natural logarithm of x."""
    ### BEGIN SOLUTION
    return math.log(x)
    ### END SOLUTION


FORMS["log"] = Form(numpy="log", float_line="log({0})", is_dear=True)


def sigmoid(x: float) -> float:
    """Return 1 / (1 + e^-x) without overflow: for negative x as e^x / (1 + e^x)."""
    ### BEGIN SOLUTION
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    return math.exp(x) / (1.0 + math.exp(x))
    ### END SOLUTION


FORMS["sigmoid"] = Form(numpy="sigmoid", float_line="sigmoid({0})", is_dear=True)


# --- derivatives times an upstream derivative ---------------------------------------------------------------


def exp_back(x: float, d: float) -> float:
    """Return d times the derivative of exp at x.

    >>> minigrad.operators.exp_back(0.0, 5.0)
    5.0
    """
    return d * exp(x)


FORMS["exp_back"] = Form(line="{1} * exp({0})")


def sigmoid_back(x: float, d: float) -> float:
    """Return d times the derivative of sigmoid at x.

    >>> minigrad.operators.sigmoid_back(0.0, 4.0)
    1.0
    """
    s = sigmoid(x)
    return d * s * (1.0 - s)


@ieee(lambda x, d: divide_by_zero(d, x))
def log_back(x: float, d: float) -> float:
    """Return d times the derivative of log at x."""
    ### BEGIN SOLUTION
    return d / x
    ### END SOLUTION


FORMS["log_back"] = Form(line="{1} / {0}")


@ieee(lambda x, d: divide_by_zero(-d, x * x))
def inv_back(x: float, d: float) -> float:
    """Return d times the derivative of 1 / x at x."""
    ### BEGIN SOLUTION
    return -d / (x * x)
    ### END SOLUTION


FORMS["inv_back"] = Form(line="-{1} / ({0} * {0})")


def relu_back(x: float, d: float) -> float:
    """Return d times the derivative of relu at x.

    That is d where x is positive, else 0.0; d where x is nan.
    """
    ### BEGIN SOLUTION
    return 0.0 if x <= 0.0 else d
    ### END SOLUTION


FORMS["relu_back"] = Form(line="select({0} <= zero, zero, {1})")


# --- functions of functions ---------------------------------------------------------------------------------


def map(fn: Callable[[float], float]) -> Callable[[Iterable[float]], list[float]]:
    """Return a function that applies fn to every element of a list.

    Args:
        fn: One number to one number.

    Returns:
        A function of a list that returns the list of results, of the same length.
    """

    ### BEGIN SOLUTION
    def apply(values: Iterable[float]) -> list[float]:
        return [fn(x) for x in values]

    return apply
    ### END SOLUTION


def zipWith(
    fn: Callable[[float, float], float],
) -> Callable[[Iterable[float], Iterable[float]], list[float]]:
    """Return a function that combines two lists, element by element, with fn.

    Args:
        fn: Two numbers to one number.

    Returns:
        A function of two lists that returns the list of results, as long as the shorter
        list.
    """

    ### BEGIN SOLUTION
    def apply(left: Iterable[float], right: Iterable[float]) -> list[float]:
        return [fn(x, y) for x, y in zip(left, right, strict=False)]

    return apply
    ### END SOLUTION


def reduce(
    fn: Callable[[float, float], float],
    start: float,
) -> Callable[[Iterable[float]], float]:
    """Return a function that folds a list into one number, from the left.

    Args:
        fn: Combines the result so far (first) with the next element (second).
        start: The result for an empty list.

    Returns:
        A function of a list ``[x1, x2, ...]`` that returns ``fn(fn(start, x1), x2)
        ...``.
    """

    ### BEGIN SOLUTION
    def fold(values: Iterable[float]) -> float:
        result = start
        for x in values:
            result = fn(result, x)
        return result

    return fold
    ### END SOLUTION


def is_reduce(reduce: Callable[..., Callable[..., float]]) -> bool:
    """Decide by trying whether a function does what `reduce` should.

    A wrong function may be right for some fn, for some start, for some values, or the
    first time only. It may also raise an error: then the answer is False.

    Args:
        reduce: The function. It is called as ``reduce(fn, start)``, and what it returns
            is called with values: a list, or anything else that a for loop can walk
            through.

    Returns:
        True if the function is right.
    """
    ### BEGIN SOLUTION
    values = [5.0, 1.0, 4.0]
    try:
        fold = reduce(lambda so_far, x: 2.0 * so_far + x, 3.0)
        results = [fold(values), fold(values), fold(x for x in values), fold([])]
    except Exception:
        return False
    return results == [50.0, 50.0, 50.0, 3.0]
    ### END SOLUTION


def negList(values: Iterable[float]) -> list[float]:
    """Return the list of -x for every x."""
    ### BEGIN SOLUTION
    return map(neg)(values)
    ### END SOLUTION


def addLists(left: Iterable[float], right: Iterable[float]) -> list[float]:
    """Return the sums of two lists, element by element."""
    ### BEGIN SOLUTION
    return zipWith(add)(left, right)
    ### END SOLUTION


def sum(values: Iterable[float]) -> float:
    """Return the sum of a list; 0.0 for an empty one."""
    ### BEGIN SOLUTION
    return reduce(add, 0.0)(values)
    ### END SOLUTION


def prod(values: Iterable[float]) -> float:
    """Return the product of a list; 1.0 for an empty one."""
    ### BEGIN SOLUTION
    return reduce(mul, 1.0)(values)
    ### END SOLUTION
