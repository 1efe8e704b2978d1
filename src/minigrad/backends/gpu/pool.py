"""Storages on the device, with memory that earlier ones have left.

Asking a driver for memory takes longer than most kernels do, and giving memory back waits until all of them are done.
So the memory of a storage goes to a free list afterwards, for the next storage. A kernel may write to it at once: a
device runs kernels in the order of their launches, so one that still reads the old values has ended by then.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from minigrad.backends.free_list import FreeList
from minigrad.machine import _numba

cuda: Any = _numba.cuda

_TOO_MUCH = (MemoryError, ValueError, OverflowError, SystemError)
"""The errors that Numba, or NumPy, raises for a size out of all reason, before the driver is asked."""


def new(count: int, dtype: np.dtype[Any]) -> Any:
    """Return a flat array on the device, with arbitrary values.

    Args:
        count: Of its elements; one at least is there, since a driver has no room of size 0.
        dtype: Their type.

    Raises:
        MemoryError: If there is no room, also after what is no longer used was given back.
    """
    make = _asked if _numba.is_simulator() else _from_shelf
    try:
        return make(max(count, 1), dtype)
    except MemoryError:
        pass  # the traceback holds arrays alive: it has to be gone before the next attempt
    clear()
    try:
        return make(max(count, 1), dtype)
    except MemoryError:
        wanted = count * dtype.itemsize / 2**20
        raise MemoryError(f"the device has no room for {count:,} elements of {dtype} ({wanted:,.0f} MiB)") from None


def clear() -> None:
    """Give memory that no storage uses back to the device."""
    gc.collect()
    if not _numba.is_simulator():  # pragma: no cover (needs a GPU)
        _free.clear()
        cuda.current_context().deallocations.clear()


def _asked(count: int, dtype: Any) -> Any:
    """Ask the device for memory; whatever it says in its own words becomes a MemoryError."""
    try:
        return cuda.device_array(count, dtype)
    except Exception as error:
        if isinstance(error, _TOO_MUCH) or "OUT_OF_MEMORY" in str(error):
            raise MemoryError from None
        raise


class _Block:
    """Memory on the device."""

    __slots__ = ("capacity", "memory")

    def __init__(self, capacity: int) -> None:
        self.memory = _asked(capacity, np.uint8)
        self.capacity = capacity


_lent: dict[int, _Block] = {}
"""Blocks in use. A lease names its block and does not hold it: what only garbage holds is freed by Numba before a
lease in that garbage could put it back."""


class _Lease:  # pragma: no cover (needs a GPU)
    """The owner of all storages over a block, and of their views; it puts the block back when the last one has gone."""

    __slots__ = ("number",)

    def __init__(self, block: _Block) -> None:
        self.number = id(block)
        _lent[self.number] = block

    def __del__(self, python_ends: Callable[[], bool] = sys.is_finalizing) -> None:
        if not python_ends():  # then this module's names may be gone
            _free.give_back(_lent.pop(self.number))


def _from_shelf(count: int, dtype: np.dtype[Any]) -> Any:  # pragma: no cover (needs a GPU)
    size = count * dtype.itemsize
    block = _free.take(size)
    there = cuda.MemoryPointer(cuda.current_context(), block.memory.gpu_data.device_pointer, size, owner=_Lease(block))
    return type(block.memory)((count,), (dtype.itemsize,), dtype, gpu_data=there)


@cache
def _limit() -> int:  # pragma: no cover (needs a GPU)
    """Return how many bytes may lie idle: half of the device's memory."""
    total: int = cuda.current_context().get_memory_info().total
    return total // 2


_free: FreeList[_Block] = FreeList(_Block, _limit)
