"""A pool of large buffers.

The first touch of a fresh page costs more than the arithmetic on it: 80 MB fresh from the system take three times as
long to write as 80 MB that were used before. Arrays from here give their memory back when the last array over them
dies, and the next one of that size takes it over.

What lies idle is bounded by an eighth of the memory that this process may use; when the system has no more, it is
given back and the request repeated.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.backends.free_list import FreeList

SMALLEST = 256 * 1024
"""Bytes from which on an array comes from the pool; below, the C library keeps freed memory itself."""

ALIGNMENT = 64


def _give_back(lease: Any) -> None:
    _free.give_back(lease.block)


@cache
def _lease_type(capacity: int) -> Any:
    """Return the type of a block's owner, the base of all arrays over it: bytes that give the block back."""
    return type("Lease", (ctypes.c_char * capacity,), {"__del__": _give_back})


class _Block:
    """Memory, aligned to cache lines."""

    __slots__ = ("address", "capacity", "memory")

    def __init__(self, capacity: int) -> None:
        self.memory = np.empty(capacity + ALIGNMENT, np.uint8)
        self.capacity = capacity
        self.address = -(-self.memory.ctypes.data // ALIGNMENT) * ALIGNMENT


def empty(shape: Sequence[int], dtype: Any) -> np.ndarray[Any, Any]:
    """Return an array with arbitrary values, in row-major order. A large one has memory from the pool.

    Raises:
        MemoryError: If neither the pool nor the system has that much.
    """
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if size < SMALLEST:
        return np.empty(shape, dtype)
    block = _free.take(size)
    lease = _lease_type(block.capacity).from_address(block.address)
    lease.block = block
    return np.ndarray(shape, dtype, lease)


@cache
def limit() -> int:
    """Return how many bytes may lie idle: an eighth of the machine's memory, or of what this process may have."""
    sizes = []
    with contextlib.suppress(AttributeError, ValueError, OSError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with contextlib.suppress(OSError, ValueError):
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))  # "max" where there is no limit
    with contextlib.suppress(ImportError):
        import resource

        allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
        sizes.extend([allowed] if allowed != resource.RLIM_INFINITY else [])
    return min(sizes, default=4 << 30) // 8


_free: FreeList[_Block] = FreeList(lambda capacity: _Block(capacity), lambda: limit())
clear, stats = _free.clear, _free.stats
