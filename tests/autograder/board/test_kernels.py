"""The text of a kernel is run as a GPU runs it: its counts are those that students see, and nothing else passes."""

import inspect
import math

import numpy as np
import pytest
from board_entries import ATTENTION, PRODUCT, TRANSPOSE
from places import ROOT

from autograder.board.kernels import launch
from autograder.board.memory import Counts, Memory, Refused
from autograder.board.program import Program
from minigrad import cuda_ops
from minigrad.debug import cuda_races

GIVEN = {"TILE_DIM": 32, "PADDED_DIM": 33, "BLOCK_DIM": 8, "THREADS_PER_BLOCK": 32}


def drawn(*shape):
    return np.random.default_rng(5).normal(size=shape).astype(np.float32)


def counted(text, name, grid, block, out, *args):
    """The result of a launch, its transactions and its passes."""
    counts = Counts()
    result = Memory(np.full(out, np.nan, np.float32), "global", counts, is_output=True)
    kinds = {"f": "global", "i": "constant"}
    given = [Memory(a, kinds[a.dtype.kind], counts) if isinstance(a, np.ndarray) else np.int64(a) for a in args]
    launch(Program.of([text], GIVEN), name, grid, block, [result, *given], counts)
    return result.data, counts.transactions, counts.passes


def watched(kernel, grid, block, out, *args):
    """The same by the library's own witness."""
    sizes = [place for place, each in enumerate(args, 1) if isinstance(each, np.ndarray) and each.dtype.kind == "i"]
    report = cuda_races(kernel, grid, block, np.full(out, np.nan, np.float32), *args, constants=sizes)
    assert report.kinds <= {"uninitialised"}  # what was read there takes no part in the result
    return report.args[0], sum(report.transactions().values()), sum(report.passes().values())


def texts(exercise):
    """The reference and its known-right variants, by name."""
    name = exercise.rpartition(".")[2]
    found = {"reference": inspect.getsource(getattr(cuda_ops, name))}
    files = sorted((ROOT / "course" / "variants" / exercise).glob("*.py"))
    return name, found | {path.stem: path.read_text() for path in files}


def made(text, name, tmp_path):
    """The function of a text, as a student's notebook makes it."""
    path = tmp_path / f"kernel{len(list(tmp_path.iterdir()))}.py"  # Python keeps the lines of a file that it has read
    path.write_text(text)
    scope = dict(vars(cuda_ops), math=math)
    exec(compile(text, str(path), "exec"), scope)
    return scope[name]


@pytest.mark.parametrize(
    "size",
    [
        40,
        pytest.param(64, marks=pytest.mark.full("the simulator of a GPU runs each answer at a larger size", share=12)),
    ],
)
def test_counts_of_the_transpose_are_those_that_students_see(size, tmp_path):
    """The reference, each variant and a tile without padding: result, transactions and passes, also at the edges."""
    name, known = texts("cuda_ops._turn_practice")
    assert len(known) >= 3
    a, grid = drawn(size * size), (2, 2, 1)
    unpadded = [text.replace("PADDED_DIM", "TILE_DIM") for text in known.values()]
    for text in (*known.values(), *unpadded):
        mine = counted(text, name, grid, (32, 32, 1), size * size, a, size)
        theirs = watched(made(text, name, tmp_path), grid, (32, 32, 1), size * size, a, size)
        assert mine[1:] == theirs[1:] and np.array_equal(mine[0], theirs[0])
        assert np.array_equal(mine[0].reshape(size, size), a.reshape(size, size).T)


def test_counts_of_the_product_are_those_that_students_see(tmp_path):
    """The reference and the variants that take the block's size from BLOCK_DIM."""
    name, known = texts("cuda_ops._tensor_matrix_multiply")
    known = {key: text for key, text in known.items() if "BLOCK_DIM = " not in text and "TILE_SIZE" not in text}
    assert len(known) >= 3
    a, b = drawn(2, 12, 12)
    shape, strides = np.array([1, 12, 12]), np.array([144, 12, 1])
    args = (shape, strides, 144, a.ravel(), shape, strides, b.ravel(), shape, strides)
    for text in known.values():
        mine = counted(text, name, (2, 2, 1), (8, 8, 1), 144, *args)
        theirs = watched(made(text, name, tmp_path), (2, 2, 1), (8, 8, 1), 144, *args)
        assert mine[1:] == theirs[1:]
        assert np.allclose(mine[0].reshape(12, 12), a @ b, atol=1e-5)


def test_counts_of_attention_are_those_that_students_see(tmp_path):
    """A kernel with helpers, local arrays, loops in loops and functions of math."""
    q, k, v = drawn(3, 32 * 16)
    args = (q, k, v, 32, 16)
    mine = counted(ATTENTION, "board_attention", (1, 1, 1), (32, 1, 1), 512, *args)
    theirs = watched(made(ATTENTION, "board_attention", tmp_path), (1, 1, 1), (32, 1, 1), 512, *args)
    assert mine[1:] == theirs[1:] and np.allclose(mine[0], theirs[0], atol=1e-6)


CONTROL = """
LIMIT = 2 + 1


def kept(x):
    if x % 2 == 0:
        return 10 * x
    return -x


def kernel(out, a, n):
    i = cuda.grid(1)
    total = 0
    k = 0
    while True:
        k += 1
        if k == i:
            continue
        if k > LIMIT or (i > 4 and k > 1):
            break
        for j in range(k, 0, -1):
            total += j if j != 2 else 100
    if not 0 <= i < n:
        return
    out[i] = kept(total) + (a[i] if i < n - 1 else 0.5) - 7 // 2 + i ** 2
"""


def test_threads_take_their_own_ways(tmp_path):
    """Loops that are left and continued, returns, chains of comparisons and conditions: as Python does each thread."""
    a = drawn(7)
    mine = counted(CONTROL, "kernel", (2, 1, 1), (5, 1, 1), 7, a, 7)
    theirs = watched(made(CONTROL, "kernel", tmp_path), (2, 1, 1), (5, 1, 1), 7, a, 7)
    assert np.allclose(mine[0], theirs[0]) and mine[1:] == theirs[1:]


def lines(*body):
    return "\n".join(["def kernel(out, a, n):", "    x = cuda.threadIdx.x", *(f"    {line}" for line in body)])


REFUSED = {
    "import": (lines("import sys"), "line 3: `import` is not known"),
    "numpy": (lines("out[x] = np.sum(a[x])"), "`np` is not known"),
    "attribute": (lines("out[x] = a.data"), "`.data` is not known"),
    "dunder": (lines("y = out.__class__"), "`.__class__` is not known"),
    "counter": (lines("out._counts.transactions = 0"), "an assignment gives a number"),
    "builtin": (lines("y = open"), "`open` is not known"),
    "text": (lines("y = 'a'"), "`constant` is not known"),
    "list": (lines("y = [a[0]]"), "`list` is not known"),
    "slice": (lines("y = a[0:2]"), "`a slice` is not known"),
    "lambda": (lines("y = lambda: 0"), "`lambda` is not known"),
    "class": (lines("class A: pass"), "`classdef` is not known"),
    "try": (lines("try:", "    y = 1", "except Exception:", "    y = 2"), "`try` is not known"),
    "global": (lines("global y"), "`global` is not known"),
    "keywords": (lines("y = max(a=1)"), "a call with names of arguments"),
    "outside": (lines("out[x] = a[x - 1]"), "index -1 is outside of an axis of 4"),
    "beyond": (lines("out[x] = a[x + n]"), "index 4 is outside"),
    "fraction": (lines("out[x] = a[x / 1]"), "an index is a whole number"),
    "input": (lines("a[x] = 0.0"), "it writes to an array that is given to be read"),
    "same element": (lines("out[0] = x"), "two threads write the same element at the same time"),
    "of others": (lines("out[x] = a[x]", "y = out[n - 1 - x]"), "reads of the result what another one has written"),
    "twice": (lines("out[x] = a[x]", "out[n - 1 - x] = a[x]"), "two threads write the same element of the result"),
    "no barrier": (
        lines("s = cuda.shared.array(4, numba.float32)", "s[x] = a[x]", "out[x] = s[n - 1 - x]"),
        "no syncthreads is between them",
    ),
    "too early": (
        lines(
            "s = cuda.shared.array(4, numba.float32)", "s[x] = a[x]", "cuda.syncthreads()",
            "y = s[n - 1 - x]", "s[x] = y", "out[x] = y",
        ),
        "what another one reads or writes",
    ),
    "branch": (lines("if x < 2:", "    cuda.syncthreads()"), "not all threads of the block come to syncthreads"),
    "large": (lines("s = cuda.shared.array((200, 200), numba.float32)"), "48 KiB of shared memory"),
    "varying": (lines("s = cuda.shared.array(x, numba.float32)"), "the same for all threads"),
    "narrow": (lines("s = cuda.shared.array(4, numba.float16)"), "`.float16` is not known"),
    "registers": (lines("r = cuda.local.array(300, numba.float64)"), "more than 255 numbers"),
    "variables": (lines(*(f"v{i} = {i}" for i in range(260))), "more than 255 numbers"),
    "tuples of variables": (
        lines(*(f"v{i} = ({', '.join(['x'] * 8)})" for i in range(32)), "out[x] = v0[0]"),
        "more than 255 numbers",
    ),
    "arguments": (
        f"def first({', '.join(f'v{i}' for i in range(260))}):\n    return v0\n\n\n"
        + lines(f"out[x] = first({', '.join(['a[x]'] * 260)})"),
        "more than 255 numbers",
    ),
    "tuples of arguments": (
        f"def first({', '.join(f'v{i}' for i in range(32))}):\n    return v0[0]\n\n\n"
        + lines(f"t = ({', '.join(['x'] * 8)})", f"out[x] = first({', '.join(['t'] * 32)})"),
        "more than 255 numbers",
    ),
    "endless": (lines("while True:", "    pass"), "more than 2,000,000 steps"),
    "recursion": ("def kernel(out, a, n):\n    kernel(out, a, n)", "functions that call each other"),
    "deep": (lines("y = " + "-" * 20_000 + "1"), "there is no function kernel|nests too deeply"),
    "chain": (lines("y = " + "+".join(["1"] * 20_000)), "nests too deeply|there is no function kernel"),
    "power": (lines("y = 2 ** -1"), "cannot be run here"),
    "digits": (lines("y = " + "9" * 400), "cannot be run here"),
    "tuples": (lines("t = (x, x)", "t = (t, t)"), "a tuple in a tuple"),
    "itself": ("A = B\nB = A\n" + lines("y = A"), "is made of itself"),
    "shadowed": ("cuda = 3\n" + lines("y = 1"), "`.threadIdx` is not known"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    """Each text ends in a sentence, whatever it tries; none of it runs as Python."""
    text, why = REFUSED[case]
    with pytest.raises(Refused, match=why.replace("(", r"\(").replace(")", r"\)")):
        counted(text, "kernel", (1, 1, 1), (4, 1, 1), 4, drawn(4), 4)


def test_a_thread_that_takes_no_part_reads_nothing():
    """What a branch reads is neither counted nor seen by the threads outside of it."""
    text = lines("y = 5.0", "if x == 1:", "    y = a[x]", "out[x] = y")
    a = drawn(4)
    found, transactions, _ = counted(text, "kernel", (1, 1, 1), (4, 1, 1), 4, a, 4)
    assert found.tolist() == [5.0, float(a[1]), 5.0, 5.0] and transactions == 2


def test_memory_that_nobody_has_written_spoils_the_result():
    """What a shared or a local array holds at first is no number, so that no kernel is right by chance."""
    for scope in ("shared", "local"):
        text = lines(f"s = cuda.{scope}.array(4, numba.float32)", "out[x] = s[x]")
        assert np.isnan(counted(text, "kernel", (1, 1, 1), (4, 1, 1), 4, drawn(4), 4)[0]).all()


def test_bank_conflicts_cost():
    """A padded tile takes a pass for each row; without padding a column takes 32; float64 takes two words."""
    for changed, passes in (
        (("", ""), 256),
        (("PADDED_DIM", "TILE_DIM"), 128 + 32 * 128),
        (("float32", "float64"), 512),
    ):
        text = TRANSPOSE.replace(*changed) if changed[0] else TRANSPOSE
        assert counted(text, "board_transpose", (2, 2, 1), (32, 32, 1), 64 * 64, drawn(64 * 64), 64)[1:] == (
            1024,
            passes,
        )


def test_larger_tiles_spare_transactions():
    """A product of 64 x 64 in tiles of 32 reads each matrix twice, in tiles of 16 four times."""
    shape, strides = np.array([1, 64, 64]), np.array([4096, 64, 1])
    a, b = drawn(2, 4096)
    for tile, count in ((32, 2560), (16, 4608)):
        text, blocks = PRODUCT.replace("BLOCK_DIM = 32", f"BLOCK_DIM = {tile}"), 64 // tile
        args = (shape, strides, 4096, a, shape, strides, b, shape, strides)
        found = counted(text, "board_product", (blocks, blocks, 1), (tile, tile, 1), 4096, *args)
        assert found[1] == count
