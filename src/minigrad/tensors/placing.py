"""The methods of `Tensor` that put elements at other places: triangles, copies side by side, scattering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from minigrad import layout, tensor_functions
from minigrad.backends import arrays
from minigrad.errors import IndexingError
from minigrad.tensors import abstract_mode
from minigrad.tensors.composed import scaled
from minigrad.tensors.shapes import Shapes, axis_of

if TYPE_CHECKING:
    from minigrad.tensors import Tensor


class Placing(Shapes):
    """Elements at other places, with zeros or another tensor's elements around them.

    >>> minigrad.ones(2, 2).tril()
    tensor([[1., 0.],
            [1., 1.]])
    """

    __slots__ = ()

    # --- triangles and diagonals ------------------------------------------------------------------------------

    def tril(self, diagonal: int = 0) -> Tensor:
        """Return the lower triangle of a matrix, or of each matrix in the last two axes; the rest is 0.

        Args:
            diagonal: The last diagonal that is kept: 0 is the main one, positive numbers lie above it.

        Raises:
            ValueError: If the tensor has fewer than two axes.

        >>> minigrad.ones(3, 3).tril(-1)
        tensor([[0., 0., 0.],
                [1., 0., 0.],
                [1., 1., 0.]])
        """
        return self._triangle("tril", diagonal + 1, above=False)

    def triu(self, diagonal: int = 0) -> Tensor:
        """Return the upper triangle of a matrix, or of each matrix in the last two axes; the rest is 0.

        Args:
            diagonal: The first diagonal that is kept: 0 is the main one, positive numbers lie above it.

        Raises:
            ValueError: If the tensor has fewer than two axes.

        >>> minigrad.ones(3, 3).triu(1)
        tensor([[0., 1., 1.],
                [0., 0., 1.],
                [0., 0., 0.]])
        """
        return self._triangle("triu", diagonal, above=True)

    def _triangle(self, name: str, first: int, above: bool) -> Tensor:
        if self.ndim < 2:
            raise ValueError(f"{name}: a tensor of shape {self.shape}; it needs at least two axes")
        upper = ~np.tri(self.shape[-2], self.shape[-1], first - 1, dtype=bool)
        x = cast(Any, self)
        return cast("Tensor", x.masked_fill(x.from_host(~upper if above else upper), 0))

    def diag(self, diagonal: int = 0) -> Tensor:
        """Return a matrix with a vector on a diagonal, or a vector of a matrix's diagonal.

        Args:
            diagonal: Which diagonal: 0 is the main one, positive numbers lie above it.

        Raises:
            ValueError: If the tensor is neither a vector nor a matrix, or the matrix has no such diagonal.

        >>> minigrad.tensor([1.0, 2.0]).diag()
        tensor([[1., 0.],
                [0., 2.]])
        >>> minigrad.tensor([[1.0, 2.0], [3.0, 4.0]]).diag(1)
        tensor([2.])
        """
        below, right = max(-diagonal, 0), max(diagonal, 0)
        if self.ndim == 1:
            places, n = np.arange(self.shape[0]), self.shape[0] + abs(diagonal)
            return tensor_functions.IndexAdd.apply(self, shape=(n, n), key=(places + below, places + right))
        if self.ndim != 2:
            raise ValueError(f"diag: a tensor of shape {self.shape}; it must be a vector or a matrix")
        size = min(self.shape[0] - below, self.shape[1] - right)
        if size < 0:
            raise ValueError(f"diag: a matrix of shape {self.shape} has no diagonal {diagonal}")
        places = np.arange(size)
        return tensor_functions.Index.apply(self, key=(places + below, places + right))

    def outer(self, vec2: Tensor) -> Tensor:
        """Return the products of each element of a vector with each of another, of shape (n, m).

        Raises:
            ValueError: If they are not two vectors.

        >>> minigrad.tensor([1.0, 2.0]).outer(minigrad.tensor([3.0, 4.0]))
        tensor([[3., 4.],
                [6., 8.]])
        """
        if self.ndim != 1 or getattr(vec2, "ndim", 0) != 1:
            raise ValueError(f"outer: {self.shape} and {tuple(getattr(vec2, 'shape', ()))}; both must be vectors")
        return cast(Any, self).unsqueeze(1) * vec2

    # --- copies and circles -----------------------------------------------------------------------------------

    def repeat(self, *repeats: Any) -> Tensor:
        """Return copies of the tensor side by side along each axis. New axes stand in front.

        Args:
            *repeats: How many copies along each axis; at least as many numbers as there are axes.

        Raises:
            ValueError: If there are fewer numbers than axes, or one is negative.

        >>> minigrad.tensor([1, 2]).repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
        """
        counts = tuple(layout.sizes_of(repeats, "repeat"))
        if len(counts) < self.ndim or min(counts, default=0) < 0:
            raise ValueError(f"repeat: {counts} for shape {self.shape}; give a number from 0 on for each axis")
        shape = (1,) * (len(counts) - self.ndim) + self.shape
        between = [n for size in shape for n in (1, size)]
        wide = [n for count, size in zip(counts, shape, strict=True) for n in (count, size)]
        whole = [count * size for count, size in zip(counts, shape, strict=True)]
        return self.reshape(*between).expand(*wide).clone().reshape(*whole)

    def roll(self, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Tensor:
        """Return the elements moved along axes; what leaves at one end comes back at the other.

        Args:
            shifts: By how many places, for each axis.
            dims: The axis or axes; None moves the elements of the flattened tensor.

        Raises:
            ValueError: If there are not as many shifts as axes.

        >>> minigrad.arange(5).roll(2)
        tensor([3, 4, 0, 1, 2])
        """
        if dims is None:
            if not isinstance(shifts, int):
                raise ValueError(f"roll: {len(shifts)} shifts without dims; give one, or as many dims")
            return self.reshape(-1).roll(shifts, 0).reshape(*self.shape)
        steps = (shifts,) if isinstance(shifts, int) else tuple(shifts)
        axes = (dims,) if isinstance(dims, int) else tuple(dims)
        if len(steps) != len(axes):
            raise ValueError(f"roll: {len(steps)} shifts for {len(axes)} dims; give one for each")
        out: Any = self
        for step, dim in zip(steps, axes, strict=True):
            axis = axis_of(out, dim, "roll")
            n = out.shape[axis] if out.ndim else 0
            start = -step % n if n else 0
            if start:
                parts = (out.narrow(axis, start, n - start), out.narrow(axis, 0, start))
                out = tensor_functions.Cat.apply(*parts, dim=axis)
        return cast("Tensor", out.clone() if out is self else out)

    # --- by index ---------------------------------------------------------------------------------------------

    def index_add(self, dim: int, index: Tensor, source: Tensor, alpha: float = 1.0) -> Tensor:
        """Return the tensor with slices of another added to the slices that an index names.

        Args:
            dim: The axis.
            index: int64 of shape (n,). A slice that it names twice gets both.
            source: Of this tensor's type, and of its shape but for size n along dim.
            alpha: A factor of source.

        Raises:
            TypeError: If the types differ.
            ValueError: If the shapes do not match.

        >>> x = minigrad.zeros(3)
        >>> x.index_add(0, minigrad.tensor([0, 2, 0]), minigrad.tensor([1.0, 2.0, 3.0]))
        tensor([4., 0., 2.])
        """
        axis = axis_of(self, dim, "index_add")
        _check_types("index_add", self, source)
        wanted = (*self.shape[:axis], index.numel(), *self.shape[axis + 1 :])
        if index.ndim > 1 or source.shape != wanted:
            raise ValueError(
                f"index_add: an index of shape {index.shape} and a source of shape {source.shape} for axis {dim} of "
                f"{self.shape}; the source must have shape {wanted}"
            )
        _check_places("index_add", self, axis, index)
        values: Any = source if alpha == 1 else scaled("index_add", source, alpha)
        places = index.reshape(-1, *(1,) * (max(self.ndim, 1) - axis - 1)).expand(*wanted)
        return cast("Tensor", cast(Any, self) + values.scatter_to(self.shape, axis, places))

    def index_add_(self, dim: int, index: Tensor, source: Tensor, alpha: float = 1.0) -> Tensor:
        """Add slices of another tensor to the slices that an index names, see `index_add`.

        >>> minigrad.zeros(3).index_add_(0, minigrad.tensor([0, 0]), minigrad.tensor([1.0, 3.0]))
        tensor([4., 0., 0.])
        """
        return cast("Tensor", cast(Any, self).copy_(self.index_add(dim, index, source, alpha)))

    def scatter(
        self, dim: int, index: Tensor, src: Tensor | float | None = None, *, value: float | None = None
    ) -> Tensor:
        """Return the tensor with values at given places along an axis: ``out[index[i][j]][j] = src[i][j]`` for axis 0.

        Args:
            dim: The axis.
            index: int64, with as many axes. Along the others it is no larger than this tensor.
            src: A number, or a tensor of this tensor's type, no smaller than index. Of several values for one place the
                last one stays.
            value: PyTorch's other name for a src that is a number.

        Raises:
            TypeError: If the types differ, or src and value are both given, or neither.
            ValueError: If the shapes do not match.

        >>> minigrad.zeros(2, 3).scatter(1, minigrad.tensor([[2], [0]]), 1.0)
        tensor([[0., 0., 1.],
                [1., 0., 0.]])
        """
        if (src is None) == (value is None):
            raise TypeError("scatter: give src, a tensor or a number, or a number as value")
        src = value if src is None else src
        x, values = cast(Any, self), cast(Any, src)
        axis = axis_of(self, dim, "scatter")
        if not isinstance(src, Shapes):
            values = x.new_full(index.shape, src)
        values = _source("scatter", self, axis, index, values)
        if not self.ndim or not index.ndim:  # a number counts as a vector of one element
            return self.reshape(-1).scatter(0, index.reshape(-1), values.reshape(-1)).reshape(*self.shape)
        batched = next((each for each in (x, index, values) if hasattr(each, "_level")), None)
        if batched is not None:
            return cast("Tensor", cast(Any, batched).put_along(x, axis, index, values))
        key = tensor_functions.along(abstract_mode.current(index), axis)
        return tensor_functions.IndexPut.apply(x, values, key=key)

    def scatter_(
        self, dim: int, index: Tensor, src: Tensor | float | None = None, *, value: float | None = None
    ) -> Tensor:
        """Put values at given places along an axis, see `scatter`.

        >>> minigrad.zeros(2, 3).scatter_(1, minigrad.tensor([[2], [0]]), 1.0)
        tensor([[0., 0., 1.],
                [1., 0., 0.]])
        """
        return cast("Tensor", cast(Any, self).copy_(self.scatter(dim, index, src, value=value)))

    def scatter_add(self, dim: int, index: Tensor, src: Tensor) -> Tensor:
        """Return the tensor with values added at given places along an axis; one that is named twice gets both.

        Args:
            dim: The axis.
            index: int64, with as many axes. Along the others it is no larger than this tensor.
            src: A tensor of this tensor's type, no smaller than index.

        Raises:
            TypeError: If the types differ.
            ValueError: If the shapes do not match.

        >>> minigrad.zeros(3).scatter_add(0, minigrad.tensor([0, 2, 0]), minigrad.tensor([1.0, 2.0, 3.0]))
        tensor([4., 0., 2.])
        """
        axis = axis_of(self, dim, "scatter_add")
        values = _source("scatter_add", self, axis, index, src)
        if not self.ndim or not index.ndim:
            return self.reshape(-1).scatter_add(0, index.reshape(-1), values.reshape(-1)).reshape(*self.shape)
        return cast("Tensor", cast(Any, self) + values.scatter_to(self.shape, axis, index))

    def scatter_add_(self, dim: int, index: Tensor, src: Tensor) -> Tensor:
        """Add values at given places along an axis, see `scatter_add`.

        >>> minigrad.zeros(2).scatter_add_(0, minigrad.tensor([0, 0]), minigrad.tensor([1.0, 3.0]))
        tensor([4., 0.])
        """
        return cast("Tensor", cast(Any, self).copy_(self.scatter_add(dim, index, src)))


def _check_types(name: str, x: Any, source: Any) -> None:
    if not isinstance(source, Shapes):
        raise TypeError(f"{name}: the source must be a Tensor, not {layout.type_name(source)}")
    if source.dtype != x.dtype:
        raise TypeError(f"{name}: a source of {source.dtype} for a tensor of {x.dtype}; convert it with .to(...)")


def _check_places(name: str, x: Any, axis: int, index: Any) -> None:
    """Refuse places that are not there: NumPy would count negative ones from the end, and PyTorch does not."""
    if index.dtype.kind not in "iu":
        raise TypeError(f"{name}: an index has integers, not {index.dtype}; convert it with .long()")
    if abstract_mode.current(index).abstract:
        return  # nobody can look at it yet
    n, places = (x.shape[axis] if x.ndim else 1), arrays.to_host(index._array)
    wrong = places[(places < 0) | (places >= n)]
    if wrong.size:
        raise IndexingError(f"{name}: there is no place {wrong.flat[0]} along axis {axis} of shape {x.shape}")


def _source(name: str, x: Any, axis: int, index: Any, src: Any) -> Any:
    """Return the part of a source that an index has places for, checked."""
    _check_types(name, x, src)
    shape, rank = tuple(index.shape), max(x.ndim, 1)
    fits = max(len(shape), 1) == max(src.ndim, 1) == rank
    fits = fits and all(n <= m for n, m in zip(shape, src.shape, strict=False))
    fits = fits and all(n <= m for place, (n, m) in enumerate(zip(shape, x.shape, strict=False)) if place != axis)
    if not fits:
        raise ValueError(
            f"{name}: an index of shape {shape} and a source of shape {src.shape} along axis {axis} of shape "
            f"{x.shape}; the index must have as many axes, and be no larger than the source, nor, along other axes, "
            "than the tensor"
        )
    _check_places(name, x, axis, index)
    return src if src.shape == shape or not shape else src[tuple(slice(n) for n in shape)]
