"""Stand-in variables: graphs made by hand, with derivatives written as numbers.

The visible tests of the engine use them, so that a check never depends on another exercise being done.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from minigrad.autodiff import Context, History

__all__ = ["Node", "constant", "leaf", "result"]

_numbers = itertools.count(1)


class _Asked:
    """Makes a method of which the truth value is no answer: a method is always true, called or not."""

    def __init__(self, function: Callable[[Any], bool]) -> None:
        self.__annotations__ = function.__annotations__
        self._function = function

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return _Method(self._function, instance) if instance is not None else self._function


class _Method:
    def __init__(self, function: Callable[[Any], bool], instance: Any) -> None:
        self._function, self._instance = function, instance

    def __call__(self) -> bool:
        return self._function(self._instance)

    def __bool__(self) -> bool:
        name = self._function.__name__
        error = TypeError(f"{name} is a method, and a method is always true: call it, {name}()")
        error.minigrad_hint = "without the () the method itself is asked, and not the variable"  # type: ignore[attr-defined]
        raise error


class Node:
    """A variable with given derivatives in its inputs. It speaks the `Variable` protocol.

    Attributes:
        name: What tests call it.
        slopes: The inputs, each with the derivative in it.
        varying: Those of `slopes` whose input is no constant.
        arrived: The arguments of `accumulate_derivative`.
        derivative: Their sum.
        received: The d_output of every step back.
    """

    def __init__(
        self, name: str, history: History | None, slopes: Sequence[tuple[Node, float]] = (), received: Any = None
    ) -> None:
        self.name = name
        self.history: History | None = history
        self.slopes = slopes
        self.varying = [(node, slope) for node, slope in slopes if node.history]
        self.unique_id = next(_numbers)
        self.arrived: list[Any] = []
        self.derivative: Any = None
        self.received: list[Any] = [] if received is None else received

    @property
    def parents(self) -> Sequence[Node]:
        """The inputs."""
        return self.history.inputs if self.history else ()

    @_Asked
    def is_leaf(self) -> bool:
        """Return whether the variable has a history without a function."""
        return self.history is not None and self.history.last_fn is None

    @_Asked
    def is_constant(self) -> bool:
        """Return whether the variable has no history."""
        return self.history is None

    def chain_rule(self, d_output: Any) -> list[tuple[Node, Any]]:
        """Return the inputs that are not constant with d_output times the given derivatives."""
        self.received.append(d_output)
        return [(node, d_output * slope) for node, slope in self.varying]

    def expand(self, d_output: Any) -> Any:
        """Return a derivative as it is: numbers have one shape."""
        return d_output

    def accumulate_derivative(self, x: object) -> None:
        """Add x to the derivative."""
        self.arrived.append(x)
        self.derivative = functools.reduce(operator.add, self.arrived)  # of a list that no Tensor has

    def __repr__(self) -> str:
        return self.name


class _Alike(Node):
    """A variable that equals every other of its kind, as Scalars of one value do; its hash is its own, as theirs is."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Alike)

    __hash__ = Node.__hash__


class _Slopes(Context):
    """The context of a stand-in: the given derivatives, and a note of every step back.

    Args:
        slopes: The derivative in each input.
    """

    def __init__(self, slopes: Sequence[float]) -> None:
        super().__init__()
        self.save_for_backward(*slopes)
        self.received: list[Any] = []


class _Given:
    """A function whose derivatives were given as numbers."""

    @staticmethod
    def backward(ctx: _Slopes, d_output: Any) -> Any:
        """Return one derivative bare and several as a tuple, as a function's own backward does."""
        derivatives = _Given._backward(ctx, d_output)
        return derivatives if len(derivatives) != 1 else derivatives[0]

    @staticmethod
    def _backward(ctx: _Slopes, d_output: object) -> tuple[Any, ...]:
        # Noted here and not in the variable: `chain_rule`, or whoever asks the function himself, comes by here.
        ctx.received.append(d_output)
        return tuple(d_output * slope for slope in ctx.saved_values)


class _Steps(History):
    """A history that takes the step back by itself, as that of MiniTorch of 2021 does."""

    def backprop_step(self, d_output: Any) -> list[tuple[Node, Any]]:
        """Return the inputs that are not constant with their derivatives."""
        pairs = zip(self.inputs, self.last_fn._backward(self.ctx, d_output), strict=True)
        return [(node, derivative) for node, derivative in pairs if node.history]


def leaf(name: str) -> Node:
    """Return a variable made by the user."""
    return Node(name, History())


def constant(name: str) -> Node:
    """Return a number that needs no derivative."""
    return Node(name, None)


def result(name: str, *inputs: tuple[Node, float], is_alike: bool = False) -> Node:
    """Return a variable computed from inputs, each with the derivative in it.

    Args:
        name: What tests call it.
        *inputs: The inputs, each with the derivative in it.
        is_alike: Whether `==` says that it equals all others made so, as it does of Scalars that have the same value.
    """
    ctx = _Slopes([slope for _, slope in inputs])
    kind = _Alike if is_alike else Node
    return kind(name, _Steps(_Given, ctx, [node for node, _ in inputs]), inputs, ctx.received)
