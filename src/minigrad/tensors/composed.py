"""The methods of `Tensor` that are short compositions of others, by PyTorch's names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from minigrad import functions, layout
from minigrad.backends import arrays
from minigrad.tensors.shapes import Shapes, axis_of

if TYPE_CHECKING:
    from minigrad.tensors import Tensor


class Composed(Shapes):
    """What other methods give in a line or two.

    >>> minigrad.tensor([4.0, 16.0]).rsqrt()
    tensor([0.50, 0.25])
    """

    __slots__ = ()

    # --- elementwise ------------------------------------------------------------------------------------------

    def rsqrt(self) -> Tensor:
        """Return 1 over the square root of every element.

        >>> minigrad.tensor([4.0, 16.0]).rsqrt()
        tensor([0.50, 0.25])
        """
        return 1.0 / cast(Any, self).sqrt()

    def log2(self) -> Tensor:
        """Return the logarithm of every element to the base 2.

        >>> minigrad.tensor([1.0, 4.0]).log2()
        tensor([0., 2.])
        """
        return cast(Any, self).log() / math.log(2.0)

    def log10(self) -> Tensor:
        """Return the logarithm of every element to the base 10.

        >>> minigrad.tensor([1.0, 10.0]).log10()
        tensor([0., 1.])
        """
        return cast(Any, self).log() / math.log(10.0)

    def tan(self) -> Tensor:
        """Return the tangent of every element.

        >>> minigrad.tensor([0.0, 1.0]).tan()
        tensor([0.0000, 1.5574])
        """
        return cast(Any, self).sin() / cast(Any, self).cos()

    def trunc(self) -> Tensor:
        """Return every element rounded towards 0; a constant, as of `floor`.

        >>> minigrad.tensor([-1.7, 1.7]).trunc()
        tensor([-1.,  1.])
        """
        x = cast(Any, self)
        return x.sign() * x.abs().floor()

    def fmod(self, other: Tensor | float) -> Tensor:
        """Return what is left of self after whole steps of other, with the sign of self, as C's fmod.

        >>> minigrad.tensor([5.0, -5.0]).fmod(3.0)
        tensor([ 2., -2.])
        """
        common = arrays.promote([cast(Any, x)._array if isinstance(x, Shapes) else x for x in (self, other)])
        if common.kind != "f":
            rest = cast(Any, self).remainder(other)
            return functions.Where.apply(((cast(Any, self) < 0) != (rest < 0)) & (rest != 0), rest - other, rest)
        x, other = in_common((self, other))  # abs(other) of the smallest integer would be negative
        rest = functions.Where.apply(x < 0, -x, x).remainder(abs(other))  # and not abs(x), whose slope at 0 is 0
        return functions.Where.apply(x < 0, -rest, rest)

    def lerp(self, end: Tensor, weight: Tensor | float) -> Tensor:
        """Return self + weight * (end - self): a part of the way from here to end.

        >>> minigrad.tensor([0.0, 10.0]).lerp(minigrad.tensor([1.0, 20.0]), 0.5)
        tensor([ 0.5, 15.0])
        """
        x = cast(Any, self)
        from_start, from_end = x + weight * (end - x), end - (end - x) * (1.0 - weight)
        near_start = abs(cast(Any, weight)) < 0.5  # so that a weight of 1 gives the end itself, as in PyTorch
        if isinstance(weight, Shapes):
            return functions.Where.apply(near_start, from_start, from_end)
        return from_start if near_start else from_end

    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: float = 1.0) -> Tensor:
        """Return self + value * tensor1 * tensor2.

        >>> minigrad.ones(2).addcmul(minigrad.tensor([1.0, 2.0]), minigrad.tensor([3.0, 4.0]), value=0.5)
        tensor([2.5, 5.0])
        """
        x, (tensor1, tensor2) = cast(Any, self), in_common((self, tensor1, tensor2))[1:]
        return x + scaled("addcmul", tensor1, value) * tensor2

    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: float = 1.0) -> Tensor:
        """Return self + value * tensor1 / tensor2.

        >>> minigrad.ones(2).addcdiv(minigrad.tensor([1.0, 2.0]), minigrad.tensor([2.0, 4.0]))
        tensor([1.5, 1.5])
        """
        x, (tensor1, tensor2) = cast(Any, self), in_common((self, tensor1, tensor2))[1:]
        return x + scaled("addcdiv", tensor1, value) / tensor2

    # --- products ---------------------------------------------------------------------------------------------

    def mv(self, vec: Tensor) -> Tensor:
        """Multiply a matrix by a vector.

        >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).mv(minigrad.tensor([1.0, 1.0]))
        tensor([3., 7.])
        """
        if self.ndim != 2 or getattr(vec, "ndim", 0) != 1:
            raise ValueError(f"mv: {self.shape} times {tuple(getattr(vec, 'shape', ()))}; needs a matrix and a vector")
        return cast(Any, self).matmul(vec)

    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
        """Return beta * self + alpha * the product of two matrices.

        >>> minigrad.ones(1).addmm(minigrad.eye(2), minigrad.eye(2))
        tensor([[2., 1.],
                [1., 2.]])
        """
        product = cast(Any, mat1).mm(mat2)
        return (cast(Any, self) if beta == 1.0 else cast(Any, self) * beta) + (
            product if alpha == 1.0 else product * alpha
        )

    def trace(self) -> Tensor:
        """Return the sum of a matrix's diagonal.

        >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).trace()
        tensor(5.)
        """
        if self.ndim != 2:
            raise ValueError(f"trace: a tensor of shape {self.shape}; it must be a matrix")
        return cast(Any, self).diag().sum()

    def cross(self, other: Tensor, dim: int | None = None) -> Tensor:
        """Return the cross product of vectors of three numbers.

        Args:
            other: Of a shape that broadcasts.
            dim: The axis of the three numbers. None takes the first axis of size 3.

        >>> minigrad.tensor([1.0, 0.0, 0.0]).cross(minigrad.tensor([0.0, 1.0, 0.0]))
        tensor([0., 0., 1.])
        """
        x, y = cast(Any, self), cast(Any, other)
        if dim is None and 3 in self.shape:
            dim = self.shape.index(3)
        axis = axis_of(self, 0 if dim is None else dim, "cross")
        if not x.ndim or x.shape[axis] != 3 or y.ndim != x.ndim or y.shape[axis] != 3:
            raise ValueError(f"cross: {x.shape} and {tuple(y.shape)}; both need size 3 along one axis")
        return x.roll(-1, axis) * y.roll(-2, axis) - x.roll(-2, axis) * y.roll(-1, axis)

    # --- shapes -----------------------------------------------------------------------------------------------

    def movedim(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
        """Return a view with axes at other places; the others keep their order.

        >>> minigrad.zeros(2, 3, 4).movedim(0, -1).shape
        (3, 4, 2)
        """
        these = [source] if isinstance(source, int) else list(source)
        there = [destination] if isinstance(destination, int) else list(destination)
        places = [axis_of(self, n, "movedim") for n in there]
        axes = [axis_of(self, n, "movedim") for n in these]
        if len(axes) != len(places) or len(set(axes)) < len(axes) or len(set(places)) < len(places):
            raise ValueError(f"movedim: {source} to {destination}; give as many places as axes, each once")
        order = [n for n in range(max(self.ndim, 1)) if n not in axes]
        for place, axis in sorted(zip(places, axes, strict=True)):
            order.insert(place, axis)
        return self.permute(*order[: self.ndim])  # a number has no axes, and allows 0 and -1

    moveaxis = movedim

    def swapaxes(self, axis0: int, axis1: int) -> Tensor:
        """Return a view with two axes exchanged: `transpose`.

        >>> minigrad.zeros(2, 3, 4).swapaxes(0, 2).shape
        (4, 3, 2)
        """
        return self.transpose(axis0, axis1)

    def swapdims(self, dim0: int, dim1: int) -> Tensor:
        """Return a view with two axes exchanged: `transpose`.

        >>> minigrad.zeros(2, 3, 4).swapdims(0, 2).shape
        (4, 3, 2)
        """
        return self.transpose(dim0, dim1)

    def ravel(self) -> Tensor:
        """Return the elements as a vector.

        >>> minigrad.zeros(2, 3).ravel().shape
        (6,)
        """
        return self.reshape(-1)

    def tile(self, *counts: Any, dims: Any = None) -> Tensor:
        """Return copies side by side: `repeat`, where numbers that are missing in front are 1.

        >>> minigrad.tensor([[1, 2]]).tile(2)
        tensor([[1, 2, 1, 2]])
        """
        numbers = tuple(layout.sizes_of(counts if dims is None else (*counts, dims), "tile"))
        return cast(Any, self).repeat(*(1,) * (self.ndim - len(numbers)), *numbers)


def in_common(values: Sequence[Any]) -> list[Any]:
    """Return tensors in the type that a computation on all of them has, and numbers as they are."""
    common = arrays.promote([cast(Any, x)._array if isinstance(x, Shapes) else x for x in values])
    return [x.to(common) if isinstance(x, Shapes) else x for x in values]


def scaled(operation: str, x: Any, factor: float) -> Any:
    """Return a tensor or a number times a factor, in its own type.

    Raises:
        TypeError: If a factor of integers has a fraction.
    """
    if factor == 1:
        return x
    kind = (
        "f" if isinstance(x, float) or not isinstance(factor, int | float) else getattr(x, "dtype", np.dtype(int)).kind
    )
    if kind == "f":
        return x * factor
    if kind == "b":
        return x * bool(factor)
    if not float(factor).is_integer():
        raise TypeError(f"{operation}: integers times {factor} are none; convert a tensor with .float()")
    return x * int(factor)
