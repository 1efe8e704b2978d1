"""The methods of `Tensor` that select elements by value or rank: distinct ones, the median, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike

from minigrad import tensor_functions
from minigrad.tensors import abstract_mode
from minigrad.tensors.along import Along, ValuesAndIndices
from minigrad.tensors.shapes import axis_of, by_numpys_name
from minigrad.tensors.types import need_booleans

if TYPE_CHECKING:
    from minigrad.tensors import Tensor


class Selecting(Along):
    """Elements by value or rank.

    >>> minigrad.tensor([3, 1, 3]).unique()
    tensor([1, 3])
    """

    __slots__ = ()

    def _elements(self, operation: str) -> Any:
        """Return the elements as a NumPy array, for what cannot do without looking at them."""
        x = cast(Any, self)
        if x.abstract:
            raise x._array.error(f"{operation} depends on the elements, which are unknown here")
        return abstract_mode.elements(x)

    def masked_select(self, mask: Tensor) -> Tensor:
        """Return the elements where a mask holds, as a vector: ``self[mask]``, with broadcasting.

        >>> x = minigrad.tensor([[1.0, -2.0], [3.0, -4.0]])
        >>> x.masked_select(x > 0)
        tensor([1., 3.])
        """
        need_booleans("masked_select", mask)
        shape = np.broadcast_shapes(self.shape, tuple(mask.shape))
        return cast(Any, self).expand(*shape)[mask.expand(*shape)]

    def take_along_dim(self, indices: Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
        """Return the elements at given places along an axis: `gather`, with broadcasting along the other axes.

        Args:
            indices: int64, with as many axes; such as `argsort` returns them.
            dim: The axis. None takes places in the flattened tensor.
            axis: NumPy's name for dim.

        >>> x = minigrad.tensor([[3.0, 1.0], [5.0, 9.0]])
        >>> x.take_along_dim(x.argsort(dim=1), dim=1)
        tensor([[1., 3.],
                [5., 9.]])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "take_along_dim")
        if dim is None:
            return self.reshape(-1).gather(0, indices.reshape(-1))
        axis = axis_of(self, dim, "take_along_dim")
        if indices.ndim != self.ndim:
            raise ValueError(f"take_along_dim: shapes {self.shape} and {tuple(indices.shape)}; both need as many axes")
        sizes = [(1, 1) if n == axis else pair for n, pair in enumerate(zip(self.shape, indices.shape, strict=True))]
        wide = np.broadcast_shapes(*zip(*sizes, strict=True))
        own, other = list(wide), list(wide)
        own[axis], other[axis] = self.shape[axis], indices.shape[axis]
        return self.expand(*own).gather(axis, indices.expand(*other))

    def repeat_interleave(self, repeats: int | Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
        """Return each slice along an axis several times, one behind the other.

        Args:
            repeats: How often: one number, or int64 of shape (slices,).
            dim: The axis. None takes the elements of the flattened tensor.
            axis: NumPy's name for dim.

        >>> minigrad.tensor([1, 2]).repeat_interleave(2)
        tensor([1, 1, 2, 2])
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "repeat_interleave")
        if dim is None or not self.ndim:
            axis_of(self, dim or 0, "repeat_interleave")
            return cast(Any, self).reshape(-1).repeat_interleave(repeats, 0)
        axis = axis_of(self, dim, "repeat_interleave")
        counts = repeats if isinstance(repeats, int) else cast(Any, repeats)._elements("repeat_interleave")
        if np.asarray(counts).dtype.kind != "i" or np.ndim(counts) > 1:
            raise TypeError("repeat_interleave: repeats are one whole number, or a vector of them")
        if np.any(np.asarray(counts) < 0):
            raise ValueError("repeat_interleave: a negative number of repeats")
        places = np.repeat(np.arange(self.shape[axis]), counts)
        return self.index_select(axis, cast(Any, self).from_host(places))

    def index_fill(self, dim: int, index: Tensor, value: Any) -> Tensor:
        """Return the tensor with one value in the slices that an index names.

        >>> minigrad.zeros(2, 3).index_fill(1, minigrad.tensor([0, 2]), 5.0)
        tensor([[5., 0., 5.],
                [5., 0., 5.]])
        """
        return cast(Any, self).masked_fill(self._slices("index_fill", dim, index), value)

    def index_fill_(self, dim: int, index: Tensor, value: Any) -> Tensor:
        """Put one value into the slices that an index names, in place.

        >>> minigrad.zeros(3).index_fill_(0, minigrad.tensor([1]), 5.0)
        tensor([0., 5., 0.])
        """
        return cast(Any, self).masked_fill_(self._slices("index_fill_", dim, index), value)

    def _slices(self, name: str, dim: int, index: Tensor) -> Tensor:
        """Return a mask of the slices that an index names, which broadcasts to the tensor."""
        axis = axis_of(self, dim, name)
        mask = np.zeros(self.shape[axis] if self.ndim else 1, bool)
        mask[cast(Any, index)._elements(name)] = True
        shape = [-1 if n == axis else 1 for n in range(self.ndim)]
        return cast("Tensor", cast(Any, self).from_host(mask.reshape(shape)))

    def kthvalue(
        self, k: int, dim: int = -1, keepdim: bool = False, *, axis: int | None = None, keepdims: bool = False
    ) -> ValuesAndIndices:
        """Return the k-th smallest element along an axis, counted from 1, and where it is.

        Raises:
            ValueError: If there are fewer than k elements, or k is below 1.

        >>> minigrad.tensor([3.0, 1.0, 2.0]).kthvalue(2)
        ValuesAndIndices(values=tensor(2.), indices=tensor(2))
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "kthvalue", -1)
        axis = axis_of(self, dim, "kthvalue")
        size = self.shape[axis] if self.ndim else 1
        if not 1 <= k <= size:
            raise ValueError(f"kthvalue: k is {k}, but axis {dim} of shape {self.shape} has size {size}")
        return self._ranked(axis, k - 1, keepdim or keepdims)

    def median(
        self, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None, keepdims: bool = False
    ) -> Any:
        """Return the middle element, of two middle ones the smaller, or along an axis the elements and their places.

        It is nan where an element is nan.

        >>> x = minigrad.tensor([[4.0, 1.0, 3.0, 2.0]])
        >>> x.median(), x.median(dim=1).indices
        (tensor(2.), tensor([3]))
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "median")
        keepdim = keepdim or keepdims
        if dim is None:
            return self.reshape(-1).median(0).values
        axis = axis_of(self, dim, "median")
        size = self.shape[axis] if self.ndim else 1
        if not size:
            raise ValueError(f"median: a tensor of shape {self.shape} has no element along axis {dim}")
        found = self._ranked(axis, (size - 1) // 2, keepdim)
        last = self._ranked(axis, size - 1, keepdim)  # nan is the largest of all
        broken = last.values.isnan()
        values = cast(Any, found.values).where(~broken, last.values)
        return ValuesAndIndices(values, cast(Any, found.indices).where(~broken, last.indices))

    def _ranked(self, axis: int, place: int, keepdim: bool) -> ValuesAndIndices:
        values, indices = self.sort(axis)
        if not self.ndim:
            return ValuesAndIndices(values, indices)
        kept = values.narrow(axis, place, 1), indices.narrow(axis, place, 1)
        return ValuesAndIndices(*(x if keepdim else x.squeeze(axis) for x in kept))

    def unique(
        self, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
    ) -> Any:
        """Return the distinct elements in order, as constants.

        Args:
            sorted: They come in order in any case.
            return_inverse: Whether to return, too, where each element stands among them.
            return_counts: Whether to return, too, how often each occurs.
            dim: The axis whose distinct slices are meant. None takes elements.

        >>> minigrad.tensor([3, 1, 3]).unique(return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))
        """
        array = self._elements("unique")
        parts = np.unique(array, return_inverse=True, return_counts=True, axis=dim)
        values, inverse, counts = map(cast(Any, self).from_host, parts)
        inverse = inverse.reshape(self.shape if dim is None else (-1,))
        found = (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
        return found if len(found) > 1 else values

    def bincount(self, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
        """Return how often each number from 0 on occurs in a vector of integers.

        Args:
            weights: What each element counts, in place of 1; of the vector's shape.
            minlength: The least number of counts.

        Raises:
            TypeError: If the tensor holds no integers.
            ValueError: If it is no vector, or an element is negative.

        >>> minigrad.tensor([0, 2, 2]).bincount()
        tensor([1, 0, 2])
        """
        array = self._elements("bincount")
        if array.dtype.kind not in "iu":
            raise TypeError(f"bincount: counts integers, not a tensor of {self.dtype}; convert it with .long()")
        if array.ndim != 1 or (array.size and array.min() < 0):
            raise ValueError("bincount: needs a vector of numbers from 0 on")
        factors = None if weights is None else cast(Any, weights)._elements("bincount")
        counts = np.bincount(array, factors, minlength)
        kind = np.int64 if factors is None else factors.dtype if factors.dtype.kind == "f" else np.float64
        return cast("Tensor", cast(Any, self).from_host(counts.astype(kind)))

    def cumprod(self, dim: int | None = None, dtype: DTypeLike | None = None, *, axis: int | None = None) -> Tensor:
        """Return the running products along an axis: element i is the product of the elements up to i.

        Args:
            dim: The axis.
            dtype: The type to convert to first. None makes int64 of booleans and integers.
            axis: NumPy's name for dim.

        >>> minigrad.tensor([1.0, 2.0, 3.0]).cumprod(0)
        tensor([1., 2., 6.])
        """
        axis = axis_of(self, dim if axis is None else by_numpys_name(dim, axis, "cumprod"), "cumprod")
        kind = np.int64 if dtype is None and self.dtype.kind in "bi" else dtype
        x = cast(Any, self if kind is None else cast(Any, self).to(dtype=kind))
        size, reach = (self.shape[axis] if self.ndim else 1), 1
        out = x.clone()
        while reach < size:  # after each round an element has the product of twice as many
            first, rest = out.narrow(axis, 0, reach), out.narrow(axis, reach, size - reach)
            out = tensor_functions.Cat.apply(first, rest * out.narrow(axis, 0, size - reach), dim=axis)
            reach *= 2
        return cast("Tensor", out)
