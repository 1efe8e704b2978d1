"""Convolution and its gradients, against sums over windows written out."""

import numpy as np
import pytest

from minigrad.backends.numba import NumbaBackend, convolution, convolution_kernels, tiles

BACKEND = NumbaBackend()
ONE = (1, 1)
# size, kernel, stride, padding, dilation, groups, (n, c, o)
CASES = [
    ((8, 9), (3, 3), ONE, (0, 0), ONE, 1, (2, 3, 4)),
    ((8, 9), (3, 3), ONE, (1, 1), ONE, 1, (2, 3, 5)),
    ((11, 12), (3, 2), (2, 3), (1, 2), ONE, 2, (3, 4, 6)),
    ((11, 12), (3, 3), (2, 2), (2, 0), (2, 1), 1, (2, 2, 3)),
    ((1, 50), (1, 5), (1, 2), (0, 2), ONE, 1, (2, 3, 4)),
    ((9, 9), ONE, (2, 2), (0, 0), ONE, 1, (2, 3, 4)),
    ((20, 70), (5, 5), ONE, (2, 2), ONE, 3, (2, 6, 9)),
    ((7, 7), (3, 3), (3, 3), (4, 4), ONE, 1, (1, 1, 1)),
    ((6, 6), (3, 3), ONE, (0, 0), ONE, 4, (2, 4, 4)),
    ((5, 5), (2, 2), ONE, (3, 3), (3, 3), 1, (1, 2, 2)),
    ((60, 40), (3, 3), ONE, (1, 1), ONE, 1, (40, 2, 3)),
    ((6, 7), (3, 3), ONE, (1, 1), ONE, 1, (20, 3, 13)),
    ((2, 1500), (2, 3), ONE, (0, 1), ONE, 1, (2, 1, 9)),
    ((9, 30), (3, 3), (2, 2), (1, 1), ONE, 2, (9, 20, 22)),
]


def sums(case, rng):
    """Return x, w, d, and what the three functions give: y, dx, dw, tap by tap."""
    (h, w), (kh, kw), (down, right), (top, left), (far, wide), groups, (n, c, o) = case
    x, weight = rng.normal(size=(n, c, h, w)), rng.normal(size=(o, c // groups, kh, kw))
    rows = (h + 2 * top - far * (kh - 1) - 1) // down + 1
    columns = (w + 2 * left - wide * (kw - 1) - 1) // right + 1
    d = rng.normal(size=(n, o, rows, columns))
    padded = np.pad(x, ((0, 0), (0, 0), (top, top), (left, left)))
    y, dx, dw = np.zeros_like(d), np.zeros_like(padded), np.zeros_like(weight)
    for group in range(groups):
        ins, outs = (
            slice(group * c // groups, (group + 1) * c // groups),
            slice(group * o // groups, (group + 1) * o // groups),
        )
        for i, j in np.ndindex(kh, kw):
            at = (slice(i * far, i * far + down * (rows - 1) + 1, down),)
            at += (slice(j * wide, j * wide + right * (columns - 1) + 1, right),)
            seen = padded[:, ins][(..., *at)]
            y[:, outs] += np.einsum("oc,nchw->nohw", weight[outs, :, i, j], seen)
            dx[:, ins][(..., *at)] += np.einsum("oc,nohw->nchw", weight[outs, :, i, j], d[:, outs])
            dw[outs, :, i, j] += np.einsum("nohw,nchw->oc", d[:, outs], seen)
    return x, weight, d, y, dx[:, :, top : top + h, left : left + w], dw


@pytest.mark.full("kernels are compiled for each convolution", share=24)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_three_functions(case, dtype):
    """Strides, padding, dilation and groups, in all sorts of sizes."""
    x, weight, d, y, dx, dw = sums(case, np.random.default_rng(17))
    settings = case[2:6]
    x, weight, d = x.astype(dtype), weight.astype(dtype), d.astype(dtype)
    close = {"rtol": 1e4 * np.finfo(dtype).eps, "atol": 500 * np.finfo(dtype).eps}
    np.testing.assert_allclose(BACKEND.conv2d(x, weight, *settings), y, **close)
    np.testing.assert_allclose(BACKEND.conv2d_backward_input(d, weight, case[0], *settings), dx, **close)
    np.testing.assert_allclose(BACKEND.conv2d_backward_weight(d, x, case[1], *settings), dw, **close)


@pytest.mark.full("kernels are compiled for each kind of processor", share=4)
@pytest.mark.parametrize("registers", [(16, 16), (16, 32), (32, 16), (64, 32)], ids=str)
def test_registers_of_other_processors(registers, monkeypatch):
    """However long vectors are, and however many fit: outputs, terms and positions that are no multiple of a tile."""
    monkeypatch.setattr(tiles, "registers", lambda features: registers)
    caches = [
        convolution_kernels.tile,
        *(getattr(convolution, f"_of_{name}") for name in ("windows", "input", "weight")),
    ]
    for cached in caches:
        cached.cache_clear()
    try:
        for case in (CASES[1], CASES[-3]):
            x, weight, d, y, dx, dw = (a.astype(np.float32) for a in sums(case, np.random.default_rng(29)))
            np.testing.assert_allclose(BACKEND.conv2d(x, weight, *case[2:6]), y, rtol=1e-4, atol=1e-4)
            found = BACKEND.conv2d_backward_input(d, weight, case[0], *case[2:6])
            np.testing.assert_allclose(found, dx, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(
                BACKEND.conv2d_backward_weight(d, x, case[1], *case[2:6]), dw, rtol=1e-4, atol=1e-4
            )
    finally:
        for cached in caches:
            cached.cache_clear()


def test_long_sums_in_float32():
    """Sums of thousands of products, and of half a million for a weight, are added by blocks."""
    rng = np.random.default_rng(31)
    x, d = rng.random((64, 1, 92, 92), np.float32), rng.random((64, 2, 90, 90), np.float32)
    found = BACKEND.conv2d_backward_weight(d, x, (3, 3))
    exact = BACKEND.conv2d_backward_weight(d.astype(np.float64), x.astype(np.float64), (3, 3))
    np.testing.assert_allclose(found, exact, rtol=2.5e-7)
    x, weight = rng.random((1, 256, 20, 20), np.float32), rng.random((4, 256, 3, 3), np.float32)
    exact = BACKEND.conv2d(x.astype(np.float64), weight.astype(np.float64))
    np.testing.assert_allclose(BACKEND.conv2d(x, weight), exact, rtol=5e-7)


def test_arrays_in_any_layout():
    """Permuted inputs give the same as their copies."""
    x, weight, d, y, dx, dw = sums(CASES[1], np.random.default_rng(19))
    x, weight, d = (np.ascontiguousarray(a.transpose(2, 3, 0, 1)).transpose(2, 3, 0, 1) for a in (x, weight, d))
    settings = CASES[1][2:6]
    np.testing.assert_allclose(BACKEND.conv2d(x, weight, *settings), y, atol=1e-12)
    np.testing.assert_allclose(BACKEND.conv2d_backward_input(d, weight, (8, 9), *settings), dx, atol=1e-12)
    np.testing.assert_allclose(BACKEND.conv2d_backward_weight(d, x, (3, 3), *settings), dw, atol=1e-12)


def test_infinities_stay_in_their_windows():
    """An infinite pixel reaches the outputs, and the weights' gradients, of its own windows only."""
    x, weight, d, *_ = sums(CASES[0], np.random.default_rng(23))
    x[0, 0, 3, 0] = np.inf  # in the first column: no window has it on its right
    y = BACKEND.conv2d(x, weight)
    assert np.isfinite(y[0, :, :, 1:]).all() and np.isinf(y[0, :, 1:4, 0]).all() and np.isfinite(y[1]).all()
    dw = BACKEND.conv2d_backward_weight(d, x, (3, 3))
    assert np.isfinite(dw[:, 0, :, 1:]).all() and np.isinf(dw[:, 0, :, 0]).all() and np.isfinite(dw[:, 1:]).all()


@pytest.mark.parametrize("case", [CASES[1], CASES[2], CASES[3]], ids=str)
def test_infinite_weights_stay_in_their_windows(case):
    """An infinite weight reaches the gradients of the pixels that it is multiplied with, at the border too."""
    _, weight, d, *_ = sums(case, np.random.default_rng(37))
    weight[0, 0, 0, 0] = np.inf
    touched = np.zeros_like(weight)
    touched[0, 0, 0, 0] = 1.0
    reached = BACKEND.conv2d_backward_input(np.abs(d), touched, case[0], *case[2:6]) > 0.0
    dx = BACKEND.conv2d_backward_input(np.abs(d), weight, case[0], *case[2:6])
    assert reached.any()
    assert np.isposinf(dx[reached]).all()
    finite = BACKEND.conv2d_backward_input(np.abs(d), np.where(np.isinf(weight), 0.0, weight), case[0], *case[2:6])
    np.testing.assert_allclose(dx[~reached], finite[~reached], atol=1e-12)


def test_nothing_to_convolve():
    """No images give no outputs, and gradients of zero for the weights."""
    weight = np.ones((4, 3, 3, 3))
    assert BACKEND.conv2d(np.zeros((0, 3, 8, 8)), weight).shape == (0, 4, 6, 6)
    assert BACKEND.conv2d_backward_input(np.zeros((0, 4, 6, 6)), weight, (8, 8)).shape == (0, 3, 8, 8)
    found = BACKEND.conv2d_backward_weight(np.zeros((0, 4, 6, 6)), np.zeros((0, 3, 8, 8)), (3, 3))
    np.testing.assert_array_equal(found, np.zeros_like(weight))
    assert BACKEND.conv2d(np.zeros((2, 3, 5, 0)), np.ones((4, 3, 1, 1))).shape == (2, 4, 5, 0)
    assert not BACKEND.conv2d(np.zeros((2, 0, 5, 5)), np.ones((4, 0, 3, 3))).any()
