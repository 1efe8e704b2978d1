"""The table: one entry for each elementwise operation of one input. To add an op, write its entry here.

Operations of two or three inputs are in `several`.

A rule is written with operators and with functions of ``f``, which are differentiable, so that it serves numbers,
variables and higher derivatives: ``lambda f, d, x: d * f.cos(x)``. It returns d, the derivative of the final result
with respect to the output, times the derivative of the kernel at x. A rule that needs the output calls it ``out``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from minigrad.elementwise.entry import entry, kernels_in, students
from minigrad.elementwise.forms import Form
from minigrad.elementwise.ieee import ieee

# --- what students write: its kernels stand in `minigrad.operators`, its classes in `minigrad.functions` ----

students("exp", "Return e to the power of x.", example=("0.0, 1.0", "1.0000, 2.7183"), frequent=True)
students(
    "log", "Return the natural logarithm of x.", example=("1.0, 10.0", "0.0000, 2.3026"), positive=True, frequent=True
)
students(
    "sigmoid",
    "Return the sigmoid of x: 1 / (1 + e^-x).",
    module="Sigmoid",
    example=("-1.0, 0.0, 1.0", "0.2689, 0.5000, 0.7311"),
    frequent=True,
)
students("relu", "Return x, or 0 where it is negative.", "ReLU", example=("-1.0, 2.0", "0., 2."), frequent=True)
students(
    "neg",
    "Return x with the other sign.",
    generic="",
    of_numbers=False,
    example=("1.0, -2.0", "-1.,  2."),
)
students(
    "inv",
    "Return 1 over x.",
    generic="",
    method="reciprocal",
    of_numbers=False,
    example=("2.0, 4.0", "0.50, 0.25"),
    torch="reciprocal",
)


# --- elementary functions -----------------------------------------------------------------------------------


@entry(
    written=True,  # where lesson 02 shows it
    form=Form(numpy="sin", float_line="math_sin({0})", is_dear=True),
    example=("0.0, 1.0", "0.0000, 0.8415"),
)
@ieee(lambda x: math.nan if math.isinf(x) else None)
def sin(x: float) -> float:
    """Return the sine of x, in radians.

    >>> round(minigrad.operators.sin(1.0), 4)
    0.8415
    """
    return math.sin(x)


@entry(
    form=Form(numpy="cos", float_line="math_cos({0})", is_dear=True),
    rule=lambda f, d, x: -d * f.sin(x),
    example=("0.0, 1.0", "1.0000, 0.5403"),
)
@ieee(lambda x: math.nan if math.isinf(x) else None)
def cos(x: float) -> float:
    """Return the cosine of x, in radians.

    >>> minigrad.operators.cos(0.0)
    1.0
    """
    return math.cos(x)


@entry(
    form=Form(numpy="tanh", float_line="tanh({0})", is_dear=True),
    rule=lambda f, d, out: d * (1.0 - out * out),
    module="Tanh",
    example=("0.0, 1.0", "0.0000, 0.7616"),
    frequent=True,
)
def tanh(x: float) -> float:
    """Return the hyperbolic tangent of x.

    >>> round(minigrad.operators.tanh(1.0), 4)
    0.7616
    """
    return math.tanh(x)


@entry(
    form=Form(numpy="sqrt", float_line="math_sqrt({0})"),
    rule=lambda f, d, out: d / (2.0 * out),
    example=("4.0, 9.0", "2., 3."),
    positive=True,
    frequent=True,
)
@ieee(lambda x: math.nan if x < 0.0 else None)
def sqrt(x: float) -> float:
    """Return the square root of x; nan for a negative number.

    >>> minigrad.operators.sqrt(9.0), minigrad.operators.sqrt(-1.0)
    (3.0, nan)
    """
    return math.sqrt(x)


@entry(
    form=Form(numpy="square", line="{0} * {0}", keeps_integers=True),
    rule=lambda f, d, x: d * (2.0 * x),
    example=("-2.0, 3.0", "4., 9."),
    frequent=True,
)
def square(x: float) -> float:
    """Return the square of x.

    >>> minigrad.operators.square(-3.0)
    9.0
    """
    return x * x


@entry(
    form=Form(numpy="absolute", line="abs({0})", keeps_integers=True),
    rule=lambda f, d, x: d * f.sign(x),  # 0 at 0, as in PyTorch
    generic="absolute",
    example=("-1.0, 2.0", "1., 2."),
)
def abs(x: float) -> float:
    """Return x without its sign.

    >>> minigrad.operators.abs(-3.0)
    3.0
    """
    return math.fabs(x)


# --- the error function and its kin -------------------------------------------------------------------------


@entry(
    form=Form(numpy="error_function", float_line="erf({0})", is_dear=True),
    rule=lambda f, d, x: d * (2.0 / math.sqrt(math.pi) * f.exp(-x * x)),
    example=("0.0, 1.0", "0.0000, 0.8427"),
)
def erf(x: float) -> float:
    """Return the error function of x: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.

    >>> round(minigrad.operators.erf(1.0), 4)
    0.8427
    """
    return math.erf(x)


@entry(
    form=Form(numpy="complementary_error_function", float_line="erfc({0})", is_dear=True),
    rule=lambda f, d, x: d * (-2.0 / math.sqrt(math.pi) * f.exp(-x * x)),
    example=("0.0, 1.0", "1.0000, 0.1573"),
)
def erfc(x: float) -> float:
    """Return 1 minus the error function of x, with all its digits where that is close to 1.

    >>> round(minigrad.operators.erfc(1.0), 4), 0.0 < minigrad.operators.erfc(10.0) < 1e-44
    (0.1573, True)
    """
    return math.erfc(x)


def _through_gelu(f: Any, d: Any, x: Any) -> Any:
    """Return d times the probability, plus d x times its density."""
    probability = 0.5 * f.erfc(-x * math.sqrt(0.5))  # as `gelu` has it, so that a compiler computes it once for both
    density = f.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    return d * (probability + x * density)


@entry(
    form=Form(numpy="gelu", float_line="half * {0} * erfc(-{0} * root_half)", is_dear=True),
    rule=_through_gelu,
    in_place=False,
    example=("-1.0, 0.0, 1.0", "-0.1587,  0.0000,  0.8413"),
    torch="nn.functional.gelu",
)
def gelu(x: float) -> float:
    """Return x times the probability that a standard normal number is below x.

    Source:
        Hendrycks and Gimpel, Gaussian Error Linear Units, 2016: x / 2 * (1 + erf(x / sqrt 2)).

    >>> round(minigrad.operators.gelu(1.0), 4)
    0.8413
    """
    return 0.5 * x * math.erfc(-x / math.sqrt(2.0))


# --- steps, which have no useful derivative -----------------------------------------------------------------


@entry(
    form=Form(
        numpy="sign_or_zero",
        line="select({0} > zero, one, select({0} < zero, -one, zero))",
        keeps_integers=True,
    ),
    method="",
)
def sign(x: float) -> float:
    """Return -1.0, 0.0 or 1.0, the sign of x; 0.0 for nan, as PyTorch does.

    >>> minigrad.operators.sign(-3.0), minigrad.operators.sign(0.0)
    (-1.0, 0.0)
    """
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0


@entry(form=Form(numpy="floor"), generic="", method="")
def floor(x: float) -> float:
    """Return the largest whole number that is not above x.

    >>> minigrad.operators.floor(-1.5), minigrad.operators.floor(1.5)
    (-2.0, 1.0)
    """
    # From 2^52 on every float is whole; math.floor would return a Python integer, of which an infinity has none.
    return x - x % 1.0 if math.fabs(x) < 4503599627370496.0 else x


@entry("Round", form=Form(numpy="rint"), generic="", method="", torch="round")
def rint(x: float) -> float:
    """Return the nearest whole number to x, of two equally near ones the even one; Python's `round` keeps its name.

    >>> [minigrad.operators.rint(x) for x in (0.5, 1.5, 2.4)]
    [0.0, 2.0, 2.0]
    """
    below = floor(x)
    rest = x - below
    up = rest > 0.5 or (rest == 0.5 and below % 2.0 != 0.0)
    return math.copysign(below + 1.0 if up else below, x)


if not TYPE_CHECKING:  # for which a computed list would be an empty one
    __all__ = kernels_in(globals())
