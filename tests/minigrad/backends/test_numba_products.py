"""Products of matrices and copies."""

import numpy as np
import pytest

from minigrad.backends.numba import NumbaBackend, products

BACKEND = NumbaBackend()
RNG = np.random.default_rng(11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 4), (4, 5)),
        ((1, 4), (4, 1)),
        ((7, 3, 4), (7, 4, 5)),
        ((7, 3, 4), (4, 5)),
        ((3, 4), (7, 4, 5)),
        ((2, 1, 3, 4), (7, 4, 5)),
        ((3, 0), (0, 5)),
        ((0, 4), (4, 5)),
        ((2, 0, 4), (4, 5)),
    ],
)
def test_products_broadcast(left, right, dtype):
    """Batches broadcast, and empty sizes give zeros or nothing."""
    a, b = RNG.integers(-9, 9, left).astype(dtype), RNG.integers(-9, 9, right).astype(dtype)
    out = BACKEND.matmul(a, b)
    assert out.dtype == dtype and out.flags.c_contiguous
    np.testing.assert_array_equal(out, a @ b)


def test_any_layout_is_multiplied():
    """Transposed, strided and broadcast matrices give the product of their values."""
    wide = RNG.normal(size=(40, 60))
    for a in (wide, wide[::2, ::3], np.broadcast_to(wide[:1], (40, 60)), wide.T.copy().T):
        for b in (RNG.normal(size=(a.shape[1], 30)), RNG.normal(size=(30, a.shape[1])).T):
            np.testing.assert_allclose(BACKEND.matmul(a, b), np.einsum("ij,jk->ik", a, b), rtol=1e-12, atol=1e-12)


def test_blas_gets_what_it_can_take():
    """Rows or columns in one piece are passed on as they are; anything else is copied once."""
    x = RNG.normal(size=(40, 60))
    for taken in (x, x.T, x[:, 5:20], x[::2], x[:1]):
        assert products._for_blas(taken) is taken
    for copied in (x[::2, ::2], np.broadcast_to(x[:1], (40, 60)), np.broadcast_to(x[:, :1], (40, 60))):
        assert products._for_blas(copied).flags.c_contiguous


def test_contiguous_copies():
    """The copy is new and row-major, also of what is row-major already."""
    for x in (RNG.normal(size=(200, 300)), RNG.normal(size=(200, 300)).T, RNG.normal(size=()), np.zeros((0, 3))):
        out = BACKEND.contiguous(x)
        assert out.flags.c_contiguous and not np.shares_memory(out, x)
        np.testing.assert_array_equal(out, x)
