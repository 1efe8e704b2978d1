"""Sets that need no download."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from minigrad import datasets
from minigrad.data.dataset import TensorDataset
from minigrad.tensors import creation

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
    rows = np.loadtxt(_digits_of_scikit_learn(), delimiter=",")
    images, classes = rows[:, :-1].reshape(-1, 1, 8, 8), rows[:, -1]
    order = np.random.default_rng(seed).permutation(len(rows))
    chosen = order[TEST_DIGITS:] if train else order[:TEST_DIGITS]
    scaled = (images[chosen] / 16.0).astype(np.float32)
    return TensorDataset(creation.from_numpy(scaled), creation.from_numpy(classes[chosen].astype(np.int64)))


def _digits_of_scikit_learn() -> Path:
    """Return the file of `sklearn.datasets.load_digits`: for that alone, an import of it all would take seconds."""
    package = find_spec("sklearn")
    if package is None or package.origin is None:
        raise ModuleNotFoundError(
            "digits: the images come with scikit-learn, which is not installed; run `pip install scikit-learn`"
        )
    return Path(package.origin).parent / "datasets" / "data" / "digits.csv.gz"
