"""Variables that take notes while the library's present engine runs over them, for pictures of its steps.

The engine is given stand-ins, which speak the `Variable` protocol and ask the variables behind them. So a student's own
`backpropagate`, `topological_sort` and `chain_rule` are watched at work, and the variables' own ``grad`` stays.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from minigrad import autodiff

LARGEST = 120
"""Nodes in a picture that can still be read."""


@dataclass(frozen=True)
class Visit:
    """One step of an engine.

    Attributes:
        key: The variable's unique id.
        arrived: The derivative that the step was taken with, or that a leaf received.
        handed: The inputs that got a gradient from it, by unique id, with that gradient.
    """

    key: int
    arrived: Any
    handed: tuple[tuple[int, Any], ...]


@dataclass(eq=False)  # two variables are two, and can be put into a set
class Watched:
    """A variable as the engine sees it while it is drawn: it speaks the `Variable` protocol, and takes notes.

    Attributes:
        variable: The variable itself, which stays untouched.
        parents: The watched inputs.
        arrived: The gradient of each step back, or the gradient that a leaf has received.
        handed: For each step back, the inputs and their gradients.
        visits: The steps at all variables of the graph, in order, in one list that they share.

    >>> from minigrad.draw.watching import watch
    >>> x = minigrad.Scalar(3.0)
    >>> [watched.is_leaf() for watched in watch(x * x).values()]
    [False, True]
    """

    variable: Any
    graph: dict[int, Watched]
    parents: list[Watched] = field(default_factory=list)
    arrived: list[Any] = field(default_factory=list)
    handed: list[list[tuple[int, Any]]] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)

    @property
    def unique_id(self) -> int:
        """The variable's own."""
        return int(self.variable.unique_id)

    @property
    def history(self) -> Any:
        """The history with the watched inputs, and a function that takes notes when it is asked directly."""
        history = self.variable.history
        if history is None or history.last_fn is None:
            return history
        return autodiff.History(_Noted(self, history.last_fn), history.ctx, self.parents)

    def is_leaf(self) -> bool:
        """As the variable says."""
        return bool(self.variable.is_leaf())

    def is_constant(self) -> bool:
        """As the variable says."""
        return bool(self.variable.is_constant())

    def accumulate_derivative(self, x: object) -> None:
        """Keep the gradient that a leaf would have added to its derivative."""
        self._note(x, [])

    def chain_rule(self, d_output: object) -> Iterable[tuple[Watched, Any]]:
        """Let the variable take a step back, and keep its derivatives."""
        pairs = [
            (self.graph.get(parent.unique_id) or Watched(parent, self.graph, visits=self.visits), derivative)
            for parent, derivative in self.variable.chain_rule(d_output)
        ]
        self._note(d_output, [(parent.unique_id, derivative) for parent, derivative in pairs])
        return pairs

    def note(self, d_output: object, derivatives: Iterable[Any]) -> None:
        """Keep d_output and the derivatives that a step back made of it, one for each input."""
        pairs = zip(self.parents, derivatives, strict=False)
        self._note(d_output, [(parent.unique_id, d) for parent, d in pairs if not parent.is_constant()])

    def _note(self, arrived: object, handed: list[tuple[int, Any]]) -> None:
        arrived, handed = _kept(arrived), [(key, _kept(derivative)) for key, derivative in handed]
        self.arrived.append(arrived)
        if not self.is_leaf():
            self.handed.append(handed)
        self.visits.append(Visit(self.unique_id, arrived, tuple(handed)))


@dataclass(frozen=True)
class _Noted:
    """The function of a watched variable, for engines that go to it without the variable's `chain_rule`."""

    node: Watched
    function: Any

    def _backward(self, ctx: object, d_output: object) -> tuple[Any, ...]:
        derivatives = tuple(self.function._backward(ctx, d_output))
        self.node.note(d_output, derivatives)
        return derivatives

    def backward(self, ctx: Any, d_output: Any) -> Any:
        derivatives = self.function.backward(ctx, d_output)
        self.node.note(d_output, derivatives if isinstance(derivatives, tuple) else (derivatives,))
        return derivatives


def _kept(derivative: Any) -> Any:
    """A derivative as it is now: an engine may go on adding to a tensor in place."""
    return derivative.detach().clone() if hasattr(derivative, "clone") else derivative


def check_variables(operation: str, result: object, names: Mapping[str, Any]) -> None:
    """Check that a result, and all named objects, are variables.

    Raises:
        TypeError: If one of them is not.
    """
    for name, variable in {"the result": result, **names}.items():
        if not hasattr(variable, "unique_id"):
            raise TypeError(f"{operation}: {name} must be a Scalar or a Tensor, not {reprlib.repr(variable)}")


def watch(result: autodiff.Variable) -> dict[int, Watched]:
    """Wrap a result and everything behind it, the result first. Each variable is asked for its inputs once.

    Raises:
        ValueError: If there are more variables than can be read in a picture.

    >>> from minigrad.draw.watching import watch
    >>> x = minigrad.Scalar(3.0)
    >>> len(watch(x * x + x))  # the sum, the product, and x
    3
    """
    visits: list[Visit] = []
    graph = {result.unique_id: Watched(result, {}, visits=visits)}
    waiting = list(graph.values())
    while waiting:
        node = waiting.pop(0)
        node.graph = graph
        for parent in node.variable.parents:
            key = parent.unique_id
            if key not in graph:
                graph[key] = Watched(parent, graph, visits=visits)
                waiting.append(graph[key])
            node.parents.append(graph[key])
        if len(graph) > LARGEST:
            raise ValueError(
                f"expression_graph: more than {LARGEST} variables cannot be read in a picture; draw a part"
            )
    return graph
