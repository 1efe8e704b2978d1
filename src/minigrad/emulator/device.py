"""The kernels' ``cuda``: thread and block indices, shared and local arrays, barriers and atomic operations."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Generator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from minigrad.emulator.grid import Turns

WARP = 32
"""Threads that a GPU runs together."""

Index = tuple[int, int, int]


class Dim3(NamedTuple):
    """An index or a size in x, y and z."""

    x: int
    y: int
    z: int


def poisoned(array: Any) -> Any:
    """Fill fresh memory with values that no kernel can use by mistake and be right."""
    array[...] = _poison(array.dtype)
    return array


@lru_cache(maxsize=64)  # each thread asks for it
def _poison(dtype: np.dtype[Any]) -> Any:
    if dtype.kind in "iu":
        return np.iinfo(dtype).max
    if dtype.kind in "fc":
        return math.nan
    return np.ones((), dtype)  # what was in this memory before would be news of another thread


def dtype_of(given: Any) -> np.dtype[Any]:
    """Return NumPy's type for a type of NumPy, Python or Numba."""
    try:
        found: np.dtype[Any] = np.dtype(given)
    except TypeError:
        name = str(given)
        found = np.dtype({"boolean": "bool"}.get(name, name))
    return found


class _Maker:
    """``cuda.shared`` or ``cuda.local``."""

    def __init__(self, run: Turns, scope: str) -> None:
        self._run = run
        self._scope = scope

    def array(self, shape: object, dtype: object, alignment: int | None = None) -> Any:
        """Return the array that this call stands for."""
        return self._run.made(self._scope, shape, dtype)


class _Constants:
    """``cuda.const``."""

    def array_like(self, array: object) -> Any:
        """Return the array, which a kernel only reads."""
        return array


class _Atomic:
    """``cuda.atomic``: each operation returns the old value."""

    def __init__(self, run: Turns) -> None:
        self._run = run

    def _update(self, array: Any, index: tuple[int, ...] | int, new: Callable[[Any], Any]) -> Any:
        return self._run.update(array, index, new)

    def add(self, array: Any, index: tuple[int, ...] | int, value: float) -> Any:
        """Add a value."""
        return self._update(array, index, lambda old: old + value)

    def sub(self, array: Any, index: tuple[int, ...] | int, value: float) -> Any:
        """Subtract a value."""
        return self._update(array, index, lambda old: old - value)

    def max(self, array: Any, index: tuple[int, ...] | int, value: Any) -> Any:
        """Keep the larger value, or nan if either is."""
        return self._update(array, index, lambda old: np.maximum(old, value))

    def min(self, array: Any, index: tuple[int, ...] | int, value: Any) -> Any:
        """Keep the smaller value, or nan if either is."""
        return self._update(array, index, lambda old: np.minimum(old, value))

    def nanmax(self, array: Any, index: tuple[int, ...] | int, value: Any) -> Any:
        """Keep the larger value, and a number rather than nan."""
        return self._update(array, index, lambda old: np.fmax(old, value))

    def nanmin(self, array: Any, index: tuple[int, ...] | int, value: Any) -> Any:
        """Keep the smaller value, and a number rather than nan."""
        return self._update(array, index, lambda old: np.fmin(old, value))

    def and_(self, array: Any, index: tuple[int, ...] | int, value: float) -> Any:
        """Keep the bits that both have."""
        return self._update(array, index, lambda old: old & value)

    def or_(self, array: Any, index: tuple[int, ...] | int, value: float) -> Any:
        """Keep the bits that either has."""
        return self._update(array, index, lambda old: old | value)

    def xor(self, array: Any, index: tuple[int, ...] | int, value: float) -> Any:
        """Keep the bits that one of them has."""
        return self._update(array, index, lambda old: old ^ value)

    def inc(self, array: Any, index: tuple[int, ...] | int, value: float) -> Any:
        """Count up, from value to 0."""
        return self._update(array, index, lambda old: 0 if old >= value else old + 1)

    def dec(self, array: Any, index: tuple[int, ...] | int, value: float) -> Any:
        """Count down, from 0 to value."""
        return self._update(array, index, lambda old: value if old == 0 or old > value else old - 1)

    def exch(self, array: Any, index: tuple[int, ...] | int, value: float) -> Any:
        """Put a value in place of the old one."""
        return self._update(array, index, lambda old: value)

    def cas(self, array: Any, index: tuple[int, ...] | int, old: float, value: float) -> Any:
        """Put a value in place of the old one, if that is as expected."""
        return self._update(array, index, lambda now: value if now == old else now)

    def compare_and_swap(self, array: Any, old: float, value: float) -> Any:
        """Do `cas` on the first element."""
        return self.cas(array, (0,) * array.ndim, old, value)


class Device:
    """The namespace that stands in a kernel for numba.cuda.

    Args:
        run: The run whose present thread asks. It sets the indices.

    Attributes:
        threadIdx: The thread's index in its block.
        blockIdx: The block's index.
        blockDim: The number of threads in a block.
        gridDim: The number of blocks.
    """

    warpsize = WARP
    threadIdx = blockIdx = Dim3(0, 0, 0)  # noqa: N815 (CUDA's names)
    blockDim = gridDim = Dim3(1, 1, 1)  # noqa: N815

    def __init__(self, run: Turns) -> None:
        self._run = run
        self.shared = _Maker(run, "shared")
        self.local = _Maker(run, "local")
        self.const = _Constants()
        self.atomic = _Atomic(run)

    def __getattr__(self, name: str) -> Any:
        known = ("shared", "local", "const", "atomic", *(each for each in vars(Device) if not each.startswith("_")))
        raise self._run.unknown(name, sorted(known))

    @property
    def laneid(self) -> int:
        """The thread's place in its warp."""
        x, y, z = self.threadIdx
        width, height, _ = self.blockDim
        return (x + width * (y + height * z)) % WARP

    def grid(self, ndim: int) -> Any:
        """Return the thread's index in the grid: a number, or a tuple of two or three."""
        found = tuple(b * size + t for b, size, t in zip(self.blockIdx, self.blockDim, self.threadIdx, strict=True))
        return found[0] if ndim == 1 else found[:ndim]

    def gridsize(self, ndim: int) -> Any:
        """Return the number of threads of the grid along one axis, or along two or three."""
        found = tuple(map(operator.mul, self.gridDim, self.blockDim))
        return found[0] if ndim == 1 else found[:ndim]

    def syncthreads(self) -> Generator[Any, Any, None]:
        """Wait for the other threads of the block."""
        yield None

    def syncthreads_count(self, predicate: object) -> Generator[Any, Any, Any]:
        """Wait, and return for how many threads the predicate is true."""
        return (yield (lambda values: sum(map(bool, values)), predicate))

    def syncthreads_and(self, predicate: object) -> Generator[Any, Any, Any]:
        """Wait, and return whether the predicate is true for all threads."""
        return (yield (lambda values: int(all(values)), predicate))

    def syncthreads_or(self, predicate: object) -> Generator[Any, Any, Any]:
        """Wait, and return whether the predicate is true for any thread."""
        return (yield (lambda values: int(any(values)), predicate))

    def threadfence(self) -> None:
        """Do nothing: it orders the writes of one thread, and keeps no two threads apart."""

    threadfence_block = threadfence
    threadfence_system = threadfence

    def selp(self, condition: object, yes: object, no: object) -> Any:
        """Return one of two values."""
        return yes if condition else no

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """Return a * b + c."""
        return a * b + c

    def popc(self, value: int) -> int:
        """Return the number of bits that are set."""
        return int(value).bit_count()

    def brev(self, value: int) -> int:
        """Return the 32 bits in the opposite order."""
        return int(f"{value:032b}"[::-1], 2)

    def clz(self, value: int) -> int:
        """Return the number of zeros before the first of the 32 bits that is set."""
        return 32 - int(value).bit_length()

    def ffs(self, value: int) -> int:
        """Return the place of the last bit that is set, from 1, or 0 if none is."""
        return (int(value) & -int(value)).bit_length()

    def cbrt(self, value: float) -> float:
        """Return the cube root."""
        return math.cbrt(value)
