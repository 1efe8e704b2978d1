"""Arrays in the memory of a device: a flat storage there, and shape, strides and offset here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from minigrad import backends, layout, tensor_data
from minigrad.backends.gpu import pool
from minigrad.tensor_data import TensorData

DTYPES = tuple(map(np.dtype, (np.float32, np.float64, np.bool_, np.int64, np.int32)))
"""The dtypes of device arrays."""

Shape = tuple[int, ...]


class DeviceArray:
    """An array on the device. Views share its storage and copy nothing.

    Its names are those of NumPy's arrays, but strides count elements. Nothing goes to the host unless it is asked for:
    by `to_host`, `item`, `tolist` or ``repr``.

    Args:
        storage: A flat device array, as Numba makes them.
        shape: The size of each axis.
        strides: How many elements of the storage one step along each axis passes; row by row if not given.
        offset: Where in the storage the first element stands.
    """

    __slots__ = ("__weakref__", "offset", "shape", "storage", "strides")
    __array_ufunc__ = None  # NumPy leaves `ndarray + x` to x, instead of asking x for its elements one by one
    device = "cuda"

    def __init__(self, storage: Any, shape: Shape, strides: Shape | None = None, offset: int = 0) -> None:
        self.storage = storage
        self.shape = shape
        self.strides = _row_major(shape) if strides is None else strides
        self.offset = offset

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        dtype: np.dtype[Any] = self.storage.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, each counted as often as it is shown."""
        return self.size * self.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Return whether the elements lie row by row, without gaps."""
        return self.size == 0 or layout.collapse(self.shape, self.strides) in ([], [(self.size, 1)])

    @property
    def data(self) -> TensorData:
        """The same storage, shape, strides and offset as the exercises know them."""
        whole = DeviceArray(self.storage, (len(self.storage),))
        return TensorData(whole, self.shape, self.strides, self.offset)

    def as_strided(self, shape: Shape, strides: Shape, offset: int = 0) -> DeviceArray:
        """Return a view with any layout; positions count from this array's first element."""
        return DeviceArray(self.storage, tuple(shape), tuple(strides), self.offset + offset)

    @property
    def flat(self) -> Any:
        """The argument that a kernel gets for this array: its storage from the first element on."""
        return self.storage[self.offset :] if self.offset else self.storage

    @property
    def T(self) -> DeviceArray:
        """The view with its axes in reverse order."""
        return self.permute(*reversed(range(self.ndim)))

    def permute(self, *order: int) -> DeviceArray:
        """Return a view whose axis i is axis ``order[i]`` of this array.

        Raises:
            ValueError: If an axis is missing or named twice.
            IndexingError: If there is no such axis.
        """
        given = layout.sizes_of(order, "permute: an axis")
        axes = [layout.normal_axis(axis, self.ndim, f"permute of shape {self.shape}") for axis in given]
        if sorted(axes) != list(range(self.ndim)):
            raise ValueError(f"cannot permute shape {self.shape} by {given}: each of its axes must be named once")
        shape, strides = (tuple(each[axis] for axis in axes) for each in (self.shape, self.strides))
        return DeviceArray(self.storage, shape, strides, self.offset)

    def transpose(self, *order: int) -> DeviceArray:
        """Return `permute`'s view, or the one with all axes reversed if none are named."""
        return self.permute(*order) if order else self.T

    def expand(self, *sizes: int) -> DeviceArray:
        """Return a view in which axes of size 1 repeat with stride 0, and more axes may stand on the left.

        Raises:
            IndexingError: If any other axis would change its size.
        """
        shape, strides = layout.expand(self.shape, self.strides, layout.sizes_of(sizes, "expand: a size"))
        return DeviceArray(self.storage, shape, strides, self.offset)

    def view(self, *sizes: int) -> DeviceArray:
        """Return a view of the same elements in the same order under another shape.

        Raises:
            ValueError: If the number of elements differs, or the strides would need a copy.
        """
        shape = layout.view_shape(self.shape, layout.sizes_of(sizes, "view: a size"))
        strides = self._strides_as(shape)
        if strides is None:
            raise ValueError(
                f"cannot view shape {self.shape} with strides {self.strides} as {shape} without copying; use reshape"
            )
        return DeviceArray(self.storage, shape, strides, self.offset)

    def reshape(self, *sizes: int) -> DeviceArray:
        """Return the elements in row-major order under another shape: a view where strides allow it, else a copy."""
        shape = layout.view_shape(self.shape, layout.sizes_of(sizes, "reshape: a size"))
        strides = self._strides_as(shape)
        if strides is None:
            return DeviceArray(self.copy().storage, shape)
        return DeviceArray(self.storage, shape, strides, self.offset)

    def _strides_as(self, shape: Shape) -> Shape | None:
        return layout.view_strides(self.shape, self.strides, shape) if self.size else _row_major(shape)

    def ravel(self) -> DeviceArray:
        """Return all elements along one axis."""
        return self.reshape(-1) if self.size else self.reshape(0)

    def __getitem__(self, key: Any) -> DeviceArray:
        """Return a part: a view for integers, slices, None and Ellipsis; else a copy.

        Slices that run backwards are copied on the device. Arrays of booleans or integers select on the host.
        """
        if _selects(key):
            return from_host(self.to_host()[_on_host(key)])
        if _runs_backwards(key):
            return self._backwards(key)
        shape, strides, first = layout.slice_view(self.shape, self.strides, key)
        return DeviceArray(self.storage, tuple(shape), tuple(strides), self.offset + first)

    def _backwards(self, key: Any) -> DeviceArray:
        """Slice with negative steps: NumPy says which elements those are, and they are copied."""
        width = self.itemsize
        steps = tuple(stride * width for stride in self.strides)
        # No element of the stand-in is touched: only its address, shape and strides are.
        stand_in = np.lib.stride_tricks.as_strided(np.empty(1, self.dtype), self.shape, steps)
        part = stand_in[key]
        first = (part.__array_interface__["data"][0] - stand_in.__array_interface__["data"][0]) // width
        strides = tuple(step // width for step in part.strides)
        return DeviceArray(self.storage, part.shape, strides, self.offset + first).copy()

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write into a part. Arrays of booleans or integers as a key take all elements through the host."""
        if _selects(key):
            values = self.to_host()
            values[_on_host(key)] = _on_host(value)
            _backend().assign(self, from_host(values))
            return
        target = self[key] if not _runs_backwards(key) else None
        if target is None:
            raise ValueError("a slice that runs backwards cannot be written to: write the flipped values instead")
        _backend().assign(target, value)

    def fill(self, value: float) -> None:
        """Write one value everywhere."""
        _backend().assign(self, value)

    def astype(self, dtype: Any, copy: bool = True) -> DeviceArray:
        """Return the elements as another type; this array itself if it has that type and no copy is asked for."""
        if not copy and self.dtype == dtype:
            return self
        found: DeviceArray = _backend().elementwise(("in", 0), (self,), np.dtype(dtype))
        return found

    def copy(self, order: str = "C") -> DeviceArray:
        """Return a fresh row-major copy on the device."""
        return self.astype(self.dtype)

    @staticmethod
    def from_host(array: Any) -> DeviceArray:
        """Return a copy of a NumPy array where this array is: on the device."""
        return from_host(array)

    def to_host(self) -> npt.NDArray[Any]:
        """Return a NumPy array with the same values."""
        if self.size == 0:
            return np.empty(self.shape, self.dtype)
        if not self.is_contiguous:
            return self.copy().to_host()
        flat: npt.NDArray[Any] = self.storage[self.offset : self.offset + self.size].copy_to_host()
        return flat.reshape(self.shape)

    def item(self) -> Any:
        """Return the only element as a Python number.

        Raises:
            ValueError: If there is not exactly one.
        """
        if self.size != 1:
            raise ValueError(f"item: an array of shape {self.shape} has {self.size} elements, not one")
        return self.storage[self.offset : self.offset + 1].copy_to_host().item()

    def tolist(self) -> Any:
        """Return nested lists of Python numbers; a number for an array without axes."""
        return self.to_host().tolist()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len: an array without axes has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            "this array is in a device's memory; x.to_host() (of a tensor: x.to('cpu')) copies it to the host"
        )

    def __repr__(self) -> str:
        return f"DeviceArray({np.array2string(self.to_host(), separator=', ', prefix='DeviceArray(')}, {self.dtype})"


def allocate(shape: Sequence[int], dtype: Any) -> DeviceArray:
    """Return a row-major array with arbitrary values.

    Raises:
        TypeError: If the device's arrays cannot hold that type.
        MemoryError: If there is no room, also after what is no longer used was given back.
    """
    dtype, sizes = np.dtype(dtype), tuple(map(int, shape))
    if dtype not in DTYPES:
        raise TypeError(f"a device array holds {', '.join(map(str, DTYPES))}, not {dtype}")
    return DeviceArray(pool.new(math.prod(sizes), dtype), sizes)


def from_host(array: Any) -> DeviceArray:
    """Copy a NumPy array, or numbers, to the device.

    Raises:
        TypeError: If the device's arrays cannot hold its type.
        MemoryError: If there is no room.
    """
    values = np.ascontiguousarray(array).reshape(np.shape(array))
    found = allocate(values.shape, values.dtype)
    if values.size:
        found.storage[: values.size].copy_to_device(values.reshape(-1))
    return found


def _row_major(shape: Shape) -> Shape:
    return tuple(tensor_data.strides_from_shape(shape))


def _parts(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _selects(key: Any) -> bool:
    """Return whether a key holds booleans or arrays, whose elements decide the selection."""
    return any(isinstance(part, bool | list | np.ndarray | np.bool_ | DeviceArray) for part in _parts(key))


def _runs_backwards(key: Any) -> bool:
    return any(isinstance(part, slice) and part.step is not None and part.step < 0 for part in _parts(key))


def _on_host(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_on_host, value))
    return value.to_host() if isinstance(value, DeviceArray) else value


def _backend() -> Any:
    return backends.cuda()
