"""Pictures of CUDA kernels: blocks, accesses, counts of reads, shared memory, tiles."""

import re

import numpy as np
import pytest
from looking_into import boxes, inside, texts

from minigrad import cuda_ops, draw
from minigrad.debug import cuda_races
from minigrad.machine._numba import cuda, numba


def arrows(picture):
    """From where to where arrows lead: the ends of their lines, rounded to whole pixels."""
    lines = re.findall(r'd="M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)"', picture.svg)
    return [tuple(round(float(number)) for number in line) for line in lines]


# --- blocks -------------------------------------------------------------------------------------------------


def test_threads_without_an_element_are_ghosts():
    """Of 3 blocks of 4 threads, ten have an element, and the last two are drawn as left over."""
    picture = draw.blocks(10, 4)
    assert texts(picture, "bold") == ["block 0", "block 1", "block 2"]
    assert texts(picture, "ghosttext") == ["10", "11"]
    assert len(boxes(picture, "used")) == len(boxes(picture, "cell")) == len(arrows(picture)) == 10
    assert "the last 2 threads have none" in picture.description


def test_blocks_that_fit_leave_nothing_over():
    """Eight elements fill two blocks of four."""
    picture = draw.blocks(8, 4)
    assert boxes(picture, "ghost") == [] and "none is left over" in picture.description


def test_blocks_in_two_dimensions():
    """An element in the plane is named by row and column, a block by x and y; a thread needs both to be inside."""
    picture = draw.blocks((5, 7), (4, 3))
    assert texts(picture, "bold") == ["block (0, 0)", "block (1, 0)", "block (0, 1)", "block (1, 1)"]
    assert len(boxes(picture, "used")) == 35 and len(boxes(picture, "ghost")) == 8 * 6 - 35
    assert {"4,6", "0,6"} <= set(texts(picture, "text")) and {"4,7", "5,0", "5,7"} <= set(texts(picture, "ghosttext"))
    assert "7,7" not in texts(picture, "ghosttext")


@pytest.mark.parametrize(("size", "threads"), [(0, 4), (4, 0), ((2, 2), 4), ((2, 2, 2), (1, 1, 1)), (1000, 32)])
def test_blocks_that_cannot_be_drawn_are_refused(size, threads):
    """Sizes that are no sizes, of different kinds, or too large are refused in one sentence."""
    with pytest.raises(ValueError, match=r"^blocks: "):
        draw.blocks(size, threads)


@pytest.mark.parametrize("picture", [draw.blocks(40, 8), draw.blocks(3, 100), draw.blocks((2, 3), (8, 8))])
def test_nothing_leaves_the_paper(picture):
    """Rows of blocks are broken, and the paper grows with them."""
    assert inside(picture)


# --- accesses and reads -------------------------------------------------------------------------------------


def add_row(out, a, row):
    number = cuda.grid(1)
    if number < 6:
        out[number] = a[number] + row[number % 3]


ADDED = (np.zeros(6), np.arange(6.0), np.ones(3))


def test_accesses_are_those_of_the_report():
    """`draw.accesses` is the report's own picture, for a block and a thread given by numbers."""
    report = cuda_races(add_row, 2, 4, *ADDED)
    picture = draw.accesses(report, 1, 1)
    assert picture.svg == report.draw((1,), (1,)).svg != report.draw((0,)).svg
    assert "Thread 1 reads a[5], row[2] and writes out[5]." in picture.description


def test_reads_are_counted_over_all_blocks():
    """Each element of the row is read by two threads, of whatever block; what is only written is not shown."""
    picture = draw.reads(cuda_races(add_row, 2, 4, *ADDED))
    assert texts(picture) == ["add_row", "a: 6 reads", *"111111", "row: 6 reads", *"222"]
    assert "each element of row is read 2 times" in picture.description


def test_reads_of_chosen_arrays_in_another_shape():
    """An array's elements can be shown in the shape that they stand for."""
    report = cuda_races(add_row, 2, 4, *ADDED)
    picture = draw.reads({"mine": report}, arrays=["a"], shapes={"a": (2, 3)})
    tops = {float(box.get("y")) for box in boxes(picture, "used")}
    assert texts(picture)[:2] == ["mine", "a: 6 reads"] and len(tops) == 2


def test_reads_of_two_kernels_are_shaded_in_one_scale():
    """What is read most often is darkest, beside other kernels too, and what is not read is white."""

    def first_only(out, a):
        out[cuda.threadIdx.x] = a[0]

    several = {
        "many": cuda_races(first_only, 1, 4, np.zeros(4), np.ones(2)),
        "one": cuda_races(first_only, 1, 1, np.zeros(4), np.ones(2)),
    }
    shades = [float(box.get("fill-opacity")) for box in boxes(draw.reads(several), "used")]
    assert shades[0] == 1.0 > shades[1] and len(shades) == len(boxes(draw.reads(several), "cell")) == 2


def test_reads_of_nothing_are_refused():
    """An array that is not read, or too many elements, are refused by name."""
    report = cuda_races(add_row, 2, 4, *ADDED)
    with pytest.raises(ValueError, match="add_row reads no element of nothing"):
        draw.reads(report, arrays=["nothing"])
    with pytest.raises(ValueError, match="a has 5000 elements"):
        draw.reads(cuda_races(add_row, 2, 4, np.zeros(6), np.ones(5000), np.ones(3)), arrays=["a"])


# --- shared memory ------------------------------------------------------------------------------------------


def sum_of_four(out, a):
    cache = cuda.shared.array(4, numba.float64)
    t = cuda.threadIdx.x
    cache[t] = a[t]
    cuda.syncthreads()
    if t == 0 or t == 2:
        cache[t] = cache[t] + cache[t + 1]
    cuda.syncthreads()
    if t == 0:
        out[0] = cache[0] + cache[2]


def half_filled(out):
    cache = cuda.shared.array(4, numba.float64)
    if cuda.threadIdx.x < 2:
        cache[cuda.threadIdx.x] = 1.0
    cuda.syncthreads()
    out[0] = 0.0


def test_a_tree_of_additions():
    """Shared memory at each barrier: the numbers, the sums of pairs, and the result; who wrote what stands below it."""
    picture = draw.shared_memory(cuda_races(sum_of_four, 1, 4, np.zeros(1), np.array([3.0, 1.0, 4.0, 1.0])))
    words = " ".join(texts(picture))
    assert "a (global)" in words and words.count("syncthreads") == 2
    assert "3 thread 0 1 thread 1 4 thread 2 1 thread 3" in words
    assert "4 thread 0 1 5 thread 2 1" in words
    assert words.endswith("9 thread 0 out (global)")
    assert "Thread 2 puts 5 into cache[2], after barrier 1. Thread 0 writes 9 to out[0]." in picture.description
    assert inside(picture)


def test_arrows_lead_from_what_was_read():
    """Each sum has two arrows, from the two places that its thread has read in the row above."""
    found = arrows(draw.shared_memory(cuda_races(sum_of_four, 1, 4, np.zeros(1), np.ones(4))))
    columns = sorted({start for start, *_ in found})
    steps = sorted((columns.index(x0), y0) for x0, y0, _, _ in found)
    rows = sorted({y for _, y in steps})
    assert [[column for column, y in steps if y == row] for row in rows] == [[0, 1, 2, 3], [0, 1, 2, 3], [0, 2]]


def test_the_exercise_of_lesson_08():
    """Of 13 numbers the second block of `_sum_practice` has five; the places left hold zeros."""
    report = cuda_races(cuda_ops._sum_practice, 2, cuda_ops.BLOCK_DIM, np.zeros(2), np.arange(1.0, 14.0), 13)
    picture = draw.shared_memory(report, block=1)
    words = " ".join(texts(picture))
    assert "13 thread 4 0 thread 5 0 thread 6 0 thread 7" in words and "55 thread 0 out (global)" in words
    assert len(boxes(picture, "mark")) == 1  # the first block's result is not this picture's


def test_arrows_cross_two_barriers():
    """In a scan a thread reads before a barrier and writes behind it: each row has an arrow for each addition."""
    report = cuda_races(cuda_ops._scan_practice, 1, cuda_ops.BLOCK_DIM, np.zeros(8), np.ones(8), 8)
    picture = draw.shared_memory(report)
    rows = [y for _, y, _, _ in arrows(picture)]
    assert [rows.count(y) for y in sorted(set(rows))] == [8, 7, 6, 4]
    assert " ".join(texts(picture)).count("syncthreads") == 6 and inside(picture)


def test_what_nobody_has_written_is_a_question_mark():
    """Shared memory holds anything at first: such places are empty frames with a question mark."""
    picture = draw.shared_memory(cuda_races(half_filled, 1, 4, np.zeros(1)))
    assert texts(picture, "ghosttext") == ["?", "?"] and len(boxes(picture, "ghost")) == 2


def test_shared_memory_that_cannot_be_drawn_is_refused():
    """A kernel without shared memory, with two arrays, or a block that was not launched, is refused in one sentence."""
    two = cuda_races(cuda_ops._mm_practice, 1, (8, 8), np.zeros(4), np.ones(4), np.ones(4), 2)
    one = cuda_races(half_filled, 1, 4, np.zeros(1))
    for report, block in ((cuda_races(add_row, 2, 4, *ADDED), 0), (two, 0), (one, 1)):
        with pytest.raises(ValueError, match=r"^shared_memory: block \d of \w+ is not known, or has no single"):
            draw.shared_memory(report, block)


# --- tiles --------------------------------------------------------------------------------------------------


def test_tiles_of_a_product():
    """A block in the middle brings three whole tiles of each matrix, and computes a whole tile."""
    picture = draw.tiles((10, 12, 9), 4, (1, 1))
    assert texts(picture, "bold") == ["step 0", "step 0", "step 1", "step 1", "step 2", "step 2"]
    assert texts(picture, "text") == ["a: 10 x 12", "b: 12 x 9", "out: 10 x 9"]
    assert (len(boxes(picture, "used")), len(boxes(picture, "other")), len(boxes(picture, "mark"))) == (64, 32, 16)


def test_tiles_reach_beyond_the_matrices():
    """At the end only what is there stands out, and the outlines show what is not."""
    picture = draw.tiles((10, 10, 9), 4, (2, 2))
    assert (len(boxes(picture, "used")), len(boxes(picture, "other")), len(boxes(picture, "mark"))) == (18, 12, 2)
    assert "rows 8 to 9 and columns 8 to 8 of the product, in 3 steps" in picture.description
    assert inside(picture) and len(boxes(picture, "way")) == 7
    assert "rows 8 to 9 and columns 4 to 7" in draw.tiles((10, 10, 9), 4, (1, 2)).description


@pytest.mark.parametrize(
    ("sizes", "tile", "block"), [((4, 4, 4), 0, (0, 0)), ((4, 0, 4), 2, (0, 0)), ((4, 4, 4), 2, (0, 2))]
)
def test_tiles_that_do_not_exist_are_refused(sizes, tile, block):
    """A tile of no size, an empty product and a block outside the grid are refused."""
    with pytest.raises(ValueError, match=r"^tiles: no block"):
        draw.tiles(sizes, tile, block)
