"""The arrays of a kernel whose text is run here: global and shared memory count, and refuse what no GPU promises.

All threads of a block go from statement to statement together, so an access is one array of indices, one for each
thread that takes part. The counts are those of `minigrad.debug.cuda_races`, with which a test compares them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

WARP = 32
"""Threads that a GPU runs together."""

SEGMENT = 32
"""Bytes of a transaction with global memory. Every array begins with a new segment."""

WORD, BANKS = 4, 32
"""Bytes of a word of shared memory, and its banks: word w lies in bank w % 32."""

SHARED_BYTES = 48 * 1024
"""Shared memory of a block."""

Lanes = NDArray[Any]

NOBODY, SEVERAL = -1, -2


class Refused(Exception):
    """A kernel that the board does not count; the message says why."""


class Counts:
    """The transactions and passes that a kernel has taken so far.

    Attributes:
        transactions: Those of 32 bytes with global memory.
        passes: Those over shared memory.
    """

    def __init__(self) -> None:
        self.transactions = 0
        self.passes = 0


class Memory:
    """An array of a kernel.

    Args:
        data: Its elements. Those of a local array have the threads as their first axis.
        scope: "global", "shared", "local" or "constant"; the first two are counted.
        counts: Where.
        is_output: Whether a kernel may write it, of global memory.
    """

    def __init__(self, data: Lanes, scope: str, counts: Counts, *, is_output: bool = False) -> None:
        self.data, self.scope, self._counts, self._is_output = data, scope, counts, is_output
        self.shape = data.shape[1:] if scope == "local" else data.shape
        self.size = math.prod(self.shape)
        self._flat = data.reshape(data.shape[0], -1) if scope == "local" else data.reshape(-1)
        # Who wrote and read each element since the last barrier that came after; of an output, ever.
        self._writer = np.full(self.size, NOBODY)
        self._reader = np.full(self.size, NOBODY)
        self._written = np.full(self.size, -1)
        self._read = np.full(self.size, -1)

    def load(self, index: tuple[Any, ...], threads: Lanes, active: Lanes, interval: int) -> Lanes:
        """Return the elements that the active threads read; the others get 0.

        Args:
            index: A number, or one for each thread of the block, for each axis.
            threads: The numbers of the block's threads in the whole grid.
            active: Which of them take part.
            interval: How many barriers there were before, over all blocks.
        """
        places, who = self._places(index, active), np.flatnonzero(active)
        if self.scope == "constant" and all(isinstance(each, np.generic) for each in index):
            return self._flat[places[0]]  # type: ignore[no-any-return]  # a size, which is the same for all threads
        if self.scope == "local":
            found = self._flat[who, places]
        else:
            self._count(places, who)
            if self.scope == "shared" or self._is_output:
                self._look_at_reads(places, threads[who], interval)
            found = self._flat[places]
        kind = np.float64 if self.data.dtype.kind == "f" else np.int64
        result: Lanes = np.zeros(len(active), kind)
        result[who] = found
        return result

    def store(self, index: tuple[Any, ...], value: Any, threads: Lanes, active: Lanes, interval: int) -> None:
        """Write the values of the active threads; the arguments are those of `load`."""
        places, who = self._places(index, active), np.flatnonzero(active)
        given = np.broadcast_to(value, active.shape)[who]
        if self.scope == "local":
            self._flat[who, places] = given
            return
        if self.scope == "constant" or (self.scope == "global" and not self._is_output):
            raise Refused("it writes to an array that is given to be read")
        self._count(places, who)
        self._look_at_writes(places, threads[who], interval)
        self._flat[places] = given

    def most_written(self, threads: int) -> int:
        """Return how many elements of an output one thread has written at most, of so many threads."""
        written = self._writer[self._writer >= 0]
        return int(np.bincount(written, minlength=threads).max()) if written.size else 0

    def _places(self, index: tuple[Any, ...], active: Lanes) -> Lanes:
        """The places of the elements that active threads mean, in row-major order."""
        if len(index) != len(self.shape):
            raise Refused(f"an array of {len(self.shape)} axes is read and written with an index for each axis")
        places = np.zeros(int(active.sum()), np.int64)
        for each, size in zip(index, self.shape, strict=True):
            if np.asarray(each).dtype.kind != "i":
                raise Refused("an index is a whole number")
            chosen = np.broadcast_to(each, active.shape)[active]
            outside = chosen[(chosen < 0) | (chosen >= size)]
            if outside.size:
                raise Refused(f"index {int(outside[0])} is outside of an axis of {size}")
            places = places * size + chosen
        return places

    def _count(self, places: Lanes, who: Lanes) -> None:
        """Count what the warps touch together."""
        if self.scope == "constant":
            return
        warps, size = who // WARP, self.data.dtype.itemsize
        if self.scope == "global":
            self._counts.transactions += len(np.unique(warps * (1 << 40) + places * size // SEGMENT))
            return
        words = np.concatenate([warps * (1 << 40) + (places * size + at) // WORD for at in range(0, size, WORD)])
        words = np.unique(words)
        banks = np.bincount((words >> 40) * BANKS + words % BANKS, minlength=BANKS * (int(warps.max()) + 1))
        self._counts.passes += int(banks.reshape(-1, BANKS).max(axis=1).sum())

    def _look_at_reads(self, places: Lanes, threads: Lanes, interval: int) -> None:
        """Refuse what a thread reads that another one has written, where no barrier is between them."""
        others = (self._writer[places] != threads) & (self._written[places] >= 0)
        if self.scope == "shared":
            others &= self._written[places] == interval
        if others.any():
            raise Refused(
                "a thread reads what another one writes, and no syncthreads is between them"
                if self.scope == "shared"
                else "a thread reads of the result what another one has written"
            )
        known = (self._read[places] == interval) & (self._reader[places] != threads)
        order = np.argsort(places, kind="stable")
        same = places[order][1:] == places[order][:-1]
        self._reader[places] = np.where(known, SEVERAL, threads)
        self._reader[places[order][1:][same]] = SEVERAL
        self._read[places] = interval

    def _look_at_writes(self, places: Lanes, threads: Lanes, interval: int) -> None:
        """Refuse what two threads write, or one writes and another one reads, where no barrier is between them."""
        if len(np.unique(places)) < len(places):
            raise Refused("two threads write the same element at the same time")
        written = (self._written[places] >= 0) & (self._writer[places] != threads)
        if self.scope == "shared":
            written &= self._written[places] == interval
            written |= (self._read[places] == interval) & (self._reader[places] != threads)
        if written.any():
            raise Refused(
                "a thread writes what another one reads or writes, and no syncthreads is between them"
                if self.scope == "shared"
                else "two threads write the same element of the result"
            )
        self._writer[places], self._written[places] = threads, interval
