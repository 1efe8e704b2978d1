"""Softmax and its logarithm, forwards and backwards, row by row."""

import numpy as np
import pytest

from minigrad.backends.numba import NumbaBackend, softmax

BACKEND = NumbaBackend()
RNG = np.random.default_rng(13)
SHAPES = [(3,), (5, 7), (2, 3, 100), (40, 1), (3, 0), (0, 3), (2, 40_000)]


def reference(x):
    """Return softmax and its logarithm in float64."""
    x = x.astype(np.float64)
    if not x.shape[-1]:
        return x, x
    shifted = x - x.max(-1, keepdims=True, initial=-np.inf)
    logarithm = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return np.exp(logarithm), logarithm


@pytest.mark.full("kernels are compiled for each shape", share=12)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_all_four_functions(shape, dtype):
    """Values and gradients agree with the formulas in float64, for short, long and no rows."""
    x, d = (3 * RNG.normal(size=shape)).astype(dtype), RNG.normal(size=shape).astype(dtype)
    y, logarithm = reference(x)
    close = {"rtol": 200 * np.finfo(dtype).eps, "atol": 200 * np.finfo(dtype).eps}
    np.testing.assert_allclose(BACKEND.softmax(x), y, **close)
    np.testing.assert_allclose(BACKEND.log_softmax(x), logarithm, **close)
    wanted = y * (d - (d * y).sum(-1, keepdims=True))
    np.testing.assert_allclose(BACKEND.softmax_backward(d, y.astype(dtype)), wanted, **close)
    wanted = d - y * d.sum(-1, keepdims=True, dtype=np.float64)
    np.testing.assert_allclose(BACKEND.log_softmax_backward(d, logarithm.astype(dtype)), wanted, **close)


def test_large_numbers_do_not_overflow():
    """Rows of very large and very small numbers have finite results; an infinite one gives nan, as in PyTorch."""
    x = np.array([[1e4, 1e4 - 1, -1e4], [-1e300, -1e300, -1e300], [0.0, -np.inf, 0.0]])
    np.testing.assert_allclose(BACKEND.softmax(x).sum(-1), 1.0)
    np.testing.assert_allclose(BACKEND.log_softmax(x)[0], [-0.31326169, -1.31326169, -20000.31326169])
    assert np.isnan(BACKEND.softmax(np.array([[np.inf, 1.0], [-np.inf, -np.inf], [np.nan, 1.0]]))).all()


def test_rows_in_any_layout():
    """A transposed array and a broadcast gradient are read correctly."""
    x = RNG.normal(size=(30, 20)).T
    y = BACKEND.softmax(x)
    np.testing.assert_allclose(y, reference(x)[0], rtol=1e-13)
    d = np.broadcast_to(RNG.normal(size=(1, 30)), (20, 30))
    np.testing.assert_allclose(BACKEND.softmax_backward(d, y), y * (d - (d * y).sum(-1, keepdims=True)), atol=1e-15)


def test_writing_past_the_caches(monkeypatch):
    """The streaming form of each function gives the same bits."""
    x, d = RNG.normal(size=(2, 300, 256))
    runs = [lambda: BACKEND.softmax(x), lambda: BACKEND.softmax_backward(d, x), lambda: BACKEND.log_softmax(x)]
    runs.append(lambda: BACKEND.log_softmax_backward(d, x))
    ordinary = [run() for run in runs]
    monkeypatch.setattr(softmax, "STREAM_FROM", 1)
    for run, wanted in zip(runs, ordinary, strict=True):
        np.testing.assert_array_equal(run(), wanted)
