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
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["SMALLEST", "Statistics", "clear", "empty", "stats"]

SMALLEST = 256 * 1024
"""Bytes from which on an array comes from the pool; below, the C library keeps freed memory itself."""

ALIGNMENT = 64


@dataclass(frozen=True)
class Statistics:
    """Counts of the pool's work and of its buffers.

    Attributes:
        reused: Requests that were served with memory used before.
        fresh: Requests for which the system was asked.
        idle_bytes: Memory that waits for the next request.
        limit_bytes: What idle memory may grow to.
    """

    reused: int
    fresh: int
    idle_bytes: int
    limit_bytes: int


def _give_back(lease: Any) -> None:
    # The garbage collector may call this at any moment, also while this very thread is inside the pool: the append
    # cannot fail or wait, and who holds the lock will find the block.
    _returned.append(lease.block)
    _tidy()


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


_lock = threading.Lock()
_returned: deque[_Block] = deque()
_idle: dict[int, list[_Block]] = {}
_counts = {"reused": 0, "fresh": 0, "idle": 0}


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def empty(shape: Sequence[int], dtype: Any) -> np.ndarray[Any, Any]:
    """Return an array with arbitrary values, in row-major order. A large one has memory from the pool.

    Raises:
        MemoryError: If neither the pool nor the system has that much.
    """
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if size < SMALLEST:
        return np.empty(shape, dtype)
    block = _take(_capacity(size))
    lease = _lease_type(block.capacity).from_address(block.address)
    lease.block = block
    return np.ndarray(shape, dtype, lease)


def _capacity(size: int) -> int:
    """Round a size up, by an eighth at most, so that nearly equal sizes share blocks."""
    step = 1 << (size.bit_length() - 4)
    return -(-size // step) * step


def _take(capacity: int) -> _Block:
    """Return an idle block of that capacity, or a new one."""
    with _lock:
        _sort()
        blocks = _idle.get(capacity)
        if blocks:
            block = blocks.pop()
            _counts["idle"] -= capacity
            _counts["reused"] += 1
            return block
        _counts["fresh"] += 1
    try:
        return _Block(capacity)
    except MemoryError:
        clear()
        return _Block(capacity)


def _sort() -> None:
    """Put returned blocks on their shelves, and give back to the system what is too much; the lock is held."""
    while _returned:
        block = _returned.popleft()
        # The blocks used last come first: they may still be in the caches.
        _idle.setdefault(block.capacity, []).append(block)
        _counts["idle"] += block.capacity
    while _counts["idle"] > limit():
        capacity = next(c for c, blocks in _idle.items() if blocks)
        _idle[capacity].pop(0)
        _counts["idle"] -= capacity


def _tidy() -> None:
    if _lock.acquire(blocking=False):
        try:
            _sort()
        finally:
            _lock.release()


def clear() -> None:
    """Give all idle memory back to the system."""
    with _lock:
        _sort()
        _idle.clear()
        _counts["idle"] = 0


def stats() -> Statistics:
    """Return the counts of the pool's work so far."""
    with _lock:
        _sort()
        return Statistics(_counts["reused"], _counts["fresh"], _counts["idle"], limit())


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
