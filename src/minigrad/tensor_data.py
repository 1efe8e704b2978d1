"""How an array of any shape lies in one flat storage: strides, indices, positions, broadcasting, views.

The element at an index stands at ``offset + index[0] * strides[0] + index[1] * strides[1] + ...``. Permuting, slicing,
expanding and most changes of shape only choose other numbers for shape, strides and offset: they copy nothing.

The functions about indices work on lists, tuples and arrays in Python; Numba compiles them for the loops of the CPU and
the GPU as they are written. `TensorData` calls all exercises of this module through the module.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from minigrad import layout
from minigrad.errors import IndexingError
from minigrad.layout import collapse, normal_axis

__all__ = [
    "MAX_DIMS",
    "Index",
    "IndexingError",
    "OutIndex",
    "Shape",
    "Storage",
    "Strides",
    "TensorData",
    "UserIndex",
    "UserShape",
    "UserStrides",
    "broadcast_index",
    "collapse",
    "index_to_position",
    "normal_axis",
    "permute",
    "shape_broadcast",
    "strides_from_shape",
    "to_index",
    "unfold",
]

MAX_DIMS = 32
"""Axes for which a kernel on the GPU keeps room in its index buffers."""

Storage: TypeAlias = Any  # a flat ndarray, or a device array of the same manners
Index: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
OutIndex: TypeAlias = list[int] | npt.NDArray[np.integer[Any]]
Shape: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
Strides: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
UserIndex: TypeAlias = Sequence[int]
UserShape: TypeAlias = Sequence[int]
UserStrides: TypeAlias = Sequence[int]


def strides_from_shape(shape: UserShape) -> UserStrides:
    """Return the strides of an array that lies in its storage row by row, without gaps.

    The last axis runs fastest: its stride is 1. The stride of any other axis is the
    product of the sizes of all axes after it, since one step along it passes over all
    of their elements.

    Args:
        shape: The size of each axis; none for a single number.

    Returns:
        A tuple with one stride for each axis, counted in elements: (12, 4, 1) for (2,
        3, 4), () for ().
    """
    ### BEGIN SOLUTION
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)
    ### END SOLUTION


def index_to_position(index: Index, strides: Strides) -> int:
    """Return where the element at an index stands in the storage.

    The position is the sum of each axis's index times that axis's stride, whatever the
    strides are.

    Args:
        index: One index for each axis: a tuple, which has no ``shape``, or in kernels
            an array. It may be a buffer that is longer than strides; what comes after
            is not used.
        strides: The storage's step along each axis, also a tuple or an array. The rank
            is the number of strides.

    Returns:
        The position, counted from the array's first element: 0 for a single number,
        which has no axes.

    Numba compiles this function for fast loops: use loops and arithmetic only, no
    generators and no classes.
    """
    ### BEGIN SOLUTION
    position = 0
    for axis in range(len(strides)):
        position += index[axis] * strides[axis]
    return position
    ### END SOLUTION


def to_index(ordinal: int, shape: Shape, out_index: OutIndex) -> None:
    """Find the index of the element with a given number, counting row by row.

    Counting runs through the last axis first, as the digits of a number do: in shape
    (2, 3) the elements 0 to 5 have the indices (0, 0), (0, 1), (0, 2), (1, 0), (1, 1),
    (1, 2). Strides play no part in it.

    Args:
        ordinal: The number of the element, from 0 to the number of elements - 1. It may
            exceed 2**53, beyond which ``/`` is no longer exact.
        shape: The size of each axis. Shapes are tuples, which have no ``size``, and in
            kernels arrays.
        out_index: Where the index is written. What it held before means nothing, and it
            may be a buffer that is longer than shape.

    Numba compiles this function for fast loops: use loops and arithmetic only, no
    generators and no classes.
    """
    ### BEGIN SOLUTION
    rest = ordinal + 0  # a number of its own: inlined in a parallel loop, ordinal is the loop's variable
    for axis in range(len(shape) - 1, -1, -1):
        out_index[axis] = rest % shape[axis]
        rest = rest // shape[axis]
    ### END SOLUTION


def permute(data: TensorData, *order: int) -> TensorData:
    """Return a view of the same storage with its axes in another order.

    Axis i of the result is axis ``order[i]`` of data. Nothing is copied: writing
    through one of the two shows in the other. A view that does not begin at the
    storage's first element keeps its offset.

    Args:
        data: Any view, also a permuted, sliced or expanded one.
        *order: Every number from 0 to dims - 1 once, in any order; `TensorData.permute`
            has checked that.

    Returns:
        A new view; data itself is left as it is.
    """
    ### BEGIN SOLUTION
    shape = tuple(data.shape[axis] for axis in order)
    strides = tuple(data.strides[axis] for axis in order)
    return TensorData(data.storage, shape, strides, data.offset)
    ### END SOLUTION


def unfold(data: TensorData, axis: int, size: int, step: int) -> TensorData:
    """Return all windows along one axis, as a view of the same storage.

    A window is `size` elements side by side along the axis, at the same index
    otherwise. The first one begins at element 0, the next one `step` elements further
    on, and so forth, as long as there is a whole one. The axis then counts windows, and
    a new axis, the last, runs through a window: of 0, 1, 2, 3, 4 the windows of size 3
    with step 2 are [0, 1, 2] and [2, 3, 4].

    Nothing is copied: elements that lie in several windows are there once.

    Args:
        data: Any view, also a permuted, sliced or expanded one.
        axis: From 0 to dims - 1.
        size: From 1 to the number of elements along the axis.
        step: At least 1; `TensorData.unfold` has checked all three.

    Returns:
        A new view, with one axis more; data itself is left as it is.
    """
    ### BEGIN SOLUTION
    shape, strides = list(data.shape), list(data.strides)
    shape[axis] = (data.shape[axis] - size) // step + 1
    strides[axis] = data.strides[axis] * step
    return TensorData(data.storage, (*shape, size), (*strides, data.strides[axis]), data.offset)
    ### END SOLUTION


def shape_broadcast(shape1: UserShape, shape2: UserShape) -> UserShape:
    """Return the shape of a result to which two arrays are broadcast.

    The shapes are aligned at their last axes; the shorter one counts as having ones on
    its left. Where two sizes agree, that is the size. Where one of them is 1, the other
    one is the size, even if it is 0.

    Args:
        shape1: One shape.
        shape2: The other shape; the order of the two makes no difference.

    Returns:
        A tuple, as long as the longer of the two.

    Raises:
        IndexingError: If two sizes differ and neither of them is 1.
    """
    ### BEGIN SOLUTION
    rank, sizes = max(len(shape1), len(shape2)), []
    first = (1,) * (rank - len(shape1)) + tuple(shape1)
    second = (1,) * (rank - len(shape2)) + tuple(shape2)
    for axis, (n, m) in enumerate(zip(first, second, strict=True), start=-rank):
        if n != m and 1 not in (n, m):
            raise IndexingError(
                f"cannot broadcast {tuple(shape1)} with {tuple(shape2)}: axis {axis} has sizes {n} and {m}; "
                "they must match or one must be 1"
            )
        sizes.append(m if n == 1 else n)
    return tuple(sizes)
    ### END SOLUTION


def broadcast_index(
    big_index: Index,
    big_shape: Shape,
    shape: Shape,
    out_index: OutIndex,
) -> None:
    """Find the element of a smaller array that takes part at an index of the result.

    The shapes are aligned at their last axes, so axes that only big_shape has are
    passed over. Along an axis where shape has size 1, its only element, at index 0,
    takes part everywhere; along the others the indices agree.

    Args:
        big_index: An index into the result. It may be a buffer that is longer than
            big_shape, and it is not changed.
        big_shape: The shape of the result. Shapes are tuples, which have no ``size``,
            and in kernels arrays.
        shape: The shape of the smaller array, which broadcasts to big_shape and may
            have fewer axes.
        out_index: Where the index into the smaller array is written. What it held
            before means nothing, and it may be a buffer that is longer than shape.

    Numba compiles this function for fast loops: use loops and arithmetic only, no
    generators and no classes.
    """
    ### BEGIN SOLUTION
    extra = len(big_shape) - len(shape)
    for axis in range(len(shape)):
        if shape[axis] == 1:
            out_index[axis] = 0
        else:
            out_index[axis] = big_index[axis + extra]
    ### END SOLUTION


class TensorData:
    """An array of any shape in a flat storage, possibly shared with other arrays.

    Args:
        storage: The elements: a one-dimensional array (or a device array), or a sequence of numbers.
        shape: The size of each axis, each at least 0; ``()`` for a single number.
        strides: How many elements of the storage one step along each axis passes, each at least 0; by default those
            of `strides_from_shape`.
        offset: Where in the storage the first element stands.

    Attributes:
        storage: The whole flat storage, shared by all views of it.
        shape: A tuple.
        strides: A tuple, in elements.
        offset: A number of elements.
        size: The number of elements.
        dims: The number of axes.

    Raises:
        TypeError: If shape, strides or offset are not integers.
        ValueError: If they contradict each other or reach beyond the storage.

    >>> array = minigrad.TensorData([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, 3))
    >>> float(array.get((1, 0))), array.strides
    (4.0, (3, 1))
    """

    __slots__ = ("dims", "offset", "shape", "size", "storage", "strides")

    def __init__(
        self,
        storage: Storage,
        shape: UserShape,
        strides: UserStrides | None = None,
        offset: int = 0,
    ) -> None:
        self.storage: Any = np.asarray(storage) if isinstance(storage, list | tuple) else storage
        self.shape = tuple(layout.integer(size, "TensorData: a size") for size in shape)
        wanted = strides_from_shape(self.shape) if strides is None else strides
        self.strides = tuple(layout.integer(stride, "TensorData: a stride") for stride in wanted)
        self.offset = layout.integer(offset, "TensorData: the offset")
        self.size = math.prod(self.shape)
        self.dims = len(self.shape)
        self._check()

    def _check(self) -> None:
        what = f"TensorData: shape {self.shape} with strides {self.strides} and offset {self.offset}"
        length = self.storage.shape[0] if len(self.storage.shape) == 1 else -1
        if length < 0 or (isinstance(self.storage, np.ndarray) and not self.storage.flags.c_contiguous):
            raise ValueError(
                "TensorData: a storage has one axis and no gaps, this one has the shape "
                f"{tuple(self.storage.shape)} and strides of {self.storage.strides} bytes"
            )
        if len(self.strides) != self.dims:
            raise ValueError(f"{what}: there must be one stride for each axis")
        if min((*self.shape, *self.strides, self.offset)) < 0:
            raise ValueError(f"{what}: none of these may be negative")
        # The distance from the first element to the last one.
        reach = sum((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))
        if self.size and self.offset + reach >= length:
            raise ValueError(
                f"{what}: the last element stands at position {self.offset + reach}, but the storage has "
                f"{layout.count(length, 'element', 'elements')}"
            )

    @classmethod
    def _of_layout(cls, storage: Any, shape: Sequence[int], strides: Sequence[int], offset: int) -> TensorData:
        """Describe a layout that is known to be possible, without checking it again."""
        data = cls.__new__(cls)
        data.storage, data.shape, data.strides, data.offset = storage, tuple(shape), tuple(strides), offset
        data.size, data.dims = math.prod(shape), len(shape)
        return data

    @classmethod
    def of(cls, array: Any) -> TensorData:
        """Describe an existing array, without copying it.

        Args:
            array: An ndarray, or an array of a device, which knows its own storage.

        Raises:
            ValueError: If strides are negative, or no whole number of elements; such an array must be copied first.

        >>> minigrad.TensorData.of(np.zeros((2, 3)).T).strides
        (1, 3)
        """
        if isinstance(array, np.generic):
            array = np.asarray(array)
        if not isinstance(array, np.ndarray):
            on_device: TensorData = array.data
            return on_device
        parts = layout.parts_of(array)
        if parts is None:
            raise ValueError(
                f"TensorData.of: shape {array.shape} with strides of {array.strides} bytes, for elements of "
                f"{array.itemsize} bytes: strides must be at least 0 and whole elements; copy the array first"
            )
        line, _, strides = parts
        storage, start = _flat_storage_of(array) or (line, 0)
        return cls._of_layout(storage, array.shape, strides.tolist(), start)

    @property
    def array(self) -> Any:
        """The same elements as an array of this shape, which shares the storage's memory.

        >>> minigrad.TensorData([1.0, 2.0], (2, 1)).array
        array([[1.],
               [2.]])
        """
        if not isinstance(self.storage, np.ndarray):
            return self.storage.as_strided(self.shape, self.strides, self.offset)
        width, dtype = self.storage.itemsize, self.storage.dtype
        if self.size == 0:
            return np.ndarray(self.shape, dtype)
        # Quicker than as_strided, and the storage itself becomes the base, so that `of` finds it again.
        strides = [stride * width for stride in self.strides]
        return np.ndarray(self.shape, dtype, self.storage, self.offset * width, strides)

    def to_string(self) -> str:
        """Return the elements, in brackets for each axis.

        >>> print(minigrad.TensorData([1.0, 2.0, 3.0, 4.0], (2, 2)).to_string())
        [[1., 2.],
         [3., 4.]]
        """
        return self._elements(prefix="")

    def __repr__(self) -> str:
        elements = self._elements(prefix="TensorData(")
        start = f", offset={self.offset}" if self.offset else ""
        return f"TensorData({elements}, shape={self.shape}, strides={self.strides}{start})"

    def _elements(self, prefix: str) -> str:
        array = self.array if isinstance(self.storage, np.ndarray) else self.array.to_host()
        return np.array2string(array, separator=", ", prefix=prefix)

    # MiniTorch's members. Positions count from the first element, so that no offset is needed.

    @property
    def _storage(self) -> Any:
        return self.storage[self.offset :] if self.offset else self.storage

    @property
    def _shape(self) -> npt.NDArray[np.int64]:
        return np.array(self.shape, dtype=np.int64)

    @property
    def _strides(self) -> npt.NDArray[np.int64]:
        return np.array(self.strides, dtype=np.int64)

    def tuple(self) -> tuple[Storage, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return what a kernel gets: the storage from the first element on, shape and strides as arrays.

        >>> storage, shape, strides = minigrad.TensorData([1.0, 2.0, 3.0, 4.0], (2, 2)).tuple()
        >>> shape, strides
        (array([2, 2]), array([2, 1]))
        """
        return self._storage, self._shape, self._strides

    @staticmethod
    def shape_broadcast(shape_a: UserShape, shape_b: UserShape) -> UserShape:
        """Return the shape to which two shapes broadcast: the module's `shape_broadcast`."""
        return shape_broadcast(shape_a, shape_b)

    def index(self, index: int | UserIndex) -> int:
        """Return the position of an element, counted from the first one.

        Args:
            index: One number for each axis; negative ones count from the end. A number alone for one axis.

        Raises:
            IndexingError: If there is no such element.

        >>> minigrad.TensorData([1.0, 2.0, 3.0, 4.0], (2, 2)).index((1, 0))
        2
        """
        return int(index_to_position(layout.normal_index(index, self.shape), self.strides))

    def indices(self) -> Iterator[UserIndex]:
        """Go through all indices, row by row.

        >>> list(minigrad.TensorData([1.0, 2.0, 3.0, 4.0], (2, 2)).indices())
        [(0, 0), (0, 1), (1, 0), (1, 1)]
        """
        out_index = self._shape
        for ordinal in range(self.size):
            to_index(ordinal, self._shape, out_index)
            yield tuple(out_index.tolist())

    def get(self, key: int | UserIndex) -> Any:
        """Return the element at an index.

        >>> float(minigrad.TensorData([1.0, 2.0, 3.0, 4.0], (2, 2)).get((1, 0)))
        3.0
        """
        element = self._storage[self.index(key)]
        return element if isinstance(self.storage, np.ndarray) else element.item()

    def set(self, key: int | UserIndex, val: Any) -> None:
        """Write the element at an index; every view of it sees that.

        >>> array = minigrad.TensorData([1.0, 2.0], (2,))
        >>> array.set((1,), 7.0)
        >>> float(array.get((1,)))
        7.0
        """
        self._storage[self.index(key)] = val

    def is_contiguous(self) -> bool:
        """Return whether the elements lie row by row, without gaps.

        >>> array = minigrad.TensorData([1.0, 2.0, 3.0, 4.0], (2, 2))
        >>> array.is_contiguous(), array.permute(1, 0).is_contiguous()
        (True, False)
        """
        return self.size == 0 or collapse(self.shape, self.strides) in ([], [(self.size, 1)])

    def contiguous(self) -> TensorData:
        """Return this array if it lies row by row, else a copy that does.

        >>> array = minigrad.TensorData([1.0, 2.0, 3.0, 4.0], (2, 2)).permute(1, 0)
        >>> array.strides, array.contiguous().strides
        ((1, 2), (2, 1))
        """
        if self.is_contiguous():
            return self
        return TensorData.of(self.array.copy())

    def overlaps(self) -> bool:
        """Return whether two indices share an element, so that writing through one changes the other.

        Expanded axes do; so may strides that were given by hand.

        >>> minigrad.TensorData([1.0, 2.0], (2,)).expand(3, 2).overlaps()
        True
        """
        return layout.overlaps(self.shape, self.strides)

    # Views: none of the methods below copies.

    def permute(self, *order: int) -> TensorData:
        """Return a view whose axis i is axis ``order[i]`` of this array; negative numbers count from the end.

        Raises:
            ValueError: If an axis is missing or named twice.
            IndexingError: If there is no such axis.

        >>> minigrad.TensorData([0.0] * 6, (2, 3)).permute(1, 0).shape
        (3, 2)
        """
        given = layout.sizes_of(order, "permute: an axis")
        axes = [normal_axis(axis, self.dims, f"permute of shape {self.shape}") for axis in given]
        if sorted(axes) != list(range(self.dims)):
            raise ValueError(f"cannot permute shape {self.shape} by {given}: each of its axes must be named once")
        return permute(self, *axes)

    def view(self, *shape: int) -> TensorData:
        """Return a view of the same elements, in the same order, under another shape.

        Args:
            *shape: The sizes, or one sequence of them; one may be -1 and is then what is left over.

        Raises:
            ValueError: If the number of elements differs, or the layout would need a copy.

        >>> minigrad.TensorData([0.0] * 6, (2, 3)).view(3, 2).shape
        (3, 2)
        """
        wanted = layout.view_shape(self.shape, layout.sizes_of(shape, "view: a size"))
        if self.size == 0:
            return TensorData(self.storage, wanted, offset=self.offset)
        strides = layout.view_strides(self.shape, self.strides, wanted)
        if strides is None:
            raise ValueError(
                f"cannot view shape {self.shape} with strides {self.strides} as {wanted} without copying; "
                "use reshape, or contiguous() before view"
            )
        return self._of_layout(self.storage, wanted, strides, self.offset)

    def expand(self, *shape: int) -> TensorData:
        """Return a view in which axes of size 1 have other sizes, and more axes may stand on the left.

        Args:
            *shape: The sizes, or one sequence of them; -1 keeps a size.

        Raises:
            IndexingError: If any other axis would change its size, or there are fewer axes than before.

        >>> minigrad.TensorData([1.0, 2.0], (2, 1)).expand(2, 3).strides
        (1, 0)
        """
        wanted, strides = layout.expand(self.shape, self.strides, layout.sizes_of(shape, "expand: a size"))
        return self._of_layout(self.storage, wanted, strides, self.offset)

    def unfold(self, axis: int, size: int, step: int = 1) -> TensorData:
        """Return a view of all windows along an axis, of which the last axis runs through one.

        Args:
            axis: The axis, whose windows are counted in its place; negative numbers count from the end.
            size: How many elements a window has.
            step: How many elements further on the next window begins.

        Raises:
            IndexingError: If there is no such axis.
            ValueError: If not a single window fits, or size or step are not positive.

        >>> minigrad.TensorData([0.0, 1.0, 2.0, 3.0, 4.0], (5,)).unfold(0, 3, 2).array.tolist()
        [[0.0, 1.0, 2.0], [2.0, 3.0, 4.0]]
        """
        along = normal_axis(axis, self.dims, f"unfold of shape {self.shape}")
        size, step = layout.integer(size, "unfold: the size"), layout.integer(step, "unfold: the step")
        if step < 1 or not 1 <= size <= self.shape[along]:
            raise ValueError(
                f"cannot unfold axis {axis} of shape {self.shape} into windows of {size} with steps of {step}: "
                "both must be positive, and a window must fit"
            )
        return unfold(self, along, size, step)

    def __getitem__(self, key: layout.Key) -> TensorData:
        """Return a view of a part: integers, slices with positive steps, None for a new axis, Ellipsis.

        Raises:
            IndexingError: If an integer is out of range, or there are more of them than axes.
            ValueError: If a slice runs backwards, which strides >= 0 cannot.
            TypeError: If the key is anything else.
        """
        shape, strides, first = layout.slice_view(self.shape, self.strides, key)
        return self._of_layout(self.storage, shape, strides, self.offset + first)


def _flat_storage_of(array: npt.NDArray[Any]) -> tuple[Storage, int] | None:
    """Return a flat array over the memory that an array lives in, and the position of its first element there.

    It is the whole memory of the array that owns it, so that views of one array share one storage. None is returned
    where that cannot be had: other types look at it, or it has gaps.
    """
    owner = array
    while (base := _base_of(owner)) is not None:
        owner = base
    if owner.dtype == array.dtype and (owner.flags.c_contiguous or owner.flags.f_contiguous):
        start, rest = divmod(_address(array) - _address(owner), array.itemsize)
        if rest == 0 and 0 <= start <= owner.size:
            return owner.ravel(order="K"), start
    return None


def _base_of(array: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    base: Any = array.base
    if not isinstance(base, np.ndarray):
        base = getattr(base, "base", None)  # as_strided puts a box between a view and its base
    return base if isinstance(base, np.ndarray) else None


def _address(array: npt.NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
