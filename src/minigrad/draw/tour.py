"""The network that the course ends with, ahead of time: a stand-in written with NumPy, its derivatives by hand.

It needs nothing of the library but the points, so that it runs before a single exercise is done. The course
replaces it piece by piece: by numbers that know where they came from, and derivatives that nobody works out by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minigrad.datasets import Points

__all__ = ["Frame", "Network", "train"]

Array: TypeAlias = NDArray[np.float64]


class Network:
    """Two numbers in, two hidden layers with ReLU, one probability out.

    Args:
        hidden: The number of units in each hidden layer.
        seed: Of the starting values.

    >>> from minigrad.draw.tour import Network
    >>> Network(hidden=4).predict(np.zeros((3, 2))).shape
    (3,)
    """

    def __init__(self, hidden: int = 16, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        sizes = [2, hidden, hidden, 1]
        self.weights = [rng.normal(0.0, np.sqrt(2.0 / n), (n, m)) for n, m in pairwise(sizes)]
        self.biases = [np.zeros(m) for m in sizes[1:]]

    def layers(self, inputs: ArrayLike) -> list[Array]:
        """Return the input, the output of every hidden layer, and the logits.

        Args:
            inputs: The points, of shape (n, 2), with coordinates in [0, 1].

        >>> from minigrad.draw.tour import Network
        >>> [layer.shape for layer in Network(hidden=4).layers(np.zeros((3, 2)))]
        [(3, 2), (3, 4), (3, 4), (3, 1)]
        """
        # Centred and widened, so that the first layer sees numbers around 0.
        values = [4.0 * (np.asarray(inputs, dtype=float) - 0.5)]
        last = len(self.weights) - 1
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            sums = values[-1] @ weight + bias
            values.append(sums if k == last else np.maximum(sums, 0.0))
        return values

    def predict(self, inputs: ArrayLike) -> Array:
        """Return the probability of class 1 for each point, of shape (n,).

        >>> from minigrad.draw.tour import Network
        >>> probabilities = Network(hidden=4).predict(np.array([[0.1, 0.9]]))
        >>> bool(0.0 < probabilities[0] < 1.0)
        True
        """
        logits = self.layers(inputs)[-1][:, 0]
        small = np.exp(-np.abs(logits))
        return np.where(logits >= 0.0, 1.0, small) / (1.0 + small)

    def gradients(self, inputs: Array, targets: Array) -> list[tuple[Array, Array]]:
        """Return the slope of the mean loss in every weight and bias, layer by layer: the chain rule, by hand.

        >>> from minigrad.draw.tour import Network
        >>> slopes = Network(hidden=4).gradients(np.zeros((3, 2)), np.array([0.0, 1.0, 1.0]))
        >>> len(slopes)
        3
        """
        values = self.layers(inputs)
        upstream = (self.predict(inputs) - targets)[:, None] / len(targets)  # of sigmoid and logarithm together
        slopes = []
        for k in reversed(range(len(self.weights))):
            slopes.append((values[k].T @ upstream, upstream.sum(axis=0)))
            upstream = (upstream @ self.weights[k].T) * (values[k] > 0.0)
        return slopes[::-1]


@dataclass(frozen=True)
class Frame:
    """A moment of the training.

    Attributes:
        step: How many steps were taken.
        loss: The mean loss over the points.
        correct: How many points are on the right side.
        network: The network as it was then.

    >>> from minigrad.draw import tour
    >>> frame = list(tour.train(minigrad.datasets.simple(20), steps=10, frames=2))[-1]
    >>> frame.step
    10
    """

    step: int
    loss: float
    correct: int
    network: Network


def train(points: Points, steps: int = 300, frames: int = 12, lr: float = 0.3, seed: int = 0) -> Iterator[Frame]:
    """Train a network by gradient descent, and stop now and then for a picture.

    Args:
        points: The data.
        steps: How many steps to take.
        frames: How many times to stop, the end included; the start comes on top.
        lr: The learning rate.
        seed: Of the starting values.

    Yields:
        The start, and a frame after every ``steps / frames`` steps.

    >>> from minigrad.draw import tour
    >>> frames = list(tour.train(minigrad.datasets.simple(20), steps=100, frames=3))
    >>> frames[-1].loss < frames[0].loss
    True
    """
    inputs, targets = np.array(points.X, dtype=float), np.array(points.y, dtype=float)
    network = Network(seed=seed)
    stops = {round(steps * k / frames) for k in range(frames + 1)}
    for step in range(steps + 1):
        if step in stops:
            yield _frame(step, network, inputs, targets)
        for k, (d_weight, d_bias) in enumerate(network.gradients(inputs, targets)):
            network.weights[k] = network.weights[k] - lr * d_weight
            network.biases[k] = network.biases[k] - lr * d_bias


def _frame(step: int, network: Network, inputs: Array, targets: Array) -> Frame:
    probabilities = network.predict(inputs)
    right = np.where(targets == 1.0, probabilities, 1.0 - probabilities)
    # A probability may round to 0, of which there is no logarithm.
    loss = float(-np.log(np.maximum(right, 1e-300)).mean())
    snapshot = Network()
    snapshot.weights, snapshot.biases = list(network.weights), list(network.biases)
    return Frame(step, loss, int((right > 0.5).sum()), snapshot)
