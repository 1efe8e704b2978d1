"""The small networks of the playground: one set of numbers, trained by Scalars or by tensors.

`Numbers` are the weights and biases as arrays. A trainer is made of them and gives them back, so that training goes on
with another engine where the last one stopped. What a trainer calls is the library's present code.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from minigrad import backends, mlp, module, nn, optim
from minigrad.datasets import Points
from minigrad.scalar import Scalar
from minigrad.tensors.creation import tensor

ACTIVATIONS = ("relu", "tanh", "sigmoid")
OPTIMIZERS = ("SGD", "Adam")
ENGINES = ("scalar", "tensor python", "tensor numba")

Array = npt.NDArray[np.float64]

_ON_ARRAYS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0.0),
    "tanh": np.tanh,
    "sigmoid": lambda x: 0.5 + 0.5 * np.tanh(0.5 * x),
}


@dataclass(frozen=True)
class Numbers:
    """The numbers of a network with two inputs and one output.

    Attributes:
        weights: For each layer an array of shape (inputs, outputs).
        biases: For each layer an array of shape (outputs,).
        activation: What stands between the layers.
    """

    weights: Sequence[Array]
    biases: Sequence[Array]
    activation: str

    @classmethod
    def fresh(cls, hidden: Sequence[int], activation: str, seed: int) -> Numbers:
        """Return starting values: uniform within one over the root of a layer's number of inputs.

        Args:
            hidden: The units of each hidden layer.
            activation: One of `ACTIVATIONS`.
            seed: Of the values.
        """
        rng, sizes = np.random.default_rng(seed), [2, *hidden, 1]
        bounds = [1.0 / math.sqrt(n) for n in sizes[:-1]]
        weights = [rng.uniform(-b, b, (n, m)) for n, m, b in zip(sizes[:-1], sizes[1:], bounds, strict=True)]
        return cls(weights, [rng.uniform(-b, b, m) for m, b in zip(sizes[1:], bounds, strict=True)], activation)

    def predict(self, places: Array) -> Array:
        """Return the probability of class 1 at each of n places, an array of shape (n, 2)."""
        values = centered(places)
        for k, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = (values if k == 0 else _ON_ARRAYS[self.activation](values)) @ weights + biases
        return 0.5 + 0.5 * np.tanh(0.5 * values[:, 0])

    def raster(self, n: int = 40) -> Array:
        """Return the probability of class 1 over the unit square: n by n values, the top row first."""
        middles = (np.arange(n) + 0.5) / n
        across, up = np.meshgrid(middles, middles[::-1])
        return self.predict(np.stack([across.ravel(), up.ravel()], axis=1)).reshape(n, n)


def centered(places: object) -> Array:
    """Move points of the unit square to [-2, 2]: around 0, networks start to learn sooner.

    >>> from minigrad.widgets.networks import centered
    >>> centered(np.array([[0.0, 0.5], [1.0, 0.75]]))
    array([[-2.,  0.],
           [ 2.,  1.]])
    """
    return 4.0 * (np.asarray(places, dtype=np.float64) - 0.5)


@dataclass(frozen=True)
class Step:
    """The results of one step of training.

    Attributes:
        loss: The mean loss over the points, before the step.
        correct: How many points were on the right side, before the step.
    """

    loss: float
    correct: int


class Trainer(Protocol):
    """Something that trains a network."""

    def step(self, rate: float) -> Step:
        """Take one step of the optimizer, over all points."""

    def numbers(self) -> Numbers:
        """Return the network's numbers."""


def trainer(engine: str, numbers: Numbers, points: Points, optimizer: str) -> Trainer:
    """Return a trainer.

    Args:
        engine: One of `ENGINES`.
        numbers: To begin with.
        points: The data.
        optimizer: One of `OPTIMIZERS`.
    """
    if engine == "scalar":
        return ScalarTrainer(numbers, points, optimizer)
    return TensorTrainer(engine.removeprefix("tensor "), numbers, points, optimizer)


class ScalarTrainer:
    """Trains with the layers, the loss and the gradient descent of `minigrad.mlp`, one number at a time."""

    def __init__(self, numbers: Numbers, points: Points, optimizer: str) -> None:
        self._activation = numbers.activation
        self._layers = [_linear(*pair) for pair in zip(numbers.weights, numbers.biases, strict=True)]
        self._parameters = [p for layer in self._layers for p in (*_flat(layer.weights), *layer.biases)]
        self._adam = _Adam(self._parameters) if optimizer == "Adam" else None
        self._places = [[float(v) for v in place] for place in centered(points.X)]
        self._classes = points.y

    def step(self, rate: float) -> Step:
        """Take one step of the optimizer, over all points."""
        descent = mlp.SGD(self._parameters, rate)
        descent.zero_grad()
        logits = [self._logit(place) for place in self._places]
        losses = [mlp.binary_cross_entropy(z, y) for z, y in zip(logits, self._classes, strict=True)]
        total = losses[0]
        for loss in losses[1:]:
            total = total + loss
        mean = total / float(len(losses))
        mean.backward()
        (self._adam or descent).step(*([rate] if self._adam else []))
        correct = sum((z.data > 0.0) == bool(y) for z, y in zip(logits, self._classes, strict=True))
        return Step(mean.data, correct)

    def _logit(self, place: Sequence[float]) -> Any:
        values: Sequence[Any] = place
        for k, layer in enumerate(self._layers):
            values = layer.forward(values if k == 0 else [getattr(value, self._activation)() for value in values])
        return values[0]

    def numbers(self) -> Numbers:
        """Return the network's numbers."""
        weights = [np.array([[p.value.data for p in row] for row in layer.weights]) for layer in self._layers]
        biases = [np.array([p.value.data for p in layer.biases]) for layer in self._layers]
        return Numbers(weights, biases, self._activation)


def _linear(weights: Array, biases: Array) -> mlp.Linear:
    layer = mlp.Linear(len(weights), len(biases), random.Random(0))
    for parameter, value in zip((*_flat(layer.weights), *layer.biases), (*weights.flat, *biases), strict=True):
        parameter.update(Scalar(float(value)))
    return layer


def _flat(rows: Sequence[Sequence[module.Parameter]]) -> list[module.Parameter]:
    return [parameter for row in rows for parameter in row]


class _Adam:
    """Adam for parameters that hold Scalars. For tensors see `minigrad.optim.Adam`.

    Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, algorithm 1.
    """

    def __init__(self, parameters: Sequence[module.Parameter]) -> None:
        self._parameters = parameters
        self._means = [[0.0, 0.0] for _ in parameters]
        self._steps = 0

    def step(self, rate: float, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8) -> None:
        """Move each parameter by its mean gradient over the root of its mean squared gradient."""
        self._steps += 1
        for parameter, means in zip(self._parameters, self._means, strict=True):
            weight = parameter.value
            if weight.grad is None:
                continue
            means[0] = beta1 * means[0] + (1.0 - beta1) * weight.grad
            means[1] = beta2 * means[1] + (1.0 - beta2) * weight.grad**2
            mean, square = means[0] / (1.0 - beta1**self._steps), means[1] / (1.0 - beta2**self._steps)
            parameter.update(Scalar(weight.data - rate * mean / (math.sqrt(square) + eps)))


class TensorTrainer:
    """Trains with `minigrad.nn` and `minigrad.optim` on a backend."""

    def __init__(self, backend: str, numbers: Numbers, points: Points, optimizer: str) -> None:
        self._backend = backend
        self._activation = numbers.activation
        with backends.backend(backend):
            self._layers = [nn.Linear(*weights.shape) for weights in numbers.weights]
            for layer, weights, biases in zip(self._layers, numbers.weights, numbers.biases, strict=True):
                state = {"weight": tensor(weights.T.tolist()), "bias": tensor(biases.tolist())}
                layer.load_state_dict(state)
            self._x = tensor(centered(points.X).tolist())
            self._y = tensor([[float(y)] for y in points.y])
        parameters = [p for layer in self._layers for p in layer.parameters()]
        self._optimizer: Any = getattr(optim, optimizer)(parameters, lr=0.1)

    def step(self, rate: float) -> Step:
        """Take one step of the optimizer, over all points."""
        with backends.backend(self._backend):
            self._optimizer.param_groups[0]["lr"] = rate
            self._optimizer.zero_grad()
            values: Any = self._x
            for k, layer in enumerate(self._layers):
                values = layer(values if k == 0 else getattr(values, self._activation)())
            loss = nn.functional.binary_cross_entropy_with_logits(values, self._y)
            loss.backward()
            self._optimizer.step()
            sides = (values.detach().numpy() > 0.0) == (self._y.numpy() > 0.5)
            return Step(float(loss.item()), int(sides.sum()))

    def numbers(self) -> Numbers:
        """Return the network's numbers."""
        weights = [layer.weight.detach().numpy().T.astype(np.float64) for layer in self._layers]
        biases = [layer.state_dict()["bias"].numpy().astype(np.float64) for layer in self._layers]
        return Numbers(weights, biases, self._activation)
