"""The scalar programs, each written once for minigrad's Scalar and for micrograd's Value."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from micrograd import nn

from minigrad import datasets, mlp

__all__ = ["CHAIN", "POINTS", "Micrograd", "Minigrad", "chain", "deep_recursion", "expression"]

CHAIN = 100_000
POINTS = 100


def expression(number: type[Any]) -> tuple[float, float, float]:
    """Differentiate the expression of micrograd's README; return its value and the two derivatives."""
    a, b = number(-4.0), number(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    g.backward()
    return g.data, a.grad, b.grad


def chain(number: type[Any], length: int = CHAIN) -> tuple[float, float]:
    """Differentiate a chain of multiplications by a number and additions of a variable."""
    x = number(1.0)
    y = x
    for _ in range(length // 2):
        y = y * 0.9999 + x
    y.backward()
    return y.data, x.grad


@contextmanager
def deep_recursion(limit: int = 1_000_000) -> Iterator[None]:
    """Allow deep recursion, which micrograd's sort needs; the thread must have a stack that is large enough."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class Minigrad:
    """A network 2-16-16-1 of minigrad and one step of gradient descent on a hinge loss."""

    def __init__(self, points: int = POINTS) -> None:
        self.points = datasets.xor(points)
        self.model = mlp.MLP((2, 16, 16), seed=0)

    def step(self) -> float:
        """Forward, backward, step; return the loss."""
        optimizer = mlp.SGD(self.model.parameters(), lr=0.05)
        optimizer.zero_grad()
        losses = [
            (1.0 - (2.0 * y - 1.0) * self.model(x)).relu() for x, y in zip(self.points.X, self.points.y, strict=True)
        ]
        loss = sum(losses[1:], losses[0]) * (1.0 / len(losses))
        loss.backward()
        optimizer.step()
        return float(loss.data)


class Micrograd:
    """The same network of micrograd, and the same step, with the same starting values."""

    def __init__(self, points: int = POINTS) -> None:
        random.seed(0)
        self.points = datasets.xor(points)
        self.model = nn.MLP(2, [16, 16, 1])
        for theirs, ours in zip(self.model.layers, mlp.MLP((2, 16, 16), seed=0).modules(), strict=True):
            for j, neuron in enumerate(theirs.neurons):
                neuron.b.data = ours.biases[j].value.data
                for i, weight in enumerate(neuron.w):
                    weight.data = ours.weights[i][j].value.data

    def step(self) -> float:
        """Forward, backward, step; return the loss."""
        self.model.zero_grad()
        losses = [
            (1.0 - (2.0 * y - 1.0) * self.model(list(x))).relu()
            for x, y in zip(self.points.X, self.points.y, strict=True)
        ]
        loss = sum(losses[1:], losses[0]) * (1.0 / len(losses))
        loss.backward()
        for parameter in self.model.parameters():
            parameter.data -= 0.05 * parameter.grad
        return float(loss.data)
