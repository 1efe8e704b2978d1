"""How many threads and blocks kernels get: many on a GPU, a handful in the simulator, which runs them one by one.

The simulator's numbers are small, but large enough that every kernel meets more than one block, more elements than
threads, and a last block that is not full.
"""

from __future__ import annotations

from dataclasses import dataclass

from minigrad.machine._numba import is_simulator

Size = tuple[int, int, int]


@dataclass(frozen=True)
class Loop:
    """One thread for each element, and again from the start when there are more elements than threads."""

    threads: int
    most_blocks: int

    def grid(self, size: int) -> tuple[Size, Size]:
        """Return the sizes of grid and block for a number of elements."""
        blocks = min(-(-size // self.threads), self.most_blocks)
        return (blocks, 1, 1), (self.threads, 1, 1)


@dataclass(frozen=True)
class Reduction:
    """How a long reduction is cut into chunks, whose results are reduced in a second pass.

    Attributes:
        wanted: Chunks are cut until there are so many results for the device to work on.
        shortest: But a chunk has at least so many elements.
    """

    wanted: int
    shortest: int

    def chunk(self, outputs: int, length: int) -> int:
        """Return the number of elements of a chunk."""
        chunks = max(1, min(self.wanted // outputs, length // self.shortest))
        return -(-length // chunks)


@dataclass(frozen=True)
class Tiles:
    """A block of threads x threads computes a tile of the product; each thread has per_thread x per_thread elements.

    Attributes:
        threads: Threads along a side of the block.
        per_thread: Elements of a thread along a side.
        depth: How many columns of a, and rows of b, are in shared memory at a time.
    """

    threads: int
    per_thread: int
    depth: int

    @property
    def side(self) -> int:
        """Rows and columns of a tile."""
        return self.threads * self.per_thread


if is_simulator():
    LOOP = Loop(threads=4, most_blocks=2)
    ROW_THREADS = 4
    ROWS = Reduction(wanted=4, shortest=16)
    COLUMNS = Reduction(wanted=8, shortest=8)
    SMALL_TILES = Tiles(threads=2, per_thread=2, depth=3)
    LARGE_TILES = {4: Tiles(threads=2, per_thread=3, depth=2), 8: Tiles(threads=2, per_thread=3, depth=4)}
    ENOUGH_BLOCKS = 4
else:  # pragma: no cover (needs a GPU)
    LOOP = Loop(threads=256, most_blocks=1 << 16)
    ROW_THREADS = 256
    ROWS = Reduction(wanted=2048, shortest=4096)
    COLUMNS = Reduction(wanted=1 << 17, shortest=64)
    SMALL_TILES = Tiles(threads=16, per_thread=4, depth=16)
    LARGE_TILES = {4: Tiles(threads=16, per_thread=8, depth=8), 8: Tiles(threads=16, per_thread=6, depth=16)}
    ENOUGH_BLOCKS = 128  # as many as a large device has multiprocessors
