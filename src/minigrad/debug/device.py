"""The kernels' ``cuda``: thread and block indices, shared and local arrays, barriers and atomic operations."""

from __future__ import annotations

import math
import operator
import sys
import types
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minigrad.debug.arrays import Recorded
from minigrad.debug.memory import ATOMIC
from minigrad.debug.report import WARP

if TYPE_CHECKING:
    from minigrad.debug.grid import Grid


class Dim3(NamedTuple):
    """An index or a size in x, y and z."""

    x: int
    y: int
    z: int


class _Names(dict[int, str]):
    """The names of Numba's own cuda objects, by identity, for kernels that import them one by one."""

    def get(self, key: int, default: object = None) -> Any:
        module = sys.modules.get("numba.cuda")
        if module is not None and not self:
            known = {id(getattr(module, name, None)): name for name in vars(Device) if not name.startswith("_")}
            self.update({key: name for key, name in known.items() if key != id(None)})
        return super().get(key, default)


DEVICE_NAMES = _Names()


def is_cuda(value: object) -> bool:
    """Return whether a value is the module numba.cuda, real or simulated."""
    return isinstance(value, types.ModuleType) and value.__name__ in ("numba.cuda", "numba.cuda.simulator")


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

    def __init__(self, run: Grid, scope: str) -> None:
        self._run = run
        self._scope = scope

    def array(self, shape: object, dtype: object, alignment: int | None = None) -> Recorded:
        """Return the array that this call stands for."""
        return self._run.made(self._scope, shape, dtype_of(dtype))


class _Constants:
    """``cuda.const``."""

    def array_like(self, array: object) -> Any:
        """Return the array, which a kernel only reads."""
        return array


class _Atomic:
    """``cuda.atomic``: each operation returns the old value."""

    def __init__(self, run: Grid) -> None:
        self._run = run

    def _update(self, array: Recorded, index: tuple[int, ...] | int, new: Callable[[Any], Any]) -> Any:
        raw, key = array._raw, index if isinstance(index, tuple) else (index,)
        if array._misses(key, ATOMIC):
            return raw.dtype.type(0)
        key = tuple(map(int, key))
        old = raw[key]
        raw[key] = new(old)
        array._watcher.touch(array._root, array._place(key), ATOMIC)
        return old

    def add(self, array: Recorded, index: tuple[int, ...] | int, value: float) -> Any:
        """Add a value."""
        return self._update(array, index, lambda old: old + value)

    def sub(self, array: Recorded, index: tuple[int, ...] | int, value: float) -> Any:
        """Subtract a value."""
        return self._update(array, index, lambda old: old - value)

    def max(self, array: Recorded, index: tuple[int, ...] | int, value: Any) -> Any:
        """Keep the larger value, or nan if either is."""
        return self._update(array, index, lambda old: np.maximum(old, value))

    def min(self, array: Recorded, index: tuple[int, ...] | int, value: Any) -> Any:
        """Keep the smaller value, or nan if either is."""
        return self._update(array, index, lambda old: np.minimum(old, value))

    def nanmax(self, array: Recorded, index: tuple[int, ...] | int, value: Any) -> Any:
        """Keep the larger value, and a number rather than nan."""
        return self._update(array, index, lambda old: np.fmax(old, value))

    def nanmin(self, array: Recorded, index: tuple[int, ...] | int, value: Any) -> Any:
        """Keep the smaller value, and a number rather than nan."""
        return self._update(array, index, lambda old: np.fmin(old, value))

    def and_(self, array: Recorded, index: tuple[int, ...] | int, value: float) -> Any:
        """Keep the bits that both have."""
        return self._update(array, index, lambda old: old & value)

    def or_(self, array: Recorded, index: tuple[int, ...] | int, value: float) -> Any:
        """Keep the bits that either has."""
        return self._update(array, index, lambda old: old | value)

    def xor(self, array: Recorded, index: tuple[int, ...] | int, value: float) -> Any:
        """Keep the bits that one of them has."""
        return self._update(array, index, lambda old: old ^ value)

    def inc(self, array: Recorded, index: tuple[int, ...] | int, value: float) -> Any:
        """Count up, from value to 0."""
        return self._update(array, index, lambda old: 0 if old >= value else old + 1)

    def dec(self, array: Recorded, index: tuple[int, ...] | int, value: float) -> Any:
        """Count down, from 0 to value."""
        return self._update(array, index, lambda old: value if old == 0 or old > value else old - 1)

    def exch(self, array: Recorded, index: tuple[int, ...] | int, value: float) -> Any:
        """Put a value in place of the old one."""
        return self._update(array, index, lambda old: value)

    def cas(self, array: Recorded, index: tuple[int, ...] | int, old: float, value: float) -> Any:
        """Put a value in place of the old one, if that is as expected."""
        return self._update(array, index, lambda now: value if now == old else now)

    def compare_and_swap(self, array: Recorded, old: float, value: float) -> Any:
        """Do `cas` on the first element."""
        return self.cas(array, (0,) * array.ndim, old, value)


class Device:
    """The namespace that stands in a kernel for numba.cuda.

    Args:
        run: The run whose present thread asks.
    """

    warpsize = WARP

    def __init__(self, run: Grid) -> None:
        self._run = run
        self.shared = _Maker(run, "shared")
        self.local = _Maker(run, "local")
        self.const = _Constants()
        self.atomic = _Atomic(run)

    def __getattr__(self, name: str) -> Any:
        raise ValueError(f"cuda_races does not simulate cuda.{name}; it knows {', '.join(sorted(_public()))}")

    @property
    def threadIdx(self) -> Dim3:  # noqa: N802 (CUDA's names)
        """The thread's index in its block."""
        return Dim3(*self._run.thread.index)

    @property
    def blockIdx(self) -> Dim3:  # noqa: N802
        """The block's index."""
        return Dim3(*self._run.thread.block)

    @property
    def blockDim(self) -> Dim3:  # noqa: N802
        """The number of threads in a block."""
        return Dim3(*self._run.block)

    @property
    def gridDim(self) -> Dim3:  # noqa: N802
        """The number of blocks."""
        return Dim3(*self._run.grid)

    @property
    def laneid(self) -> int:
        """The thread's place in its warp."""
        x, y, z = self._run.thread.index
        width, height, _ = self._run.block
        return (x + width * (y + height * z)) % WARP

    def grid(self, ndim: int) -> Any:
        """Return the thread's index in the grid: a number, or a tuple of two or three."""
        thread, block = self._run.thread, self._run.block
        found = tuple(b * size + t for b, size, t in zip(thread.block, block, thread.index, strict=True))
        return found[0] if ndim == 1 else found[:ndim]

    def gridsize(self, ndim: int) -> Any:
        """Return the number of threads of the grid along one axis, or along two or three."""
        found = tuple(map(operator.mul, self._run.grid, self._run.block))
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

    def cbrt(self, value: float) -> float:
        """Return the cube root."""
        return math.cbrt(value)


def _public() -> list[str]:
    return ["shared", "local", "const", "atomic", *(name for name in vars(Device) if not name.startswith("_"))]
