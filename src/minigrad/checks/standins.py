"""Stand-in variables: graphs made by hand, with derivatives written as numbers.

The visible tests of the engine use them, so that a check never depends on another exercise being done.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from minigrad.autodiff import Context, History

__all__ = ["Node", "constant", "leaf", "result"]

_numbers = itertools.count(1)


class Node:
    """A variable whose derivatives in its inputs are given; it speaks the `Variable` protocol.

    Attributes:
        name: What tests call it.
        slopes: The inputs, each with the derivative in it.
        derivative: What `accumulate_derivative` has added up.
        received: Every d_output that `chain_rule` was called with.
    """

    def __init__(self, name: str, history: History | None, slopes: Sequence[tuple[Node, float]] = ()) -> None:
        self.name = name
        self.slopes = slopes
        self.unique_id = next(_numbers)
        self.history = history
        self.derivative: Any = None
        self.received: list[Any] = []

    @property
    def parents(self) -> Sequence[Node]:
        """The inputs."""
        return self.history.inputs if self.history else ()

    def is_leaf(self) -> bool:
        """Whether it has a history without a function."""
        return self.history is not None and self.history.last_fn is None

    def is_constant(self) -> bool:
        """Whether it has no history."""
        return self.history is None

    def chain_rule(self, d_output: Any) -> list[tuple[Node, Any]]:
        """Return the inputs that are not constant with d_output times the given derivatives."""
        self.received.append(d_output)
        return [(parent, d_output * slope) for parent, slope in self.slopes if not parent.is_constant()]

    def accumulate_derivative(self, x: Any) -> None:
        """Add x to the derivative."""
        self.derivative = x if self.derivative is None else self.derivative + x

    def __repr__(self) -> str:
        return self.name


class _Given:
    """A function whose derivatives were given as numbers."""

    @staticmethod
    def backward(ctx: Context, d_output: Any) -> Any:
        """Return one derivative bare and several as a tuple, as a function's own backward does."""
        derivatives = tuple(d_output * slope for slope in ctx.saved_values)
        return derivatives if len(derivatives) != 1 else derivatives[0]

    @staticmethod
    def _backward(ctx: Context, d_output: Any) -> tuple[Any, ...]:
        return tuple(d_output * slope for slope in ctx.saved_values)


def leaf(name: str) -> Node:
    """Return a variable made by the user."""
    return Node(name, History())


def constant(name: str) -> Node:
    """Return a number that needs no derivative."""
    return Node(name, None)


def result(name: str, *inputs: tuple[Node, float]) -> Node:
    """Return a variable computed from inputs, each with the derivative in it."""
    ctx = Context()
    ctx.save_for_backward(*(slope for _, slope in inputs))
    return Node(name, History(_Given, ctx, [node for node, _ in inputs]), inputs)
