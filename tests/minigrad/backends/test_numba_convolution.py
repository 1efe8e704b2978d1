"""Convolution and its gradients, against sums over windows written out."""

import numpy as np
import pytest

from minigrad.backends.numba import NumbaBackend

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


def test_nothing_to_convolve():
    """No images give no outputs, and gradients of zero for the weights."""
    weight = np.ones((4, 3, 3, 3))
    assert BACKEND.conv2d(np.zeros((0, 3, 8, 8)), weight).shape == (0, 4, 6, 6)
    assert BACKEND.conv2d_backward_input(np.zeros((0, 4, 6, 6)), weight, (8, 8)).shape == (0, 3, 8, 8)
    found = BACKEND.conv2d_backward_weight(np.zeros((0, 4, 6, 6)), np.zeros((0, 3, 8, 8)), (3, 3))
    np.testing.assert_array_equal(found, np.zeros_like(weight))
