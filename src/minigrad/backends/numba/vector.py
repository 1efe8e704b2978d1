"""Elementary functions without branches, so that LLVM computes eight or sixteen elements at once.

The mathematical library's functions handle one number at a time. These handle every number in the same way: range
reduction, a polynomial, and a power of two put together from bits. They are at most 2 units in the last place from
the true value, `erfc` 4, and follow IEEE 754 for infinities, nan, overflow and subnormal numbers.

Each function exists for float32 and float64: `functions(dtype)` returns them by name. All constants have that dtype,
since one float64 constant would make the whole computation float64.

Source: J.-M. Muller, Elementary Functions: Algorithms and Implementation, 3rd edition, chapters 3, 4 and 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly
from numpy.polynomial.polynomial import polymul, polysub

from minigrad.backends.numba.intrinsics import bits_to_float, float_to_bits, select
from minigrad.backends.numba.pipeline import inner

NAMES = ("erf", "erfc", "exp", "expm1", "log", "log1p", "sigmoid", "softplus", "tanh")

LN2 = Fraction("0.693147180559945309417232121458176568075500134360255254120680009")

TWO_BY_ROOT_PI = Fraction("1.12837916709551257389615890312154517168810125865799771368817144")

SCALED_ERFC = (
    *(1.1774832005374487, -0.007260796620301901, -0.081265123236185, 0.06009212804122225, -0.02875393558027666),
    *(0.01059566336347286, -0.003136927294554264, 0.0007456494372536184, -0.0001369696503010054),
    *(1.7183861600300937e-05, -7.158364623450346e-07, -2.4261399442449534e-07, 5.5765709395703566e-08),
    *(-2.1057869513809494e-09, -1.1717889351884957e-09, 1.9098355172456688e-10, 1.408871764208813e-11),
    *(-6.901108320480815e-12, 9.167958364111294e-14, 2.1454508286554553e-13, -1.4716575027010623e-14),
    *(-6.668675118770408e-15, 7.504598509880083e-16, 2.22009300666632e-16, -3.1704898956330886e-17),
)
"""The Chebyshev series of (1 + 2x) e^(x^2) erfc(x) for x >= 0, in t = (x - 4) / (x + 4).

Source: M. M. Shepherd and J. G. Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < inf,
Mathematics of Computation 36 (1981), whose t has 3.75 in place of 4; the coefficients are computed with 60 digits.
"""


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function that kernels call.

    Only contraction (a * b + c rounded once) is allowed: reassociation would simplify (t + magic) - magic to t.
    """
    return inner(fastmath={"contract"}, forceinline=True)(function)


def polynomial(coefficients: list[float], number: Any) -> Any:
    """Return a compiled polynomial, constant term first, written out by Estrin's scheme.

    That is by pairs, and pairs of pairs, so that few operations wait for another: ``(a + b x) + (c + d x) x2``.
    """
    scope: dict[str, Any] = {f"c{i}": number(c) for i, c in enumerate(coefficients)}
    terms, power, lines = list(scope), "x", []
    while len(terms) > 1:
        lines += [f"{power}_2 = {power} * {power}"] if len(terms) > 2 else []
        rest = terms[len(terms) - len(terms) % 2 :]
        terms = [f"({low} + {high} * {power})" for low, high in zip(terms[::2], terms[1::2], strict=False)] + rest
        power += "_2"
    exec("\n    ".join(["def estrin(x):", *lines, f"return {terms[0]}"]), scope)
    return compiled(scope["estrin"])


def economised(series: list[Fraction], low: float, high: float, terms: int) -> list[float]:
    """Return few coefficients in place of a power series' many, so that it differs little from low to high.

    The last term is taken away with that multiple of a Chebyshev polynomial which begins with it, again and again: the
    other terms change by what is left. The arithmetic is exact, since the last digit of the first coefficients counts.
    """
    middle, half = (Fraction(high) + Fraction(low)) / 2, (Fraction(high) - Fraction(low)) / 2
    t: list[Any] = [-middle / half, 1 / half]  # as a polynomial in x
    chebyshev: list[Any] = [[Fraction(1)], t]
    while len(chebyshev) < len(series):
        chebyshev.append(polysub(2 * polymul(t, chebyshev[-1]), chebyshev[-2]))
    while len(series) > terms:
        last = chebyshev[len(series) - 1]
        series = [c - series[-1] / last[-1] * d for c, d in zip(series, last, strict=True)][:-1]
    return [float(c) for c in series]


def _constants(dtype: Any) -> SimpleNamespace:
    """Return the numbers in which float32 and float64 differ."""
    number, info = np.dtype(dtype).type, np.finfo(dtype)
    wide = info.bits == 64
    integer: Any = np.int64 if wide else np.int32
    mantissa = int(info.nmant)
    # The leading part has so few bits that its product with an exponent is exact.
    leading_bits = 32 if wide else 12
    high = Fraction(math.floor(LN2 * 2**leading_bits), 2**leading_bits)
    one_bits = int(info.maxexp - 1) << mantissa
    root_half = int(np.array(math.sqrt(0.5), dtype).view(integer))
    return SimpleNamespace(
        number=number,
        integer=integer,
        mantissa=integer(mantissa),
        bias=integer(info.maxexp - 1),
        one_bits=integer(one_bits),
        # Adding this number leaves the nearest integer in the lowest bits.
        magic=number(1.5 * 2.0**mantissa),
        counter_bits=integer(int(np.array(2.0**mantissa, dtype).view(integer))),
        counter=number(2.0**mantissa + (info.maxexp - 1)),
        log2_e=number(float(1 / LN2)),
        ln2_high=number(float(high)),
        ln2_low=number(float(LN2 - high)),
        overflow=number(710.0 if wide else 89.0),
        underflow=number(-746.0 if wide else -104.0),
        subnormal=number(-707.0 if wide else -86.0),
        root_half=integer(root_half),
        to_one=integer(one_bits - root_half),
        mantissa_mask=integer(2**mantissa - 1),
        smallest=number(info.smallest_normal),
        lift=number(2.0 ** (mantissa + 2)),
        lifted=number(mantissa + 2),
        # So many that what is left out is far below half a unit in the last place.
        exp_terms=10 if wide else 5,
        log_terms=7 if wide else 3,
        tanh_end=number(22.0 if wide else 10.0),
        upper_half=integer(-(2 ** (27 if wide else 12))),
        erf_terms=11 if wide else 6,
        erfc_terms=25 if wide else 13,
        erfc_end=number(27.3 if wide else 10.19),
    )


@cache
def functions(dtype: Any) -> dict[str, Any]:
    """Return the compiled functions of a dtype by name.

    Args:
        dtype: float32 or float64.
    """
    c = _constants(dtype)
    reduced = _reduction(c)
    found = {"exp": _exp(c, reduced), "expm1": _expm1(c, reduced), **_logarithms(c)}
    found["sigmoid"] = _sigmoid(c, found["exp"])
    found["tanh"] = _tanh(c, reduced)
    found |= _error_functions(c, reduced)
    found["softplus"] = _softplus(c, found["exp"], found["log1p"])
    return found


def _reduction(c: SimpleNamespace) -> SimpleNamespace:
    """Return the common parts of what is made of e^x: x = k ln 2 + r, e^r - 1, and powers of two."""
    number, integer, magic, mantissa = c.number, c.integer, c.magic, c.mantissa
    log2_e, ln2_high, ln2_low, subnormal = c.log2_e, c.ln2_high, c.ln2_low, c.subnormal
    two, tiny, less, more = number(2), number(2.0**-60), integer(c.bias - 1), integer(c.bias + 60)
    # e^r = 1 + r + r^2 (1/2! + r/3! + ...), |r| <= ln 2 / 2
    end = 0.5 * float(LN2)
    tail = polynomial(
        economised([Fraction(1, math.factorial(n)) for n in range(2, 16)], -end, end, c.exp_terms), number
    )

    @compiled
    def counted(x: Any) -> Any:
        """Return a number whose lowest bits are k, the integer that is nearest to x / ln 2."""
        return x * log2_e + magic

    @compiled
    def split(x: Any, counter: Any) -> Any:
        """Return r, the rest of e^r - 1, and what was rounded away in r, given what `counted` returned."""
        k = counter - magic
        exact = x - k * ln2_high
        low = k * ln2_low
        r = exact - low
        return r, r * r * tail(r), (exact - r) - low

    @compiled
    def power_of_two(counter: Any, bias: Any) -> Any:
        """Return 2^k for the bias of the type; 2^(k - 1) for a bias smaller by one, and so on."""
        return bits_to_float(integer((float_to_bits(counter) + bias) << mantissa))  # int32 << int32 is int64 to Numba

    @compiled
    def grown(value: Any, counter: Any, x: Any) -> Any:
        """Return a value of about 1 times 2^k, for e^x: infinite, subnormal or 0 where that is so large or small."""
        # 2^k itself may lie outside the range of floats, so it is multiplied in two steps, the first of which is exact.
        is_small = x < subnormal
        return (value * power_of_two(counter, select(is_small, more, less))) * select(is_small, tiny, two)

    return SimpleNamespace(counted=counted, split=split, power_of_two=power_of_two, grown=grown)


def _exp(c: SimpleNamespace, reduced: SimpleNamespace) -> Any:
    counted, split, grown = reduced.counted, reduced.split, reduced.grown
    overflow, underflow, one = c.overflow, c.underflow, c.number(1)

    @compiled
    def exp(x: Any) -> Any:
        x = select(x > overflow, overflow, x)  # beyond, the result is infinite or 0 anyway; nan stays nan
        x = select(x < underflow, underflow, x)
        counter = counted(x)
        r, rest, _ = split(x, counter)
        return grown(one + (r + rest), counter, x)

    return exp


def _expm1(c: SimpleNamespace, reduced: SimpleNamespace) -> Any:
    counted, split, power_of_two = reduced.counted, reduced.split, reduced.power_of_two
    overflow, half, two, lowest, zero = c.overflow, c.number(0.5), c.number(2), c.number(-50), c.number(0)
    less = c.integer(c.bias - 1)

    @compiled
    def expm1(x: Any) -> Any:
        clamped = select(x > overflow, overflow, x)
        clamped = select(clamped < lowest, lowest, clamped)  # from there on the result is -1 to the last bit
        counter = counted(clamped)
        power = power_of_two(counter, less)  # half of it, since 2^k itself may be too large
        r, rest, lost = split(clamped, counter)
        result = two * (((power - half) + r * power) + (rest + lost) * power)
        return select(x == zero, x, result)  # keeps the sign of -0.0

    return expm1


def _logarithms(c: SimpleNamespace) -> dict[str, Any]:
    """Return log and log1p, which share log((1 + f) 2^k) for 1 + f between sqrt(1/2) and sqrt(2)."""
    number, integer = c.number, c.integer
    zero, one, two, half = number(0), number(1), number(2), number(0.5)
    infinity, nan = number(math.inf), number(math.nan)
    ln2_high, ln2_low, smallest, lift, lifted = c.ln2_high, c.ln2_low, c.smallest, c.lift, c.lifted
    mantissa, mask, root_half, to_one = c.mantissa, c.mantissa_mask, c.root_half, c.to_one
    counter_bits, counter = c.counter_bits, c.counter
    # log(1 + f) = log((1 + s) / (1 - s)) = 2s + s (2 s^2 / 3 + 2 s^4 / 5 + ...), s = f / (2 + f)
    end = (math.sqrt(2.0) - 1.0) ** 4
    series = polynomial(economised([Fraction(2, 2 * n + 3) for n in range(16)], 0.0, end, c.log_terms), number)

    @compiled
    def core(f: Any, k: Any) -> Any:
        s = f / (two + f)
        z = s * s
        square = half * f * f
        # 2s = f - s f, written so that what is rounded is small beside the result
        return k * ln2_high - ((square - (s * (square + z * series(z)) + k * ln2_low)) - f)

    @compiled
    def log(x: Any) -> Any:
        tiny = x < smallest
        bits = integer(float_to_bits(select(tiny, x * lift, x)) + to_one)
        k = bits_to_float(integer((bits >> mantissa) | counter_bits)) - counter - select(tiny, lifted, zero)
        result = core(bits_to_float(integer((bits & mask) + root_half)) - one, k)
        result = select(x < infinity, result, x)  # infinity stays, and nan
        return select(x > zero, result, select(x == zero, -infinity, select(x < zero, nan, result)))

    @compiled
    def log1p(x: Any) -> Any:
        u = one + x
        bits = integer(float_to_bits(u) + to_one)
        k = bits_to_float(integer((bits >> mantissa) | counter_bits)) - counter
        # u is rounded; what is lost, x - (u - 1), changes the logarithm by that over u
        lost = select(x < one, x - (u - one), one - (u - x)) / u
        result = core(bits_to_float(integer((bits & mask) + root_half)) - one, k) + lost
        result = select(u == zero, -infinity, result)
        result = select(u < zero, nan, result)
        return select((x == infinity) | (x != x) | (x == zero), x, result)

    return {"log": log, "log1p": log1p}


def _sigmoid(c: SimpleNamespace, exp: Any) -> Any:
    zero, half, one, three_halves = c.number(0), c.number(0.5), c.number(1), c.number(1.5)

    @compiled
    def sigmoid(x: Any) -> Any:
        e = exp(-abs(x))  # at most 1: nothing overflows, and a tiny result keeps its digits
        y = one + e
        y_lost = (one - y) + e
        q = select(x >= zero, one, e) / y
        return q - q * (y_lost * (three_halves - half * y))  # 1.5 - y / 2 is close enough to 1 / y for y from 1 to 2

    return sigmoid


def _tanh(c: SimpleNamespace, reduced: SimpleNamespace) -> Any:
    counted, split, power_of_two = reduced.counted, reduced.split, reduced.power_of_two
    end, one, two, zero = c.tanh_end, c.number(1), c.number(2), c.number(0)
    bias = c.integer(c.bias)

    @compiled
    def tanh(x: Any) -> Any:
        size = abs(x)
        twice = two * select(size > end, end, size)  # from there on the result is 1 to the last bit
        counter = counted(twice)
        power = power_of_two(counter, bias)
        r, rest, lost = split(twice, counter)
        e = ((power - one) + r * power) + (rest + lost) * power
        y = two + e
        y_lost = (two - y) + e
        inverse = one / y
        q = e * inverse
        result = q + ((e - q * y) - q * y_lost) * inverse
        return select(x < zero, -result, select(x == zero, x, result))

    return tanh


def _softplus(c: SimpleNamespace, exp: Any, log1p: Any) -> Any:
    zero = c.number(0)

    @compiled
    def softplus(x: Any) -> Any:
        return select(x < zero, zero, x) + log1p(exp(-abs(x)))

    return softplus


def _error_functions(c: SimpleNamespace, reduced: SimpleNamespace) -> dict[str, Any]:
    """Return erf and erfc: a series near 0, and e^(-x^2) times a polynomial further out."""
    number, integer, end, upper_half = c.number, c.integer, c.erfc_end, c.upper_half
    counted, split, grown = reduced.counted, reduced.split, reduced.grown
    border, one, two, four = number(0.75), number(1), number(2), number(4)
    # erf(x) = x + x (2 / sqrt(pi) (1 - x^2 / (1! 3) + x^4 / (2! 5) - ...) - 1)
    series = [TWO_BY_ROOT_PI * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(20)]
    near = polynomial(economised([series[0] - 1, *series[1:]], 0.0, 0.75**2, c.erf_terms), number)
    first, *others = [float(x) for x in cheb2poly(SCALED_ERFC[: c.erfc_terms])]
    leading, rest = number(first), polynomial(others, number)

    @compiled
    def tail(size: Any) -> Any:
        """Return erfc of a number >= 3/4."""
        x = select(size > end, end, size)  # from there on the result is 0
        square = x * x
        high = bits_to_float(integer(float_to_bits(x) & upper_half))  # its square is exact
        square_lost = (high * high - square) + (x - high) * (x + high)
        counter = counted(-square)
        r, others, lost = split(-square, counter)
        power = grown(one + (r + (others + (lost - square_lost * (one + (r + others))))), counter, -square)
        t = (x - four) / (x + four)
        return (leading + t * rest(t)) / (one + two * x) * power

    @compiled
    def erf(x: Any) -> Any:
        size = abs(x)
        far = one - tail(size)
        return select(size < border, x + x * near(x * x), select(x < -border, -far, far))

    @compiled
    def erfc(x: Any) -> Any:
        size = abs(x)
        far = tail(size)
        return select(size < border, one - (x + x * near(x * x)), select(x < -border, two - far, far))

    return {"erf": erf, "erfc": erfc}
