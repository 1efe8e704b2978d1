"""The table, continued: one entry for each elementwise operation of two or three inputs.

A rule returns d times the derivative in each input: ``lambda f, d: (d, -d)``.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

from minigrad.elementwise.entry import entry, kernels_in, students
from minigrad.elementwise.forms import Form
from minigrad.elementwise.ieee import divide_by_zero, ieee

# --- arithmetic ---------------------------------------------------------------------------------------------


@entry(form=Form(numpy="subtract", line="{0} - {1}", keeps_integers=True), rule=lambda f, d: (d, -d))
def sub(x: float, y: float) -> float:
    """Return x - y.

    >>> minigrad.operators.sub(5.0, 3.0)
    2.0
    """
    return x - y


def _power_beyond_floats(x: float, y: float) -> float:
    """The IEEE power where `math.pow` raises: a pole at 0, an overflow, or a root of a negative number."""
    is_integer = float(y).is_integer()
    if x < 0.0 and not is_integer:
        return math.nan
    is_odd = is_integer and math.fmod(y, 2.0) != 0.0
    return math.copysign(math.inf, x) if is_odd else math.inf


def _through_power(f: Any, d: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return d times y x^(y-1) and x^y log x; 0 where the power does not depend on that input."""
    # The exponent is made harmless where its power is not used, or 0 * inf would reach higher derivatives.
    d_x = f.where(y == 0.0, 0.0, d * y * f.power(x, f.where(y == 0.0, 1.0, y) - 1.0))
    # 0^y is 0 for every y > 0, although log 0 is infinite: its base is made harmless, likewise.
    is_harmless = isinstance(x, Real) and x != 0.0  # `where` would give a plain number the default type
    base = x if is_harmless else f.where((x == 0.0) * (y >= 0.0), 1.0, x)
    return d_x, d * f.power(x, y) * f.log(base)


@entry(
    form=Form(
        numpy="power",
        line="{0} ** {1}",
        float_line="math_pow({0}, {1})",
        powers={-1.0: "one / {0}", 1.0: "{0}", 2.0: "{0} * {0}", 3.0: "{0} * {0} * {0}"},
        is_dear=True,
    ),
    rule=_through_power,
    generic="power",
)
@ieee(_power_beyond_floats)
def pow(x: float, y: float) -> float:
    """Return x to the power y; nan where no real number is the answer.

    >>> minigrad.operators.pow(2.0, 3.0), minigrad.operators.pow(-1.0, 0.5)
    (8.0, nan)
    """
    return math.pow(x, y)


@entry(
    form=Form(numpy="remainder", keeps_integers=True),
    rule=lambda f, d, x, y: (d, -d * f.floor_divide(x, y)),  # by the number of steps that were taken away
)
@ieee(lambda x, y: math.nan if y == 0.0 else None)
def remainder(x: float, y: float) -> float:
    """Return what is left of x after whole steps of y: between 0 and y, as Python's ``%``; nan for a y of 0.

    >>> minigrad.operators.remainder(5.0, 3.0), minigrad.operators.remainder(-5.0, 3.0)
    (2.0, 1.0)
    """
    return x % y


@entry("FloorDivide", form=Form(numpy="floor_divide", keeps_integers=True), generic="floor_divide")
@ieee(divide_by_zero)
def floor_divide(x: float, y: float) -> float:
    """Return the largest whole number that is not above x / y, as Python's ``//``; for a y of 0, x / y.

    >>> minigrad.operators.floor_divide(5.0, 3.0), minigrad.operators.floor_divide(-5.0, 3.0)
    (1.0, -2.0)
    """
    return x // y


# --- comparison ---------------------------------------------------------------------------------------------

for _name, _function, _holds in (("lt", "LT", "is less than"), ("eq", "EQ", "equals")):  # as students write them
    students(_name, f"Return 1.0 if x {_holds} y, else 0.0.", _function, ("x", "y"), written=False)


@entry("GT", form=Form(numpy="greater", line="select({0} > {1}, one, zero)", compares=True, keeps_integers=True))
def gt(x: float, y: float) -> float:
    """Return 1.0 if x is greater than y, else 0.0.

    >>> minigrad.operators.gt(3.0, 2.0)
    1.0
    """
    return 1.0 if x > y else 0.0


@entry("LE", form=Form(numpy="less_equal", line="select({0} <= {1}, one, zero)", compares=True, keeps_integers=True))
def le(x: float, y: float) -> float:
    """Return 1.0 if x is at most y, else 0.0.

    >>> minigrad.operators.le(3.0, 3.0)
    1.0
    """
    return 1.0 if x <= y else 0.0


@entry("GE", form=Form(numpy="greater_equal", line="select({0} >= {1}, one, zero)", compares=True, keeps_integers=True))
def ge(x: float, y: float) -> float:
    """Return 1.0 if x is at least y, else 0.0.

    >>> minigrad.operators.ge(2.0, 3.0)
    0.0
    """
    return 1.0 if x >= y else 0.0


@entry("NE", form=Form(numpy="not_equal", line="select({0} != {1}, one, zero)", compares=True, keeps_integers=True))
def ne(x: float, y: float) -> float:
    """Return 1.0 if x differs from y, else 0.0; nan differs from everything.

    >>> minigrad.operators.ne(2.0, 3.0)
    1.0
    """
    return 1.0 if x != y else 0.0


# --- choices ------------------------------------------------------------------------------------------------


def _through_larger(f: Any, d: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return d for the larger input; equal ones share it, and beside nan both have it, as in PyTorch."""
    half = 0.5 * d
    return f.where(x == y, half, f.where(x < y, 0.0, d)), f.where(x == y, half, f.where(y < x, 0.0, d))


students(
    "max",
    "Return the larger of x and y; nan if either is nan.",
    inputs=("x", "y"),
    written=False,
    rule=_through_larger,
    generic="maximum",
    torch="maximum",
)


@entry(
    form=Form(numpy="minimum", line="minimum({0}, {1})", keeps_integers=True, start=math.inf, fold="minimum"),
    rule=lambda f, d, x, y: _through_larger(f, d, x, y)[::-1],
    generic="minimum",
    torch="minimum",
)
def min(x: float, y: float) -> float:
    """Return the smaller of x and y; nan if either is nan.

    >>> minigrad.operators.min(2.0, 3.0)
    2.0
    """
    if x != x or x < y:
        return x
    return y


def _through_clip(f: Any, d: Any, x: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Return d for that one of x, low and high which is the output; at a bound it is x, as in PyTorch."""
    inside = (x >= low) * (x <= high)
    is_low, is_high = (x < low) * (low < high), (x > high) + (high < low)
    return f.where(inside, d, 0.0), f.where(is_low, d, 0.0), f.where(is_high, d, 0.0)


@entry(
    form=Form(
        numpy="clipped",
        line="minimum(maximum({0}, {1}), {2})",
        keeps_integers=True,
        in_pairs=("min", ("max", 0, 1), 2),
    ),
    rule=_through_clip,
    generic="clip",
    torch="clamp",
)
def clip(x: float, low: float, high: float) -> float:
    """Return x moved into [low, high]; nan stays nan, and high wins where low is larger.

    >>> minigrad.operators.clip(7.0, 0.0, 1.0)
    1.0
    """
    return min(x if x != x or x > low else low, high)


@entry(
    form=Form(
        numpy="chosen",
        line="select({0} != zero, {1}, {2})",
        keeps_integers=True,
        in_pairs=("add", ("_if_true", 0, 1), ("_if_false", 0, 2)),
    ),
    rule=lambda f, d, condition, x, y: (0.0, f.where(condition, d, 0.0), f.where(condition, 0.0, d)),
    generic="where",
)
def where(condition: float, x: float, y: float) -> float:
    """Return x if the condition is not 0.0, else y.

    >>> minigrad.operators.where(1.0, 5.0, 7.0), minigrad.operators.where(0.0, 5.0, 7.0)
    (5.0, 7.0)
    """
    return x if condition != 0.0 else y


def _if_true(condition: float, x: float) -> float:
    # Not 0.0: adding -0.0 changes no number, not even -0.0.
    return x if condition != 0.0 else -0.0


def _if_false(condition: float, x: float) -> float:
    return -0.0 if condition != 0.0 else x


if not TYPE_CHECKING:  # for which a computed list would be an empty one
    __all__ = kernels_in(globals())
