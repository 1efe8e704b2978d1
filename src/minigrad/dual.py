"""Forward-mode differentiation, to be read: numbers that carry a tangent.

A `Dual` is a value and the speed at which it moves, its *tangent*. Each operation computes both, so that a derivative
is there when the value is: nothing is recorded, and nothing walks back. Values and tangents may be floats, tensors, or
Duals of a lower level, which is how derivatives of derivatives are computed.

`minigrad.transforms.jvp` does the same for trees of tensors, by JAX's interface.

Source: Jeffrey Siskind and Barak Pearlmutter, Nesting forward-mode AD in a functional framework, Higher-Order and
Symbolic Computation 21, 2008 (why levels are needed)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Self

from minigrad import operators

__all__ = [
    "Arithmetic",
    "Dual",
    "cos",
    "exp",
    "jvp",
    "level_of",
    "lifted",
    "log",
    "new_level",
    "same_level",
    "sin",
    "zero",
]

_levels = itertools.count(1)


def new_level() -> int:
    """Return a level that is higher than all before.

    >>> minigrad.dual.new_level() < minigrad.dual.new_level()
    True
    """
    return next(_levels)


def level_of(x: Any) -> int:
    """Return the level of a Dual; 0 for everything else.

    >>> minigrad.dual.level_of(3.0), minigrad.dual.level_of(minigrad.dual.Dual(3.0, 1.0, level=7))
    (0, 7)
    """
    return int(getattr(x, "level", 0))


def zero(x: Any) -> Any:
    """Return a zero like a number, or zeros like a tensor: the tangent of what does not move.

    >>> minigrad.dual.zero(3.0), minigrad.dual.zero(minigrad.tensor([1.0, 2.0]))
    (0.0, tensor([0., 0.]))
    """
    if level_of(x):
        return zero(x.value)
    if isinstance(x, int | float):
        return 0.0
    if hasattr(x, "new_zeros"):
        return x.new_zeros(*x.shape)
    raise TypeError(f"a tangent belongs to a number or a tensor, not to a value of {type(x).__name__}")


def sin(x: Any) -> Any:
    """Return the sine of a float, a Dual or a tensor, in radians.

    >>> minigrad.dual.sin(minigrad.dual.Dual(0.0, 2.0))
    Dual(0.0, tangent=2.0)
    """
    return operators.sin(x) if isinstance(x, int | float) else x.sin()


def cos(x: Any) -> Any:
    """Return the cosine of a float, a Dual or a tensor, in radians.

    >>> minigrad.dual.cos(0.0)
    1.0
    """
    return operators.cos(x) if isinstance(x, int | float) else x.cos()


def exp(x: Any) -> Any:
    """Return e to the power of a float, a Dual or a tensor.

    >>> minigrad.dual.exp(minigrad.dual.Dual(0.0, 2.0))
    Dual(1.0, tangent=2.0)
    """
    return operators.exp(x) if isinstance(x, int | float) else x.exp()


def log(x: Any) -> Any:
    """Return the natural logarithm of a float, a Dual or a tensor.

    >>> minigrad.dual.log(minigrad.dual.Dual(1.0, 2.0))
    Dual(0.0, tangent=2.0)
    """
    return operators.log(x) if isinstance(x, int | float) else x.log()


def lifted(x: Any, level: int) -> Dual:
    """Return x as a Dual of a level.

    Args:
        x: A Dual of this level, which is returned as it is; or a float, a tensor or a
            Dual of a lower level. These do not move at this level, so they become the
            value of a new Dual, whose tangent is ``zero(x)``.
        level: The level, at least that of x.
    """
    ### BEGIN SOLUTION
    return x if level_of(x) == level else Dual(x, zero(x), level)
    ### END SOLUTION


def same_level(x: Any, y: Any) -> tuple[Dual, Dual]:
    """Return two numbers as Duals of one level: of the higher one of theirs.

    At least one of the numbers is a Dual.
    """
    ### BEGIN SOLUTION
    level = max(level_of(x), level_of(y))
    return lifted(x, level), lifted(y, level)
    ### END SOLUTION


class Arithmetic:
    """What follows for a `Dual` from its sums, products and functions: differences, comparisons, parts of tensors."""

    plus: Callable[..., Any]
    times: Callable[..., Any]
    over: Callable[..., Any]

    def __init__(self, value: Any, tangent: Any, level: int = 1) -> None:
        self.value = value
        self.tangent = tangent
        self.level = level

    def like(self, value: Any, tangent: Any) -> Self:
        """Return a Dual of the same level with another value and tangent.

        >>> minigrad.dual.Dual(2.0, 1.0, level=7).like(3.0, 4.0).level
        7
        """
        return type(self)(value, tangent, self.level)

    def __add__(self, other: Any) -> Any:
        a, b = same_level(self, other)
        return a.plus(b)

    def __mul__(self, other: Any) -> Any:
        a, b = same_level(self, other)
        return a.times(b)

    def __truediv__(self, other: Any) -> Any:
        a, b = same_level(self, other)
        return a.over(b)

    def __rtruediv__(self, other: Any) -> Any:
        b, a = same_level(self, other)
        return a.over(b)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1.0

    def __sub__(self, other: Any) -> Any:
        return self + other * -1.0

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < getattr(other, "value", other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > getattr(other, "value", other))

    def __matmul__(self, other: Any) -> Any:
        a, b = same_level(self, other)
        return a.like(a.value @ b.value, a.tangent @ b.value + a.value @ b.tangent)

    def __rmatmul__(self, other: Any) -> Any:
        a, b = same_level(other, self)
        return a @ b

    def sum(self) -> Any:
        """Return the sum of a tensor's elements.

        >>> minigrad.dual.Dual(minigrad.tensor([1.0, 2.0]), minigrad.tensor([1.0, 0.5])).sum()
        Dual(tensor(3.), tangent=tensor(1.5))
        """
        return self.like(self.value.sum(), self.tangent.sum())

    def __getitem__(self, index: Any) -> Any:
        """Return an element of a tensor, or a part of it."""
        return self.like(self.value[index], self.tangent[index])

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, tangent={self.tangent!r})"


class Dual(Arithmetic):
    """A number with a tangent.

    Args:
        value: The number: a float, a tensor, or a Dual of a lower level.
        tangent: How fast the number moves, as a number like the value.
        level: To which derivative the tangent belongs; a higher level is that of a
            derivative farther inside.

    Its operations return Duals, whose tangents follow from the rules of calculus.
    ``x.like(v, t)`` makes the Dual with value v and tangent t at the level of x. ``x +
    y``, ``x * y`` and ``x / y`` bring both to one level, by `same_level`, and then ask
    `plus`, `times` and `over`.
    """

    def plus(self, other: Dual) -> Dual:
        """Return the sum of two Duals; their tangents add up as well."""
        ### BEGIN SOLUTION
        return self.like(self.value + other.value, self.tangent + other.tangent)
        ### END SOLUTION

    def times(self, other: Dual) -> Dual:
        """Return the product of two Duals.

        Both may move, and each motion is multiplied by the other number.
        """
        ### BEGIN SOLUTION
        return self.like(self.value * other.value, self.tangent * other.value + self.value * other.tangent)
        ### END SOLUTION

    def over(self, other: Dual) -> Dual:
        """Return the quotient a / b; its tangent is (a' b - a b') / b^2."""
        ### BEGIN SOLUTION
        quotient = self.value / other.value
        return self.like(quotient, (self.tangent - quotient * other.tangent) / other.value)
        ### END SOLUTION

    def __pow__(self, n: float) -> Dual:
        """Return the power with a fixed exponent.

        For n = 0 it is 1 everywhere, so that its tangent is 0, also at 0.
        """
        ### BEGIN SOLUTION
        if n == 0:
            return self.like(self.value**n, zero(self.value))
        return self.like(self.value**n, n * self.value ** (n - 1) * self.tangent)
        ### END SOLUTION

    def sin(self) -> Dual:
        """Return the sine; this module's `sin` and `cos` take any kind of value."""
        ### BEGIN SOLUTION
        return self.like(sin(self.value), cos(self.value) * self.tangent)
        ### END SOLUTION

    def cos(self) -> Dual:
        """Return the cosine."""
        ### BEGIN SOLUTION
        return self.like(cos(self.value), -sin(self.value) * self.tangent)
        ### END SOLUTION

    def exp(self) -> Dual:
        """Return e to this power; this module's `exp` takes any kind of value."""
        ### BEGIN SOLUTION
        power = exp(self.value)
        return self.like(power, power * self.tangent)
        ### END SOLUTION

    def log(self) -> Dual:
        """Return the natural logarithm; this module's `log` takes any kind of value."""
        ### BEGIN SOLUTION
        return self.like(log(self.value), self.tangent / self.value)
        ### END SOLUTION


def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
) -> tuple[Any, Any]:
    """Compute a function, and how fast its result moves when its arguments move.

    That is the Jacobian times a vector.

    It calls the function once, with Duals of a new level, `new_level`.

    Args:
        f: A function of one or several numbers or tensors that returns one. It may
            return something that does not move at this level, such as 3.0.
        primals: Its arguments: floats, tensors, or Duals of another `jvp` around this
            one.
        tangents: How fast each of them moves, in the same order.

    Returns:
        The function's value, and its tangent: what the result would be without Duals of
        the new level.
    """
    ### BEGIN SOLUTION
    level = new_level()
    y = lifted(f(*[Dual(x, dx, level) for x, dx in zip(primals, tangents, strict=True)]), level)
    return y.value, y.tangent
    ### END SOLUTION
