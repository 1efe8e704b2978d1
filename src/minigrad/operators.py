"""The operators of the library: plain functions of Python floats.

Each one is the *kernel* of a differentiable function in `minigrad.functions`: the specification that every
faster form must equal. They follow IEEE 754 where Python raises: ``inv(0.0)`` is ``inf``, ``exp(1000.0)`` is
``inf``, ``log(-1.0)`` is ``nan``. The decorator `ieee` sees to that, so that the bodies can stay textbook formulas.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable

__all__ = [
    "abs",
    "add",
    "addLists",
    "clip",
    "cos",
    "div",
    "eq",
    "erf",
    "exp",
    "exp_back",
    "ge",
    "gelu",
    "gt",
    "id",
    "ieee",
    "inv",
    "inv_back",
    "is_close",
    "le",
    "log",
    "log_back",
    "lt",
    "map",
    "max",
    "min",
    "mul",
    "ne",
    "neg",
    "negList",
    "pow",
    "prod",
    "reduce",
    "relu",
    "relu_back",
    "sigmoid",
    "sigmoid_back",
    "sign",
    "sin",
    "sqrt",
    "square",
    "sub",
    "sum",
    "tanh",
    "where",
    "zipWith",
]

Operator = Callable[..., float]


def ieee(fallback: Operator) -> Callable[[Operator], Operator]:
    """Let an operator return what IEEE 754 says where Python raises an error.

    Args:
        fallback: Called with the same arguments when Python refuses them; returns the IEEE value.
    """

    def decorate(operator: Operator) -> Operator:
        @functools.wraps(operator)
        def total(*args: float) -> float:
            try:
                return operator(*args)
            except (ZeroDivisionError, OverflowError, ValueError):
                return fallback(*args)

        # `minigrad.exercises.install` wraps a student's operator in the same way.
        total.__dict__["__minigrad_wrap__"] = ieee(fallback)
        return total

    return decorate


def _divide_by_zero(x: float, y: float) -> float:
    """The IEEE quotient x / 0: signed infinity, or nan where x is 0 or nan."""
    return math.nan if x == 0.0 or x != x else math.copysign(math.inf, x) * math.copysign(1.0, y)


def _power_beyond_floats(x: float, y: float) -> float:
    """The IEEE power where `math.pow` raises: a pole at 0, an overflow, or a root of a negative number."""
    is_integer = float(y).is_integer()
    if x < 0.0 and not is_integer:
        return math.nan
    is_odd = is_integer and math.fmod(y, 2.0) != 0.0
    return math.copysign(math.inf, x) if is_odd else math.inf


def add(x: float, y: float) -> float:
    """Return x + y."""
    ### BEGIN SOLUTION
    return x + y
    ### END SOLUTION


def mul(x: float, y: float) -> float:
    """Return x * y."""
    ### BEGIN SOLUTION
    return x * y
    ### END SOLUTION


def neg(x: float) -> float:
    """Return -x, as a float also where x is an int."""
    ### BEGIN SOLUTION
    return -float(x)
    ### END SOLUTION


def sub(x: float, y: float) -> float:
    """Return x - y.

    >>> minigrad.operators.sub(5.0, 3.0)
    2.0
    """
    return x - y


@ieee(_divide_by_zero)
def div(x: float, y: float) -> float:
    """Return x / y; x / 0 is an infinity with the sign of x / y, and 0 / 0 is nan.

    >>> minigrad.operators.div(1.0, 4.0), minigrad.operators.div(-1.0, 0.0)
    (0.25, -inf)
    """
    return x / y


@ieee(_power_beyond_floats)
def pow(x: float, y: float) -> float:
    """Return x to the power y; nan where no real number is the answer.

    >>> minigrad.operators.pow(2.0, 3.0), minigrad.operators.pow(-1.0, 0.5)
    (8.0, nan)
    """
    return math.pow(x, y)


def lt(x: float, y: float) -> float:
    """Return 1.0 if x is less than y, else 0.0."""
    ### BEGIN SOLUTION
    return 1.0 if x < y else 0.0
    ### END SOLUTION


def eq(x: float, y: float) -> float:
    """Return 1.0 if x equals y, else 0.0."""
    ### BEGIN SOLUTION
    return 1.0 if x == y else 0.0
    ### END SOLUTION


def max(x: float, y: float) -> float:
    """Return the larger of x and y; nan if either is nan."""
    ### BEGIN SOLUTION
    if x != x or x > y:
        return x
    return y
    ### END SOLUTION


def min(x: float, y: float) -> float:
    """Return the smaller of x and y; nan if either is nan.

    >>> minigrad.operators.min(2.0, 3.0)
    2.0
    """
    if x != x or x < y:
        return x
    return y


def clip(x: float, low: float, high: float) -> float:
    """Return x moved into [low, high]; nan stays nan, and high wins where low is larger.

    >>> minigrad.operators.clip(7.0, 0.0, 1.0)
    1.0
    """
    return min(max(x, low), high)


def gt(x: float, y: float) -> float:
    """Return 1.0 if x is greater than y, else 0.0.

    >>> minigrad.operators.gt(3.0, 2.0)
    1.0
    """
    return 1.0 if x > y else 0.0


def le(x: float, y: float) -> float:
    """Return 1.0 if x is at most y, else 0.0.

    >>> minigrad.operators.le(3.0, 3.0)
    1.0
    """
    return 1.0 if x <= y else 0.0


def ge(x: float, y: float) -> float:
    """Return 1.0 if x is at least y, else 0.0.

    >>> minigrad.operators.ge(2.0, 3.0)
    0.0
    """
    return 1.0 if x >= y else 0.0


def ne(x: float, y: float) -> float:
    """Return 1.0 if x differs from y, else 0.0; nan differs from everything.

    >>> minigrad.operators.ne(2.0, 3.0)
    1.0
    """
    return 1.0 if x != y else 0.0


def is_close(x: float, y: float) -> float:
    """Return 1.0 if x and y differ by less than 0.01, else 0.0."""
    ### BEGIN SOLUTION
    return 1.0 if abs(x - y) < 1e-2 else 0.0
    ### END SOLUTION


def where(condition: float, x: float, y: float) -> float:
    """Return x if the condition is not 0.0, else y.

    >>> minigrad.operators.where(1.0, 5.0, 7.0), minigrad.operators.where(0.0, 5.0, 7.0)
    (5.0, 7.0)
    """
    return x if condition != 0.0 else y


def id(x: float) -> float:
    """Return x unchanged."""
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION


@ieee(lambda x: _divide_by_zero(1.0, x))
def inv(x: float) -> float:
    """Return 1 / x."""
    ### BEGIN SOLUTION
    return 1.0 / x
    ### END SOLUTION


def relu(x: float) -> float:
    """Return x where x is positive, else 0.0; nan stays nan."""
    ### BEGIN SOLUTION
    return 0.0 if x <= 0.0 else x
    ### END SOLUTION


@ieee(lambda x: math.inf)
def exp(x: float) -> float:
    """Return e to the power x."""
    ### BEGIN SOLUTION
    return math.exp(x)
    ### END SOLUTION


@ieee(lambda x: -math.inf if x == 0.0 else math.nan)
def log(x: float) -> float:
    """Return the natural logarithm of x."""
    ### BEGIN SOLUTION
    return math.log(x)
    ### END SOLUTION


def sigmoid(x: float) -> float:
    """Return 1 / (1 + e^-x) without overflow: for negative x as e^x / (1 + e^x)."""
    ### BEGIN SOLUTION
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    return math.exp(x) / (1.0 + math.exp(x))
    ### END SOLUTION


@ieee(lambda x: math.nan)
def sin(x: float) -> float:
    """Return the sine of x, in radians.

    >>> round(minigrad.operators.sin(1.0), 4)
    0.8415
    """
    return math.sin(x)


@ieee(lambda x: math.nan)
def cos(x: float) -> float:
    """Return the cosine of x, in radians.

    >>> minigrad.operators.cos(0.0)
    1.0
    """
    return math.cos(x)


def tanh(x: float) -> float:
    """Return the hyperbolic tangent of x.

    >>> round(minigrad.operators.tanh(1.0), 4)
    0.7616
    """
    return math.tanh(x)


@ieee(lambda x: math.nan)
def sqrt(x: float) -> float:
    """Return the square root of x; nan for a negative x.

    >>> minigrad.operators.sqrt(9.0), minigrad.operators.sqrt(-1.0)
    (3.0, nan)
    """
    return math.sqrt(x)


def square(x: float) -> float:
    """Return x times x.

    >>> minigrad.operators.square(-3.0)
    9.0
    """
    return x * x


def abs(x: float) -> float:
    """Return x without its sign.

    >>> minigrad.operators.abs(-3.0)
    3.0
    """
    return math.fabs(x)


def sign(x: float) -> float:
    """Return 1.0 for a positive x, -1.0 for a negative one, and 0.0 for zero and nan, as PyTorch does.

    >>> minigrad.operators.sign(-3.0), minigrad.operators.sign(0.0)
    (-1.0, 0.0)
    """
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0


def erf(x: float) -> float:
    """Return the error function of x: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.

    >>> round(minigrad.operators.erf(1.0), 4)
    0.8427
    """
    return math.erf(x)


def gelu(x: float) -> float:
    """Return x times the probability that a standard normal number is below x.

    Source:
        Hendrycks and Gimpel, Gaussian Error Linear Units, 2016: x / 2 * (1 + erf(x / sqrt 2)).

    >>> round(minigrad.operators.gelu(1.0), 4)
    0.8413
    """
    return 0.5 * x * math.erfc(-x / math.sqrt(2.0))


def exp_back(x: float, d: float) -> float:
    """Return d times the derivative of exp at x.

    >>> minigrad.operators.exp_back(0.0, 5.0)
    5.0
    """
    return d * exp(x)


def sigmoid_back(x: float, d: float) -> float:
    """Return d times the derivative of sigmoid at x.

    >>> minigrad.operators.sigmoid_back(0.0, 4.0)
    1.0
    """
    s = sigmoid(x)
    return d * s * (1.0 - s)


@ieee(lambda x, d: _divide_by_zero(d, x))
def log_back(x: float, d: float) -> float:
    """Return d times the derivative of log at x."""
    ### BEGIN SOLUTION
    return d / x
    ### END SOLUTION


@ieee(lambda x, d: -_divide_by_zero(d, x * x))
def inv_back(x: float, d: float) -> float:
    """Return d times the derivative of 1 / x at x."""
    ### BEGIN SOLUTION
    return -d / (x * x)
    ### END SOLUTION


def relu_back(x: float, d: float) -> float:
    """Return d times the derivative of relu at x: d where x is positive, else 0.0; d where x is nan."""
    ### BEGIN SOLUTION
    return 0.0 if x <= 0.0 else d
    ### END SOLUTION


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
        A function of two lists that returns the list of results, as long as the shorter list.
    """

    ### BEGIN SOLUTION
    def apply(left: Iterable[float], right: Iterable[float]) -> list[float]:
        return [fn(x, y) for x, y in zip(left, right, strict=False)]

    return apply
    ### END SOLUTION


def reduce(fn: Callable[[float, float], float], start: float) -> Callable[[Iterable[float]], float]:
    """Return a function that folds a list into one number, from the left.

    Args:
        fn: Combines the result so far (first) with the next element (second).
        start: The result for an empty list.

    Returns:
        A function of a list ``[x1, x2, ...]`` that returns ``fn(fn(start, x1), x2) ...``.
    """

    ### BEGIN SOLUTION
    def fold(values: Iterable[float]) -> float:
        result = start
        for x in values:
            result = fn(result, x)
        return result

    return fold
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
