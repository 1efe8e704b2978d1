"""Hidden tests of CUDA kernels: what they compute, which memory they touch, and whether their threads wait for each other.

Probes launch kernels by `minigrad.checks.launches`, which runs them in Python and watches every access. An answer holds
the result and the kinds of mistakes found, or how often memory was touched: a kernel which does nothing passes no test.
"""

import functools

import numpy as np
import pytest

from autograder import expect, pictures

WATCHED = ("threads", "layout", "waiting", "memory", "transactions", "passes")
"""Groups whose points rest on what a witness inside the sandbox reports: see `autograder.judging.watched`."""

tensor_map = functools.partial(pytest.mark.exercise, "cuda_ops.tensor_map")
pool_practice = functools.partial(pytest.mark.exercise, "cuda_ops._pool_practice")
sum_practice = functools.partial(pytest.mark.exercise, "cuda_ops._sum_practice")
scan_practice = functools.partial(pytest.mark.exercise, "cuda_ops._scan_practice")
tensor_reduce = functools.partial(pytest.mark.exercise, "cuda_ops.tensor_reduce")
turn_practice = functools.partial(pytest.mark.exercise, "cuda_ops._turn_practice")
matrix_multiply = functools.partial(pytest.mark.exercise, "cuda_ops._tensor_matrix_multiply")

ANY_STRIDES = "cuda_ops.tensor_map: 'Both may have any strides.'"
LEFT_OVER = "cuda_ops.tensor_map: 'there may be more threads than elements: those left over touch nothing'"
NUMBERED = "cuda_ops.tensor_map: 'The thread whose number in the whole grid is i computes the element of the output that is number i in row-major order'"
SMALLER = "cuda_ops.tensor_map: 'The input may be smaller than the output, and is then broadcast to its shape.'"


def numbers(*shape):
    """Return numbers without a pattern, which no kernel can know without reading them; the first hundred differ."""
    return np.resize(np.random.default_rng(756).permutation(101) + 1.0, int(np.prod(shape))).reshape(shape)


LONGEST = 3 * 1024
"""Elements of the largest launch of `_sum_practice`: three blocks, of as many threads as there may be."""


def block_of(said):
    """Return BLOCK_DIM as the student's side says it, if a block may be that large: nothing is computed here for others."""
    expect(
        type(said) is int and 1 <= said <= 1024,
        True,
        hint="BLOCK_DIM is a whole number from 1 to 1024, set in the cell",
    )
    return said


def sums(seen, blocks, missing):
    """Return the sums that `_sum_practice` should write, computed here: what the sandbox says of them is not believed."""
    block = block_of(seen["block"])
    values = numbers(LONGEST)[: blocks * block - missing]
    return [float(values[start : start + block].sum()) for start in range(0, len(values), block)]


def pooled(seen, blocks, missing):
    """Return what `_pool_practice` should write, computed here."""
    values = numbers(LONGEST)[: blocks * block_of(seen["block"]) - missing]
    return [float(values[max(0, i - 2) : i + 1].sum()) for i in range(len(values))]


def totals(seen, blocks, missing):
    """Return what `_scan_practice` should write, computed here."""
    block = block_of(seen["block"])
    values = numbers(LONGEST)[: blocks * block - missing]
    return [float(values[i - i % block : i + 1].sum()) for i in range(len(values))]


# A kernel could see by its launch which test it is run for, and do the work in some launches alone. So each launch in
# which waiting, memory or loops are looked at is also one of a test of values.


def launched(seen, wanted, apart=(), **options):
    """Expect of a launch its result, and no mistakes; draw who collides, or which elements of the result are wrong.

    Args:
        seen: The answer of a launch.
        wanted: The result.
        apart: Kinds of mistakes that tests of another group are about.
        **options: As for `expect`.
    """
    right = np.asarray(wanted).tolist()

    def drawn():
        collide = pictures.collisions(seen["meetings"])
        return collide or pictures.together(pictures.array("out", seen["out"], right, came=True))

    expect([seen["out"], [each for each in seen["kinds"] if each not in apart]], [right, []], picture=drawn, **options)


def without_others(found, others=None):
    """Return results and kinds of mistakes without those that tests of another group are about."""
    return [[out, [each for each in kinds if each not in (others or OF_OTHERS)]] for out, kinds in found]


OF_OTHERS = ("barrier", "outside", "write-write")
"""Mistakes that leave a result right: waiting at a barrier apart, a dictionary, writing a result several times."""

OF_PRODUCTS = (*OF_OTHERS, "uninitialised")
"""Also reading shared memory that nobody has written: it holds nan, which every product and sum that it enters shows."""


def enough_passes(block, products):
    """Return the passes with which a block gets by for one tile of a and b each, if neighbours in x follow their rows.

    A warp writes an element of each tile, twice if 0.0 comes first, in 2 passes each time: a float64 takes two banks.
    For each product it reads some elements of a column of a and of a row of b, in 2 passes and 1, or 1 and 2.
    """
    return -(-block * block // 32) * (8 + 3 * products)


TOO_EARLY = "the sums of tiles that are overwritten while other threads still read them"


def without_early_tiles(seen, a, b):
    """Return the answer of a launch, whose result is named where it is just what a missing second barrier makes of it.

    The number itself depends on BLOCK_DIM. The threads of a block take turns at barriers, x first.
    """
    came, block = np.asarray(seen["out"]), block_of(seen["block"])
    wrong = (overwritten_early(a[0], b[0], block, x_counts_rows) for x_counts_rows in (True, False))
    is_early = any(came.shape[1:] == each.shape and np.allclose(came[0], each) for each in wrong)
    return {**seen, "out": TOO_EARLY} if is_early else seen


def overwritten_early(a, b, block, x_counts_rows):
    """Return a product in one block of threads, each of which brings its next elements before the others have added."""
    places = [(y, x) for y in range(block) for x in range(block)]
    if x_counts_rows:
        places = [(x, y) for y, x in places]
    (rows, depth), columns = a.shape, b.shape[1]
    tiles = -(-depth // block)
    wide, tall = np.zeros((block, tiles * block)), np.zeros((tiles * block, block))
    wide[:rows, :depth], tall[:depth, :columns] = a, b
    left, right, total = wide[:, :block].copy(), tall[:block].copy(), np.zeros((block, block))
    for start in range(block, (tiles + 1) * block, block):
        for row, column in places:
            total[row, column] += left[row] @ right[:, column]
            if start < tiles * block:
                left[row, column], right[row, column] = wide[row, start + column], tall[start + row, column]
    return total[:rows, :columns]


def waited(seen, about, **options):
    """Expect that threads pass values through shared memory, and that their waiting shows none of some mistakes.

    The misconception among the options is named only where these mistakes were seen. Where a barrier is not reached by
    all, races are its consequence.
    """
    if "barrier" in seen["waiting"] and "barrier" not in about:
        options["misconception"] = None
    expect(
        seen["exchanged"],
        True,
        hint="no thread has read from shared memory what another one had put there, so no waiting could be seen",
    )
    expect(
        [each for each in seen["waiting"] if each in about],
        [],
        picture=lambda: pictures.collisions(seen["meetings"]),
        **options,
    )
    expect(
        "outside" in seen["kinds"] or seen["kinds"] == ["order"],
        False,
        hint="values pass between threads by arrays only, and the result may not depend on the order of threads",
    )


def arrays_only(seen):
    """Expect that values pass between threads by arrays only, whose reads and writes are counted."""
    expect(
        "outside" in seen["kinds"],
        False,
        hint="threads share arrays only; values that pass in another way are neither read from memory nor written to it",
    )


RACES = ("a race before the first barrier", "a race after a barrier")
EARLY, LATE = RACES


# --- cuda_ops.tensor_map ------------------------------------------------------------------------------------


@tensor_map(group="values", because=NUMBERED)
def test_map_several_blocks(student):
    """Threads of all blocks take part: three blocks compute three times as many elements."""

    def observe(mg, x):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_map(launches.scaled)
        return launches.run_map(kernel, launches.result(12), x, threads=4)

    launched(
        student(observe, numbers(12)),
        2 * numbers(12) + 1,
        hint="threadIdx counts within a block; the number in the grid also needs blockIdx and blockDim",
        misconception="thread-number-in-block",
    )


@tensor_map(
    group="values",
    because="cuda_ops.tensor_map: 'Return a CUDA kernel that applies fn to every element of a tensor...one thread for each element.'",
)
def test_map_one_element_each(student):
    """A thread reads one element and writes one."""

    def observe(mg, x):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_map(launches.scaled)
        seen = launches.run_map(kernel, launches.result(6), x, threads=3)
        return [seen["out"], seen["reads"], seen["writes"], seen["kinds"]]

    expect(
        student(observe, numbers(6)),
        [(2 * numbers(6) + 1).tolist(), 1, 1, []],
        hint="every thread has one element: the grid is the loop",
        misconception="one-thread-does-all",
    )


@tensor_map(group="threads", because=LEFT_OVER)
def test_map_threads_left_over(student):
    """Threads beyond the last element, and whole blocks of them, touch nothing."""

    def observe(mg, x):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_map(launches.scaled)
        return launches.run_map(kernel, launches.result(5), x, blocks=4, threads=4)

    launched(
        student(observe, numbers(5)),
        2 * numbers(5) + 1,
        hint="a thread whose number is not below out_size has no element",
        misconception="no-guard",
    )


@tensor_map(group="threads", because=LEFT_OVER)
def test_map_first_thread_too_many(student):
    """The thread whose number equals the number of elements is the first one too many."""

    def observe(mg, x):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_map(launches.scaled)
        return launches.run_map(kernel, launches.result(3), x, blocks=1, threads=4)

    launched(
        student(observe, numbers(3)),
        2 * numbers(3) + 1,
        hint="elements are numbered from 0 to out_size - 1",
        misconception="guard-one-too-many",
    )


@tensor_map(group="layout", because=ANY_STRIDES)
def test_map_strides_of_the_input(student):
    """An input that is turned round in its storage is read by its own strides."""

    def observe(mg, x):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_map(launches.scaled)
        return launches.run_map(kernel, launches.result(4, 3), x.T)

    launched(
        student(observe, numbers(3, 4)),
        2 * numbers(3, 4).T + 1,
        hint="position = index_to_position(index, strides of the input)",
        misconception="input-strides-ignored",
    )


@tensor_map(group="layout", because=ANY_STRIDES)
def test_map_strides_of_the_output(student):
    """An output that is turned round in its storage is written by its own strides."""

    def observe(mg, x):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_map(launches.scaled)
        return launches.run_map(kernel, launches.result(2, 3, 4, order=(2, 0, 1)), x)

    launched(
        student(observe, numbers(2, 3, 4)),
        2 * numbers(2, 3, 4) + 1,
        hint="i is the element's number in row-major order, not its position in the storage",
        misconception="number-taken-for-position",
    )


@tensor_map(group="layout", because=SMALLER)
def test_map_broadcasts(student):
    """A smaller input, of fewer dimensions and with sizes of 1, is broadcast."""

    def observe(mg, x):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_map(launches.scaled)
        return launches.run_map(kernel, launches.result(2, 3, 4), x)

    launched(
        student(observe, numbers(3, 1)),
        np.broadcast_to(2 * numbers(3, 1) + 1, (2, 3, 4)),
        hint="broadcast_index finds the index in the input from that in the output",
        misconception="input-not-broadcast",
    )


@tensor_map(
    group="layout", because="cuda_ops.tensor_map: 'Index buffers are ``cuda.local.array(MAX_DIMS, numba.int32)``'"
)
def test_map_many_dimensions(student):
    """The index buffers have room for tensors of many dimensions, and none at all is fine, too."""

    def observe(mg, x, y):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_map(launches.scaled)
        found = [launches.run_map(kernel, launches.result(*z.shape), z) for z in (x, y)]
        return [[seen["out"], seen["kinds"]] for seen in found]

    x, y = numbers(2, 1, 2, 1, 2), np.array(3.0)
    expect(
        student(observe, x, y),
        [[(2 * x + 1).tolist(), []], [7.0, []]],
        hint="cuda.local.array(MAX_DIMS, numba.int32)",
        misconception="buffers-too-short",
    )


# --- cuda_ops._pool_practice --------------------------------------------------------------------------------


def launch_pool(mg, blocks, missing, values):
    """Probe: what a launch on blocks of which the last is not full gives."""
    from minigrad.checks import launches

    return launches.pool_practice(mg.cuda_ops._pool_practice, blocks, missing, values)


@pool_practice(
    group="values",
    because="cuda_ops._pool_practice: 'theirs were brought by the block before'",
)
def test_pool_across_blocks(student):
    """At the beginning of a block, the neighbours are those that another block has brought."""
    seen = student(launch_pool, 3, 0, numbers(LONGEST))
    launched(
        seen,
        pooled(seen, 3, 0),
        apart=OF_OTHERS,
        hint="the first thread of a block has two neighbours in a, before its block, and the second one has one",
        misconception="neighbours-of-another-block-forgotten",
    )


@pool_practice(
    group="values",
    because="cuda_ops._pool_practice: 'those neither read nor write global memory'",
)
def test_pool_last_block_not_full(student):
    """Threads beyond the last element touch nothing."""
    seen = student(launch_pool, 2, 3, numbers(LONGEST))
    launched(
        seen,
        pooled(seen, 2, 3),
        apart=OF_OTHERS,
        hint="a thread whose number in the grid is not below size has no element",
        misconception="no-guard",
    )


@pool_practice(
    group="values",
    because="cuda_ops._pool_practice: 'as far as these are there'",
)
def test_pool_begins_with_the_first_element(student):
    """The first two elements have fewer neighbours: nothing is read before the first one."""
    seen = student(launch_pool, 1, 0, numbers(LONGEST))
    launched(
        seen,
        pooled(seen, 1, 0),
        apart=OF_OTHERS,
        hint="element i has a neighbour at distance 2 only if i is at least 2",
        misconception="reads-before-the-array",
    )


@pool_practice(
    group="waiting",
    because="cuda_ops._pool_practice: 'all threads of the block wait'",
)
def test_pool_waits_after_loading(student):
    """No thread reads what another one has brought before all have waited."""
    waited(
        student(launch_pool, 3, 0, numbers(LONGEST)),
        [EARLY],
        hint="cuda.syncthreads() between bringing and reading",
        misconception="missing-syncthreads",
    )


@pool_practice(
    group="waiting",
    because="cuda_ops._pool_practice: 'every thread of a block must come to every ``cuda.syncthreads()``'",
)
def test_pool_all_threads_wait(student):
    """Threads of the last block that have no element wait with the others."""
    waited(
        student(launch_pool, 2, 3, numbers(LONGEST)),
        ["barrier"],
        hint="the guard is around reading and writing, and the barrier is outside of it",
        misconception="syncthreads-under-the-guard",
    )


@pool_practice(
    group="memory",
    because="cuda_ops._pool_practice: 'It finds the two neighbours in shared memory, where other threads have brought them.'",
)
def test_pool_reads_little(student):
    """Three blocks read each element once, and the last two of each block before once or twice more."""
    seen = student(launch_pool, 3, 0, numbers(LONGEST))
    few = 3 * block_of(seen["block"]) + 3 * 2
    expect(
        [seen["exchanged"], max(seen["total"], few)],
        [True, few],
        hint="whether threads exchange elements, and the reads of global memory by all threads: neighbours are found in shared memory",
        misconception="three-reads-each",
    )
    arrays_only(seen)


@pool_practice(
    group="memory",
    because="cuda_ops._pool_practice: 'The thread whose number in the whole grid is i reads a[i] from global memory, once, into shared memory'",
)
def test_pool_each_thread_its_own(student):
    """The busiest thread reads global memory and shared memory three times at most, and writes one sum."""
    seen = student(launch_pool, 3, 0, numbers(LONGEST))
    if block_of(seen["block"]) <= 3:
        expect(
            f"{seen['block']} threads in a block",
            "more",
            hint="so few find no neighbours in their block, or let one thread do everything: take a BLOCK_DIM of 8, 16 or 32",
        )
    expect(
        [max(seen["shared_reads"], 3), max(seen["writes"], 1)],
        [3, 1],
        hint="reads of shared memory, and writes of sums, by the busiest thread: every thread has one sum",
        misconception="one-thread-does-all",
    )
    expect(
        seen["reads"] <= 3,
        True,
        hint="every thread brings its own element, and the first two of a block read what lies before it",
        misconception="one-thread-brings-all",
    )


@pool_practice(
    group="memory",
    because="cuda_ops._pool_practice: 'Shared memory is ``cuda.shared.array(BLOCK_DIM, numba.float64)``'",
)
def test_pool_keeps_every_digit(student):
    """Thirds that pass through shared memory are still thirds, to the last digit."""

    def observe(mg, values):
        import numpy as np

        from minigrad.backends.gpu.launching import block_dim
        from minigrad.debug import cuda_races

        kernel = mg.cuda_ops._pool_practice
        block = block_dim(kernel, mg.cuda_ops.BLOCK_DIM)
        return cuda_races(kernel, 1, block, np.full(2, np.nan), values, 2).args[0].tolist()

    expect(
        student(observe, np.array([1.0 / 3.0, 1.0 / 3.0])),
        [1.0 / 3.0, 2.0 / 3.0],
        hint="numba.float64 has 16 digits, numba.float32 has 7",
        misconception="single-precision",
    )


# --- cuda_ops._sum_practice ---------------------------------------------------------------------------------


@sum_practice(
    group="values",
    because="cuda_ops._sum_practice: 'Block b adds up the elements from b * BLOCK_DIM to (b + 1) * BLOCK_DIM - 1'",
)
def test_sum_each_block_its_own(student):
    """Each block adds up its own elements, and writes to its own place."""

    def observe(mg, values):
        from minigrad.checks import launches

        return launches.sum_practice(mg.cuda_ops._sum_practice, 3, 0, values)

    seen = student(observe, numbers(LONGEST))
    launched(
        seen,
        sums(seen, 3, 0),
        apart=OF_OTHERS,
        hint="the first element of a block is number blockIdx.x * BLOCK_DIM",
        misconception="every-block-the-first",
    )


@sum_practice(group="values", because="cuda_ops._sum_practice: 'those put 0.0 into shared memory and read nothing'")
def test_sum_last_block_not_full(student):
    """Threads without an element put 0.0 into shared memory; what is there by chance is not added."""

    def observe(mg, values):
        from minigrad.checks import launches

        return launches.sum_practice(mg.cuda_ops._sum_practice, 2, 3, values)

    seen = student(observe, numbers(LONGEST))
    launched(
        seen,
        sums(seen, 2, 3),
        apart=OF_OTHERS,
        hint="shared memory is not empty at first: every thread writes its place, 0.0 if it has no element",
        misconception="places-left-unwritten",
    )


@sum_practice(
    group="values",
    because="cuda_ops._sum_practice: 'The last block may have more threads than elements: those put 0.0 into shared memory and read nothing'",
)
def test_sum_one_missing(student):
    """With one element less than threads the last thread reads nothing."""

    def observe(mg, values):
        from minigrad.checks import launches

        return launches.sum_practice(mg.cuda_ops._sum_practice, 1, 1, values)

    seen = student(observe, numbers(LONGEST))
    launched(
        seen,
        sums(seen, 1, 1),
        apart=OF_OTHERS,
        hint="the last element is number size - 1",
        misconception="guard-one-too-many",
    )


@sum_practice(
    group="waiting", because="cuda_ops._sum_practice: 'Between the steps all threads of the block wait for each other.'"
)
def test_sum_waits_after_loading(student):
    """No thread reads what another one has put into shared memory before all have waited."""

    def observe(mg, values):
        from minigrad.checks import launches

        return launches.sum_practice(mg.cuda_ops._sum_practice, 3, 0, values)

    waited(
        student(observe, numbers(LONGEST)),
        [EARLY],
        hint="cuda.syncthreads() after shared memory was filled, and before anyone reads it",
        misconception="missing-syncthreads",
    )


@sum_practice(
    group="waiting", because="cuda_ops._sum_practice: 'Between the steps all threads of the block wait for each other.'"
)
def test_sum_waits_between_steps(student):
    """A step reads what the step before has written, so all threads wait in between."""

    def observe(mg, values):
        from minigrad.checks import launches

        return launches.sum_practice(mg.cuda_ops._sum_practice, 3, 0, values)

    waited(
        student(observe, numbers(LONGEST)),
        [LATE],
        hint="one cuda.syncthreads() in each round of the loop",
        misconception="steps-not-separated",
    )


@sum_practice(
    group="waiting",
    because="cuda_ops._sum_practice: 'every thread of a block must come to every ``cuda.syncthreads()``, also those that have nothing to add'",
)
def test_sum_all_threads_wait(student):
    """All threads of a block come to each syncthreads, whether they add something in that step or not."""

    def observe(mg, values):
        from minigrad.checks import launches

        return launches.sum_practice(mg.cuda_ops._sum_practice, 3, 0, values)

    waited(
        student(observe, numbers(LONGEST)),
        ["barrier"],
        hint="cuda.syncthreads() stands outside of every `if` that only some threads enter",
        misconception="syncthreads-in-branch",
    )


@sum_practice(
    group="waiting",
    because="cuda_ops._sum_practice: 'every thread of a block must come to every ``cuda.syncthreads()``, also those that have nothing to add'",
)
def test_sum_threads_without_element_wait(student):
    """Threads of the last block that have no element wait with the others."""

    def observe(mg, values):
        from minigrad.checks import launches

        return launches.sum_practice(mg.cuda_ops._sum_practice, 2, 3, values)

    waited(
        student(observe, numbers(LONGEST)),
        ["barrier"],
        hint="the guard chooses what a thread puts into shared memory; it must not keep the thread from waiting",
        misconception="syncthreads-under-the-guard",
    )


@sum_practice(
    group="memory",
    because="cuda_ops._sum_practice: 'Each of its threads reads one element from global memory, once, into shared memory.'",
)
def test_sum_reads_once(student):
    """The busiest thread reads global memory once, and writes it once."""

    def observe(mg, values):
        from minigrad.checks import launches

        return launches.sum_practice(mg.cuda_ops._sum_practice, 3, 0, values)

    seen = student(observe, numbers(LONGEST))
    expect(
        [seen["reads"], seen["writes"]],
        [1, 1],
        hint="global memory is slow: one read into shared memory, and the rest happens there",
        misconception="sums-in-global-memory",
    )


@sum_practice(
    group="memory",
    because="cuda_ops._sum_practice: 'Then the threads add up in pairs: in each step half as many threads are at work as before, until one sum is left.'",
)
def test_sum_in_pairs(student):
    """The busiest thread reads shared memory a few times for each doubling, not once for each element."""

    def observe(mg, values):
        from minigrad.checks import launches

        return launches.sum_practice(mg.cuda_ops._sum_practice, 3, 0, values)

    seen = student(observe, numbers(LONGEST))
    block = block_of(seen["block"])
    steps = (block - 1).bit_length()
    most = 2 * steps + 1
    if most >= block:
        expect(
            f"{block} threads in a block",
            "more",
            hint="so few can add in pairs, or let one add everything, with as many reads: take a BLOCK_DIM of 8, 16 or 32",
        )
    expect(
        seen["shared_reads"] >= steps,
        True,
        hint="so few reads of shared memory add up no block: in each step a thread reads what another one has put there",
    )
    expect(
        seen["shared_reads"] <= most and seen["foreign"] <= 2 * steps,
        True,
        hint="one thread that adds everything keeps the others waiting: pairs first, then pairs of pairs",
        misconception="one-thread-adds-all",
    )


@sum_practice(group="memory", because="cuda_ops._sum_practice: 'writes the sum to out[b]'")
def test_sum_written_by_one_thread(student):
    """One thread of a block writes the result."""

    def observe(mg, values):
        from minigrad.checks import launches

        return launches.sum_practice(mg.cuda_ops._sum_practice, 2, 3, values)

    seen = student(observe, numbers(LONGEST))
    expect(
        [each for each in seen["kinds"] if each == "write-write"],
        [],
        hint="only the thread that has the sum writes it",
        misconception="all-threads-write",
        picture=lambda: pictures.collisions(seen["meetings"]),
    )
    arrays_only(seen)


@sum_practice(
    group="memory",
    because="cuda_ops._sum_practice: 'Shared memory is ``cuda.shared.array(BLOCK_DIM, numba.float64)``'",
)
def test_sum_keeps_every_digit(student):
    """A third that passes through shared memory is still a third, to the last digit."""

    def observe(mg, values):
        import numpy as np

        from minigrad.backends.gpu.launching import block_dim
        from minigrad.debug import cuda_races

        kernel = mg.cuda_ops._sum_practice
        block = block_dim(kernel, mg.cuda_ops.BLOCK_DIM)
        return cuda_races(kernel, 1, block, np.full(1, np.nan), values, 1).args[0].tolist()

    expect(
        student(observe, np.array([1.0 / 3.0])),
        [1.0 / 3.0],
        hint="numba.float64 has 16 digits, numba.float32 has 7",
        misconception="single-precision",
    )


# --- cuda_ops._scan_practice --------------------------------------------------------------------------------


def launch_scan(mg, blocks, missing, values):
    """Probe: what a launch on blocks of which the last is not full gives."""
    from minigrad.checks import launches

    return launches.scan_practice(mg.cuda_ops._scan_practice, blocks, missing, values)


@scan_practice(
    group="values",
    because="cuda_ops._scan_practice: 'Block b looks at the elements from b * BLOCK_DIM to (b + 1) * BLOCK_DIM - 1'",
)
def test_scan_each_block_its_own(student):
    """Each block begins anew, with its own elements."""
    seen = student(launch_scan, 3, 0, numbers(LONGEST))
    launched(
        seen,
        totals(seen, 3, 0),
        apart=OF_PRODUCTS,
        hint="the first element of a block is number blockIdx.x * BLOCK_DIM",
        misconception="every-block-the-first",
    )


@scan_practice(
    group="values",
    because="cuda_ops._scan_practice: 'the sum of these elements up to a[i], a[i] included'",
)
def test_scan_own_element_included(student):
    """The total of an element has the element in it."""
    seen = student(launch_scan, 1, 0, numbers(LONGEST))
    launched(
        seen,
        totals(seen, 1, 0),
        apart=OF_PRODUCTS,
        hint="the first total is the first element, and not 0",
        misconception="own-element-left-out",
    )


@scan_practice(
    group="values",
    because="cuda_ops._scan_practice: 'those neither read nor write global memory'",
)
def test_scan_last_block_not_full(student):
    """Threads beyond the last element touch no global memory."""
    seen = student(launch_scan, 2, 3, numbers(LONGEST))
    launched(
        seen,
        totals(seen, 2, 3),
        apart=OF_PRODUCTS,
        hint="a thread whose number in the grid is not below size has no element",
        misconception="no-guard",
    )


@scan_practice(
    group="waiting",
    because="cuda_ops._scan_practice: 'that the thread at this distance before it had at the step's beginning'",
)
def test_scan_waits_after_writing(student):
    """No thread reads a total before all have written theirs."""
    waited(
        student(launch_scan, 3, 0, numbers(LONGEST)),
        [EARLY],
        hint="cuda.syncthreads() between writing the totals and reading them",
        misconception="missing-syncthreads",
    )


@scan_practice(
    group="waiting",
    because="cuda_ops._scan_practice: 'that the thread at this distance before it had at the step's beginning'",
)
def test_scan_waits_before_the_next_step(student):
    """No thread overwrites a total that another one still has to read."""
    waited(
        student(launch_scan, 3, 0, numbers(LONGEST)),
        [LATE],
        hint="two barriers in each step: all have written before anyone reads, and all have read before anyone writes",
        misconception="total-overwritten-too-early",
    )


@scan_practice(
    group="waiting",
    because="cuda_ops._scan_practice: 'every thread of a block must come to every ``cuda.syncthreads()``'",
)
def test_scan_all_threads_wait(student):
    """Threads that add nothing in a step wait with the others."""
    waited(
        student(launch_scan, 3, 0, numbers(LONGEST)),
        ["barrier"],
        hint="cuda.syncthreads() stands outside of every `if` that only some threads enter",
        misconception="syncthreads-in-branch",
    )


@scan_practice(
    group="memory",
    because="cuda_ops._scan_practice: 'Each thread reads one element from global memory, once, and writes one total.'",
)
def test_scan_reads_once(student):
    """The busiest thread reads global memory once, and writes it once."""
    seen = student(launch_scan, 3, 0, numbers(LONGEST))
    expect(
        [seen["reads"], seen["writes"]],
        [1, 1],
        hint="global memory is slow: one read, one write, and the rest happens in shared memory",
        misconception="totals-in-global-memory",
    )
    arrays_only(seen)


@scan_practice(
    group="memory",
    because="cuda_ops._scan_practice: 'It reads at most two places of shared memory in a step.'",
)
def test_scan_in_steps(student):
    """The busiest thread reads shared memory a few times for each doubling, not once for each element before it."""
    seen = student(launch_scan, 3, 0, numbers(LONGEST))
    block = block_of(seen["block"])
    steps = (block - 1).bit_length()
    if 2 * steps + 1 >= block:
        expect(
            f"{block} threads in a block",
            "more",
            hint="with so few, steps save nothing: take a BLOCK_DIM of 8, 16 or 32",
        )
    expect(
        seen["shared_reads"] >= steps,
        True,
        hint="so few reads of shared memory make no totals: in each step a thread reads what another one has put there",
    )
    expect(
        seen["shared_reads"] <= 2 * steps + 1 and seen["foreign"] <= 2 * steps,
        True,
        hint="a thread that adds up all elements before it reads them one by one: let the distance double",
        misconception="each-adds-all-before",
    )
    expect(
        seen["rounds"] <= 2 * steps,
        True,
        hint="threads that add one after the other take a step for each element: in each step all of them add",
        misconception="one-after-the-other",
    )


@scan_practice(
    group="memory",
    because="cuda_ops._scan_practice: 'Shared memory is ``cuda.shared.array(BLOCK_DIM, numba.float64)``'",
)
def test_scan_keeps_every_digit(student):
    """Thirds that pass through shared memory are still thirds, to the last digit."""

    def observe(mg, values):
        import numpy as np

        from minigrad.backends.gpu.launching import block_dim
        from minigrad.debug import cuda_races

        kernel = mg.cuda_ops._scan_practice
        block = block_dim(kernel, mg.cuda_ops.BLOCK_DIM)
        return cuda_races(kernel, 1, block, np.full(2, np.nan), values, 2).args[0].tolist()

    expect(
        student(observe, np.array([1.0 / 3.0, 1.0 / 3.0])),
        [1.0 / 3.0, 2.0 / 3.0],
        hint="numba.float64 has 16 digits, numba.float32 has 7",
        misconception="single-precision",
    )


# --- cuda_ops.tensor_reduce ---------------------------------------------------------------------------------

FOLDS = "cuda_ops.tensor_reduce: 'the block folds the elements of a from c * BLOCK_DIM to (c + 1) * BLOCK_DIM - 1 along reduce_dim, as far as there are any, at this index otherwise'"
START = "cuda_ops.tensor_reduce: 'threads without an element put reduce_value there'"
REDUCED = "cuda_ops.tensor_reduce: 'The block whose number is o writes element o of the output, in row-major order.'"
AS_IN_PRACTICE = "cuda_ops.tensor_reduce: 'As in `_sum_practice`, each thread brings one element into shared memory'"


@tensor_reduce(group="values", because=REDUCED)
def test_reduce_any_dimension(student):
    """The dimension that is folded is reduce_dim, wherever it stands."""

    def observe(mg, a):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_reduce(launches.add)
        shapes = [(1, 3, 1), (2, 1, 1)]
        found = [launches.run_reduce(kernel, launches.result(*shapes[dim]), a, dim, 0.0) for dim in (0, 1)]
        return [[seen["out"], seen["kinds"]] for seen in found]

    a = numbers(2, 3, 1)
    expect(
        without_others(student(observe, a)),
        [[a.sum(dim, keepdims=True).tolist(), []] for dim in (0, 1)],
        hint="the thread's element differs from the block's index in dimension reduce_dim only",
        misconception="always-the-last-dimension",
    )


@tensor_reduce(group="values", because=START)
def test_reduce_start_value(student):
    """Threads without an element put reduce_value into shared memory, not 0.0."""

    def observe(mg, a):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_reduce(launches.larger)
        return launches.run_reduce(kernel, launches.result(2, 1), -a, 1, -1000.0)

    a = numbers(2, 3)
    launched(
        student(observe, a),
        (-a).max(1, keepdims=True),
        apart=OF_OTHERS,
        hint="0.0 changes nothing in a sum only; of negative numbers it would be the largest",
        misconception="starts-at-zero",
    )


@tensor_reduce(group="values", because=START)
def test_reduce_start_value_takes_no_part(student):
    """A block that is full does not use reduce_value, and one that is not uses it in the places left."""

    def observe(mg, a):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_reduce(launches.times)
        return launches.run_reduce(kernel, launches.result(2, 1), a, 1, 1.0)

    a = numbers(2, 5)
    launched(
        student(observe, a),
        a.prod(1, keepdims=True),
        apart=OF_OTHERS,
        hint="places in shared memory that nobody has written hold anything",
        misconception="places-left-unwritten",
    )


@tensor_reduce(group="values", because=FOLDS)
def test_reduce_more_than_a_block(student):
    """With more elements than BLOCK_DIM, each block folds its own part of them."""

    def observe(mg):
        import numpy as np

        from minigrad.backends.gpu.launching import block_dim
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_reduce(launches.add)
        block = block_dim(kernel, mg.cuda_ops.BLOCK_DIM)
        a = np.arange(2.0 * block + 3).reshape(1, 2 * block + 3)
        seen = launches.run_reduce(kernel, launches.result(1, 3), a, 1, 0.0)
        return [seen["out"], seen["kinds"], block]

    out, kinds, block = student(observe)
    a = np.arange(2.0 * block_of(block) + 3)
    expect(
        without_others([[out, kinds]])[0],
        [[[float(a[start : start + block].sum()) for start in (0, block, 2 * block)]], []],
        hint="the output's index along reduce_dim says which BLOCK_DIM elements are meant",
        misconception="first-part-only",
    )


@tensor_reduce(group="layout", because="cuda_ops.tensor_reduce: 'Tensors may have any strides'")
def test_reduce_strides_of_the_input(student):
    """An input that is turned round in its storage is read by its own strides."""

    def observe(mg, a):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_reduce(launches.add)
        return launches.run_reduce(kernel, launches.result(2, 1), a.T, 1, 0.0)

    a = numbers(4, 2)
    launched(
        student(observe, a),
        a.T.sum(1, keepdims=True),
        apart=OF_OTHERS,
        hint="index_to_position(index of the element, a_strides)",
        misconception="strides-ignored",
    )


@tensor_reduce(group="layout", because="cuda_ops.tensor_reduce: 'Tensors may have any strides'")
def test_reduce_place_in_the_output(student):
    """The result goes where the output's index and strides say, as they were before the thread looked for its element."""

    def observe(mg, a):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_reduce(launches.add)
        return launches.run_reduce(kernel, launches.result(2, 1, 2, order=(2, 0, 1)), a, 1, 0.0)

    a = numbers(2, 3, 2)
    launched(
        student(observe, a),
        a.sum(1, keepdims=True),
        apart=OF_OTHERS,
        hint="the block's number is no position in the storage",
        misconception="number-taken-for-position",
    )


@tensor_reduce(
    group="layout", because="cuda_ops.tensor_reduce: 'blocks beyond out_size, if there are any, touch nothing'"
)
def test_reduce_blocks_left_over(student):
    """Blocks beyond the last element touch nothing."""

    def observe(mg, a):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_reduce(launches.add)
        return launches.run_reduce(kernel, launches.result(2, 1), a, 1, 0.0, spare=2)

    a = numbers(2, 5)
    launched(
        student(observe, a),
        a.sum(1, keepdims=True),
        apart=("barrier", "outside"),
        hint="a block whose number is not below out_size has no element of the output",
        misconception="no-guard-for-blocks",
    )


@tensor_reduce(group="waiting", because="cuda_ops.tensor_reduce: 'the block folds in pairs'")
def test_reduce_waits(student):
    """Threads wait for each other after filling shared memory and between the steps."""

    def observe(mg, a):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_reduce(launches.times)
        return launches.run_reduce(kernel, launches.result(2, 1), a, 1, 1.0)

    a = numbers(2, 5)
    waited(
        student(observe, a),
        RACES,
        hint="cuda.syncthreads() before anyone reads what another thread has written",
        misconception="missing-syncthreads",
    )


@tensor_reduce(group="waiting", because=AS_IN_PRACTICE)
def test_reduce_all_threads_wait(student):
    """Threads without an element, and those that rest in a step, come to each syncthreads."""

    def observe(mg, a):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_reduce(launches.larger)
        return launches.run_reduce(kernel, launches.result(2, 1), -a, 1, -1000.0)

    a = numbers(2, 3)
    waited(
        student(observe, a),
        ["barrier"],
        hint="cuda.syncthreads() stands outside of every `if` that only some threads of a block enter",
        misconception="syncthreads-in-branch",
    )


@tensor_reduce(group="waiting", because=AS_IN_PRACTICE)
def test_reduce_reads_once(student):
    """The busiest thread reads global memory once, and writes it once."""

    def observe(mg, a):
        from minigrad.checks import launches

        kernel = mg.cuda_ops.tensor_reduce(launches.times)
        seen = launches.run_reduce(kernel, launches.result(2, 1), a, 1, 1.0)
        return [seen["reads"], seen["writes"]]

    expect(
        student(observe, numbers(2, 5)),
        [1, 1],
        hint="one read into shared memory, and the rest happens there",
        misconception="folds-in-global-memory",
    )


# --- cuda_ops._turn_practice --------------------------------------------------------------------------------


def turned(size):
    """Return the matrix that `_turn_practice` should write, computed here."""
    return np.resize(numbers(101), size * size).reshape(size, size).T.ravel().tolist()


def turn(mg, size, values):
    """Probe: a launch of `_turn_practice` on a matrix of this size."""
    from minigrad.checks import launches

    return launches.turn_practice(mg.cuda_ops._turn_practice, size, values)


@turn_practice(group="values", because="cuda_ops._turn_practice: 'and out[j, i] becomes a[i, j]'")
def test_turn_practice_values(student):
    """The tile in row 0 and column 1 of tiles goes to row 1 and column 0, and outside the matrix nothing is touched."""
    launched(
        student(turn, 64, numbers(101)),
        turned(64),
        apart=OF_PRODUCTS,
        hint="the tile of a at (top, left) is that of out at (left, top)",
        misconception="tile-stays-in-place",
    )
    for size in (5, 40):
        launched(
            student(turn, size, numbers(101)),
            turned(size),
            apart=OF_PRODUCTS,
            hint="the row and the column must both be below size, where a is read and where out is written",
            misconception="no-guard",
        )


@turn_practice(group="waiting", because="cuda_ops._turn_practice: 'the threads bring it in, all of them wait'")
def test_turn_practice_waits(student):
    """No thread writes before all have brought their elements."""
    waited(
        student(turn, 64, numbers(101)),
        RACES,
        hint="cuda.syncthreads() between filling shared memory and reading it",
        misconception="missing-syncthreads",
    )


@turn_practice(group="waiting", because="cuda_ops._turn_practice: 'all of them wait, and each writes an element'")
def test_turn_practice_all_threads_wait(student):
    """Threads outside the matrix wait with the others."""
    waited(
        student(turn, 5, numbers(101)),
        ["barrier"],
        hint="cuda.syncthreads() stands outside of every `if` that only some threads of a block enter",
        misconception="syncthreads-in-branch",
    )


@turn_practice(
    group="transactions",
    because="cuda_ops._turn_practice: 'neighbours in x read elements of a that lie side by side, and write elements of out that lie side by side'",
)
def test_turn_practice_coalesced(student):
    """Each row of a tile takes four transactions of 32 bytes, to read a and to write out."""
    seen = student(turn, 64, numbers(101))
    arrays_only(seen)
    expect(
        [seen["out"] == turned(64), seen["transactions"]],
        [True, [512, 512]],
        hint="whether the result is right, and the transactions with a and with out (none are counted where memory is touched too often): threads that are neighbours in x read, and write, side by side",
        misconception="x-counts-rows",
        when={
            (True, (512, 4096)): ("without-shared-memory", "a is read along its rows, and out is written a row apart")
        },
    )


@turn_practice(
    group="passes",
    because="cuda_ops._turn_practice: 'Threads of a warp never ask one bank for several elements.'",
)
def test_turn_practice_asks_different_banks(student):
    """Each row of a tile takes one pass over shared memory to be written, and one to be read."""
    seen = student(turn, 64, numbers(101))
    few = 2 * 64 * 64 // 32
    arrays_only(seen)
    expect(
        [seen["out"] == turned(64), seen["exchanged"], max(seen["passes"], few)],
        [True, True, few],
        hint="whether the result is right, whether threads exchange elements, and the passes over shared memory: 33 columns",
        misconception="tile-without-padding",
    )


# --- cuda_ops._tensor_matrix_multiply -----------------------------------------------------------------------

TILES = "cuda_ops._tensor_matrix_multiply: 'The block moves along k in steps of BLOCK_DIM.'"
ENDS = "cuda_ops._tensor_matrix_multiply: 'Any of these sizes, and k, may be no multiple of BLOCK_DIM.'"
WAITS = "cuda_ops._tensor_matrix_multiply: 'and all wait again, before the next step overwrites the tiles'"


def stacks(*shapes):
    """Return stacks of numbers without a pattern, no two alike."""
    whole = numbers(sum(int(np.prod(shape)) for shape in shapes))
    found = []
    for shape in shapes:
        size = int(np.prod(shape))
        found.append(whole[:size].reshape(shape))
        whole = whole[size:]
    return found


@matrix_multiply(
    group="values",
    because="cuda_ops._tensor_matrix_multiply: 'Element (z, i, j) of out is the sum over k of a[z, i, k] * b[z, k, j].'",
)
def test_matmul_rows_times_columns(student):
    """Rows of a meet columns of b."""

    def observe(mg, a, b):
        from minigrad.checks import launches

        return launches.matmul(mg.cuda_ops._tensor_matrix_multiply, launches.result(1, 3, 3), a, b)

    a, b = (each / 3.0 for each in stacks((1, 3, 3), (1, 3, 3)))
    launched(
        student(observe, a, b),
        a @ b,
        apart=OF_PRODUCTS,
        hint="a's tile is read along a row, b's along a column",
        misconception="tile-index-swapped",
    )


@matrix_multiply(group="values", because=TILES)
def test_matmul_several_tiles_deep(student):
    """Sums over more than BLOCK_DIM products are complete."""

    def observe(mg):
        import numpy as np

        from minigrad.backends.gpu.launching import block_dim
        from minigrad.checks import launches

        kernel = mg.cuda_ops._tensor_matrix_multiply
        k = 2 * block_dim(kernel, mg.cuda_ops.BLOCK_DIM)
        a, b = np.arange(2.0 * k).reshape(1, 2, k), np.arange(3.0 * k).reshape(1, k, 3)
        return launches.matmul(kernel, launches.result(1, 2, 3), a, b)

    seen = student(observe)
    k = 2 * block_of(seen["block"])
    a, b = np.arange(2.0 * k).reshape(1, 2, k), np.arange(3.0 * k).reshape(1, k, 3)
    launched(
        without_early_tiles(seen, a, b),
        a @ b,
        apart=OF_PRODUCTS,
        hint="a loop over k in steps of BLOCK_DIM, with new tiles in each step",
        misconception="first-tile-only",
    )


@matrix_multiply(group="values", because="cuda_ops._tensor_matrix_multiply: '(0.0 where the matrix has ended)'")
def test_matmul_last_tile_not_full(student):
    """Where the matrix ends inside of a tile, zeros stand there, and not what the step before has left."""

    def observe(mg):
        import numpy as np

        from minigrad.backends.gpu.launching import block_dim
        from minigrad.checks import launches

        kernel = mg.cuda_ops._tensor_matrix_multiply
        k = block_dim(kernel, mg.cuda_ops.BLOCK_DIM) + 1
        a, b = np.arange(1.0, 2.0 * k + 1).reshape(1, 2, k), np.arange(1.0, 2.0 * k + 1).reshape(1, k, 2)
        return launches.matmul(kernel, launches.result(1, 2, 2), a, b)

    seen = student(observe)
    k = block_of(seen["block"]) + 1
    a, b = np.arange(1.0, 2.0 * k + 1).reshape(1, 2, k), np.arange(1.0, 2.0 * k + 1).reshape(1, k, 2)
    launched(
        without_early_tiles(seen, a, b),
        a @ b,
        apart=OF_PRODUCTS,
        hint="every thread writes both of its places in each step, 0.0 where there is no element",
        misconception="old-tile-in-the-rest",
    )


@matrix_multiply(group="values", because=ENDS)
def test_matmul_several_blocks(student):
    """Blocks beside and below the first compute their own tiles, and nothing beyond the matrix."""

    def observe(mg):
        import numpy as np

        from minigrad.backends.gpu.launching import block_dim
        from minigrad.checks import launches

        kernel = mg.cuda_ops._tensor_matrix_multiply
        n = block_dim(kernel, mg.cuda_ops.BLOCK_DIM) + 3
        a, b = np.arange(2.0 * n).reshape(1, n, 2), np.arange(2.0 * (n + 1)).reshape(1, 2, n + 1)
        return launches.matmul(kernel, launches.result(1, n, n + 1), a, b)

    seen = student(observe)
    n = block_of(seen["block"]) + 3
    a, b = np.arange(2.0 * n).reshape(1, n, 2), np.arange(2.0 * (n + 1)).reshape(1, 2, n + 1)
    launched(
        seen,
        a @ b,
        apart=OF_PRODUCTS,
        hint="the row in the matrix is blockIdx.y * BLOCK_DIM + threadIdx.y; it may lie beyond the last one",
        misconception="no-guard",
    )


@matrix_multiply(group="layout", because="cuda_ops._tensor_matrix_multiply: 'Any strides, as for a and b.'")
def test_matmul_turned_inputs(student):
    """Inputs that are turned round in their storage are read by their strides."""

    def observe(mg, a, b):
        from minigrad.checks import launches

        kernel = mg.cuda_ops._tensor_matrix_multiply
        return launches.matmul(kernel, launches.result(2, 3, 2), a.transpose(1, 2, 0), b.transpose(1, 2, 0))

    a, b = stacks((4, 2, 3), (2, 2, 4))
    launched(
        student(observe, a, b),
        a.transpose(1, 2, 0) @ b.transpose(1, 2, 0),
        apart=OF_PRODUCTS,
        hint="each of the three dimensions has a stride of its own, in a and in b",
        misconception="strides-ignored",
    )


@matrix_multiply(group="layout", because="cuda_ops._tensor_matrix_multiply: 'Any strides, as for a and b.'")
def test_matmul_turned_output(student):
    """An output that is turned round in its storage is written by its strides."""

    def observe(mg, a, b):
        from minigrad.checks import launches

        kernel = mg.cuda_ops._tensor_matrix_multiply
        return launches.matmul(kernel, launches.result(2, 3, 2, order=(2, 0, 1)), a, b)

    a, b = stacks((2, 3, 4), (2, 4, 2))
    launched(
        student(observe, a, b),
        a @ b,
        apart=OF_PRODUCTS,
        hint="position = z * out_strides[0] + row * out_strides[1] + column * out_strides[2]",
        misconception="output-strides-ignored",
    )


@matrix_multiply(
    group="layout",
    because="cuda_ops._tensor_matrix_multiply: '(stack, n, k), or (1, n, k) if one matrix serves all of the stack.'",
)
def test_matmul_one_matrix_for_all(student):
    """A stack of one matrix is used for every matrix of the other."""

    def observe(mg, a, b, c):
        from minigrad.checks import launches

        kernel = mg.cuda_ops._tensor_matrix_multiply
        found = [launches.matmul(kernel, launches.result(3, 2, 2), *pair) for pair in ((a, b), (b, c))]
        return [[seen["out"], seen["kinds"]] for seen in found]

    a, b, c = stacks((1, 2, 2), (3, 2, 2), (1, 2, 2))
    expect(
        without_others(student(observe, a, b, c), OF_PRODUCTS),
        [[(a @ b).tolist(), []], [(b @ c).tolist(), []]],
        hint="the stride along a dimension of size 1 must not be used: take 0 for it",
        misconception="stack-stride-always-used",
    )


@matrix_multiply(
    group="waiting", because="cuda_ops._tensor_matrix_multiply: 'all threads wait; each adds BLOCK_DIM products'"
)
def test_matmul_waits_after_loading(student):
    """No thread multiplies before both tiles are complete."""

    def observe(mg, a, b):
        from minigrad.checks import launches

        return launches.matmul(mg.cuda_ops._tensor_matrix_multiply, launches.result(1, 3, 3), a, b)

    a, b = (each / 3.0 for each in stacks((1, 3, 3), (1, 3, 3)))
    waited(
        student(observe, a, b),
        [EARLY],
        hint="cuda.syncthreads() between filling the tiles and reading them",
        misconception="missing-syncthreads",
    )


@matrix_multiply(group="waiting", because=WAITS)
def test_matmul_waits_before_the_next_tile(student):
    """No thread overwrites a tile that another one still reads."""

    def observe(mg):
        import numpy as np

        from minigrad.backends.gpu.launching import block_dim
        from minigrad.checks import launches

        kernel = mg.cuda_ops._tensor_matrix_multiply
        k = 2 * block_dim(kernel, mg.cuda_ops.BLOCK_DIM)
        a, b = np.arange(2.0 * k).reshape(1, 2, k), np.arange(3.0 * k).reshape(1, k, 3)
        return launches.matmul(kernel, launches.result(1, 2, 3), a, b)

    waited(
        student(observe),
        [LATE],
        hint="a second cuda.syncthreads(), at the end of each step",
        misconception="tile-overwritten-too-early",
    )


@matrix_multiply(
    group="waiting",
    because="cuda_ops._tensor_matrix_multiply: 'In each step its threads bring one tile of a and one tile of b into shared memory, each thread one element of each'",
)
def test_matmul_all_threads_wait(student):
    """Threads outside the matrix bring zeros and wait with the others."""

    def observe(mg, a, b):
        from minigrad.checks import launches

        return launches.matmul(mg.cuda_ops._tensor_matrix_multiply, launches.result(1, 3, 3), a, b)

    a, b = (each / 3.0 for each in stacks((1, 3, 3), (1, 3, 3)))
    waited(
        student(observe, a, b),
        ["barrier"],
        hint="a thread without an element of out still loads, and waits",
        misconception="syncthreads-in-branch",
    )


@matrix_multiply(group="memory", because="cuda_ops._tensor_matrix_multiply: 'each thread one element of each'")
def test_matmul_reads_little(student):
    """For each tile along k a thread reads global memory twice."""

    def observe(mg, a, b):
        from minigrad.checks import launches

        return launches.matmul(mg.cuda_ops._tensor_matrix_multiply, launches.result(1, 3, 3), a, b)

    seen = student(observe, *(each / 3.0 for each in stacks((1, 3, 3), (1, 3, 3))))
    expect(
        seen["reads"],
        2 * -(-3 // block_of(seen["block"])),
        hint="products are made of what lies in shared memory",
        misconception="reads-global-memory-in-the-loop",
    )
    arrays_only(seen)


@matrix_multiply(
    group="memory",
    because="cuda_ops._tensor_matrix_multiply: 'Each thread writes to out once, at the end, if its element is there.'",
)
def test_matmul_writes_once(student):
    """The sum is kept in a variable of the thread's own over all steps, and written at the end."""

    def observe(mg):
        import numpy as np

        from minigrad.backends.gpu.launching import block_dim
        from minigrad.checks import launches

        kernel = mg.cuda_ops._tensor_matrix_multiply
        k = 2 * block_dim(kernel, mg.cuda_ops.BLOCK_DIM)
        a, b = np.arange(2.0 * k).reshape(1, 2, k), np.arange(3.0 * k).reshape(1, k, 3)
        return launches.matmul(kernel, launches.result(1, 2, 3), a, b)

    seen = student(observe)
    expect(
        seen["writes"],
        1,
        hint="add up in a local variable, not in out",
        misconception="accumulates-in-global-memory",
    )


NEIGHBOURS = "cuda_ops._tensor_matrix_multiply: 'threads that are neighbours in x touch elements that lie side by side in a row, or the same one: of a, of b and of out, and in the tiles.'"
WIDE = (1, 8, 8), (1, 8, 16)


def multiply_wide(mg, a, b):
    """Probe: a product of float32, 8 x 8 times 8 x 16."""
    import numpy as np

    from minigrad.checks import launches

    out = launches.result(1, 8, 16).astype(np.float32)
    return launches.matmul(mg.cuda_ops._tensor_matrix_multiply, out, a.astype(np.float32), b.astype(np.float32))


@matrix_multiply(group="transactions", because=NEIGHBOURS)
def test_matmul_neighbours_in_global_memory(student):
    """Eight float32 side by side are one transaction of 32 bytes, and a block beside the first has the next columns."""
    a, b = stacks(*WIDE)
    seen = student(multiply_wide, a, b)
    block = block_of(seen["block"])
    few = 8 * -(-16 // block) + 16 + 16  # rows of a, for each column of blocks, and halves of rows of b and of out
    counted = max(sum(seen["transactions"]), few) if block % 8 == 0 else few
    arrays_only(seen)
    expect(
        [seen["out"] == (a @ b).tolist(), counted],
        [True, few],
        hint="whether the result is right, and the transactions with global memory: x counts columns, of a block and of the grid",
        misconception="x-counts-rows",
    )


@matrix_multiply(group="passes", because=NEIGHBOURS)
def test_matmul_neighbours_in_shared_memory(student):
    """Along the rows of both tiles, a warp takes three passes at most for each product."""
    a, b = stacks(*WIDE)
    seen = student(multiply_wide, a, b)
    block = block_of(seen["block"])
    deep, wide = -(-8 // block), -(-16 // block)
    few = deep * deep * wide * enough_passes(block, block)
    arrays_only(seen)
    expect(
        [seen["exchanged"], max(seen["passes"], few)],
        [True, few],
        hint="whether threads exchange elements, and the passes over shared memory: neighbours in x read along a row of b's tile",
        misconception="tile-of-b-turned",
    )
