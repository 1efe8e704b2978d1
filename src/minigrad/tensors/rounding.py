"""The methods of `Tensor` about whole numbers: floor, round, ``//`` and ``%``; and log1p."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from minigrad import backends, functions
from minigrad.layout import type_name
from minigrad.tensors.shapes import Shapes
from minigrad.tensors.types import python_number

if TYPE_CHECKING:
    from minigrad.functions import Elementwise
    from minigrad.tensors import Tensor


class Rounding(Shapes):
    """Rounding, and division with a remainder. Steps have no useful derivative; a remainder has one.

    >>> minigrad.tensor([5.0, -5.0]) // 3, minigrad.tensor([5.0, -5.0]) % 3
    (tensor([ 1., -2.]), tensor([2., 1.]))
    """

    __slots__ = ()

    def floor(self) -> Tensor:
        """Return the largest whole number that is not above each element, in the tensor's type.

        The result is a constant: no gradient flows through a step.

        Raises:
            TypeError: For a tensor of booleans.

        >>> minigrad.tensor([-1.5, 1.5]).floor()
        tensor([-2.,  1.])
        """
        return _rounded(self, "floor", functions.Floor)

    def ceil(self) -> Tensor:
        """Return the smallest whole number that is not below each element; a constant, as of `floor`.

        >>> minigrad.tensor([-1.5, 1.5]).ceil()
        tensor([-1.,  2.])
        """
        return -_rounded(-cast(Any, self), "ceil", functions.Floor)

    def round(self, *, decimals: int = 0) -> Tensor:
        """Return the nearest whole number to each element, of two equally near ones the even one; a constant.

        Args:
            decimals: The digits to keep behind the point; a negative number rounds to tens, hundreds, ...

        Raises:
            TypeError: For a tensor of booleans, and for decimals of integers.

        >>> minigrad.tensor([0.5, 1.5, 2.4]).round()
        tensor([0., 2., 2.])
        >>> minigrad.tensor([1.2345]).round(decimals=2)
        tensor([1.23])
        """
        if not decimals:
            return _rounded(self, "round", functions.Round)
        if not self.is_floating_point():
            raise TypeError(f"round: decimals are for floats, not for a tensor of {self.dtype}")
        scale, x = 10.0 ** abs(decimals), cast(Any, self)
        return (x * scale).round() / scale if decimals > 0 else (x / scale).round() * scale

    def floor_divide(self, other: Tensor | float) -> Tensor:
        """Return the largest whole number that is not above self / other: ``self // other``; a constant.

        Args:
            other: A number or a tensor that broadcasts.

        Raises:
            ZeroDivisionError: If integers are divided by 0. Floats become infinite, or nan.

        >>> minigrad.tensor([5, -5]).floor_divide(3)
        tensor([ 1, -2])
        """
        return _divided(functions.FloorDivide, "floor_divide", self, other)

    def remainder(self, other: Tensor | float) -> Tensor:
        """Return what is left of self after whole steps of other: ``self % other``, with the sign of other.

        Args:
            other: A number or a tensor that broadcasts.

        Raises:
            ZeroDivisionError: If integers are divided by 0. Floats become nan.

        >>> minigrad.tensor([5.0, -5.0]).remainder(3.0)
        tensor([2., 1.])
        >>> x = minigrad.tensor([5.0], requires_grad=True)
        >>> (x % 3.0).backward()
        >>> x.grad
        tensor([1.])
        """
        return _divided(functions.Remainder, "remainder", self, other)

    def _rounded_quotient(self, other: Any, mode: str) -> Tensor:
        """Return self / other, rounded: `div` with a rounding mode."""
        if mode == "floor":
            return self.floor_divide(other)
        if mode != "trunc":
            raise ValueError(f"div: rounding_mode is {mode!r}; it must be None, 'floor' or 'trunc'")
        x = cast(Any, self)
        of_floats = "f" in (self.dtype.kind, getattr(getattr(other, "dtype", None), "kind", "")) or type(other) is float
        return (x / other).trunc() if of_floats else (x - x.fmod(other)).floor_divide(other)

    def __floordiv__(self, other: Any) -> Tensor:
        return _operate(functions.FloorDivide, "floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Tensor:
        return _operate(functions.FloorDivide, "floor_divide", other, self)

    def __mod__(self, other: Any) -> Tensor:
        return _operate(functions.Remainder, "remainder", self, other)

    def __rmod__(self, other: Any) -> Tensor:
        return _operate(functions.Remainder, "remainder", other, self)

    def log1p(self) -> Tensor:
        """Return log(1 + x) of every element, also where 1 + x is 1 in floating point.

        >>> minigrad.tensor([1e-10, 1.0]).log1p()
        tensor([1.0000e-10, 6.9315e-01])
        """
        x = cast(Any, self) if self.is_floating_point() else cast(Any, self).to(backends.default_float())
        more = x + 1.0
        # The sum is rounded. Its loss, over the sum, is added as a constant: the derivative is that of log.
        total = more.detach()
        lost = (x.detach() - (total - 1.0)) / total
        return more.log() + lost.masked_fill(lost.isfinite() == 0, 0.0)


def _rounded(x: Any, name: str, function: type[Elementwise]) -> Tensor:
    if x._array.dtype.kind == "b":
        raise TypeError(f"{name}: a tensor of booleans cannot be rounded; convert it with .long()")
    return cast("Tensor", function.apply(x) if x._array.dtype.kind == "f" else x.clone())


def _operate(function: type[Elementwise], name: str, *inputs: Any) -> Tensor:
    """Answer an operator; NotImplemented becomes Python's TypeError for unsupported operands."""
    if not all(isinstance(x, Shapes | Real | np.ndarray) for x in inputs):
        return cast("Tensor", NotImplemented)
    return _divided(function, name, *inputs)


def _divided(function: type[Elementwise], name: str, a: Any, b: Any) -> Tensor:
    a, b = python_number(a), python_number(b)
    for x in (a, b):
        if not isinstance(x, Shapes | Real):
            raise TypeError(
                f"{name}: an operand is a tensor or a number, not {type_name(x)}; make a tensor of it with "
                "minigrad.tensor(...)"
            )
    kinds = [x.dtype.kind if isinstance(x, Shapes) else type(x).__name__[0] for x in (a, b)]
    if kinds == ["b", "b"]:  # as integers, which NumPy would make of them too, of a smaller type
        a, b = (x.long() if isinstance(x, Shapes) else int(x) for x in (a, b))
    return cast("Tensor", function.apply(a, b))
