"""Sets that need no download."""

from __future__ import annotations

import numpy as np

from minigrad import datasets
from minigrad.data.dataset import TensorDataset
from minigrad.tensors import creation

__all__ = ["digits", "points"]

TEST_DIGITS = 360
"""How many of the 1,797 digits are kept for tests."""


def points(name: str, n: int = 50, seed: int = 0) -> TensorDataset:
    """Return one of the problems in the unit square, see `minigrad.datasets`.

    Args:
        name: "simple", "diag", "split", "xor", "circle" or "spiral".
        n: How many points.
        seed: Where they lie.

    Returns:
        Points as float32 of shape (n, 2), and classes 0 or 1 as float32 of shape (n, 1), as
        `BCEWithLogitsLoss` takes them.

    >>> minigrad.data.points("xor", n=20)[0]
    (tensor([0.8444, 0.7580]), tensor([0.]))
    """
    found = datasets.load(name, n, seed)
    classes = np.asarray(found.y, np.float32).reshape(-1, 1)
    return TensorDataset(
        creation.from_numpy(np.asarray(found.X, np.float32).reshape(-1, 2)), creation.from_numpy(classes)
    )


def digits(train: bool = True, seed: int = 0) -> TensorDataset:
    """Return the handwritten digits that come with scikit-learn.

    Args:
        train: Whether to return the 1,437 digits for training or the 360 for tests.
        seed: Of the split.

    Returns:
        Images as float32 of shape (n, 1, 8, 8) between 0 and 1, and classes as int64 of shape (n,).

    Raises:
        ModuleNotFoundError: If scikit-learn is not installed.

    >>> images, classes = minigrad.data.digits().tensors
    >>> images.shape[1:], classes.ndim
    ((1, 8, 8), 1)
    """
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "digits: the images come with scikit-learn, which is not installed; run `pip install scikit-learn`"
        ) from None
    found = load_digits()
    order = np.random.default_rng(seed).permutation(len(found.target))
    chosen = order[TEST_DIGITS:] if train else order[:TEST_DIGITS]
    images = (found.images[chosen, None] / 16.0).astype(np.float32)
    return TensorDataset(creation.from_numpy(images), creation.from_numpy(found.target[chosen].astype(np.int64)))
