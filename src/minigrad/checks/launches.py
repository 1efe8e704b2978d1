"""Launching a student's CUDA kernels for a test: in Python, with every access to memory watched.

Each function here prepares the arguments that a kernel gets, runs it with `minigrad.debug.cuda_races` and says in plain
data what came out: the result, what went wrong, and how much memory the busiest thread touched. No GPU takes part, so
that a kernel that writes beyond its arrays does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minigrad import cuda_ops
from minigrad.backends.gpu.launching import block_dim
from minigrad.debug import cuda_races
from minigrad.debug.memory import READ, WRITE
from minigrad.emulator.device import WARP
from minigrad.tensor_data import TensorData

Array = NDArray[Any]
Seen = dict[str, Any]


# Functions of numbers to make kernels of; what the order of inputs or a missing start value changes shows in them.


def scaled(x: float) -> float:
    """Return 2 x + 1."""
    return 2.0 * x + 1.0


def add(x: float, y: float) -> float:
    """Return x + y."""
    return x + y


def times(x: float, y: float) -> float:
    """Return x * y."""
    return x * y


def larger(x: float, y: float) -> float:
    """Return the larger of x and y."""
    return x if x > y else y


def result(*shape: int, order: tuple[int, ...] | None = None) -> Array:
    """Return an array for a result, filled with nan.

    Args:
        *shape: Its shape.
        order: Which of its axes lies where in the storage, the slowest first; row by row if not given.
    """
    order = tuple(range(len(shape))) if order is None else order
    lying = np.full([shape[axis] for axis in order], np.nan)
    return lying.transpose(np.argsort(order))


class _Sizes(tuple[int, ...]):
    """A shape, or strides: kernels get them as arrays, as from `minigrad.backends.gpu`."""

    __slots__ = ()


def _parts(array: Array) -> tuple[Array, _Sizes, _Sizes]:
    data = TensorData.of(array)
    return data._storage, _Sizes(data.shape), _Sizes(data.strides)


_MEETINGS = 3
"""Findings that are reported one by one."""

_THREAD = re.compile(r"thread (.+) of block (.+)")

EARLY = "a race before the first barrier"
LATE = "a race after a barrier"
_UNSTEADY = "where its threads run in another order, the kernel gives another result"


def _left_over(report: Any, threads: int, size: int) -> str:
    """Name the thread without an element of its own in the first mistake, or return nothing if there is none."""
    if not report.races:
        return ""
    race = report.races[0]
    for thread in (race.first, race.second):
        found = _THREAD.fullmatch(str(thread))
        number = int(found[2]) * threads + int(found[1]) if found else 0  # in one dimension
        if number >= size:
            element = f"{race.array}[{', '.join(map(str, race.index))}]"
            return f"{thread} has the number {number} in the grid and out_size is {size}, but it touches {element}"
    return ""


def _observed(
    kernel: Callable[..., Any], grid: Any, block: Any, out: Array, *args: Any, each: bool = False, counted: bool = False
) -> Seen:
    """Launch a kernel whose first three arguments are the parts of its result.

    Args:
        kernel: The kernel.
        grid: The number of blocks.
        block: The number of threads in a block.
        out: The array for the result.
        *args: The arguments after the three parts of out.
        each: Whether each element has a thread of its own, so that threads may be left over.
        counted: Whether what neighbours touch together is counted, see `_counted`.

    Returns:
        A dictionary: "out", the result; "kinds", the kinds of mistakes found, with "order" if the result depends on the
        order of threads; "waiting", what barriers are missing or not reached by all; "exchanged", whether a thread read
        in shared memory what another one wrote; "shared", the number of shared arrays; "meetings", the first mistakes;
        "story", the first one in words; "line", where it was found; "left over", what a thread without an element did;
        and "reads", "writes", "shared_reads", of global and of shared memory, by the busiest thread.
    """
    given = (*_parts(out), *args)
    sizes = [number for number, each in enumerate(given) if isinstance(each, _Sizes)]
    arrays = (np.array(each, dtype=np.int64) if isinstance(each, _Sizes) else each for each in given)
    report = cuda_races(kernel, grid, block, *arrays, constants=sizes)
    seen = {**_summary(report), "out": TensorData(np.asarray(report.args[0]), *given[1:3]).array.tolist()}
    if counted:
        seen |= _counted(report)
    return {**seen, "left over": _left_over(report, block, out.size)} if each else seen


def run_map(kernel: Callable[..., Any], out: Array, *inputs: Array, blocks: int = 0, threads: int = 4) -> Seen:
    """Launch a kernel of `tensor_map` or `tensor_zip`; without a number of blocks, with as many as are needed."""
    parts = [part for each in inputs for part in _parts(each)]
    return _observed(kernel, blocks or _enough(out.size, threads), threads, out, out.size, *parts, each=True)


def run_reduce(kernel: Callable[..., Any], out: Array, a: Array, dim: int, start: float, spare: int = 0) -> Seen:
    """Launch a kernel of `tensor_reduce`, one block for each element of out, and some to spare."""
    block = block_dim(kernel, cuda_ops.BLOCK_DIM)
    return {**_observed(kernel, out.size + spare, block, out, out.size, *_parts(a), dim, start), "block": block}


def sum_practice(kernel: Callable[..., Any], blocks: int, missing: int, values: Array | None = None) -> Seen:
    """Launch a kernel like `_sum_practice` on blocks of which the last has fewer elements than threads.

    Args:
        kernel: The kernel.
        blocks: The number of blocks.
        missing: How many elements fewer than threads there are.
        values: The elements, as many of them as are needed; `numbers` if not given.

    Returns:
        As the others, with "wanted": NumPy's sum; "foreign", how many elements of shared memory that others have put
        there the busiest thread reads; and "rounds", between how many barriers of a block its threads read such ones.
    """
    block = block_dim(kernel, cuda_ops.BLOCK_DIM)
    size = blocks * block - missing
    values = numbers(size) if values is None else np.resize(values, size)
    report = cuda_races(kernel, blocks, block, np.full(blocks, np.nan), values, size)
    wanted = [float(values[start : start + block].sum()) for start in range(0, size, block)]
    seen = {**_summary(report), "out": report.args[0].tolist(), "wanted": wanted, "block": block}
    return {**seen, **_foreign(report)}


def pool_practice(kernel: Callable[..., Any], blocks: int, missing: int, values: Array | None = None) -> Seen:
    """Launch a kernel like `_pool_practice`, with arguments and results as `sum_practice`.

    "total" is how often all threads together read global memory.
    """
    return _along(kernel, blocks, missing, values, lambda x, _: x + _moved(x, 1) + _moved(x, 2))


def scan_practice(kernel: Callable[..., Any], blocks: int, missing: int, values: Array | None = None) -> Seen:
    """Launch a kernel like `_scan_practice`, with arguments and results as `sum_practice`."""
    return _along(kernel, blocks, missing, values, _totals)


def _totals(values: Array, block: int) -> Array:
    return np.concatenate([values[start : start + block].cumsum() for start in range(0, values.size, block)])


def _moved(values: Array, places: int) -> Array:
    return np.concatenate([np.zeros(places), values])[: values.size]


def _along(
    kernel: Callable[..., Any],
    blocks: int,
    missing: int,
    values: Array | None,
    wanted: Callable[[Array, int], Array],
) -> Seen:
    """Launch a kernel that writes a number for each of its elements, on blocks of which the last is not full."""
    block = block_dim(kernel, cuda_ops.BLOCK_DIM)
    size = blocks * block - missing
    values = numbers(size) if values is None else np.resize(values, size)
    report = cuda_races(kernel, blocks, block, np.full(size, np.nan), values, size)
    seen = {**_summary(report), "out": report.args[0].tolist(), "wanted": wanted(values, block).tolist()}
    total = sum(counts.global_reads for counts in report.counts.values())
    return {**seen, **_foreign(report), "block": block, "total": total}


def turn_practice(kernel: Callable[..., Any], size: int, values: Array | None = None) -> Seen:
    """Launch a kernel like `_turn_practice` on a matrix of that size.

    Args:
        kernel: The kernel.
        size: The size of the matrix.
        values: Its elements, as many of them as are needed; `numbers` if not given.
    """
    a = (numbers(size * size) if values is None else np.resize(values, size * size)).astype(np.float32)
    tiles, out = _enough(size, cuda_ops.TILE_DIM), np.full(size * size, np.nan, np.float32)
    report = cuda_races(kernel, (tiles, tiles), (cuda_ops.TILE_DIM, cuda_ops.TILE_DIM), out, a, size)
    wanted = a.reshape(size, size).T.ravel().tolist()
    return {**_summary(report), **_counted(report), "out": report.args[0].tolist(), "wanted": wanted}


def matmul(kernel: Callable[..., Any], out: Array, a: Array, b: Array) -> Seen:
    """Launch a kernel like `_tensor_matrix_multiply` on stacks of matrices, with as many blocks as are needed.

    Returns:
        As the others, with "wanted": NumPy's product.
    """
    tile = block_dim(kernel, cuda_ops.BLOCK_DIM)
    stack, n, m = out.shape
    grid = (_enough(m, tile), _enough(n, tile), stack)
    seen = _observed(kernel, grid, (tile, tile), out, out.size, *_parts(a), *_parts(b), counted=True)
    return {**seen, "wanted": np.matmul(a, b).tolist(), "block": tile}


def _summary(report: Any) -> Seen:
    most = report.most
    return {
        "kinds": sorted(report.kinds | ({"order"} if not report.steady else set())),
        "waiting": sorted({found for race in report.races if (found := _about_waiting(race))}),
        "exchanged": _exchanged(report),
        "shared": len({event.root for event in report.events if event.root.scope == "shared"}),
        "meetings": report.meetings()[:_MEETINGS],
        "story": report.races[0].message if report.races else "" if report.steady else _UNSTEADY,
        "line": report.races[0].source if report.races else "",
        "reads": most.global_reads,
        "writes": most.global_writes,
        "shared_reads": most.shared_reads,
    }


def _counted(report: Any) -> Seen:
    """Return what neighbours touch together, in as many accesses as are kept: never more than in all of them.

    Returns:
        A dictionary: "transactions", those of 32 bytes with each array of global memory, in the order of their names;
        and "passes", those over all of shared memory.
    """
    transactions = report.transactions(partly=True)
    return {
        "transactions": [transactions[name] for name in sorted(transactions)],
        "passes": sum(report.passes(partly=True).values()),
    }


def enough_passes(block: int, products: int) -> int:
    """Return the passes with which a block gets by for one tile of a and b each, if neighbours in x follow their rows.

    A warp writes an element of each tile, twice if 0.0 comes first, in 2 passes each time: a float64 takes two banks.
    For each product it reads some elements of a column of a and of a row of b, in 2 passes and 1, or 1 and 2.

    Args:
        block: The threads along a side of the block.
        products: What each of them adds.
    """
    return _enough(block * block, WARP) * (8 + 3 * products)


def _about_waiting(race: Any) -> str:
    """Return what of a kernel's waiting a finding shows: a barrier, or a race that one more barrier would remove."""
    if race.kind == "barrier":
        return "barrier"
    first, second = (_THREAD.fullmatch(str(thread)) for thread in (race.first, race.second))
    in_one_block = first is not None and second is not None and first[2] == second[2]
    if race.kind not in ("read-write", "write-write") or not in_one_block:
        return ""
    if race.kind == "write-write" and race.scope == "global":
        return ""  # the last one wins, however long the others wait
    return EARLY if race.interval == 0 else LATE


def _exchanged(report: Any) -> bool:
    """Return whether a thread has read from shared memory what another one of its block has put there."""
    writers: dict[tuple[Any, int], set[Any]] = {}
    for event in report.events:
        if event.root.scope != "shared":
            continue
        known = writers.setdefault((event.root, event.address), set())
        if event.kind != WRITE and known - {event.thread}:
            return True
        if event.kind != READ:
            known.add(event.thread)
    return False


def _foreign(report: Any) -> Seen:
    """Return "foreign" and "rounds" as `sum_practice` tells them."""
    writers: dict[tuple[Any, int], Any] = {}
    found: dict[tuple[Any, Any], set[tuple[Any, int, Any]]] = {}
    rounds: dict[Any, set[int]] = {}
    for event in report.events:
        if event.root.scope != "shared":
            continue
        place, thread = (event.root, event.address), (event.block, event.thread)
        if event.kind != WRITE and writers.get(place, thread) != thread:
            found.setdefault(thread, set()).add((*place, event.interval))
            rounds.setdefault(event.block, set()).add(event.interval)
        if event.kind != READ:
            writers[place] = thread
    return {name: max(map(len, each.values()), default=0) for name, each in (("foreign", found), ("rounds", rounds))}


def _enough(size: int, threads: int) -> int:
    return -(-size // threads)


def numbers(count: int) -> Array:
    """Return numbers without a pattern, all different from 0."""
    return np.array([float(1 + 37 * i % 101) for i in range(count)])
