"""Free lists: blocks of memory that no array uses at the moment, by capacity, for the next array of about that size."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar


class Block(Protocol):
    """Memory in a free list."""

    @property
    def capacity(self) -> int:
        """Its bytes."""


B = TypeVar("B", bound=Block)


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


class FreeList(Generic[B]):
    """Blocks that wait for their next use, bounded in all.

    Args:
        make: Asks the system for a block of a capacity; MemoryError if it has none.
        limit: Returns how many bytes may lie here.
    """

    def __init__(self, make: Callable[[int], B], limit: Callable[[], int]) -> None:
        self._make, self._limit = make, limit
        self._returned: deque[B] = deque()
        self._idle: dict[int, list[B]] = {}
        self._reused = self._fresh = self._idle_bytes = 0
        self._open()
        _all.add(self)

    def _open(self) -> None:
        self._lock = threading.Lock()

    def take(self, size: int) -> B:
        """Return an idle block with room for so many bytes, or a new one.

        Raises:
            MemoryError: If the system has no more, also after what lies here was given back.
        """
        capacity = _capacity(size)
        with self._lock:
            self._sort()
            blocks = self._idle.get(capacity)
            if blocks:
                self._idle_bytes -= capacity
                self._reused += 1
                return blocks.pop()
            self._fresh += 1
        try:
            return self._make(capacity)
        except MemoryError:
            self.clear()
            return self._make(capacity)

    def give_back(self, block: B) -> None:
        """Put a block back, also from a destructor.

        The garbage collector may call this at any moment, also while this very thread is inside of `take`: the append
        cannot fail or wait, and who holds the lock will find the block.
        """
        self._returned.append(block)
        if self._lock.acquire(blocking=False):
            try:
                self._sort()
            finally:
                self._lock.release()

    def _sort(self) -> None:
        """Sort returned blocks by capacity, and give back to the system what is too much; the lock is held."""
        while self._returned:
            block = self._returned.popleft()
            # The blocks used last come first: they may still be in the caches.
            self._idle.setdefault(block.capacity, []).append(block)
            self._idle_bytes += block.capacity
        while self._idle_bytes > self._limit():
            capacity = next(c for c, blocks in self._idle.items() if blocks)
            self._idle[capacity].pop(0)
            self._idle_bytes -= capacity

    def clear(self) -> None:
        """Give all idle memory back to the system."""
        with self._lock:
            self._sort()
            self._idle.clear()
            self._idle_bytes = 0

    def stats(self) -> Statistics:
        """Return the counts of the work so far."""
        with self._lock:
            self._sort()
            return Statistics(self._reused, self._fresh, self._idle_bytes, self._limit())


def _capacity(size: int) -> int:
    """Round a size up, by an eighth at most, so that nearly equal sizes share blocks."""
    step = 1 << max(size.bit_length() - 4, 9)
    return -(-max(size, 1) // step) * step


_all: weakref.WeakSet[FreeList[Any]] = weakref.WeakSet()


def _after_fork() -> None:
    for each in _all:
        each._open()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
