"""The programs that train networks, and one training from end to end. Written once, for PyTorch's names."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.tensors import numbers

__all__ = ["digits_epoch", "lenet_step", "mlp_epoch", "mlp_step", "train_on_digits"]

Run = Callable[[], object]
POINTS = 50
BATCH = 10


def mlp_epoch(library: Any) -> Run:
    """A network with two hidden layers of 100 units on the four quarters of a square, batches of 10, SGD."""
    return _mlp(library, 100, "float64", BATCH)


def mlp_step(hidden: int) -> Callable[[Any], Run]:
    """One step of that network with other hidden layers, in float32, on all points at once."""
    return lambda library: _mlp(library, hidden, "float32", POINTS)


def _mlp(library: Any, hidden: int, dtype: str, batch: int) -> Run:
    library.manual_seed(0)
    nn = library.nn
    layers = [nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1)]
    model = nn.Sequential(*layers).to(getattr(library, dtype))
    optimizer = library.optim.SGD(model.parameters(), lr=0.05)
    loss_of = nn.BCEWithLogitsLoss()
    points = numbers(POINTS, 2, dtype=dtype) / 2.0 + 0.5
    labels = ((points[:, :1] < 0.5) != (points[:, 1:] < 0.5)).astype(dtype)
    batches = [
        (library.from_numpy(points[k : k + batch]), library.from_numpy(labels[k : k + batch]))
        for k in range(0, POINTS, batch)
    ]

    def epoch() -> None:
        for x, y in batches:
            loss = loss_of(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return epoch


def lenet(library: Any, side: int, pooled: int) -> Any:
    """Two convolutions, a pooling, two linear layers, dropout between them."""
    nn = library.nn
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(4, 8, 3, padding=1),
        nn.ReLU(),
        nn.AvgPool2d(pooled),
        nn.Flatten(),
        nn.Linear(8 * (side // pooled) ** 2, 64),
        nn.ReLU(),
        nn.Dropout(0.25),
        nn.Linear(64, 10),
    )


def lenet_step(dtype: str) -> Callable[[Any], Run]:
    """One step of gradient descent on 16 images of 28 x 28."""

    def program(library: Any) -> Run:
        library.manual_seed(0)
        model = lenet(library, 28, 4).to(getattr(library, dtype))
        optimizer = library.optim.SGD(model.parameters(), lr=0.01)
        loss_of = library.nn.CrossEntropyLoss()
        x = library.from_numpy(numbers(16, 1, 28, 28, dtype=dtype))
        y = library.from_numpy(np.arange(16) % 10)

        def step() -> None:
            loss = loss_of(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        return step

    return program


class Digits:
    """LeNet on scikit-learn's digits: 1,437 images of 8 x 8 to learn from, 360 to be tested with.

    Args:
        library: minigrad or torch
        batch: how many images a step
    """

    def __init__(self, library: Any, batch: int = 32) -> None:
        from sklearn.datasets import load_digits

        digits = load_digits()
        order = np.random.default_rng(0).permutation(len(digits.target))
        images = (digits.images[order, None] / 16.0).astype("float32")
        labels = digits.target[order].astype("int64")
        self.library, self.batch = library, batch
        self.images, self.labels = images[:1437], labels[:1437]
        self.test = library.from_numpy(images[1437:]), labels[1437:]
        library.manual_seed(0)
        self.rng = np.random.default_rng(0)
        self.model = lenet(library, 8, 2)
        self.optimizer = library.optim.Adam(self.model.parameters(), lr=0.003)
        self.loss_of = library.nn.CrossEntropyLoss()

    def epoch(self) -> None:
        """Go once through the images in a new order."""
        order = self.rng.permutation(len(self.labels))
        from_numpy = self.library.from_numpy
        self.model.train()
        for k in range(0, len(order), self.batch):
            rows = order[k : k + self.batch]
            loss = self.loss_of(self.model(from_numpy(self.images[rows])), from_numpy(self.labels[rows]))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def accuracy(self) -> float:
        """Return the share of the test's images that are recognised."""
        self.model.eval()
        with self.library.no_grad():
            guesses = self.model(self.test[0]).numpy().argmax(1)
        return float((guesses == self.test[1]).mean())


def digits_epoch(library: Any) -> Run:
    """One epoch on the digits."""
    return Digits(library).epoch


def train_on_digits(library: Any, epochs: int = 15) -> dict[str, float]:
    """Train from the start; return the seconds and the accuracy on images that were not trained on."""
    task = Digits(library)
    start = time.perf_counter()
    for _ in range(epochs):
        task.epoch()
    return {"seconds": time.perf_counter() - start, "accuracy": task.accuracy()}
