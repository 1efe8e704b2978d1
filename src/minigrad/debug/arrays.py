"""An array that tells a runtime of each element that is read or written, and is a NumPy array in all else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from minigrad.debug.memory import READ, WRITE, Root, addresses

Array = np.ndarray[Any, Any]

_INTEGERS: frozenset[Any] = frozenset(
    (int, np.int64, np.int32, np.intp, np.uint64, np.uint32, np.int16, np.uint8, np.int8, np.uint16)
)
_WRITING_METHODS = frozenset(("fill", "sort", "put", "partition", "setfield", "byteswap", "resize"))
_READING_ATTRIBUTES = frozenset(("shape", "ndim", "size", "dtype", "strides", "itemsize", "nbytes", "flags"))
_DOORS = frozenset(("base", "ctypes", "data", "flat", "setflags", "getbuffer", "dump", "dumps", "tofile"))
"""Attributes that lead to an array's memory, past whoever watches."""
_RESIZING = frozenset(("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"))
_UNREADING = frozenset(
    ("shape", "ndim", "size", "empty_like", "zeros_like", "ones_like", "full_like", "may_share_memory", "result_type")
)
_WRITING_FUNCTIONS = frozenset(("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"))
_VIEWING_FUNCTIONS = frozenset(
    ("array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_to", "diagonal", "dsplit",
     "expand_dims", "flip", "fliplr", "flipud", "hsplit", "imag", "moveaxis", "permute_dims", "ravel", "real",
     "reshape", "rollaxis", "rot90", "split", "squeeze", "swapaxes", "transpose", "unstack", "vsplit")
)  # fmt: skip
"""Functions whose result may be the memory that they are given; all others get a copy."""


class FromEnd(int):
    """A negative index that stands in the source as a number, and therefore is meant: ``shape[-1]``."""


class Watcher(Protocol):
    """The methods that recorded arrays call on the runtime that made them."""

    def touch(self, root: Root, address: int, kind: int) -> None:
        """Note the access to one element."""

    def touch_many(self, root: Root, found: Array, kind: int) -> None:
        """Note the access to the elements with these addresses."""

    def outside(self, root: Root, index: tuple[Any, ...], shape: tuple[int, ...], kind: int) -> bool:
        """Note an index that is negative or too large, and return whether it is harmless here."""

    def adopt(self, value: object, name: str = ...) -> Any:
        """Record a new array too, if others can come to see it."""


class Recorded(np.lib.mixins.NDArrayOperatorsMixin):
    """An array, or a view of one, whose elements are watched.

    Args:
        raw: The memory.
        root: The array that it is a part of.
        watcher: Who is told.
    """

    __slots__ = ("_address", "_addresses", "_axes", "_length", "_raw", "_root", "_stride", "_watcher")

    def __init__(self, raw: Array, root: Root, watcher: Watcher) -> None:
        self._raw = raw
        self._root = root
        self._watcher = watcher
        self._address: int = raw.__array_interface__["data"][0]
        self._addresses: Array | None = None
        self._axes = tuple(zip(raw.shape, raw.strides, strict=True))
        self._length: int
        self._stride: int
        self._length, self._stride = self._axes[0] if raw.ndim == 1 else (0, 0)

    def __getitem__(self, key: Any) -> Any:
        raw = self._raw
        if key.__class__ in _INTEGERS and 0 <= key < self._length:
            self._watcher.touch(self._root, self._address + int(key) * self._stride, READ)
            return raw[key]
        if key.__class__ is tuple and (address := self._quick(key)):
            self._watcher.touch(self._root, address, READ)
            return raw[key]
        key = _plain_key(key)
        if self._misses(key, READ):
            return raw.dtype.type(0)
        found = raw[key]
        if isinstance(found, np.ndarray):
            if found.size and np.may_share_memory(found, raw):
                return Recorded(found, self._root, self._watcher)
            self._watcher.touch_many(self._root, np.asarray(self._places()[key]), READ)
            return self._watcher.adopt(found)
        self._watcher.touch(self._root, self._place(key), READ)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        raw = self._raw
        if key.__class__ in _INTEGERS and 0 <= key < self._length:
            raw[key] = plain(value)
            self._watcher.touch(self._root, self._address + int(key) * self._stride, WRITE)
            return
        key, value = _plain_key(key), plain(value)
        if not self._misses(key, WRITE):
            raw[key] = value
            self._watcher.touch_many(self._root, np.asarray(self._places()[key]), WRITE)

    def _quick(self, key: tuple[Any, ...]) -> int:
        """Return the address of an element, or 0 if the key is not made of integers inside the array."""
        if len(key) != len(self._axes):
            return 0
        address = self._address
        for i, (size, stride) in zip(key, self._axes, strict=True):
            if i.__class__ not in _INTEGERS or not 0 <= i < size:
                return 0
            address += int(i) * stride
        return address

    def _misses(self, key: object, kind: int) -> bool:
        """Tell of an index outside the array, and return whether the access has to be left out."""
        index = key if isinstance(key, tuple) else (key,)
        shape = self._raw.shape
        if len(index) > len(shape) or not all(isinstance(i, int | np.integer | slice) for i in index):
            return False  # NumPy knows how to treat these
        pairs = [(int(i), n, i) for i, n in zip(index, shape, strict=False) if not isinstance(i, slice)]
        if all(0 <= i < n or (isinstance(given, FromEnd) and -n <= i) for i, n, given in pairs):
            return False
        return not self._watcher.outside(self._root, index, shape, kind)

    def _place(self, key: Any) -> int:
        index = key if isinstance(key, tuple) else (key,)
        raw = self._raw
        if len(index) == raw.ndim and all(isinstance(i, int | np.integer) for i in index):
            steps = zip(index, raw.shape, raw.strides, strict=True)
            return self._address + sum((int(i) if i >= 0 else int(i) + n) * stride for i, n, stride in steps)
        return int(self._places()[key])

    def _places(self) -> Array:
        """The addresses of all elements."""
        if self._addresses is None:
            self._addresses = addresses(self._raw)
        return self._addresses

    def _touch_all(self, kind: int) -> None:
        self._watcher.touch_many(self._root, self._places(), kind)

    def __len__(self) -> int:
        return len(self._raw)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self._raw)))

    def __contains__(self, value: object) -> bool:
        return plain(value) in self._read()

    def _read(self) -> Array:
        """Return the memory, all of which counts as read."""
        self._touch_all(READ)
        return self._raw

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._read(), dtype=dtype)

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self._read())

    def __float__(self) -> float:
        return float(self._read())

    def __index__(self) -> int:
        return self._read().__index__()

    def __complex__(self) -> complex:
        return complex(self._read())

    def __repr__(self) -> str:
        return repr(self._read())

    def __str__(self) -> str:
        return str(self._read())

    def __format__(self, spec: str) -> str:
        return format(self._read(), spec)

    __hash__ = None  # type: ignore[assignment]  # as for arrays

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # NumPy asks for memory by such names, and takes __array__ if there are none
            raise AttributeError(name)
        if name in _DOORS:
            raise ValueError(f"reads and writes through .{name} of an array cannot be watched: use array[index]")
        found = getattr(self._raw, name)
        if name in _READING_ATTRIBUTES:
            return found
        if callable(found):
            return lambda *args, **kwargs: self._method(name, *args, **kwargs)
        return self._result(found)

    def __setattr__(self, name: str, value: object) -> None:
        if name in Recorded.__slots__:
            object.__setattr__(self, name, value)
        else:
            setattr(self._raw, name, plain(value))

    def _method(self, name: str, /, *args: object, **kwargs: object) -> Any:
        out = kwargs.get("out")
        given = {key: _copy_of(value) for key, value in kwargs.items()}
        if isinstance(out, Recorded):
            given["out"] = out._raw
        found = getattr(self._raw, name)(*map(_copy_of, args), **given)
        if name in _WRITING_METHODS:
            self._touch_all(WRITE)
        if isinstance(out, Recorded):
            self._touch_all(READ)
            out._touch_all(WRITE)
            return out
        return self._result(found)

    def _result(self, found: object) -> Any:
        """Record views as parts of this array. Anything else was computed from all elements."""
        views = self._views(found)
        if views is not None:
            return views
        if found is not None:
            self._touch_all(READ)
        return self._watcher.adopt(found)

    def _views(self, found: object) -> Any:
        """Return what is a view of this array, or made of such views, with each recorded; None if it is neither."""
        if isinstance(found, np.ndarray):
            return Recorded(found, self._root, self._watcher) if np.may_share_memory(found, self._raw) else None
        if isinstance(found, tuple | list) and any(isinstance(each, np.ndarray) for each in found):
            views = [self._views(each) for each in found]
            return None if any(each is None for each in views) else type(found)(views)
        return None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        outputs = kwargs.get("out", ())
        given = {key: plain(value) for key, value in kwargs.items() if key != "out"}
        if outputs:
            given["out"] = tuple(out._raw if isinstance(out, Recorded) else out for out in outputs)
        found = getattr(ufunc, method)(*map(plain, inputs), **given)
        written = (*outputs, *(inputs[:1] if method == "at" else ()))
        for out in written:
            if isinstance(out, Recorded):
                out._touch_all(WRITE)
        if outputs:
            return outputs if len(outputs) > 1 else outputs[0]
        return self._watcher.adopt(found)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = function.__name__
        target = kwargs.get("out", args[0] if name in _WRITING_FUNCTIONS and args else None)
        if name in _UNREADING:
            rest, named = _copies((args[1:], kwargs), None)  # a fill value is read, the array to be like is not
            return self._watcher.adopt(function(*raw_of(args[:1]), *rest, **named))
        if name in _VIEWING_FUNCTIONS and target is None:
            (array,) = _recorded_in((args, kwargs))[:1]
            return array._result(function(*raw_of(args), **raw_of(kwargs)))
        given, named = _copies((args, kwargs), target)
        found = function(*given, **named)
        if isinstance(target, Recorded):
            target._touch_all(WRITE)
        return target if "out" in kwargs and target is not None else self._watcher.adopt(found)


class RecordedList(list[Any]):
    """A list whose elements are watched. A change of its length touches all of them.

    Args:
        items: The elements.
        name: The list's name.
        line: Where it was made.
        watcher: Who is told.
    """

    def __init__(self, items: list[Any], name: str, line: int, watcher: Watcher) -> None:
        super().__init__(items)
        self._shadow = np.zeros(len(items) + 1, dtype=np.int8)  # a place in memory for each element
        self._root = Root(self._shadow, name, line=line)
        self._watcher = watcher

    def _touch(self, key: object, kind: int) -> None:
        last = len(self._shadow) - 1
        if isinstance(key, int | np.integer) and -len(self) <= key < len(self):
            place = int(key) % len(self)
            self._watcher.touch(self._root, self._root.address + min(place, last), kind)
        else:
            self._watcher.touch_many(self._root, addresses(self._shadow), kind)

    def __getitem__(self, key: Any) -> Any:
        self._touch(key, READ)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._touch(key, WRITE)
        super().__setitem__(key, value)

    def __iter__(self) -> Iterator[Any]:
        self._touch(None, READ)
        return super().__iter__()

    def __getattribute__(self, name: str) -> Any:
        if name in _RESIZING:
            self._touch(None, WRITE)
        return super().__getattribute__(name)


def plain(value: object) -> Any:
    """Return the memory of a recorded array, and anything else unchanged. The whole array counts as read."""
    return value._read() if isinstance(value, Recorded) else value


def _copy_of(value: object) -> Any:
    """Return the same, with each recorded array as a copy of its memory, which counts as read."""
    return _copies(value, None)


def _copies(value: object, target: object) -> Any:
    """Return copies of recorded arrays, in tuples, lists and dictionaries too, but the memory itself of the target."""
    if isinstance(value, Recorded):
        return value._raw if value is target else _lying_alike(value._read())
    if isinstance(value, dict):
        return {key: _copies(each, target) for key, each in value.items()}
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        return type(value)(_copies(each, target) for each in value)
    return value


def _lying_alike(raw: Array) -> Array:
    """Return a copy with the same strides: NumPy adds in another order, and so rounds otherwise, where they differ."""
    if not raw.size or raw.dtype.hasobject:
        return raw.copy()
    low, high = np.lib.array_utils.byte_bounds(raw)
    offset = raw.__array_interface__["data"][0] - low
    copy: Array = np.ndarray(raw.shape, raw.dtype, np.empty(high - low, dtype=np.uint8), offset, raw.strides)
    copy[...] = raw
    return copy


def _plain_key(key: object) -> Any:
    return tuple(map(plain, key)) if isinstance(key, tuple) else plain(key)


def _recorded_in(value: object) -> list[Recorded]:
    if isinstance(value, Recorded):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [each for part in value for each in _recorded_in(part)] if isinstance(value, tuple | list) else []


def raw_of(value: object) -> Any:
    """Return the memory of a recorded array without reading it. Tuples, lists and dictionaries are searched."""
    if isinstance(value, Recorded):
        return value._raw
    if isinstance(value, dict):
        return {key: raw_of(each) for key, each in value.items()}
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        return type(value)(raw_of(each) for each in value)
    return value
