"""Products on the threads of the loops: what they give, and what they leave to BLAS."""

import threading

import numpy as np
import pytest

from minigrad.backends.numba import blas, products, threads

RNG = np.random.default_rng(7)


def numbers(*shape, dtype=np.float32):
    return RNG.normal(size=shape).astype(dtype)


@pytest.fixture
def openblas(monkeypatch):
    """NumPy's BLAS with two threads, and every product worth them."""
    library = blas._library()
    if library is None:
        pytest.skip("NumPy has a BLAS other than the OpenBLAS of its own wheels")
    before = library.scipy_openblas_get_num_threads64_()
    library.scipy_openblas_set_num_threads64_(2)
    monkeypatch.setattr(blas, "LEAST", 1)
    monkeypatch.setattr(threads, "thread_count", lambda: 2)  # where there is one, it takes both parts
    blas._division.cache_clear()
    yield library
    blas._division.cache_clear()
    library.scipy_openblas_set_num_threads64_(before)


WIDE = numbers(16, 6, 3, 2, 5)
OPERANDS = {
    "two matrices": (numbers(37, 12), numbers(12, 9)),
    "float64": (numbers(37, 12, dtype=np.float64), numbers(12, 9, dtype=np.float64)),
    "by columns": (numbers(12, 37).T, numbers(9, 12).T),
    "one column": (numbers(37, 1), numbers(1, 9)),
    "rows with gaps": (numbers(74, 30)[::2, 3:15], numbers(40, 12)[5:14].T),
    "a batch": (numbers(7, 5, 6), numbers(7, 6, 4)),
    "a batch of two axes": (WIDE.transpose(2, 0, 3, 1, 4)[0], WIDE.transpose(2, 0, 3, 4, 1)[1]),
    "repeated on the left": (numbers(5, 6), numbers(7, 6, 4)),
    "repeated in the middle": (numbers(3, 1, 5, 6), numbers(3, 4, 6, 2)),
    "repeated by a stride of 0": (np.broadcast_to(numbers(1, 5, 6), (7, 5, 6)), numbers(7, 6, 4)),
    "backwards": (numbers(7, 5, 6)[::-1], numbers(7, 6, 4)),
    "more matrices than rows": (numbers(9, 1, 6), numbers(9, 6, 4)),
}


@pytest.mark.parametrize("case", OPERANDS)
def test_products_are_numpys(openblas, case):
    """In every layout that BLAS takes, and BLAS has its threads back afterwards."""
    a, b = OPERANDS[case]
    wanted = np.matmul(a.astype(np.float64), b.astype(np.float64))
    out = np.full(wanted.shape, np.nan, a.dtype)
    assert blas.multiply(a, b, out)
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-5)
    assert openblas.scipy_openblas_get_num_threads64_() == 2


def test_infinities_and_nan_pass_through(openblas):
    """As in NumPy's product."""
    a, b = numbers(20, 4), numbers(4, 6)
    a[0, 0], a[1, 1], b[2, 2] = np.inf, np.nan, -np.inf
    out = np.empty((20, 6), np.float32)
    assert blas.multiply(a, b, out)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(out, a @ b, rtol=1e-4)


LEFT = {
    "of whole numbers": (np.ones((20, 4), np.int64), np.ones((4, 6), np.int64)),
    "of two types": (numbers(20, 4), numbers(4, 6, dtype=np.float64)),
    "with three axes in front": (numbers(2, 3, 5, 4, 6).transpose(1, 0, 2, 3, 4)[:, ::-1, ::2], numbers(6, 4)),
    "of few rows": (numbers(8, 4), numbers(4, 6)),
    "without elements": (numbers(8, 0), numbers(0, 6)),
}


@pytest.mark.parametrize("case", LEFT)
def test_the_rest_is_left_to_numpy(openblas, case):
    """Nothing is written then, and `matmul` has the product all the same."""
    a, b = LEFT[case]
    wanted = np.matmul(a, b)
    out = np.full_like(wanted, 7)
    assert not blas.multiply(a, b, out)
    assert (out == 7).all()
    np.testing.assert_allclose(products.matmul(a, b), wanted, rtol=1e-5)


def test_a_limit_on_blas_is_kept(openblas):
    """Where BLAS is allowed one thread, a product takes one."""
    openblas.scipy_openblas_set_num_threads64_(1)
    a, b = OPERANDS["two matrices"]
    assert not blas.multiply(a, b, np.empty((37, 9), np.float32))
    assert openblas.scipy_openblas_get_num_threads64_() == 1


def test_python_threads_may_multiply_at_once(openblas):
    """All products are right, and BLAS has its threads back in the end."""
    a, b = numbers(300, 40), numbers(40, 50)
    wanted, found = np.matmul(a, b), []

    def work():
        for _ in range(50):
            found.append(np.allclose(products.matmul(a, b), wanted, rtol=1e-3, atol=1e-4))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [True] * 200
    assert openblas.scipy_openblas_get_num_threads64_() == 2
