"""A network of scalars: layers, a loss, gradient descent, and the loop that trains them.

Everything here is made of `Scalar` operations, one number at a time. That is slow, and shows each step.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from minigrad import functions
from minigrad.datasets import Points
from minigrad.module import Module, Parameter
from minigrad.scalar import Scalar

__all__ = ["MLP", "SGD", "Epoch", "Linear", "binary_cross_entropy", "fit"]


class Linear(Module):
    """A linear layer: output j is bias_j plus the sum over i of weight_ij * input_i.

    Args:
        in_size: The number of inputs.
        out_size: The number of outputs.
        rng: Where the starting values come from.

    Attributes:
        weights: The parameters ``weight_i_j`` as ``weights[i][j]``, each starting in
            [-1, 1).
        biases: The parameters ``bias_j`` as ``biases[j]``, likewise.
    """

    def __init__(self, in_size: int, out_size: int, rng: random.Random) -> None:
        super().__init__()

        def parameter(name: str) -> Parameter:
            return self.add_parameter(name, Scalar(2.0 * (rng.random() - 0.5)))

        ### BEGIN SOLUTION
        self.weights = [[parameter(f"weight_{i}_{j}") for j in range(out_size)] for i in range(in_size)]
        self.biases = [parameter(f"bias_{j}") for j in range(out_size)]
        ### END SOLUTION

    def forward(self, inputs: Sequence[Any]) -> list[Any]:
        """Compute the outputs.

        Args:
            inputs: in_size numbers or Scalars.

        Returns:
            out_size Scalars.
        """
        ### BEGIN SOLUTION
        columns = zip(*self.weights, strict=True)
        return [
            functions.dot([weight.value for weight in column], inputs, bias.value)
            for column, bias in zip(columns, self.biases, strict=True)
        ]
        ### END SOLUTION


class SGD:
    """Gradient descent: every step moves each parameter a little against its gradient.

    Args:
        parameters: The parameters to train, each with a `Scalar` as ``value``.
        lr: The learning rate: the length of a step for a gradient of 1.
    """

    def __init__(self, parameters: Sequence[Parameter], lr: float = 0.5) -> None:
        self.parameters = parameters
        self.lr = lr

    def zero_grad(self) -> None:
        """Set the gradient of every parameter to None, for the next backward pass."""
        ### BEGIN SOLUTION
        for parameter in self.parameters:
            parameter.value.grad = None
        ### END SOLUTION

    def step(self) -> None:
        """Give every parameter that has a gradient a new value.

        That is a fresh leaf at data - lr * grad.
        """
        ### BEGIN SOLUTION
        for parameter in self.parameters:
            value = parameter.value
            if value.grad is not None:
                parameter.update(Scalar(value.data - self.lr * value.grad))
        ### END SOLUTION


class MLP(Module):
    """A multi-layer perceptron: linear layers with ReLU between them, and one output.

    Args:
        sizes: The number of inputs, then of units in each hidden layer, for example ``(2, 16, 16)``.
        seed: Of the starting values.

    >>> model = minigrad.mlp.MLP((2, 4), seed=0)
    >>> len(model.parameters())  # 2 * 4 weights and 4 biases, then 4 weights and 1 bias
    17
    """

    def __init__(self, sizes: Sequence[int] = (2, 8, 8), seed: int = 0) -> None:
        super().__init__()
        rng = random.Random(seed)
        self.depth = len(sizes)
        for k, (n, m) in enumerate(zip(sizes, [*sizes[1:], 1], strict=True)):
            setattr(self, f"layer{k}", Linear(n, m, rng))

    def forward(self, inputs: Sequence[Any]) -> Any:
        """Return the logit of class 1: a Scalar that is positive where class 1 is more likely.

        >>> model = minigrad.mlp.MLP((2, 4), seed=0)
        >>> type(model([0.1, 0.9])).__name__
        'Scalar'
        """
        values: Sequence[Any] = inputs
        for k in range(self.depth):
            values = getattr(self, f"layer{k}").forward(values)
            if k < self.depth - 1:
                values = [value.relu() for value in values]
        return values[0]


def binary_cross_entropy(logit: Any, target: int) -> Any:
    """Return -log of the probability that the logit gives to the target, without overflow.

    With z the logit and p = sigmoid(z), this is -log p for target 1 and -log(1 - p) for target 0. Both equal
    log(1 + e^z) - z * target, and log(1 + e^z) = z + log(1 + e^-z): the form whose exponent is negative is used.

    >>> loss = minigrad.mlp.binary_cross_entropy(minigrad.Scalar(0.0), 1)
    >>> round(loss.item(), 4)
    0.6931
    """
    if logit > 0.0:
        return logit * (1.0 - target) + functions.log(1.0 + functions.exp(-logit))
    return functions.log(1.0 + functions.exp(logit)) - logit * float(target)


@dataclass(frozen=True)
class Epoch:
    """The results of one pass over the data.

    Attributes:
        number: Counted from 1.
        loss: The mean loss over the points, before the step.
        correct: How many points were on the right side, before the step.

    >>> model, points = minigrad.mlp.MLP((2, 2), seed=0), minigrad.datasets.simple(8)
    >>> [epoch.number for epoch in minigrad.mlp.fit(model, points, epochs=2)]
    [1, 2]
    """

    number: int
    loss: float
    correct: int


def fit(model: Module, points: Points, epochs: int = 100, lr: float = 0.5) -> Iterator[Epoch]:
    """Train by gradient descent on all points, and yield after every epoch.

    Args:
        model: Maps a point to a logit.
        points: The data.
        epochs: How many steps to take.
        lr: The learning rate.

    >>> model, points = minigrad.mlp.MLP((2, 2), seed=0), minigrad.datasets.simple(8)
    >>> epochs = list(minigrad.mlp.fit(model, points, epochs=3))
    >>> epochs[-1].loss < epochs[0].loss
    True
    """
    for number in range(1, epochs + 1):
        optimizer = SGD(model.parameters(), lr)
        optimizer.zero_grad()
        logits = [model(x) for x in points.X]
        losses = [binary_cross_entropy(z, y) for z, y in zip(logits, points.y, strict=True)]
        total = losses[0]
        for loss in losses[1:]:
            total = total + loss
        mean = total / float(len(points))
        mean.backward()
        optimizer.step()
        correct = sum((z.data > 0.0) == bool(y) for z, y in zip(logits, points.y, strict=True))
        yield Epoch(number, mean.data, correct)
