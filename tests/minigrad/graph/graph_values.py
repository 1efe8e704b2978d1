"""Random tensors for tests of graphs, and a comparison of trees of them."""

import numpy as np

import minigrad as mg
from minigrad.transforms import tree_leaves

RNG = np.random.default_rng(0)


def tensor(*shape, dtype=mg.float64, scale=1.0):
    return mg.tensor(RNG.normal(size=shape) * scale, dtype=dtype)


def assert_close(found, wanted, tolerance=None):
    for x, y in zip(tree_leaves(found), tree_leaves(wanted), strict=True):
        x, y = (np.asarray(each.detach().numpy() if isinstance(each, mg.Tensor) else each) for each in (x, y))
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        limit = tolerance or (2e-5 if x.dtype == np.float32 else 1e-10)
        np.testing.assert_allclose(x * 1.0, y * 1.0, rtol=limit, atol=limit)
