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
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly
from numpy.polynomial.polynomial import polymul, polysub

from minigrad.backends.numba.intrinsics import Cast, bits_to_float, contracted, float_to_bits, select

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


def polynomial(coefficients: list[float], number: Any) -> Any:
    """Return a polynomial, constant term first, that is computed by Estrin's scheme.

    That is by pairs, and pairs of pairs, so that few operations wait for another: ``(a + b x) + (c + d x) x2``.
    """

    def estrin(x: Any) -> Any:
        terms: list[Any] = [number(c) for c in coefficients]
        while len(terms) > 1:
            rest = terms[len(terms) - len(terms) % 2 :]
            terms = [low + high * x for low, high in zip(terms[::2], terms[1::2], strict=False)] + rest
            x = x * x
        return terms[0]

    return estrin


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


@cache
def functions(dtype: Any) -> dict[str, Any]:
    """Return the functions of a dtype by name.

    Args:
        dtype: float32 or float64.
    """
    made = _Functions(dtype)
    return {name: contracted(getattr(made, name)) for name in NAMES}


class _Functions:
    """The functions of a dtype, and the numbers in which float32 and float64 differ."""

    def __init__(self, dtype: Any) -> None:
        self.number, info = np.dtype(dtype).type, np.finfo(dtype)
        number, wide = self.number, info.bits == 64
        self.integer = Cast(np.int64 if wide else np.int32)
        integer, mantissa, bias = self.integer, int(info.nmant), int(info.maxexp - 1)
        self.zero, self.half, self.one, self.two = number(0), number(0.5), number(1), number(2)
        self.mantissa, self.bias = integer(mantissa), integer(bias)
        # The leading part has so few bits that its product with an exponent is exact.
        leading_bits = 32 if wide else 12
        high = Fraction(math.floor(LN2 * 2**leading_bits), 2**leading_bits)
        self.ln2_high, self.ln2_low, self.log2_e = (number(float(x)) for x in (high, LN2 - high, 1 / LN2))
        # Adding this number leaves the nearest integer in the lowest bits.
        self.magic = number(1.5 * 2.0**mantissa)
        self.counter_bits = integer(int(np.array(2.0**mantissa, dtype).view(integer.dtype)))
        self.counter = number(2.0**mantissa + bias)
        self.overflow = number(710.0 if wide else 89.0)
        self.underflow = number(-746.0 if wide else -104.0)
        self.subnormal = number(-707.0 if wide else -86.0)
        root_half = int(np.array(math.sqrt(0.5), dtype).view(integer.dtype))
        self.root_half, self.to_one = integer(root_half), integer((bias << mantissa) - root_half)
        self.mask = integer(2**mantissa - 1)
        self.smallest, self.lift = number(info.smallest_normal), number(2.0 ** (mantissa + 2))
        self.lifted = number(mantissa + 2)
        self.tanh_end, self.erfc_end = number(22.0 if wide else 10.0), number(27.3 if wide else 10.19)
        self.upper_half = integer(-(2 ** (27 if wide else 12)))
        # So many terms that what is left out is far below half a unit in the last place.
        # e^r = 1 + r + r^2 (1/2! + r/3! + ...), |r| <= ln 2 / 2
        end, series = 0.5 * float(LN2), [Fraction(1, math.factorial(n)) for n in range(2, 16)]
        self.tail = polynomial(economised(series, -end, end, 10 if wide else 5), number)
        # log(1 + f) = log((1 + s) / (1 - s)) = 2s + s (2 s^2 / 3 + 2 s^4 / 5 + ...), s = f / (2 + f)
        end, series = (math.sqrt(2.0) - 1.0) ** 4, [Fraction(2, 2 * n + 3) for n in range(16)]
        self.series = polynomial(economised(series, 0.0, end, 7 if wide else 3), number)
        # erf(x) = x + x (2 / sqrt(pi) (1 - x^2 / (1! 3) + x^4 / (2! 5) - ...) - 1)
        series = [TWO_BY_ROOT_PI * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(20)]
        series[0] -= 1
        self.near = polynomial(economised(series, 0.0, 0.75**2, 11 if wide else 6), number)
        first, *others = [float(x) for x in cheb2poly(SCALED_ERFC[: 25 if wide else 13])]
        self.leading, self.far = number(first), polynomial(others, number)

    # --- the common parts of what is made of e^x: x = k ln 2 + r, e^r - 1, and powers of two --------------------

    def counted(self, x: Any) -> Any:
        """Return a number whose lowest bits are k, the integer that is nearest to x / ln 2."""
        return x * self.log2_e + self.magic

    def split(self, x: Any, counter: Any) -> Any:
        """Return r, the rest of e^r - 1, and what was rounded away in r, given what `counted` returned."""
        k = counter - self.magic
        exact = x - k * self.ln2_high
        low = k * self.ln2_low
        r = exact - low
        return r, r * r * self.tail(r), (exact - r) - low

    def power_of_two(self, counter: Any, bias: Any) -> Any:
        """Return 2^k for the bias of the type; 2^(k - 1) for a bias smaller by one, and so on."""
        return bits_to_float((float_to_bits(counter) + bias) << self.mantissa)

    def grown(self, value: Any, counter: Any, x: Any) -> Any:
        """Return a value of about 1 times 2^k, for e^x: infinite, subnormal or 0 where that is so large or small."""
        # 2^k itself may lie outside the range of floats, so it is multiplied in two steps, the first of which is exact.
        is_small = x < self.subnormal
        bias = select(is_small, self.integer(self.bias + 60), self.integer(self.bias - 1))
        return (value * self.power_of_two(counter, bias)) * select(is_small, self.number(2.0**-60), self.two)

    def exp(self, x: Any) -> Any:
        x = select(x > self.overflow, self.overflow, x)  # beyond, the result is infinite or 0 anyway; nan stays nan
        x = select(x < self.underflow, self.underflow, x)
        counter = self.counted(x)
        r, rest, _ = self.split(x, counter)
        return self.grown(self.one + (r + rest), counter, x)

    def expm1(self, x: Any) -> Any:
        lowest = self.number(-50)  # from there on the result is -1 to the last bit
        clamped = select(x > self.overflow, self.overflow, x)
        clamped = select(clamped < lowest, lowest, clamped)
        counter = self.counted(clamped)
        # half of it, since 2^k itself may be too large
        power = self.power_of_two(counter, self.integer(self.bias - 1))
        r, rest, lost = self.split(clamped, counter)
        result = self.two * (((power - self.half) + r * power) + (rest + lost) * power)
        return select(x == self.zero, x, result)  # keeps the sign of -0.0

    def sigmoid(self, x: Any) -> Any:
        e = self.exp(-abs(x))  # at most 1: nothing overflows, and a tiny result keeps its digits
        y = self.one + e
        y_lost = (self.one - y) + e
        q = select(x >= self.zero, self.one, e) / y
        # 1.5 - y / 2 is close enough to 1 / y for y from 1 to 2
        return q - q * (y_lost * (self.number(1.5) - self.half * y))

    def tanh(self, x: Any) -> Any:
        size = abs(x)
        twice = self.two * select(size > self.tanh_end, self.tanh_end, size)  # there the result is 1 to the last bit
        counter = self.counted(twice)
        power = self.power_of_two(counter, self.bias)
        r, rest, lost = self.split(twice, counter)
        e = ((power - self.one) + r * power) + (rest + lost) * power
        y = self.two + e
        y_lost = (self.two - y) + e
        inverse = self.one / y
        q = e * inverse
        result = q + ((e - q * y) - q * y_lost) * inverse
        return select(x < self.zero, -result, select(x == self.zero, x, result))

    def softplus(self, x: Any) -> Any:
        return select(x < self.zero, self.zero, x) + self.log1p(self.exp(-abs(x)))

    # --- logarithms share log((1 + f) 2^k) for 1 + f between sqrt(1/2) and sqrt(2) ------------------------------

    def parts(self, x: Any) -> Any:
        """Return f and k."""
        bits = float_to_bits(x) + self.to_one
        k = bits_to_float((bits >> self.mantissa) | self.counter_bits) - self.counter
        return bits_to_float((bits & self.mask) + self.root_half) - self.one, k

    def core(self, f: Any, k: Any) -> Any:
        """Return the logarithm of (1 + f) 2^k."""
        s = f / (self.two + f)
        z = s * s
        square = self.half * f * f
        # 2s = f - s f, written so that what is rounded is small beside the result
        return k * self.ln2_high - ((square - (s * (square + z * self.series(z)) + k * self.ln2_low)) - f)

    def log(self, x: Any) -> Any:
        infinity, nan = self.number(math.inf), self.number(math.nan)
        tiny = x < self.smallest
        f, k = self.parts(select(tiny, x * self.lift, x))
        result = self.core(f, k - select(tiny, self.lifted, self.zero))
        result = select(x < infinity, result, x)  # infinity stays, and nan
        return select(x > self.zero, result, select(x == self.zero, -infinity, select(x < self.zero, nan, result)))

    def log1p(self, x: Any) -> Any:
        infinity = self.number(math.inf)
        u = self.one + x
        # u is rounded; what is lost, x - (u - 1), changes the logarithm by that over u
        lost = select(x < self.one, x - (u - self.one), self.one - (u - x)) / u
        result = self.core(*self.parts(u)) + lost
        result = select(u == self.zero, -infinity, result)
        result = select(u < self.zero, self.number(math.nan), result)
        return select((x == infinity) | (x != x) | (x == self.zero), x, result)

    # --- the error function: a series near 0, and e^(-x^2) times a polynomial further out -----------------------

    def erfc_far(self, size: Any) -> Any:
        """Return erfc of a number >= 3/4."""
        x = select(size > self.erfc_end, self.erfc_end, size)  # from there on the result is 0
        square = x * x
        high = bits_to_float(float_to_bits(x) & self.upper_half)  # its square is exact
        square_lost = (high * high - square) + (x - high) * (x + high)
        counter = self.counted(-square)
        r, others, lost = self.split(-square, counter)
        grown = self.one + (r + (others + (lost - square_lost * (self.one + (r + others)))))
        power = self.grown(grown, counter, -square)
        t = (x - self.number(4)) / (x + self.number(4))
        return (self.leading + t * self.far(t)) / (self.one + self.two * x) * power

    def erf(self, x: Any) -> Any:
        size, border = abs(x), self.number(0.75)
        far = self.one - self.erfc_far(size)
        return select(size < border, x + x * self.near(x * x), select(x < -border, -far, far))

    def erfc(self, x: Any) -> Any:
        size, border = abs(x), self.number(0.75)
        far = self.erfc_far(size)
        near = self.one - (x + x * self.near(x * x))
        return select(size < border, near, select(x < -border, self.two - far, far))
