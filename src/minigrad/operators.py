"""The operators of the library: plain functions of Python floats.

Each one is the *kernel* of a differentiable function in `minigrad.functions`: the specification that every
faster form must equal. They follow IEEE 754 where Python raises: ``inv(0.0)`` is ``inf``, ``exp(1000.0)`` is
``inf``, ``log(-1.0)`` is ``nan``. The decorator `ieee` sees to that, so that the bodies can stay textbook formulas.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from opcode import opmap
from typing import Any

__all__ = [
    "abs",
    "add",
    "addLists",
    "clip",
    "cos",
    "div",
    "eq",
    "erf",
    "erfc",
    "exp",
    "exp_back",
    "floor",
    "floor_divide",
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
    "remainder",
    "rint",
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


@dataclass(frozen=True)
class Form:
    """The quick forms of an operator, as text that a backend reads: an operator without them is called as it stands.

    Attributes:
        numpy: The name of a function in `minigrad.backends.numpy_forms` or in NumPy.
        line: The operator in a compiled loop, of the inputs ``{0}``, ``{1}``, ...; ``zero`` and ``one`` have its type.
        float_line: The same where it serves floats only.
        powers: Lines for floats by the value of a constant second input.
        compares: Whether the result is a truth value.
        keeps_integers: Whether integers give an integer.
        is_dear: Whether it takes several times as long as an addition.
        start: The number that a reduction starts from; folding it in changes nothing.
        fold: The function with which a compiled loop folds.
        in_pairs: The operator as an expression of operators of one or two inputs; a number is an input.
    """

    numpy: str = ""
    line: str = ""
    float_line: str = ""
    powers: Mapping[float, str] = field(default_factory=dict)
    compares: bool = False
    keeps_integers: bool = False
    is_dear: bool = False
    start: float | None = None
    fold: str = ""
    in_pairs: tuple[Any, ...] = ()


Expression = tuple[Any, ...]
"""Operators of operators: ``("in", i)``, ``("const", number)`` or ``(name, *expressions)``."""

FORMS: dict[str, Form] = {}
"""The quick forms by the operator's name; each entry stands below its operator."""


def ieee(fallback: Callable[..., float | None]) -> Callable[[Operator], Operator]:
    """Let an operator return what IEEE 754 says where Python's arithmetic raises an error.

    Args:
        fallback: Called with the same arguments when Python refuses them. Returns the IEEE value; None where the
            standard has none of its own, so that the error is a mistake in the operator, and stays.

    A ``raise`` statement in the operator is no arithmetic: its error stays too.
    """

    def decorate(operator: Operator) -> Operator:
        @functools.wraps(operator)
        def total(*args: float) -> float:
            try:
                return operator(*args)
            except (ZeroDivisionError, OverflowError, ValueError) as error:
                value = None if _is_raised_by_hand(error) else fallback(*args)
                if value is None:
                    raise
                return value

        # `minigrad.exercises.install` wraps a student's operator in the same way.
        total.__dict__["__minigrad_wrap__"] = ieee(fallback)
        return total

    return decorate


def _is_raised_by_hand(error: BaseException) -> bool:
    """Return whether a ``raise`` statement raised an error, and no operator or function of Python's own."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]


def _divide_by_zero(x: float, y: float) -> float | None:
    """The IEEE quotient x / 0: signed infinity, or nan where x is 0 or nan; None where y is not 0."""
    if y != 0.0:
        return None
    return math.nan if x == 0.0 or x != x else math.copysign(math.inf, x) * math.copysign(1.0, y)


def _power_beyond_floats(x: float, y: float) -> float:
    """The IEEE power where `math.pow` raises: a pole at 0, an overflow, or a root of a negative number."""
    is_integer = float(y).is_integer()
    if x < 0.0 and not is_integer:
        return math.nan
    is_odd = is_integer and math.fmod(y, 2.0) != 0.0
    return math.copysign(math.inf, x) if is_odd else math.inf


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


def sub(x: float, y: float) -> float:
    """Return x - y.

    >>> minigrad.operators.sub(5.0, 3.0)
    2.0
    """
    return x - y


FORMS["sub"] = Form(numpy="subtract", line="{0} - {1}", keeps_integers=True)


@ieee(_divide_by_zero)
def div(x: float, y: float) -> float:
    """Return x / y; x / 0 is an infinity with the sign of x / y, and 0 / 0 is nan.

    >>> minigrad.operators.div(1.0, 4.0), minigrad.operators.div(-1.0, 0.0)
    (0.25, -inf)
    """
    return x / y


FORMS["div"] = Form(numpy="true_divide", line="{0} / {1}")


@ieee(_power_beyond_floats)
def pow(x: float, y: float) -> float:
    """Return x to the power y; nan where no real number is the answer.

    >>> minigrad.operators.pow(2.0, 3.0), minigrad.operators.pow(-1.0, 0.5)
    (8.0, nan)
    """
    return math.pow(x, y)


FORMS["pow"] = Form(
    numpy="power",
    line="{0} ** {1}",
    float_line="math_pow({0}, {1})",
    powers={-1.0: "one / {0}", 1.0: "{0}", 2.0: "{0} * {0}", 3.0: "{0} * {0} * {0}"},
    is_dear=True,
)


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


def min(x: float, y: float) -> float:
    """Return the smaller of x and y; nan if either is nan.

    >>> minigrad.operators.min(2.0, 3.0)
    2.0
    """
    if x != x or x < y:
        return x
    return y


FORMS["min"] = Form(numpy="minimum", line="minimum({0}, {1})", keeps_integers=True, start=math.inf, fold="minimum")


def clip(x: float, low: float, high: float) -> float:
    """Return x moved into [low, high]; nan stays nan, and high wins where low is larger.

    >>> minigrad.operators.clip(7.0, 0.0, 1.0)
    1.0
    """
    return min(max(x, low), high)


FORMS["clip"] = Form(
    numpy="clipped", line="minimum(maximum({0}, {1}), {2})", keeps_integers=True, in_pairs=("min", ("max", 0, 1), 2)
)


def gt(x: float, y: float) -> float:
    """Return 1.0 if x is greater than y, else 0.0.

    >>> minigrad.operators.gt(3.0, 2.0)
    1.0
    """
    return 1.0 if x > y else 0.0


FORMS["gt"] = Form(numpy="greater", line="select({0} > {1}, one, zero)", compares=True, keeps_integers=True)


def le(x: float, y: float) -> float:
    """Return 1.0 if x is at most y, else 0.0.

    >>> minigrad.operators.le(3.0, 3.0)
    1.0
    """
    return 1.0 if x <= y else 0.0


FORMS["le"] = Form(numpy="less_equal", line="select({0} <= {1}, one, zero)", compares=True, keeps_integers=True)


def ge(x: float, y: float) -> float:
    """Return 1.0 if x is at least y, else 0.0.

    >>> minigrad.operators.ge(2.0, 3.0)
    0.0
    """
    return 1.0 if x >= y else 0.0


FORMS["ge"] = Form(numpy="greater_equal", line="select({0} >= {1}, one, zero)", compares=True, keeps_integers=True)


def ne(x: float, y: float) -> float:
    """Return 1.0 if x differs from y, else 0.0; nan differs from everything.

    >>> minigrad.operators.ne(2.0, 3.0)
    1.0
    """
    return 1.0 if x != y else 0.0


FORMS["ne"] = Form(numpy="not_equal", line="select({0} != {1}, one, zero)", compares=True, keeps_integers=True)


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


FORMS["where"] = Form(
    numpy="chosen",
    line="select({0} != zero, {1}, {2})",
    keeps_integers=True,
    in_pairs=("add", ("_if_true", 0, 1), ("_if_false", 0, 2)),
)


def _if_true(condition: float, x: float) -> float:
    # Not 0.0: adding -0.0 changes no number, not even -0.0.
    return x if condition != 0.0 else -0.0


def _if_false(condition: float, x: float) -> float:
    return -0.0 if condition != 0.0 else x


# --- elementary functions -----------------------------------------------------------------------------------


def id(x: float) -> float:
    """Return x unchanged."""
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION


FORMS["id"] = Form(numpy="positive", line="{0}", keeps_integers=True)


@ieee(lambda x: _divide_by_zero(1.0, x))
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


@ieee(lambda x: math.nan if math.isinf(x) else None)
def sin(x: float) -> float:
    """Return the sine of x, in radians.

    >>> round(minigrad.operators.sin(1.0), 4)
    0.8415
    """
    return math.sin(x)


FORMS["sin"] = Form(numpy="sin", float_line="math_sin({0})", is_dear=True)


@ieee(lambda x: math.nan if math.isinf(x) else None)
def cos(x: float) -> float:
    """Return the cosine of x, in radians.

    >>> minigrad.operators.cos(0.0)
    1.0
    """
    return math.cos(x)


FORMS["cos"] = Form(numpy="cos", float_line="math_cos({0})", is_dear=True)


def tanh(x: float) -> float:
    """Return the hyperbolic tangent of x.

    >>> round(minigrad.operators.tanh(1.0), 4)
    0.7616
    """
    return math.tanh(x)


FORMS["tanh"] = Form(numpy="tanh", float_line="tanh({0})", is_dear=True)


@ieee(lambda x: math.nan if x < 0.0 else None)
def sqrt(x: float) -> float:
    """Return the square root of x; nan for a negative x.

    >>> minigrad.operators.sqrt(9.0), minigrad.operators.sqrt(-1.0)
    (3.0, nan)
    """
    return math.sqrt(x)


FORMS["sqrt"] = Form(numpy="sqrt", float_line="math_sqrt({0})")


def square(x: float) -> float:
    """Return x times x.

    >>> minigrad.operators.square(-3.0)
    9.0
    """
    return x * x


FORMS["square"] = Form(numpy="square", line="{0} * {0}", keeps_integers=True)


def abs(x: float) -> float:
    """Return x without its sign.

    >>> minigrad.operators.abs(-3.0)
    3.0
    """
    return math.fabs(x)


FORMS["abs"] = Form(numpy="absolute", line="abs({0})", keeps_integers=True)


def sign(x: float) -> float:
    """Return 1.0 for a positive x, -1.0 for a negative one, and 0.0 for zero and nan, as PyTorch does.

    >>> minigrad.operators.sign(-3.0), minigrad.operators.sign(0.0)
    (-1.0, 0.0)
    """
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0


FORMS["sign"] = Form(
    numpy="sign_or_zero",
    line="select({0} > zero, one, select({0} < zero, -one, zero))",
    keeps_integers=True,
)


def floor(x: float) -> float:
    """Return the largest whole number that is not above x.

    >>> minigrad.operators.floor(-1.5), minigrad.operators.floor(1.5)
    (-2.0, 1.0)
    """
    # From 2^52 on every float is whole; math.floor would return a Python integer, of which an infinity has none.
    return x - x % 1.0 if math.fabs(x) < 4503599627370496.0 else x


FORMS["floor"] = Form(numpy="floor")


def rint(x: float) -> float:
    """Return the nearest whole number, of two equally near ones the even one; Python's `round` keeps its name.

    >>> [minigrad.operators.rint(x) for x in (0.5, 1.5, 2.4)]
    [0.0, 2.0, 2.0]
    """
    below = floor(x)
    rest = x - below
    up = rest > 0.5 or (rest == 0.5 and below % 2.0 != 0.0)
    return math.copysign(below + 1.0 if up else below, x)


FORMS["rint"] = Form(numpy="rint")


@ieee(lambda x, y: math.nan if y == 0.0 else None)
def remainder(x: float, y: float) -> float:
    """Return what is left of x after whole steps of y: between 0 and y, as Python's ``%``; nan for a y of 0.

    >>> minigrad.operators.remainder(5.0, 3.0), minigrad.operators.remainder(-5.0, 3.0)
    (2.0, 1.0)
    """
    return x % y


FORMS["remainder"] = Form(numpy="remainder", keeps_integers=True)


@ieee(_divide_by_zero)
def floor_divide(x: float, y: float) -> float:
    """Return the largest whole number that is not above x / y, as Python's ``//``; for a y of 0, x / y.

    >>> minigrad.operators.floor_divide(5.0, 3.0), minigrad.operators.floor_divide(-5.0, 3.0)
    (1.0, -2.0)
    """
    return x // y


FORMS["floor_divide"] = Form(numpy="floor_divide", keeps_integers=True)


def erf(x: float) -> float:
    """Return the error function of x: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.

    >>> round(minigrad.operators.erf(1.0), 4)
    0.8427
    """
    return math.erf(x)


FORMS["erf"] = Form(numpy="error_function", float_line="erf({0})", is_dear=True)


def erfc(x: float) -> float:
    """Return 1 - erf(x), with all its digits where erf(x) is close to 1.

    >>> round(minigrad.operators.erfc(1.0), 4), 0.0 < minigrad.operators.erfc(10.0) < 1e-44
    (0.1573, True)
    """
    return math.erfc(x)


FORMS["erfc"] = Form(numpy="complementary_error_function", float_line="erfc({0})", is_dear=True)


def gelu(x: float) -> float:
    """Return x times the probability that a standard normal number is below x.

    Source:
        Hendrycks and Gimpel, Gaussian Error Linear Units, 2016: x / 2 * (1 + erf(x / sqrt 2)).

    >>> round(minigrad.operators.gelu(1.0), 4)
    0.8413
    """
    return 0.5 * x * math.erfc(-x / math.sqrt(2.0))


FORMS["gelu"] = Form(numpy="gelu", float_line="half * {0} * erfc(-{0} * root_half)", is_dear=True)


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


@ieee(lambda x, d: _divide_by_zero(d, x))
def log_back(x: float, d: float) -> float:
    """Return d times the derivative of log at x."""
    ### BEGIN SOLUTION
    return d / x
    ### END SOLUTION


FORMS["log_back"] = Form(line="{1} / {0}")


@ieee(lambda x, d: _divide_by_zero(-d, x * x))
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
