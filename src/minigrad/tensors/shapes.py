"""The methods of `Tensor` about its form: shapes, views, indexing, types, devices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from minigrad import layout, tensor_functions
from minigrad.backends import arrays
from minigrad.errors import GraphError, IndexingError
from minigrad.tensors import abstract_mode
from minigrad.tensors.devices import CPU, CUDA, Device
from minigrad.tensors.types import Types

if TYPE_CHECKING:
    from minigrad.tensors import Tensor


ALL_AXES = [tuple(range(n)) for n in range(65)]
"""By the number of axes, all of them; NumPy has no more than 64."""


def axis_of(x: Any, dim: Any, operation: str) -> int:
    """Return an axis counted from the front. A tensor without axes allows axis 0 or -1.

    >>> from minigrad.tensors.shapes import axis_of
    >>> axis_of(minigrad.zeros(2, 3), -1, "sum")
    1
    """
    return layout.normal_axis(dim, max(x._array.ndim, 1), operation)


def by_numpys_name(dim: Any, axis: Any, operation: str, default: Any = None) -> Any:
    """Return the axis that was given by NumPy's name, which PyTorch takes too.

    Args:
        dim: What was given by PyTorch's name, or the default.
        axis: What was given by NumPy's.
        operation: What wants the axis, for the error message.
        default: What dim is where it was not given.

    Raises:
        TypeError: If it was given by both names.
    """
    if dim != default:
        raise TypeError(f"{operation}: dim is {dim} and axis is {axis}; they are two names for one thing, give one")
    return axis


def axes_of(x: Any, dim: Any, operation: str) -> tuple[int, ...]:
    """Return axes counted from the front and sorted. None gives all of them.

    Raises:
        IndexingError: If there is no such axis.
        ValueError: If one is named twice.

    >>> from minigrad.tensors.shapes import axes_of
    >>> axes_of(minigrad.zeros(2, 3, 4), (-1, 0), "sum")
    (0, 2)
    >>> axes_of(minigrad.zeros(2, 3, 4), None, "sum")
    (0, 1, 2)
    """
    n = x._array.ndim
    if dim is None:
        return ALL_AXES[n]
    if dim.__class__ is int and n:
        return (layout.normal_axis(dim, n, operation),)
    given = [layout.normal_axis(d, max(n, 1), operation) for d in (dim if isinstance(dim, Sequence) else (dim,))]
    if len(set(given)) < len(given):
        raise ValueError(f"{operation}: axes {dim} name one axis twice")
    return tuple(sorted(axis for axis in given if axis < n))


class Shapes(Types):
    """The methods of `Tensor` about its shape, its views and its elements.

    >>> x = minigrad.zeros(2, 3)
    >>> x.T.shape, x.T.stride()
    ((3, 2), (1, 3))
    """

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis.

        >>> minigrad.zeros(2, 3).shape
        (2, 3)
        """
        return self._array.shape

    @property
    def ndim(self) -> int:
        """The number of axes.

        >>> minigrad.zeros(2, 3).ndim
        2
        """
        return self._array.ndim

    def dim(self) -> int:
        """Return the number of axes.

        >>> minigrad.zeros(2, 3).dim()
        2
        """
        return self.ndim

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of one axis.

        >>> x = minigrad.zeros(2, 3)
        >>> x.size(), x.size(-1)
        ((2, 3), 3)
        """
        return self.shape if dim is None else self.shape[layout.normal_axis(dim, self.ndim, "size")]

    def numel(self) -> int:
        """Return the number of elements.

        >>> minigrad.zeros(2, 3).numel()
        6
        """
        return int(self._array.size)

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        """Return the steps in elements from one index to the next, for all axes or one.

        >>> x = minigrad.zeros(2, 3)
        >>> x.stride(), x.T.stride()
        ((3, 1), (1, 3))
        """
        strides = cast(Any, self)._tensor.strides
        return strides if dim is None else strides[layout.normal_axis(dim, self.ndim, "stride")]

    def storage_offset(self) -> int:
        """Return the position of the first element in its storage.

        >>> x = minigrad.arange(5)
        >>> x[2:].storage_offset()
        2
        """
        return int(cast(Any, self)._tensor.offset)

    def is_contiguous(self) -> bool:
        """Return whether the elements lie in memory in row-major order, without gaps.

        >>> x = minigrad.zeros(2, 3)
        >>> x.is_contiguous(), x.T.is_contiguous()
        (True, False)
        """
        array = self._array
        return bool(array.flags.c_contiguous if isinstance(array, np.ndarray) else array.is_contiguous)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements, a NumPy dtype.

        >>> minigrad.tensor([1.0]).dtype, minigrad.tensor([1]).dtype
        (dtype('float32'), dtype('int64'))
        """
        return self._array.dtype

    @property
    def itemsize(self) -> int:
        """The bytes of one element.

        >>> minigrad.tensor([1.0]).itemsize
        4
        """
        return int(self._array.itemsize)

    def element_size(self) -> int:
        """Return the bytes of one element.

        >>> minigrad.tensor([1]).element_size()
        8
        """
        return self.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements.

        >>> minigrad.zeros(2, 3).nbytes
        24
        """
        return self.numel() * self.itemsize

    @property
    def device(self) -> Device:
        """Where the elements are: "cpu" or "cuda".

        >>> minigrad.zeros(2).device
        'cpu'
        """
        return CPU if arrays.on_host(self._array) else CUDA

    @property
    def is_cuda(self) -> bool:
        """True if the elements are on a CUDA device.

        >>> minigrad.zeros(2).is_cuda
        False
        """
        return self.device == "cuda"

    def is_floating_point(self) -> bool:
        """Return whether the elements are floats.

        >>> minigrad.tensor([1.0]).is_floating_point(), minigrad.tensor([1]).is_floating_point()
        (True, False)
        """
        return bool(self.dtype.kind == "f")

    def view(self, *shape: Any) -> Tensor:
        """Return the same elements, in row-major order, with another shape, without copying.

        Args:
            *shape: The sizes, one of which may be -1.

        Raises:
            ValueError: If the sizes do not multiply to the number of elements, or the strides do not allow it.

        >>> x = minigrad.arange(6)
        >>> x.view(2, 3)
        tensor([[0, 1, 2],
                [3, 4, 5]])
        >>> x.view(3, -1).shape
        (3, 2)
        """
        array = self._array
        new_shape = layout.view_shape(array.shape, layout.sizes_of(shape, "view"))
        if not (isinstance(array, np.ndarray) and array.flags.c_contiguous):
            cast(Any, self)._tensor.view(*new_shape)  # which says where strides do not allow it
        return tensor_functions.View.apply(self, shape=new_shape)

    def reshape(self, *sizes: Any, shape: Any = None) -> Tensor:
        """Return the elements, in row-major order, with another shape: a view where strides allow it, else a copy.

        The shape is given as numbers, in a tuple, or by name.

        >>> minigrad.arange(6).reshape(2, 3).T.reshape(6)
        tensor([0, 3, 1, 4, 2, 5])
        """
        new_shape = layout.view_shape(
            self.shape, layout.sizes_of(sizes if shape is None else (*sizes, shape), "reshape")
        )
        array = self._array
        if isinstance(array, np.ndarray) and array.flags.c_contiguous:
            return tensor_functions.View.apply(self, shape=new_shape)
        fits = not array.size or layout.view_strides(array.shape, array.strides, new_shape) is not None
        return tensor_functions.View.apply(self if fits else cast(Any, self).clone(), shape=new_shape)

    def data_ptr(self) -> int:
        """Return the address of the first element: views that begin there have the same.

        >>> x = minigrad.zeros(4)
        >>> x.data_ptr() == x.view(2, 2).data_ptr()
        True
        """
        array = arrays.to_host(self._array) if arrays.on_host(self._array) else self._array.data.array
        return int(array.__array_interface__["data"][0])

    def view_as(self, other: Any) -> Tensor:
        """Return a view with another tensor's shape.

        >>> minigrad.arange(4).view_as(minigrad.zeros(2, 2))
        tensor([[0, 1],
                [2, 3]])
        """
        return self.view(*other.shape)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """Return the elements with the axes from start_dim to end_dim in one.

        >>> minigrad.zeros(2, 3, 4).flatten(1).shape
        (2, 12)
        """
        if not self.ndim:
            axis_of(self, start_dim, "flatten"), axis_of(self, end_dim, "flatten")
            return self.reshape(1)
        first = layout.normal_axis(start_dim, self.ndim, "flatten")
        last = layout.normal_axis(end_dim, self.ndim, "flatten")
        if first > last:
            raise ValueError(f"flatten: start_dim {start_dim} is behind end_dim {end_dim} for shape {self.shape}")
        shape = self.shape
        return self.reshape(*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Tensor:
        """Return the elements with one axis cut into several.

        >>> minigrad.zeros(2, 12).unflatten(1, (3, 4)).shape
        (2, 3, 4)
        """
        axis = layout.normal_axis(dim, self.ndim, "unflatten")
        return self.reshape(*self.shape[:axis], *sizes, *self.shape[axis + 1 :])

    def permute(self, *order: Any, dims: Any = None) -> Tensor:
        """Return a view whose axis i is axis ``order[i]`` of this tensor; the order may also be given by name.

        >>> minigrad.zeros(2, 3, 4).permute(2, 0, 1).shape
        (4, 2, 3)
        """
        given = layout.sizes_of(order if dims is None else (*order, dims), "permute")
        n = self._array.ndim
        order = tuple([layout.normal_axis(axis, n, "permute") for axis in given])
        if len(order) != n or len(set(order)) < n:
            raise ValueError(f"permute: {given} is not an order of the {n} axes of shape {self.shape}")
        return tensor_functions.Permute.apply(self, order=order)

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        """Return a view with two axes exchanged.

        >>> minigrad.zeros(2, 3, 4).transpose(0, -1).shape
        (4, 3, 2)
        """
        a, b = axis_of(self, dim0, "transpose"), axis_of(self, dim1, "transpose")
        order = list(ALL_AXES[self._array.ndim])
        if order:
            order[a], order[b] = b, a
        return tensor_functions.Permute.apply(self, order=tuple(order))

    def t(self) -> Tensor:
        """Return the transpose of a matrix, or a vector as it is.

        >>> minigrad.tensor([[1, 2], [3, 4]]).t()
        tensor([[1, 3],
                [2, 4]])
        """
        if self.ndim > 2:
            raise ValueError(f"t: shape {self.shape} has more than two axes; use transpose(dim0, dim1)")
        return self.T

    @property
    def T(self) -> Tensor:
        """The view with all axes in reverse order.

        >>> minigrad.zeros(2, 3, 4).T.shape
        (4, 3, 2)
        """
        return tensor_functions.Permute.apply(self, order=ALL_AXES[self._array.ndim][::-1])

    @property
    def mT(self) -> Tensor:
        """The view with the last two axes exchanged.

        >>> minigrad.zeros(2, 3, 4).mT.shape
        (2, 4, 3)
        """
        return self.transpose(-1, -2)

    def squeeze(self, dim: Any = None, *, axis: Any = None) -> Tensor:
        """Return a view without axes of size 1: all of them, or those in dim that have it.

        >>> x = minigrad.zeros(1, 3, 1)
        >>> x.squeeze().shape, x.squeeze(0).shape
        ((3,), (3, 1))
        """
        axes = axes_of(self, dim if axis is None else by_numpys_name(dim, axis, "squeeze"), "squeeze")
        return self.view([n for axis, n in enumerate(self.shape) if axis not in axes or n != 1])

    def unsqueeze(self, dim: Any = None, *, axis: int | None = None) -> Tensor:
        """Return a view with a new axis of size 1 before axis dim.

        >>> x = minigrad.zeros(3)
        >>> x.unsqueeze(0).shape, x.unsqueeze(-1).shape
        ((1, 3), (3, 1))
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "unsqueeze")
        axis = layout.normal_axis(dim, self.ndim + 1, "unsqueeze")
        if not self.is_contiguous():
            return self[(slice(None),) * axis + (None,)]
        shape = self._array.shape
        return tensor_functions.View.apply(self, shape=(*shape[:axis], 1, *shape[axis:]))

    def expand(self, *sizes: Any) -> Tensor:
        """Return a view in which axes of size 1 repeat, and new axes stand in front. A size of -1 keeps the old one.

        >>> minigrad.tensor([[1], [2]]).expand(2, 3)
        tensor([[1, 1, 1],
                [2, 2, 2]])
        >>> minigrad.zeros(3).expand(4, -1).shape
        (4, 3)
        """
        old = self._array.shape
        shape, _ = layout.expand(old, old, layout.sizes_of(sizes, "expand"))
        return tensor_functions.Expand.apply(self, shape=tuple(shape))

    def expand_as(self, other: Any) -> Tensor:
        """Return a view expanded to another tensor's shape.

        >>> minigrad.tensor([1.0, 2.0]).expand_as(minigrad.zeros(3, 2)).shape
        (3, 2)
        """
        return self.expand(*other.shape)

    def broadcast_to(self, *sizes: Any, size: Any = None) -> Tensor:
        """Return a view expanded to a shape, given as numbers, in a tuple, or by name: NumPy's name for `expand`.

        >>> minigrad.zeros(3).broadcast_to(4, 3).shape
        (4, 3)
        """
        return self.expand(*sizes) if size is None else self.expand(*sizes, size)

    def flip(self, *axes: Any, dims: Any = None) -> Tensor:
        """Return a copy with the elements in reverse order along some axes, given as numbers, in a list, or by name.

        >>> minigrad.arange(4).flip(0)
        tensor([3, 2, 1, 0])
        """
        given = axes if dims is None else (dims,)
        return tensor_functions.Flip.apply(self, dims=axes_of(self, layout.sizes_of(given, "flip"), "flip"))

    def contiguous(self) -> Tensor:
        """Return the tensor itself if its elements lie in row-major order, else a copy in which they do.

        >>> x = minigrad.zeros(2, 3).T
        >>> x.is_contiguous(), x.contiguous().is_contiguous()
        (False, True)
        """
        return cast("Tensor", self) if self.is_contiguous() else cast(Any, self).clone()

    def __getitem__(self, key: Any) -> Tensor:
        keys = key if isinstance(key, tuple) else (key,)
        for part in keys:
            is_slice = part.__class__ is slice and part.step is None
            if not (is_slice or part.__class__ is int or part is None):
                break
        else:  # the most frequent keys need no closer look
            return tensor_functions.Index.apply(self, key=key if key.__class__ is slice else (*keys, Ellipsis))
        if abstract_mode.depth and (batched := abstract_mode.among(keys)) is not None:
            return cast("Tensor", batched.taken_from(self, key))
        before, chosen = self._keys(key)
        if before is not None:
            return self[before][chosen]
        return tensor_functions.Index.apply(self, key=chosen)

    def _keys(self, key: Any) -> tuple[Any, Any]:
        """Return two keys of NumPy's for one of ours, to be used one after the other; the first may be None.

        Tensors and lists become arrays, and the last key always gives an array.
        """
        parts = [_part(part, self.shape) for part in (key if isinstance(key, tuple) else (key,))]
        if any(isinstance(part, slice) and (part.step or 1) < 1 for part in parts):
            raise ValueError(f"cannot index shape {self.shape}: a slice's step must be at least 1; use flip()")
        if tensor_functions._is_basic(tuple(parts)) and Ellipsis not in parts:
            parts.append(Ellipsis)  # or NumPy would return a number for a single element
        return _selection_first(parts, self.ndim)

    def gather(self, dim: int, index: Tensor) -> Tensor:
        """Return the elements at given places along an axis: ``out[i][j] = self[index[i][j]][j]`` for axis 0.

        Args:
            dim: The axis.
            index: int64, with as many axes. Along the others it is no larger than this tensor.

        >>> x = minigrad.tensor([[1, 2, 3], [4, 5, 6]])
        >>> x.gather(1, minigrad.tensor([[2], [0]]))
        tensor([[3],
                [4]])
        """
        axis = axis_of(self, dim, "gather")
        if max(index.ndim, 1) != max(self.ndim, 1):  # a number counts as a vector of one element
            raise ValueError(f"gather: shape {self.shape} with an index of shape {index.shape}; both need as many axes")
        if not self.ndim or not index.ndim:
            return self.reshape(-1)[index.reshape(-1)].view(index.shape)
        return self[tensor_functions.along(abstract_mode.current(index), axis)]

    def scatter_to(self, shape: Sequence[int], dim: int, index: Tensor) -> Tensor:
        """Return zeros of a shape, with this tensor's values at given places along an axis: `gather` turned round.

        >>> x = minigrad.tensor([[5.0], [7.0]])
        >>> x.scatter_to((2, 3), 1, minigrad.tensor([[2], [0]]))
        tensor([[0., 0., 5.],
                [7., 0., 0.]])
        """
        axis, index = axis_of(self, dim, "scatter_to"), abstract_mode.current(index)
        if getattr(index, "abstract", False):
            return cast(Any, index).scattered(self, shape, axis)
        key = tensor_functions.along(index, axis)
        return tensor_functions.IndexAdd.apply(self, shape=tuple(shape), key=key)

    def index_select(self, dim: int, index: Tensor) -> Tensor:
        """Return the slices along an axis that a vector of int64 names. One number counts as a vector of one element.

        >>> minigrad.tensor([[1, 2], [3, 4], [5, 6]]).index_select(0, minigrad.tensor([2, 0]))
        tensor([[5, 6],
                [1, 2]])
        """
        axis, index = axis_of(self, dim, "index_select"), index.view(-1) if not index.ndim else index
        if not self.ndim:
            return self.expand(1).index_select(0, index).squeeze()
        return self[(slice(None),) * axis + (index,)]

    def select(self, dim: int, index: int) -> Tensor:
        """Return one slice along an axis, without that axis.

        >>> minigrad.tensor([[1, 2], [3, 4]]).select(1, 0)
        tensor([1, 3])
        """
        return self[(slice(None),) * axis_of(self, dim, "select") + (index,)]

    def narrow(self, dim: int, start: int, length: int) -> Tensor:
        """Return a view of some slices along an axis.

        >>> minigrad.arange(6).narrow(0, start=2, length=3)
        tensor([2, 3, 4])
        """
        axis = layout.normal_axis(dim, self.ndim, "narrow")
        n = self.shape[axis]
        first = start + n if start < 0 else start
        if first < 0 or length < 0 or first + length > n:
            raise IndexingError(f"narrow: {length} slices from {start} on, but axis {dim} of {self.shape} has size {n}")
        return self[(slice(None),) * axis + (slice(first, first + length),)]

    def split(self, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
        """Cut into views along an axis.

        Args:
            split_size: The size of each part (the last may be smaller), or a list of sizes.
            dim: The axis.

        >>> minigrad.arange(5).split(2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        >>> [part.shape for part in minigrad.zeros(3, 5).split([1, 4], dim=1)]
        [(3, 1), (3, 4)]
        """
        axis = layout.normal_axis(dim, self.ndim, "split")
        n = self.shape[axis]
        if isinstance(split_size, int):
            if split_size < 1:
                raise ValueError(f"split: a part needs a size of at least 1, not {split_size}")
            split_size = [min(split_size, n - start) for start in range(0, n, split_size)] or [0]
        if sum(split_size) != n:
            raise ValueError(
                f"split: sizes {list(split_size)} add up to {sum(split_size)}, but axis {dim} has size {n}"
            )
        ends = np.cumsum(split_size).tolist()
        return tuple(self.narrow(axis, end - size, size) for size, end in zip(split_size, ends, strict=True))

    def chunk(self, chunks: int, dim: int = 0, *, axis: int | None = None) -> tuple[Tensor, ...]:
        """Cut into at most that many views of equal size along an axis. The last may be smaller.

        >>> minigrad.arange(5).chunk(2)
        (tensor([0, 1, 2]), tensor([3, 4]))
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "chunk", 0)
        n = self.shape[layout.normal_axis(dim, self.ndim, "chunk")]
        return self.split(-(-n // chunks) if n else [0] * chunks, dim)

    def unbind(self, dim: int = 0, *, axis: int | None = None) -> tuple[Tensor, ...]:
        """Return all slices along an axis, without that axis.

        >>> minigrad.tensor([[1, 2], [3, 4]]).unbind()
        (tensor([1, 2]), tensor([3, 4]))
        """
        dim = dim if axis is None else by_numpys_name(dim, axis, "unbind", 0)
        axis = layout.normal_axis(dim, self.ndim, "unbind")
        return tuple(self.select(axis, i) for i in range(self.shape[axis]))

    def item(self) -> Any:
        """Return the only element as a Python number.

        Raises:
            ValueError: If there is not exactly one.

        >>> minigrad.tensor([2.5]).item()
        2.5
        """
        if self.numel() != 1:
            raise ValueError(f"item: a tensor of shape {self.shape} has {self.numel()} elements, not one")
        return abstract_mode.elements(self).item()

    def tolist(self) -> Any:
        """Return nested lists of Python numbers.

        >>> minigrad.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return abstract_mode.elements(self).tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """Return the NumPy array that shares this tensor's memory (on the CPU).

        Args:
            force: Whether a tensor that requires gradients gives its array all the same, as after `detach`.

        Raises:
            GraphError: If the tensor requires gradients, which the array would not know of.

        >>> x = minigrad.zeros(2)
        >>> x.numpy()[0] = 3.0
        >>> x
        tensor([3., 0.])
        """
        if cast(Any, self).requires_grad and not force:
            raise GraphError("numpy: this tensor requires gradients; use detach().numpy()")
        return abstract_mode.elements(self)


def _selection_first(parts: list[Any], dims: int) -> tuple[Any, Any]:
    """Return keys for the integers of a key, or None, and for the rest of it.

    For NumPy an integer beside arrays is an array of one element, and ... parts arrays even where it stands for no
    axis: both move the arrays' axes to the front. In PyTorch an integer selects before the arrays take their elements.
    """
    if not any(isinstance(part, np.ndarray) for part in parts):
        return None, tuple(parts)
    dots = [place for place, part in enumerate(parts) if part is Ellipsis]
    if len(dots) == 1:
        missing = dims - sum(map(_width, parts))
        parts[dots[0] : dots[0] + 1] = [slice(None)] * missing
    if not any(isinstance(part, int) for part in parts):
        return None, tuple(parts)
    before, after = list[Any](), list[Any]()
    for part in parts:
        is_array = isinstance(part, np.ndarray)
        before += [slice(None)] * _width(part) if is_array else [part]
        after += [] if isinstance(part, int) else [part if is_array else slice(None)]
    return tuple(before), tuple(after)


def _width(part: Any) -> int:
    """Return how many axes a part of a key takes up."""
    if isinstance(part, np.ndarray) and part.dtype == bool:
        return part.ndim
    return 0 if part is None or part is Ellipsis else 1


def _part(part: Any, shape: Sequence[int]) -> Any:
    """Return one part of a key as NumPy takes it."""
    if hasattr(part, "_array"):
        part = abstract_mode.elements(part)
    elif isinstance(part, list | range | tuple):
        part = np.asarray(part)
        part = part.astype(np.int64) if not part.size else part
    elif isinstance(part, bool | np.bool_):
        part = np.asarray(part)
    if not isinstance(part, np.ndarray):
        if part is None or part is Ellipsis or isinstance(part, slice):
            return part
        return layout.integer(part, f"cannot index shape {tuple(shape)}: what is neither slice, None nor ...")
    if part.dtype.kind not in "iub":
        raise TypeError(f"cannot index shape {tuple(shape)} with {part.dtype}: an index has integers or booleans")
    return int(part) if part.ndim == 0 and part.dtype.kind in "iu" else part
