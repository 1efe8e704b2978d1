"""Expressions as ufuncs: the values of the general loops, and no answer where those are needed."""

import warnings

import numpy as np
import pytest

from minigrad.backends.numba import elementwise, pool, threads, ufuncs

A, B, C = ("in", 0), ("in", 1), ("in", 2)
F32, F64, SPECIAL = np.dtype(np.float32), np.dtype(np.float64), [np.nan, np.inf, -np.inf, -0.0, 1e-40, 88.8, 710.0]

EXPRESSIONS = [
    ("add", ("mul", A, B), C),
    ("sigmoid", ("sub", A, ("mul", C, B))),
    ("where", ("lt", A, B), ("exp", C), ("const", -0.0)),
    ("max", ("log", A), ("pow", B, ("const", 3.0))),
    ("div", ("const", 1.0), ("sqrt", A)),
    (lambda a, b: a * b + 1.0, A, B),
]


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize("expression", EXPRESSIONS, ids=range(len(EXPRESSIONS)))
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 0), (20, 1, 33), (8_000,)])
@pytest.mark.parametrize("numbers", [(), (2,), (1, 2)])
def test_values_are_those_of_the_general_loop(shape, expression, dtype, numbers):
    """With arrays, and numbers of Python in their places, special ones among them, and no warning."""
    rng = np.random.default_rng(len(shape))
    inputs = [(9.0 * rng.standard_normal(shape)).astype(dtype) for _ in range(3)]
    for x in inputs:
        x.reshape(-1)[: len(SPECIAL)] = rng.permutation(SPECIAL)[: x.size]
    inputs = [1e300 if i in numbers else x for i, x in enumerate(inputs)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ufuncs.apply(expression, inputs, dtype)
    assert found.dtype == dtype and found.shape == shape and found.flags.c_contiguous
    assert not any(np.shares_memory(found, x) for x in inputs if isinstance(x, np.ndarray))
    out = np.empty(shape, dtype)
    np.testing.assert_array_equal(found, elementwise.elementwise(expression, inputs, dtype, out))


X = np.ones((4, 6))


@pytest.mark.parametrize(
    "inputs",
    [
        (X, X.T.copy().T),
        (X[:, ::2], X[:, ::2]),
        (X, X[0]),
        (X, X.astype(np.float32)),
        (X, X.astype(np.int64)),
        (X, 2),
        (X, np.float64(2.0)),
        (X, X.astype(">f8")),
        (X, np.array(2.0)),
        (np.array(2.0), X),
        (np.array(2.0), np.array(3.0)),
        (1.0, 2.0),
        (np.ones(threads.GRAIN), np.ones(threads.GRAIN)),
        (np.ma.masked_array(X, X > 0), X),
    ],
    ids=range(14),
)
def test_what_needs_more_than_one_plain_loop_is_left(inputs):
    """Other strides, shapes, types and owners, no axes, and arrays that threads share."""
    assert ufuncs.apply(("add", A, B), inputs, F64) is None


def test_results_are_read_by_no_other_layout():
    """A number in the place of an array is another loop, whichever came first."""
    for inputs in ((X, 2.0), (X, 2.0 * X), (2.0, X)):
        np.testing.assert_array_equal(ufuncs.apply(("sub", A, B), inputs, F64), np.subtract(*inputs))


def test_a_large_result_has_memory_from_the_pool():
    """Whole cache lines of memory that was used before, and the values of NumPy."""
    x = np.random.default_rng(0).standard_normal(pool.SMALLEST // F64.itemsize)
    before = pool.stats()
    found = ufuncs.apply(("mul", A, B), (x, 2.0), F64)
    after = pool.stats()
    assert after.reused + after.fresh == before.reused + before.fresh + 1
    assert found.ctypes.data % pool.ALIGNMENT == 0
    np.testing.assert_array_equal(found, x * 2.0)
