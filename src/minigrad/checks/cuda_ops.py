"""Visible tests of CUDA kernels.

A kernel is first run in Python, where every access to memory is watched (`minigrad.debug.cuda_races`): a write beyond
an array, a forgotten syncthreads or memory that nobody has written is then seen each time, and does no harm. Only what
has passed that is launched on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad import cuda_ops
from minigrad.backends.gpu import from_host, launch, teaching
from minigrad.backends.gpu.launching import block_dim
from minigrad.checks import launches
from minigrad.checks.expectation import Expectation, expect, expect_that
from minigrad.checks.kernels import is_float_index
from minigrad.checks.runner import ENDLESS, NOT_RUN, Test, visible
from minigrad.machine import _numba

MAP = "08 'A thread for each element'"
SUM = "08 'Memory that a block shares'"
REDUCE = "08 'A block for each result'"
NEIGHBOURS = "08 'Neighbours ask together'"
SCAN = "08 'All totals at once'"
MATMUL = "08 'Tile by tile'"

SIX = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0])
OTHER = np.array([2.0, 7.0, 1.0, 8.0, 2.0, 8.0])
ADVICE: Mapping[str, str] = {
    "out of bounds": "there may be more threads than elements: those left over must touch nothing",
    "read-write": "cuda.syncthreads() between writing shared memory and reading what another thread has written",
    "write-write": "two threads write the same element: which of them has it to do?",
    "barrier": "cuda.syncthreads() must be reached by all threads of a block: not in a branch that only some take",
    "uninitialised": "shared memory holds anything at first: every thread of the block has to write its place",
    "outside": "threads share arrays only: values pass through shared memory, and constants are numbers or tuples",
    "order": "threads run in any order: which value depends on who came first?",
    "alias": "a call of cuda.shared.array of its own for each array",
}


LEFT_OVER = "compare the thread's number with out_size: threads left over, beyond the last element, touch nothing"
WHOLE = "index buffers hold whole numbers: cuda.local.array(MAX_DIMS, numba.int32)"
ON_DEVICE = "It compiles, and gives the same on the device."
IN_SIMULATOR = "It gives the same in the simulator: there is no GPU here, so nothing is compiled."


WAITING = frozenset({"barrier", "read-write", "write-write", "order"})
"""Kinds of mistakes that a missing barrier, or one that not all threads reach, shows itself in."""


def _expect(
    seen: launches.Seen, wanted: object, hint: str, when: Mapping[Any, str] | None = None, *, strictly: bool = False
) -> None:
    """Compare the result of a launch. Mistakes with memory come first, since they explain the rest.

    Args:
        seen: What the launch gave.
        wanted: Its right result.
        hint: What to think about if the result is another one.
        when: For wrong results that tell which mistake was made: the hint for each.
        strictly: Whether a right result is refused, too, if threads do not wait for each other. Each exercise has one
            check for that.
    """
    if not strictly and seen["waiting"] and WAITING.issuperset(seen["kinds"]) and _is_right(seen["out"], wanted):
        return
    if seen["kinds"]:
        advice = next((ADVICE[kind] for kind in ADVICE if kind in seen["kinds"]), None)
        story = seen["story"]
        if "endless" in seen["kinds"]:
            raise Expectation(seen["kinds"], [], ENDLESS, f"{story[0].upper()}{story[1:]}. {NOT_RUN}", None)
        if is_float_index(story):
            story, advice = f"an index is no whole number, in your line `{seen['line']}`", WHOLE
        elif seen.get("left over"):
            story, advice = seen["left over"], LEFT_OVER
        raise Expectation(seen["kinds"], [], story, advice, None)
    expect(seen["out"], np.asarray(wanted).tolist(), hint=hint, when=when)


def _is_right(out: object, wanted: object) -> bool:
    found, right = np.asarray(out, dtype=float), np.asarray(wanted, dtype=float)
    return found.shape == right.shape and bool(np.allclose(found, right, rtol=1e-9))


def _expect_waiting(seen: launches.Seen) -> None:
    """Expect that all threads of a block wait for each other where one reads what another one has written."""
    if seen["waiting"]:
        advice = ADVICE["barrier" if "barrier" in seen["waiting"] else "read-write"]
        story = seen["story"] if WAITING.issuperset(seen["kinds"]) else f"{seen['waiting'][0]} was seen"
        raise Expectation(seen["waiting"], [], story, advice, None)


def _expect_passes(seen: launches.Seen, few: int) -> None:
    """Expect that a product's threads wait at the banks of shared memory no more than along rows of its tiles."""
    told = f"{seen['passes']} passes over shared memory, expected {few} at most"
    hint = "a warp reads along a row of the tile of b, and down a column of that of a: tile[threadIdx.y, threadIdx.x]"
    expect_that(seen["passes"] <= few, told, hint)


def _of_product(seen: launches.Seen) -> launches.Seen:
    """Leave out that a thread read shared memory which nobody had written, if no result shows it: it holds nan."""
    harmless = list(seen["kinds"]) == ["uninitialised"] and bool(np.isfinite(seen["out"]).all())
    return {**seen, "kinds": []} if harmless else seen


def _matmul(kernel: Callable[..., Any], out: Any, a: Any, b: Any) -> launches.Seen:
    return _of_product(launches.matmul(kernel, out, a, b))


def _device_title(is_simulator: bool) -> str:
    return IN_SIMULATOR if is_simulator else ON_DEVICE


def _visible_on_device(exercise: str, section: str) -> Callable[[Test], Test]:
    """Register a test that launches a kernel. Its title names the launch."""

    def register(test: Test) -> Test:
        test.__doc__ = _device_title(_numba.is_simulator())
        return visible(exercise, section, slow=True)(test)

    return register


def _expect_on_device(seen: launches.Seen, wanted: object, launched: Callable[[], Any]) -> None:
    """Launch a kernel, and compare its result. Only a kernel that is right in Python comes so far.

    Args:
        seen: What it gives in Python.
        wanted: What it should give.
        launched: Launches it, and returns its result as a list.
    """
    try:
        _expect(seen, wanted, hint="", strictly=True)
    except Expectation as failure:
        if failure.reason == ENDLESS:
            raise
        reason = f"not launched, since it goes wrong in Python: {failure.reason}"
        raise Expectation(failure.seen, failure.wanted, reason, "the checks above say more of it", None) from None
    expect(launched(), np.asarray(wanted).tolist(), hint="in Python the values were right")


@visible("cuda_ops.tensor_map", MAP)
def map_of_several_blocks(student: SimpleNamespace) -> None:
    """Six elements, three blocks of two threads: each thread computes 2 x + 1 for one element."""
    kernel = student.tensor_map(launches.scaled)
    seen = launches.run_map(kernel, launches.result(6), SIX, threads=2)
    _expect(seen, 2 * SIX + 1, hint="the number in the grid: blockIdx.x * blockDim.x + threadIdx.x")


@visible("cuda_ops.tensor_map", MAP)
def map_with_threads_left_over(student: SimpleNamespace) -> None:
    """Six elements, two blocks of four threads: the last two threads touch nothing."""
    kernel = student.tensor_map(launches.scaled)
    _expect(launches.run_map(kernel, launches.result(6), SIX, threads=4), 2 * SIX + 1, hint="compare with out_size")


@visible("cuda_ops.tensor_map", MAP)
def map_of_any_layout(student: SimpleNamespace) -> None:
    """Inputs and outputs that are turned round in their storage, and smaller inputs, are found by their indices."""
    kernel, x = student.tensor_map(launches.scaled), SIX.reshape(2, 3)
    hint = "positions come from indices and strides: to_index, broadcast_index, index_to_position"
    _expect(launches.run_map(kernel, launches.result(3, 2), x.T), 2 * x.T + 1, hint=hint)
    _expect(launches.run_map(kernel, launches.result(2, 3, order=(1, 0)), x), 2 * x + 1, hint=hint)
    _expect(launches.run_map(kernel, launches.result(2, 3), x[1]), [(2 * x[1] + 1).tolist()] * 2, hint=hint)


@_visible_on_device("cuda_ops.tensor_map", MAP)
def map_on_the_device(student: SimpleNamespace) -> None:
    """Right in Python, the kernel is launched."""
    kernel, x, out = student.tensor_map(launches.scaled), np.arange(70.0), from_host(np.zeros(70))

    def launched() -> Any:
        teaching.run_map(kernel, out, from_host(x))
        return out.tolist()

    _expect_on_device(launches.run_map(kernel, launches.result(70), x, threads=32), 2 * x + 1, launched)


@visible("cuda_ops._pool_practice", SUM, slow=True)
def pool_of_several_blocks(student: SimpleNamespace) -> None:
    """Each element is added to the two before it, also where these belong to the block before."""
    seen = launches.pool_practice(student._pool_practice, 2, 0)
    _expect(seen, seen["wanted"], hint="a[i - 2] + a[i - 1] + a[i]: the first two threads of a block read a themselves")


@visible("cuda_ops._pool_practice", SUM, slow=True)
def pool_with_threads_left_over(student: SimpleNamespace) -> None:
    """Threads beyond the last element touch nothing, and wait with the others."""
    seen = launches.pool_practice(student._pool_practice, 2, 3)
    _expect(seen, seen["wanted"], hint="a thread whose number in the grid is not below size has no element")


@visible("cuda_ops._pool_practice", SUM, slow=True)
def pool_through_shared_memory(student: SimpleNamespace) -> None:
    """A block reads each of its elements once, and each block but the first reads three more, at its beginning."""
    for blocks in (1, 2):
        seen = launches.pool_practice(student._pool_practice, blocks, 0)
        _expect(seen, seen["wanted"], hint="a[i - 2] + a[i - 1] + a[i]")
        few = blocks * seen["block"] + 3 * (blocks - 1)
        told = f"{seen['total']} reads of global memory by {blocks} blocks, expected {few} at most"
        expect_that(seen["total"] <= few, told, "a thread finds its neighbours in shared memory")
        busiest = [seen[name] for name in ("reads", "shared_reads", "writes")]
        told = f"{busiest} reads of global and of shared memory, and writes, by one thread; expected [3, 3, 1] at most"
        expect_that(
            all(came <= most for came, most in zip(busiest, (3, 3, 1), strict=True)),
            told,
            "every thread reads its own element, once, and writes its own sum, once",
        )


@visible("cuda_ops._pool_practice", SUM, slow=True)
def pool_waits(student: SimpleNamespace) -> None:
    """All threads of a block wait for each other before one reads what another one has written."""
    _expect_waiting(launches.pool_practice(student._pool_practice, 2, 3))


@_visible_on_device("cuda_ops._pool_practice", SUM)
def pool_on_the_device(student: SimpleNamespace) -> None:
    """Right in Python, the kernel is launched."""
    seen = launches.pool_practice(student._pool_practice, 2, 1)
    _expect_on_device(seen, seen["wanted"], _launched_along(student._pool_practice, seen["block"]))


def _launched_along(kernel: Callable[..., Any], block: int) -> Callable[[], Any]:
    """Return what launches a kernel that writes a number for each of its elements, on two blocks, one element short."""
    values, out = launches.numbers(2 * block - 1), from_host(np.zeros(2 * block - 1))

    def launched() -> Any:
        launch(kernel, 2, block, out, from_host(values), values.size)
        return out.tolist()

    return launched


@visible("cuda_ops._sum_practice", SUM, slow=True)
def sum_of_full_blocks(student: SimpleNamespace) -> None:
    """Each of two blocks adds up its own elements."""
    seen = launches.sum_practice(student._sum_practice, 2, 0)
    _expect(seen, seen["wanted"], hint="the first element of a block is number blockIdx.x * BLOCK_DIM")


@visible("cuda_ops._sum_practice", SUM, slow=True)
def sum_of_a_block_that_is_not_full(student: SimpleNamespace) -> None:
    """In the last block, threads without an element bring 0.0, and wait with the others."""
    seen = launches.sum_practice(student._sum_practice, 2, 3)
    _expect(seen, seen["wanted"], hint="0.0 for every thread whose number is not below size")


@visible("cuda_ops._sum_practice", SUM, slow=True)
def sum_in_shared_memory(student: SimpleNamespace) -> None:
    """Each thread reads global memory once; the rest happens in shared memory, in pairs."""
    seen = launches.sum_practice(student._sum_practice, 1, 0)
    _expect(seen, seen["wanted"], hint="add up in pairs, then pairs of pairs")
    expect(seen["reads"], 1, hint="how often one thread reads global memory: once is enough")
    steps = (seen["block"] - 1).bit_length()
    if seen["shared_reads"] > 2 * steps + 1 or seen["foreign"] > 2 * steps:
        reason = f"one thread reads shared memory {seen['shared_reads']} times for {seen['block']} elements"
        raise Expectation(seen["shared_reads"], None, reason, "half of the threads add two numbers each", None)


@visible("cuda_ops._sum_practice", SUM, slow=True)
def sum_waits(student: SimpleNamespace) -> None:
    """All threads of a block wait for each other before one reads what another one has written."""
    _expect_waiting(launches.sum_practice(student._sum_practice, 2, 3))


@_visible_on_device("cuda_ops._sum_practice", SUM)
def sum_on_the_device(student: SimpleNamespace) -> None:
    """Right in Python, the kernel is launched."""
    seen = launches.sum_practice(student._sum_practice, 2, 1)
    values, out = launches.numbers(2 * seen["block"] - 1), from_host(np.zeros(2))

    def launched() -> Any:
        launch(student._sum_practice, 2, seen["block"], out, from_host(values), values.size)
        return out.tolist()

    _expect_on_device(seen, seen["wanted"], launched)


@visible("cuda_ops._scan_practice", SCAN, slow=True)
def scan_of_full_blocks(student: SimpleNamespace) -> None:
    """Each of two blocks computes the running totals of its own elements."""
    seen = launches.scan_practice(student._scan_practice, 2, 0)
    _expect(_of_product(seen), seen["wanted"], hint="out[i] is the sum of the block's elements up to a[i]")


@visible("cuda_ops._scan_practice", SCAN, slow=True)
def scan_of_a_block_that_is_not_full(student: SimpleNamespace) -> None:
    """In the last block, threads without an element touch no global memory, and wait with the others."""
    seen = launches.scan_practice(student._scan_practice, 2, 3)
    _expect(
        _of_product(seen), seen["wanted"], hint="a thread whose number in the grid is not below size has no element"
    )


@visible("cuda_ops._scan_practice", SCAN, slow=True)
def scan_in_steps(student: SimpleNamespace) -> None:
    """Each thread reads global memory once, and in each step at most two places of shared memory."""
    seen = launches.scan_practice(student._scan_practice, 1, 0)
    _expect(_of_product(seen), seen["wanted"], hint="distances of 1, 2, 4 and so on")
    expect(seen["reads"], 1, hint="how often one thread reads global memory: once is enough")
    steps = (seen["block"] - 1).bit_length()
    if seen["shared_reads"] > 2 * steps + 1 or seen["foreign"] > 2 * steps:
        reason = f"one thread reads shared memory {seen['shared_reads']} times for {seen['block']} elements"
        raise Expectation(seen["shared_reads"], None, reason, "one addition for each doubling of the distance", None)
    told = f"threads read each other's totals in {seen['rounds']} steps, for {seen['block']} elements"
    expect_that(seen["rounds"] <= 2 * steps, told, "in each step all threads add, and the distance doubles")


@visible("cuda_ops._scan_practice", SCAN, slow=True)
def scan_waits(student: SimpleNamespace) -> None:
    """All threads of a block wait for each other before they read totals, and before they write the next ones."""
    _expect_waiting(launches.scan_practice(student._scan_practice, 2, 3))


@_visible_on_device("cuda_ops._scan_practice", SCAN)
def scan_on_the_device(student: SimpleNamespace) -> None:
    """Right in Python, the kernel is launched."""
    seen = _of_product(launches.scan_practice(student._scan_practice, 2, 1))
    _expect_on_device(seen, seen["wanted"], _launched_along(student._scan_practice, seen["block"]))


@visible("cuda_ops.tensor_reduce", REDUCE, slow=True)
def reduce_each_dimension(student: SimpleNamespace) -> None:
    """Sums along the first and along the last dimension."""
    kernel, a = student.tensor_reduce(launches.add), SIX.reshape(2, 3)
    hint = "the thread's element has the block's index, but for dimension reduce_dim"
    _expect(launches.run_reduce(kernel, launches.result(1, 3), a, 0, 0.0), a.sum(0, keepdims=True), hint=hint)
    _expect(launches.run_reduce(kernel, launches.result(2, 1), a, 1, 0.0), a.sum(1, keepdims=True), hint=hint)
    turned = SIX[:4].reshape(2, 2).T
    seen = launches.run_reduce(kernel, launches.result(2, 1, order=(1, 0)), turned, 1, 0.0)
    _expect(seen, turned.sum(1, keepdims=True), hint=hint)


@visible("cuda_ops.tensor_reduce", REDUCE, slow=True)
def reduce_starts_with_its_value(student: SimpleNamespace) -> None:
    """The largest of negative numbers is negative: threads without an element bring reduce_value."""
    kernel, a = student.tensor_reduce(launches.larger), -SIX.reshape(2, 3)
    zeros = {((0.0,), (0.0,)): "0.0 is larger than all of them: reduce_value belongs into the places left"}
    seen = launches.run_reduce(kernel, launches.result(2, 1), a, 1, -99.0)
    _expect(seen, a.max(1, keepdims=True), hint="reduce_value for threads without an element", when=zeros)


@visible("cuda_ops.tensor_reduce", REDUCE, slow=True)
def reduce_more_than_a_block(student: SimpleNamespace) -> None:
    """Of more than BLOCK_DIM elements, each block folds its own part."""
    kernel = student.tensor_reduce(launches.add)
    block = block_dim(kernel, cuda_ops.BLOCK_DIM)
    a = np.arange(block + 2.0).reshape(1, -1)
    seen = launches.run_reduce(kernel, launches.result(1, 2), a, 1, 0.0)
    hint = "the output's index along reduce_dim, times BLOCK_DIM, is where the block begins"
    _expect(seen, [[a[0, :block].sum(), a[0, block:].sum()]], hint=hint)


@visible("cuda_ops.tensor_reduce", REDUCE, slow=True)
def reduce_waits(student: SimpleNamespace) -> None:
    """All threads of a block wait for each other before one reads what another one has written."""
    kernel = student.tensor_reduce(launches.add)
    a = np.arange(block_dim(kernel, cuda_ops.BLOCK_DIM) + 2.0).reshape(1, -1)
    _expect_waiting(launches.run_reduce(kernel, launches.result(1, 2), a, 1, 0.0))


@_visible_on_device("cuda_ops.tensor_reduce", REDUCE)
def reduce_on_the_device(student: SimpleNamespace) -> None:
    """Right in Python, the kernel is launched."""
    kernel, a = student.tensor_reduce(launches.add), np.arange(8.0).reshape(2, 4)
    out = from_host(np.zeros((2, 1)))

    def launched() -> Any:
        teaching.run_reduce(kernel, out, from_host(a), 1, 0.0)
        return out.tolist()

    seen = launches.run_reduce(kernel, launches.result(2, 1), a, 1, 0.0)
    _expect_on_device(seen, a.sum(1, keepdims=True), launched)


@visible("cuda_ops._turn_practice", NEIGHBOURS, slow=True)
def turn_practice_of_any_size(student: SimpleNamespace) -> None:
    """Matrices that fill a part of a block, and one of several blocks."""
    hint = "out[j, i] is a[i, j], at j * size + i; the tile of a at (top, left) goes to (left, top) of out"
    for size in (2, 5, 33):
        seen = launches.turn_practice(student._turn_practice, size)
        _expect(seen, seen["wanted"], hint=hint)


@visible("cuda_ops._turn_practice", NEIGHBOURS, slow=True)
def turn_practice_reads_neighbours(student: SimpleNamespace) -> None:
    """A tile of 32 x 32 takes 4 transactions for each of its 32 rows: 128 to read a, and 128 to write out."""
    seen = launches.turn_practice(student._turn_practice, 32)
    _expect(seen, seen["wanted"], hint="out[j, i] is a[i, j], at j * size + i")
    when = {
        (128, 1024): "neighbours in x write elements that are a row apart: let shared memory do the turning",
        (1024, 128): "neighbours in x read elements that are a row apart: x counts columns",
        (1024, 1024): "neighbours in x are a row apart, in a and in out: x counts columns",
    }
    expect(seen["transactions"], [128, 128], hint="of a, and of out: neighbours in x side by side", when=when)


@visible("cuda_ops._turn_practice", NEIGHBOURS, slow=True)
def turn_practice_asks_different_banks(student: SimpleNamespace) -> None:
    """A tile of 32 x 32 takes a pass over shared memory for each row that is written, and for each that is read: 64."""
    seen = launches.turn_practice(student._turn_practice, 32)
    _expect(seen, seen["wanted"], hint="out[j, i] is a[i, j], at j * size + i")
    told = f"{seen['passes']} passes over shared memory, expected 64 at most"
    expect_that(seen["passes"] <= 64, told, "a column of 32 columns lies in one bank: PADDED_DIM columns")


@visible("cuda_ops._turn_practice", NEIGHBOURS, slow=True)
def turn_practice_waits(student: SimpleNamespace) -> None:
    """All threads of a block wait for each other before one reads what another one has written."""
    _expect_waiting(launches.turn_practice(student._turn_practice, 5))


@_visible_on_device("cuda_ops._turn_practice", NEIGHBOURS)
def turn_practice_on_the_device(student: SimpleNamespace) -> None:
    """Right in Python, the kernel is launched."""
    seen = launches.turn_practice(student._turn_practice, 5)
    a, out = from_host(launches.numbers(25).astype(np.float32)), from_host(np.zeros(25, np.float32))

    def launched() -> Any:
        launch(student._turn_practice, (1, 1), (cuda_ops.TILE_DIM,) * 2, out, a, 5)
        return out.tolist()

    _expect_on_device(seen, seen["wanted"], launched)


@visible("cuda_ops._tensor_matrix_multiply", MATMUL, slow=True)
def matmul_of_one_tile(student: SimpleNamespace) -> None:
    """Small matrices, also turned round in their storage, and stacks of them."""
    a, b = SIX.reshape(1, 2, 3), OTHER.reshape(1, 3, 2)
    kernel, hint = student._tensor_matrix_multiply, "rows of a times columns of b, each found by its strides"
    _expect(_matmul(kernel, launches.result(1, 2, 2), a, b), a @ b, hint=hint)
    turned = b.transpose(0, 2, 1), a.transpose(0, 2, 1)
    _expect(_matmul(kernel, launches.result(1, 2, 2, order=(0, 2, 1)), *turned), turned[0] @ turned[1], hint)
    stack = np.arange(12.0).reshape(2, 3, 2)
    _expect(_matmul(kernel, launches.result(2, 2, 2), a, stack), a @ stack, "a stack of one serves all")


@visible("cuda_ops._tensor_matrix_multiply", MATMUL, slow=True)
def matmul_of_several_tiles(student: SimpleNamespace) -> None:
    """More rows, columns and products than fit into one tile."""
    n = block_dim(student._tensor_matrix_multiply, cuda_ops.BLOCK_DIM) + 1
    a, b = np.arange(1.0 * n * n).reshape(1, n, n), np.arange(2.0 * n * n)[n * n :].reshape(1, n, n)
    seen = _matmul(student._tensor_matrix_multiply, launches.result(1, n, n), a, b)
    _expect(seen, a @ b, hint="new tiles in each step along k, 0.0 beyond the end of the matrices")
    expect(seen["writes"], 1, hint="how often one thread writes global memory: keep the sum in a variable")
    reads = f"each thread reads global memory {seen['reads']} times, expected 4 times at most"
    expect_that(seen["reads"] <= 4, reads, "two steps along k: one element of a and one of b in each")


@visible("cuda_ops._tensor_matrix_multiply", MATMUL, slow=True)
def matmul_reads_along_rows(student: SimpleNamespace) -> None:
    """Neighbours in x touch elements side by side, in float32 matrices of 8 x 8 and 8 x 16, and in both tiles."""
    a, b = (launches.numbers(n * 64).astype(np.float32).reshape(1, 8, n * 8) for n in (1, 2))
    seen = _matmul(student._tensor_matrix_multiply, launches.result(1, 8, 16).astype(np.float32), a, b)
    _expect(seen, a @ b, hint="column = cuda.blockIdx.x * BLOCK_DIM + cuda.threadIdx.x, and the row has y")
    block = seen["block"]
    deep, wide = -(-8 // block), -(-16 // block)
    if block % 8 == 0:  # else a row of threads is no whole number of segments
        few, many = 32 + 8 * wide, sum(seen["transactions"])
        told = f"{many} transactions with global memory, expected {few} at most"
        expect_that(many <= few, told, "neighbours in x read, and write, side by side: x counts columns")
    _expect_passes(seen, deep * deep * wide * launches.enough_passes(block, block))


@visible("cuda_ops._tensor_matrix_multiply", MATMUL, slow=True)
def matmul_waits(student: SimpleNamespace) -> None:
    """All threads of a block wait for each other: before they read a tile, and before the next one overwrites it."""
    n = block_dim(student._tensor_matrix_multiply, cuda_ops.BLOCK_DIM) + 1
    a, b = np.arange(2.0 * n).reshape(1, 2, n), np.arange(2.0 * n).reshape(1, n, 2)
    _expect_waiting(launches.matmul(student._tensor_matrix_multiply, launches.result(1, 2, 2), a, b))


@_visible_on_device("cuda_ops._tensor_matrix_multiply", MATMUL)
def matmul_on_the_device(student: SimpleNamespace) -> None:
    """Right in Python, the kernel is launched."""
    kernel, out = student._tensor_matrix_multiply, from_host(np.zeros((2, 2, 2)))
    a, b = np.arange(12.0).reshape(2, 2, 3), np.arange(6.0).reshape(1, 3, 2)

    def launched() -> Any:
        teaching.run_matmul(kernel, out, from_host(a), from_host(b))
        return out.tolist()

    _expect_on_device(_matmul(kernel, launches.result(2, 2, 2), a, b), a @ b, launched)
