"""The tiled matrix product equals the exercise's kernel."""

import numpy as np
import pytest

from minigrad.tiling import COLUMNS, INNER, ROWS, tiled_matrix_multiply


def described(array):
    """Return storage, shape and strides of a batch of matrices, as kernels take them."""
    strides = np.array([s // array.itemsize for s in array.strides], np.int64)
    flat = array.base if array.base is not None else array
    return flat.reshape(-1), np.array(array.shape, np.int64), strides


@pytest.mark.parametrize(
    ("batch", "rows", "inner", "columns"),
    [
        (1, 1, 1, 1),
        (2, 3, 5, 7),
        (1, ROWS + 1, INNER + 3, COLUMNS + 2),
        (1, 2 * ROWS, INNER, COLUMNS),
        (3, 5, 0, 4),
        (0, 2, 2, 2),
    ],
)
@pytest.mark.full("a product is compiled", share=4)
def test_tiles_of_any_size(batch, rows, inner, columns):
    """Within a tile, beyond one, at its edge and with nothing to add up, the product is NumPy's."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(batch, rows, inner)), rng.normal(size=(1, inner, columns))
    out = np.full((batch, rows, columns), np.nan)
    tiled_matrix_multiply(*described(out), *described(a), *described(b))
    assert np.allclose(out, a @ b)


def test_any_strides():
    """Transposed factors and a transposed output are read and written where they stand."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(1, 9, 70)).transpose(0, 2, 1), rng.normal(size=(1, 30, 9)).transpose(0, 2, 1)
    out = np.zeros((1, 30, 70)).transpose(0, 2, 1)
    tiled_matrix_multiply(*described(out), *described(a), *described(b))
    assert np.allclose(out, a @ b)
