"""The methods of `Tensor` that work along an axis and know the order of its elements, and norms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import DTypeLike

from minigrad import tensor_functions
from minigrad.tensors import abstract_mode
from minigrad.tensors.shapes import Shapes, axes_of, axis_of, by_numpys_name

if TYPE_CHECKING:
    from minigrad.tensors import Tensor


class ValuesAndIndices(NamedTuple):
    """The result of `max`, `min`, `sort` and `topk`.

    >>> largest = minigrad.tensor([[1.0, 5.0], [7.0, 2.0]]).max(dim=1)
    >>> largest.values, largest.indices
    (tensor([5., 7.]), tensor([1, 0]))
    """

    values: Tensor
    indices: Tensor


class Along(Shapes):
    """Running sums, orders and norms.

    >>> x = minigrad.tensor([3.0, 1.0, 2.0])
    >>> x.cumsum(0), x.argsort()
    (tensor([3., 4., 6.]), tensor([1, 2, 0]))
    """

    __slots__ = ()

    def cumsum(self, dim: int | None = None, dtype: DTypeLike | None = None, *, axis: int | None = None) -> Tensor:
        """Return the running sums along an axis: element i is the sum of the elements up to i.

        Args:
            dim: The axis.
            dtype: The type to convert to first. None makes int64 of booleans and integers.
            axis: NumPy's name for dim.

        Returns:
            A tensor of the same shape.

        Raises:
            IndexingError: If there is no such axis.

        >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).cumsum(0)
        tensor([[1., 2.],
                [4., 6.]])
        """
        axis = axis_of(self, dim if axis is None else by_numpys_name(dim, axis, "cumsum"), "cumsum")
        kind = np.int64 if dtype is None and self.dtype.kind in "bi" else dtype
        x = cast(Any, self) if kind is None else self.to(dtype=kind)
        return tensor_functions.CumSum.apply(x, dim=axis) if self.ndim else x.clone()

    def norm(
        self,
        p: float | str | None = 2,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """Return the p-norm of the elements, all of them or along axes: (sum of abs(x)^p)^(1/p).

        Args:
            p: The order. 2, "fro" and None give the length of a vector, 1 the sum of absolute values, infinity the
                largest of them, minus infinity the smallest, 0 counts what is not 0.
            dim: An axis or several; None takes all.
            keepdim: Whether these axes stay, with size 1.
            dtype: The type to convert to first.

        Returns:
            A tensor without the axes. Where the norm is 0 its gradient is 0, as in PyTorch.

        Raises:
            TypeError: If the tensor holds no floats.
            ValueError: If p is any other text, or a largest element is asked of none.

        >>> x = minigrad.tensor([3.0, -4.0])
        >>> x.norm(), x.norm(1), x.norm(float("inf"))
        (tensor(5.), tensor(7.), tensor(4.))
        """
        if dtype is not None:
            return self.to(dtype=dtype).norm(p, dim, keepdim)
        x = cast(Any, self)
        if not self.is_floating_point():
            raise TypeError(f"norm: a tensor of {self.dtype} has no norm of its type; convert it with .float()")
        if isinstance(p, str) and p != "fro":
            raise ValueError(f"norm: p is {p!r}; it must be a number or 'fro'")
        order, axes = (2.0 if p is None or p == "fro" else float(p)), axes_of(self, dim, "norm")
        if math.isinf(order):
            return cast("Tensor", x.abs().amax(axes, keepdim) if order > 0 else x.abs().amin(axes, keepdim))
        if order == 0.0:
            return cast("Tensor", (x != 0.0).to(x.dtype).sum(axes, keepdim))
        if order == 1.0:
            return cast("Tensor", x.abs().sum(axes, keepdim))
        if order == 2.0:
            return _off_zero(x.square().sum(axes, keepdim), lambda total: total.sqrt())
        powers = _off_zero(x.abs(), lambda size: size**order) if order > 0 else x.abs() ** order
        return _off_zero(powers.sum(axes, keepdim), lambda total: total ** (1.0 / order))

    def sort(
        self, dim: int = -1, descending: bool = False, stable: bool = False, *, axis: int | None = None
    ) -> ValuesAndIndices:
        """Return the elements in order along an axis, and where they were.

        Args:
            dim: The axis.
            descending: Whether the largest comes first. nan counts as larger than any number.
            stable: Equal elements keep their order in any case.
            axis: NumPy's name for dim.

        Returns:
            values: A tensor of the same shape; its gradient goes back to where the elements were.
            indices: int64, of the same shape: ``x.gather(dim, indices)`` is values.

        Raises:
            IndexingError: If there is no such axis.

        >>> x = minigrad.tensor([[3.0, 1.0, 2.0]])
        >>> values, indices = x.sort()
        >>> values, indices
        (tensor([[1., 2., 3.]]), tensor([[1, 2, 0]]))
        """
        axis = axis_of(self, dim if axis is None else by_numpys_name(dim, axis, "sort", -1), "sort")
        indices = self._order(axis, descending)
        return ValuesAndIndices(self.gather(axis, indices), indices)

    def argsort(
        self, dim: int = -1, descending: bool = False, stable: bool = False, *, axis: int | None = None
    ) -> Tensor:
        """Return where the elements stand that `sort` would put first, second, ... along an axis.

        >>> minigrad.tensor([3.0, 1.0, 2.0]).argsort(descending=True)
        tensor([0, 2, 1])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "argsort", -1)
        return self._order(axis_of(self, dim, "argsort"), descending)

    def topk(
        self, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, axis: int | None = None
    ) -> ValuesAndIndices:
        """Return the k largest elements along an axis, and where they are.

        Args:
            k: How many, at most as many as there are.
            dim: The axis.
            largest: False gives the smallest ones.
            sorted: They come in order in any case: the most extreme one first.
            axis: NumPy's name for dim.

        Raises:
            ValueError: If there are fewer than k elements.

        >>> values, indices = minigrad.tensor([1.0, 5.0, 3.0]).topk(2)
        >>> values, indices
        (tensor([5., 3.]), tensor([1, 2]))
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "topk", -1)
        axis = axis_of(self, dim, "topk")
        size = self.shape[axis] if self.ndim else 1
        if not 0 <= k <= size:
            raise ValueError(f"topk: k is {k}, but axis {dim} of shape {self.shape} has size {size}")
        indices = self._order(axis, largest)
        indices = indices.narrow(axis, 0, k) if self.ndim else indices
        return ValuesAndIndices(self.gather(axis, indices), indices)

    def _order(self, axis: int, descending: bool) -> Tensor:
        """Return where the elements in order are along an axis, as int64."""
        x = cast(Any, self)
        if abstract_mode.depth and (other := abstract_mode.answering((x,))) is not None:
            return cast("Tensor", other._call("_order", x, axis=axis, descending=descending))
        array = abstract_mode.elements(x)
        if not array.ndim:
            return cast("Tensor", x.from_host(np.zeros((), np.int64)))
        if not descending:
            return cast("Tensor", x.from_host(np.argsort(array, axis, kind="stable")))
        # Backwards twice, so that equal elements keep their order.
        found = array.shape[axis] - 1 - np.argsort(np.flip(array, axis), axis, kind="stable")
        return cast("Tensor", x.from_host(np.ascontiguousarray(np.flip(found, axis))))


def _off_zero(x: Any, function: Any) -> Any:
    """Return a function that is 0 at 0, with the gradient 0 there in place of an infinite one."""
    zero = x == 0.0
    if not zero.abstract and not zero.any():
        return function(x)
    return function(x.masked_fill(zero, 1.0)).masked_fill(zero, 0.0)
