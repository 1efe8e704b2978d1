"""Reductions in compiled loops: every subset of axes, every layout, accuracy, nan, and the same bits every time."""

import itertools
import math

import numpy as np
import pytest

from minigrad.backends.numba import NumbaBackend, reductions
from minigrad.backends.numba.reductions import BLOCK
from minigrad.machine._numba import numba

BACKEND = NumbaBackend()
A, B = ("in", 0), ("in", 1)
RNG = np.random.default_rng(5)
FOLD = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def subsets(rank):
    """Return all sets of axes."""
    return itertools.chain.from_iterable(itertools.combinations(range(rank), n) for n in range(rank + 1))


@pytest.mark.full("kernels are compiled for each layout", share=24)
@pytest.mark.parametrize("kernel", FOLD)
@pytest.mark.parametrize("shape", [(), (5,), (4, 5, 6), (30, 400), (3, 20_000), (20_000, 3), (2, 9000, 3)])
def test_every_set_of_axes(kernel, shape):
    """Any axes fold away as in NumPy, and the rest keeps its order."""
    x = 1 + RNG.normal(0, 1e-3, shape)
    for axes in subsets(len(shape)):
        out = BACKEND.reduce(kernel, x, axes, np.float64)
        assert out.shape == tuple(n for i, n in enumerate(shape) if i not in axes) and out.flags.writeable
        np.testing.assert_allclose(out, FOLD[kernel].reduce(x, axis=axes), rtol=1e-12)


@pytest.mark.parametrize("length", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1])
def test_rows_of_whole_blocks(length):
    """Rows that end with a block, or just before or behind its end, are folded, and kept, behind another axis."""
    x = RNG.normal(size=(2, 3, length))
    for axes in ((1,), (2,), (1, 2)):
        out = BACKEND.reduce("add", x, axes, np.float64)
        np.testing.assert_allclose(out, x.sum(axis=axes), rtol=1e-12, atol=1e-12)


def test_folding_nothing_copies():
    """With no axes the result is a copy."""
    x = RNG.normal(size=(3, 4))
    out = BACKEND.reduce("add", x, (), np.float64)
    assert not np.shares_memory(out, x)
    np.testing.assert_array_equal(out, x)


@pytest.mark.full("kernels are compiled for each layout", share=24)
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_permuted_and_broadcast_inputs(order):
    """An expression of a permuted, a strided and a broadcast array is folded over every set of axes."""
    x = RNG.normal(size=(12, 10, 14)).transpose(order)[:, ::2]
    y = RNG.normal(size=(x.shape[1], 1))
    for axes in subsets(3):
        out = BACKEND.reduce_expression(("mul", A, ("add", B, ("const", 1.0))), "add", [x, y], axes, np.float64)
        np.testing.assert_allclose(out, (x * (y + 1)).sum(axis=axes), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_nan_wins(axes):
    """One nan makes the largest and the smallest value nan; without it infinities are found."""
    x = RNG.normal(size=(70, 5000))
    x[3, 4321] = np.inf
    x[69, 17] = -np.inf
    for kernel in ("max", "min"):
        np.testing.assert_array_equal(BACKEND.reduce(kernel, x, axes, np.float64), FOLD[kernel].reduce(x, axis=axes))
    x[35, 2500] = np.nan
    for kernel in ("max", "min"):
        np.testing.assert_array_equal(BACKEND.reduce(kernel, x, axes, np.float64), FOLD[kernel].reduce(x, axis=axes))


def test_folding_no_elements_gives_the_start():
    """The sum of nothing is 0, the product 1; a result without elements is empty."""
    x = np.zeros((0, 3))
    np.testing.assert_array_equal(BACKEND.reduce("add", x, (0,), np.float64), np.zeros(3))
    np.testing.assert_array_equal(BACKEND.reduce("mul", x, (0,), np.float64), np.ones(3))
    assert BACKEND.reduce("add", x, (1,), np.float64).shape == (0,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_sums_are_as_accurate_as_numpys(dtype, axes):
    """The error of a long sum stays within a few units in the last place, or twice that of NumPy's pairwise sum."""
    x = RNG.random((2000, 1500)).astype(dtype)
    exact = x.astype(np.longdouble).sum(axis=axes)
    ours = np.abs(BACKEND.reduce("add", x, axes, dtype) - exact)
    theirs = np.abs(x.sum(axis=axes) - exact)
    allowed = np.maximum(2 * np.max(theirs), 8 * np.finfo(dtype).eps * np.max(exact))
    assert np.max(ours) <= allowed


def test_sum_of_a_million_float32():
    """A running sum would stop growing at 2^24; the result is exact here."""
    assert BACKEND.reduce("add", np.ones(2**25, np.float32), (0,), np.float32) == 2.0**25


@pytest.mark.full("kernels are compiled for each layout", share=24)
def test_integers_and_booleans():
    """int64 sums are exact, booleans are counted, and max of booleans is `any`."""
    x = RNG.integers(-(2**58), 2**58, (50, 300))
    for axes in subsets(2):
        np.testing.assert_array_equal(BACKEND.reduce("add", x, axes, np.int64), x.sum(axis=axes))
        np.testing.assert_array_equal(BACKEND.reduce("max", x, axes, np.int64), np.maximum.reduce(x, axis=axes))
    small = RNG.integers(-(2**31), 2**31, (50, 300), np.int32)
    for kernel, fold in (("max", np.maximum), ("min", np.minimum)):
        out = BACKEND.reduce(kernel, small, (1,), np.int32)
        assert out.dtype == np.int32
        np.testing.assert_array_equal(out, fold.reduce(small, 1))
    np.testing.assert_array_equal(BACKEND.reduce("add", small, (0,), np.int64), small.sum(0, np.int64))
    mask = RNG.random((60, 900)) < 0.01
    np.testing.assert_array_equal(BACKEND.reduce("add", mask, (1,), np.int64), mask.sum(1))
    out = BACKEND.reduce("max", mask, (0,), np.bool_)
    assert out.dtype == np.bool_
    np.testing.assert_array_equal(out, mask.any(0))


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_the_same_bits_with_any_number_of_threads(axes):
    """How the work is divided depends on the shape alone."""
    x = RNG.normal(size=(700, 900))
    before = numba.get_num_threads()
    wanted = BACKEND.reduce("add", x, axes, np.float64)
    try:
        numba.set_num_threads(1)
        reductions._plan.cache_clear()
        alone = BACKEND.reduce("add", x, axes, np.float64)
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(alone, wanted)


def test_exponentials_inside_a_sum():
    """A sum may be taken in any order, the exponential in it may not: it stays exact to the last bits."""
    x = RNG.normal(size=(300, 500)) * 100
    top = x.max(axis=1, keepdims=True)
    out = BACKEND.reduce_expression(("exp", ("sub", A, B)), "add", [x, top], (1,), np.float64)
    wanted = [math.fsum(math.exp(v) for v in row) for row in x - top]
    np.testing.assert_allclose(out, wanted, rtol=1e-14)
