"""The methods of `Tensor` that compare and combine truth values, by PyTorch's names for Python's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from minigrad import functions
from minigrad.tensors.shapes import Shapes, by_numpys_name

if TYPE_CHECKING:
    from minigrad.tensors import Tensor


class Comparing(Shapes):
    """Comparisons and logic by name.

    >>> minigrad.tensor([1.0, 2.0]).ge(2.0)
    tensor([False,  True])
    """

    __slots__ = ()

    def eq(self, other: Tensor | float) -> Tensor:
        """Return where elements are equal: ``self == other``.

        >>> minigrad.tensor([1.0, 2.0]).eq(2.0)
        tensor([False,  True])
        """
        return functions.EQ.apply(self, other)

    def ne(self, other: Tensor | float) -> Tensor:
        """Return where elements differ: ``self != other``.

        >>> minigrad.tensor([1.0, 2.0]).ne(2.0)
        tensor([ True, False])
        """
        return functions.NE.apply(self, other)

    def lt(self, other: Tensor | float) -> Tensor:
        """Return where elements are smaller: ``self < other``.

        >>> minigrad.tensor([1.0, 2.0]).lt(2.0)
        tensor([ True, False])
        """
        return functions.LT.apply(self, other)

    def le(self, other: Tensor | float) -> Tensor:
        """Return where elements are smaller or equal: ``self <= other``.

        >>> minigrad.tensor([1.0, 2.0]).le(1.0)
        tensor([ True, False])
        """
        return functions.LE.apply(self, other)

    def gt(self, other: Tensor | float) -> Tensor:
        """Return where elements are larger: ``self > other``.

        >>> minigrad.tensor([1.0, 2.0]).gt(1.0)
        tensor([False,  True])
        """
        return functions.GT.apply(self, other)

    def ge(self, other: Tensor | float) -> Tensor:
        """Return where elements are larger or equal: ``self >= other``.

        >>> minigrad.tensor([1.0, 2.0]).ge(2.0)
        tensor([False,  True])
        """
        return functions.GE.apply(self, other)

    def logical_not(self) -> Tensor:
        """Return where elements are 0 or False.

        >>> minigrad.tensor([0.0, 2.0]).logical_not()
        tensor([ True, False])
        """
        return functions.EQ.apply(self, 0)

    def logical_and(self, other: Tensor) -> Tensor:
        """Return where both elements are not 0.

        >>> minigrad.tensor([0.0, 2.0]).logical_and(minigrad.tensor([1.0, 1.0]))
        tensor([False,  True])
        """
        return cast(Any, self).bool() & other.bool()

    def logical_or(self, other: Tensor) -> Tensor:
        """Return where one of both elements, or both, are not 0.

        >>> minigrad.tensor([0.0, 2.0]).logical_or(minigrad.tensor([0.0, 1.0]))
        tensor([False,  True])
        """
        return cast(Any, self).bool() | other.bool()

    def logical_xor(self, other: Tensor) -> Tensor:
        """Return where exactly one of both elements is not 0.

        >>> minigrad.tensor([0.0, 2.0]).logical_xor(minigrad.tensor([1.0, 1.0]))
        tensor([ True, False])
        """
        return cast(Any, self).bool() ^ other.bool()

    def isclose(self, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
        """Return where elements differ by at most atol + rtol * |other|, or are the same infinity.

        >>> minigrad.tensor([1.0, 1.0]).isclose(minigrad.tensor([1.000001, 1.1]))
        tensor([ True, False])
        """
        x, y = cast(Any, self).detach(), cast(Any, other).detach()
        same = x == y
        if "f" in (x.dtype.kind, y.dtype.kind):
            far, finite = (x - y).abs(), y.isfinite()
        else:  # the difference of integers may be too large for their type, and shows as a negative one
            x, y, finite = x.long(), y.long(), True
            far = x.maximum(y) - x.minimum(y)
            far, y = far.double() + (far < 0) * 2.0**64, y.double()
        near = same | ((far <= y.abs() * rtol + atol) & finite)
        return near | (x.isnan() & y.isnan()) if equal_nan else near

    def count_nonzero(
        self, dim: int | Sequence[int] | None = None, *, axis: int | Sequence[int] | None = None
    ) -> Tensor:
        """Return how many elements are not 0, of all of them or along axes.

        >>> minigrad.tensor([[0.0, 1.0], [2.0, 3.0]]).count_nonzero(dim=1)
        tensor([1, 2])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "count_nonzero")
        return cast(Any, self).bool().sum(dim)

    def nonzero(self, as_tuple: bool = False) -> Any:
        """Return the indices of the elements that are not 0, one in each row.

        Args:
            as_tuple: True returns a tuple instead, with the indices along each axis, which can be a key.

        Returns:
            An int64 tensor of shape (elements, axes), or a tuple of int64 tensors of shape (elements,).

        >>> minigrad.tensor([[0.0, 5.0], [7.0, 0.0]]).nonzero()
        tensor([[0, 1],
                [1, 0]])
        """
        x = cast(Any, self)
        found = np.nonzero(np.atleast_1d(x._elements("nonzero")))
        if as_tuple:
            return tuple(x.from_host(index) for index in found)
        return x.from_host(np.stack(found, 1) if x.ndim else np.zeros((len(found[0]), 0), np.int64))
