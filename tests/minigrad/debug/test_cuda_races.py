"""The race detector for CUDA kernels: planted mistakes are found, correct kernels stay without a finding."""

import linecache

import numpy as np
import pytest
from debug_cuda_kernels import (
    CORRECT,
    PLANTED,
    SIZE,
    _bins,
    block_sum,
    dynamic_memory,
    histogram,
    no_guard,
    return_before_barrier,
    sum_without_first_barrier,
    two_barriers,
    x8,
    x20,
)

from minigrad.debug import Counts, cuda_races
from minigrad.machine._numba import cuda, numba


def name_of(value):
    return getattr(getattr(value, "py_func", getattr(value, "fn", None)), "__name__", None)


@pytest.mark.parametrize(("kernel", "grid", "block", "args", "expected"), CORRECT, ids=name_of)
def test_a_correct_kernel_has_no_finding(kernel, grid, block, args, expected):
    """A correct kernel has no finding, and computes in the detector what it has to."""
    report = cuda_races(kernel, grid, block, *args)
    assert not report, str(report)
    if expected is not None:
        assert report.args[0].tolist() == expected
    assert not args[0].any()


def test_results_are_those_of_numba():
    """Numba, on the GPU or in its simulator, computes what the detector computes."""
    out, a = np.zeros(2), np.arange(13.0)
    block_sum[2, SIZE](out, a, 13)
    assert cuda_races(block_sum, 2, SIZE, np.zeros(2), a, 13).args[0].tolist() == out.tolist()


def test_device_arrays_are_copied_to_the_host():
    """Arrays on the device can be arguments, and stay as they are."""
    out, a = cuda.to_device(np.zeros(2)), cuda.to_device(np.arange(13.0))
    assert cuda_races(block_sum, 2, SIZE, out, a, 13).args[0].tolist() == [28.0, 50.0]
    assert out.copy_to_host().tolist() == [0.0, 0.0]


def test_dynamic_shared_memory_has_the_size_it_is_given():
    """Dynamic shared memory has as many elements as its bytes hold."""
    report = cuda_races(dynamic_memory, 1, SIZE, np.zeros(8), x8, shared_bytes=64)
    assert not report and report.args[0].tolist() == x8[::-1].tolist()
    assert "out of bounds" in cuda_races(dynamic_memory, 1, SIZE, np.zeros(8), x8, shared_bytes=32).kinds


@pytest.mark.parametrize(("kernel", "grid", "block", "args", "kinds", "array"), PLANTED, ids=name_of)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_planted_mistake_is_found(kernel, grid, block, args, kinds, array, seed):
    """Each planted mistake is found, of the right kind and in the right array, whatever the order of the threads."""
    report = cuda_races(kernel, grid, block, *args, seed=seed)
    assert report
    assert report.kinds == kinds, str(report)
    assert array in {race.array for race in report.races}


# --- what a report says ---------------------------------------------------------------------------------------


def test_a_finding_names_threads_and_lines():
    """A finding names the element, the threads and both lines, and says what is missing."""
    report = cuda_races(sum_without_first_barrier, 1, SIZE, np.zeros(1), x8)
    race = report.races[0]
    assert race.scope == "shared" and race.array == "cache"
    assert race.first.startswith("thread ") and race.second.endswith("of block 0")
    assert {race.source, race.other_source} == {"cache[t] = a[t]", "cache[t] += cache[t + step]"}
    assert "no cuda.syncthreads() between" in race.message


def test_a_divergent_barrier_names_both_sides():
    """A divergent barrier names a thread that waits, and one that does not or waits elsewhere."""
    (race,) = cuda_races(return_before_barrier, 2, SIZE, np.zeros(12), x20, 12).races
    assert race.first == "thread 0 of block 1" and race.second == "thread 4 of block 1"
    assert race.source == "cuda.syncthreads()" and "has come to its end" in race.message
    (race,) = cuda_races(two_barriers, 1, SIZE, np.zeros(8), x8).races
    assert race.line != race.other_line and race.source == race.other_source == "cuda.syncthreads()"


def test_causes_come_first():
    """A divergent barrier is told before the collisions that come of it, or were found earlier."""

    def both(out, a):
        out[0] = a[0]
        if cuda.threadIdx.x == 0:
            cuda.syncthreads()

    assert [race.kind for race in cuda_races(both, 1, 2, np.zeros(1), x8).races] == ["barrier", "write-write"]


def test_counts_are_those_of_each_thread():
    """Reads and writes of global and shared memory are counted for each thread, and the barriers."""
    report = cuda_races(block_sum, 3, SIZE, np.zeros(3), x20, 20)
    assert report.counts[(0, 0, 0), (0, 0, 0)] == Counts(1, 1, 7, 4, 0)
    assert report.counts[(0, 0, 0), (7, 0, 0)] == Counts(1, 0, 0, 1, 0)
    assert report.counts[(2, 0, 0), (7, 0, 0)] == Counts(0, 0, 0, 1, 0)
    assert len(report.counts) == 24 and report.barriers == 4
    assert report.most == Counts(1, 1, 7, 4, 0)
    assert "at most: 1 global reads" in str(report)


def test_traffic_is_counted_by_array():
    """Reads and writes are counted for each array too; an atomic operation is both."""
    traffic = cuda_races(histogram, 2, SIZE, np.zeros(4, np.int32), _bins).traffic
    assert (traffic["bins"].reads, traffic["bins"].writes) == (10, 0)
    assert (traffic["counts"].reads, traffic["counts"].writes) == (8, 8)


def test_the_second_run_has_another_order():
    """The first run takes blocks and threads as they come, the second shuffles both, between barriers anew."""
    seen = []

    def note(i):
        seen.append(i)

    def kernel(out):
        note(cuda.grid(1))
        cuda.syncthreads()
        note(cuda.grid(1))

    cuda_races(kernel, 2, 4, np.zeros(1))
    assert seen[:16] == [0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7]
    first, second = seen[16:20], seen[20:24]
    assert sorted(first) == sorted(second) and first != second != sorted(second)


def test_a_kernel_without_end_is_stopped():
    """A thread that waits for what another one never writes is stopped, and so is a grid that is too large."""

    def spin(out):
        while out[0] < 1.0:
            pass

    assert cuda_races(spin, 1, 2, np.zeros(1), steps=2_000).kinds == {"endless"}
    assert cuda_races(no_guard, 10**9, 1024, np.zeros(1), x8, steps=2_000).kinds == {"endless"}


def test_what_is_not_simulated_is_refused():
    """A feature that the detector does not simulate is refused by name, and so is a barrier that it cannot follow."""

    def shuffle(out):
        out[cuda.threadIdx.x] = cuda.shfl_sync(-1, 1, 0)

    with pytest.raises(ValueError, match=r"does not simulate cuda\.shfl_sync"):
        cuda_races(shuffle, 1, 2, np.zeros(2))

    def hidden(out):
        wait = lambda: cuda.syncthreads()  # noqa: E731
        wait()

    with pytest.raises(ValueError, match="cannot follow the barrier that syncthreads leads to"):
        cuda_races(hidden, 1, 2, np.zeros(2))


@pytest.mark.parametrize("size", [0, (), (1, 2, 3, 4), 1.5, (2, -1)])
def test_sizes_must_be_positive(size):
    """Grid and block are a positive number, or one to three of them."""
    with pytest.raises(ValueError, match=r"grid is .* must be a positive number"):
        cuda_races(no_guard, size, 1, np.zeros(2), x8)
    with pytest.raises(ValueError, match="block is"):
        cuda_races(no_guard, 1, size, np.zeros(2), x8)


def test_indices_in_three_dimensions():
    """Blocks and threads have indices in x, y and z, and x is the fastest."""

    def number(out):
        x, y, z = cuda.grid(3)
        width, height, _ = cuda.gridsize(3)
        out[x + width * (y + height * z)] = cuda.laneid + 100 * cuda.blockIdx.z + 1000 * cuda.gridDim.y

    report = cuda_races(number, (1, 2, 2), (2, 1, 3), np.zeros(24))
    assert not report
    assert report.args[0][:4].tolist() == [2000.0, 2001.0, 2000.0, 2001.0]
    assert report.args[0].max() == 2105.0


def test_names_imported_one_by_one():
    """A kernel may reach Numba's module by another name, and the kernel may be a plain function."""
    nb = numba

    def plain(out, a):
        i = nb.cuda.grid(1)
        out[i] = a[i] + numba.cuda.blockDim.x

    report = cuda_races(plain, 2, 4, np.zeros(8), x8)
    assert not report and report.args[0].tolist() == (x8 + 4).tolist()


@pytest.mark.parametrize(
    ("operation", "value", "after"),
    [
        ("add", 3, 8), ("sub", 3, 2), ("max", 9, 9), ("min", 2, 2), ("nanmax", 9, 9), ("nanmin", 2, 2),
        ("and_", 4, 4), ("or_", 2, 7), ("xor", 1, 4), ("inc", 9, 6), ("inc", 5, 0), ("dec", 9, 4), ("exch", 1, 1),
    ],
)  # fmt: skip
def test_atomic_operations(operation, value, after):
    """Atomic operations return the old value and leave what CUDA's leave."""

    def kernel(old, out):
        old[0] = getattr(cuda.atomic, operation)(out, 0, value)

    report = cuda_races(kernel, 1, 1, np.zeros(1, int), np.full(1, 5))
    assert (report.args[0][0], report.args[1][0]) == (5, after)


def test_compare_and_swap():
    """A value is swapped only if the old one is as expected."""

    def kernel(out):
        cuda.atomic.cas(out, 0, 5, 7)
        cuda.atomic.cas(out, 1, 4, 7)
        cuda.atomic.compare_and_swap(out[2:], 5, 9)

    assert cuda_races(kernel, 1, 1, np.full(3, 5)).args[0].tolist() == [7, 5, 9]


@pytest.mark.parametrize("barrier", [False, True])
@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("write", ["i", "i // 2", "i % 3", "t", "0"])
def test_findings_agree_with_the_definition(write, blocks, barrier):
    """Threads collide in an element exactly if no barrier orders them, for every pair of places."""
    for read in ("i", "i + 1", "i - i % 4", "t", "0"):
        text = "def kernel(a):\n    i, t = cuda.grid(1), cuda.threadIdx.x\n"
        text += f"    a[{write}] = 1.0\n" + "    cuda.syncthreads()\n" * barrier + f"    x = a[{read}]\n"
        name = f"<{write} {read} {barrier}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        namespace = {"cuda": cuda}
        exec(compile(text, name, "exec"), namespace)
        threads = [{"i": 4 * b + t, "t": t, "b": b} for b in range(blocks) for t in range(4)]
        pairs = [(one, other) for one in threads for other in threads if one is not other]
        expected = {"write-write"} if any(eval(write, p) == eval(write, q) for p, q in pairs) else set()
        unordered = [(p, q) for p, q in pairs if p["b"] != q["b"] or not barrier]
        expected |= {"read-write"} if any(eval(write, p) == eval(read, q) for p, q in unordered) else set()
        assert cuda_races(namespace["kernel"], blocks, 4, np.zeros(9)).kinds == expected, text
        del linecache.cache[name]


def by_rows(out, a):
    """Double a table, x counting rows."""
    row, column = cuda.grid(2)
    out[row, column] = 2 * a[row, column]


def by_columns(out, a):
    """Double a table, x counting columns."""
    column, row = cuda.grid(2)
    out[row, column] = 2 * a[row, column]


@pytest.mark.parametrize(
    ("kernel", "dtype", "wanted"),
    [(by_columns, "float32", 4), (by_columns, "float64", 8), (by_rows, "float32", 32), (by_rows, "float64", 32)],
)
def test_transactions_of_a_warp(kernel, dtype, wanted):
    """32 numbers side by side take 4 bytes or 8 each, 32 bytes at once; a number of each row takes a segment each."""
    a = np.ones((32, 32), dtype)
    report = cuda_races(kernel, (1, 4), (32, 8), np.zeros_like(a), a)
    assert report.transactions() == {"a": 32 * wanted, "out": 32 * wanted}
    assert report.passes() == {}


def test_transactions_of_one_element_for_all():
    """All threads of a warp that read one element ask once; a second line asks again, and so does a second warp."""

    def kernel(out, a):
        i = cuda.grid(1)
        x = a[0]
        x += a[0]
        out[i] = x

    report = cuda_races(kernel, 1, 64, np.zeros(64), np.ones(1))
    assert report.transactions() == {"a": 4, "out": 16}


def test_transactions_in_a_loop():
    """Each time that a line is run counts by itself, and threads that have left the loop ask for nothing."""

    def kernel(out, a):
        i = cuda.grid(1)
        total = 0.0
        for k in range(i % 2 + 1):
            total += a[32 * k + i]
        out[i] = total

    report = cuda_races(kernel, 1, 32, np.zeros(32, np.float32), np.ones(64, np.float32))
    assert report.transactions() == {"a": 8, "out": 4}


@pytest.mark.parametrize(("width", "wanted"), [(32, 32), (33, 1), (34, 2)])
def test_passes_down_a_column(width, wanted):
    """A column of a tile lies in one bank, unless its rows are one word longer."""

    def kernel(out):
        tile = cuda.shared.array((32, width), numba.float32)
        i = cuda.threadIdx.x
        for j in range(32):
            tile[i, j] = 1.0
        cuda.syncthreads()
        out[i] = tile[0, i]

    report = cuda_races(kernel, 1, 32, np.zeros(32))
    assert report.passes() == {"tile": 32 * wanted + 1}


def test_too_many_accesses_to_count(monkeypatch):
    """Where only the first accesses are known, nothing is counted."""
    monkeypatch.setattr("minigrad.debug.grid.EVENTS", 10)
    report = cuda_races(by_columns, 1, (8, 2), np.zeros((8, 8)), np.ones((8, 8)))
    assert report.truncated
    with pytest.raises(ValueError, match="by_columns: there were too many accesses to keep them all"):
        report.transactions()
