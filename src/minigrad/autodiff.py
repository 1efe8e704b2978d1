"""Reverse-mode automatic differentiation: how derivatives find their way back through a graph.

Every variable computed from others remembers the function that made it and that function's inputs: its *history*.
Together the histories form a directed acyclic graph, from the result back to the leaves. Backpropagation visits it
so that a variable comes after everything computed from it (`topological_sort`), takes one step of the chain rule at
each (`chain_rule`), and adds up what arrives along different paths (`backpropagate`).

This module is the specification. It works with anything that speaks the `Variable` protocol.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload

from minigrad.errors import GraphError
from minigrad.machine.modes import F, Mode

__all__ = [
    "Context",
    "History",
    "Variable",
    "backpropagate",
    "chain_rule",
    "enable_grad",
    "is_grad_enabled",
    "is_sort",
    "no_grad",
    "topological_sort",
]


class Variable(Protocol):
    """The members that backpropagation asks of a variable. No class has to inherit from this one."""

    @property
    def unique_id(self) -> int:
        """A number that no other variable of the graph has."""

    @property
    def history(self) -> Any:
        """How the variable was made: a `History`, or None for a constant."""

    @property
    def parents(self) -> Iterable[Variable]:
        """The inputs of the function that made the variable; none for a leaf."""

    def is_leaf(self) -> bool:
        """Return whether the variable was created by the user, and wants a derivative."""

    def is_constant(self) -> bool:
        """Return whether no derivative is wanted here, or beyond."""

    def chain_rule(self, d_output: Any) -> Iterable[tuple[Variable, Any]]:
        """Return each input that is not constant, with its derivative."""

    def accumulate_derivative(self, x: Any) -> None:
        """Add x to the derivative stored on this leaf."""


class Context:
    """The values that a function's forward saves for its backward.

    Attributes:
        saved_values: The values given to `save_for_backward`.
        values: The inputs' values that forward was called with.
        result: What forward returned.
        inputs: The variables that the values belong to, where they are known (see `bind`).
        output: The variable that the result belongs to, likewise.

    >>> context = minigrad.autodiff.Context()
    >>> context.save_for_backward(2.0, 3.0)
    >>> context.saved_tensors
    (2.0, 3.0)
    """

    def __init__(self) -> None:
        self.saved_values: tuple[Any, ...] = ()
        self.values: tuple[Any, ...] = ()
        self.inputs: Sequence[Any] = ()
        self.output: Any = None
        self.result: Any = None

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved values, by PyTorch's name."""
        return self.saved_values

    def save_for_backward(self, *values: Any) -> None:
        """Keep values that the backward rule needs: inputs, or the output.

        >>> context = minigrad.autodiff.Context()
        >>> context.save_for_backward(2.0)
        >>> context.saved_values
        (2.0,)
        """
        self.saved_values = values

    def bind(self, inputs: Sequence[Any], output: Any) -> Context:
        """Return the same context, knowing the variables that the values belong to."""
        twin = self._with(self.saved_values)
        twin.inputs, twin.output = inputs, output
        return twin

    def map(self, convert: Callable[[Any], Any]) -> Context:
        """Return the same context with every saved value converted.

        >>> context = minigrad.autodiff.Context()
        >>> context.save_for_backward(2.0, 3.0)
        >>> context.map(str).saved_values
        ('2.0', '3.0')
        """
        return self._with([convert(value) for value in self.saved_values])

    def as_variables(self) -> Context:
        """Return the same context with variables in place of their values, so that the rule itself is recorded."""
        for variable, value in zip(self.inputs, self.values, strict=True):
            if variable.data != value and value == value:
                raise GraphError(
                    f"backward with create_graph: an input changed from {value} to {variable.data} after it was "
                    "used; compute the result again"
                )
        return self._with([self._variable_of(value) for value in self.saved_values])

    def _variable_of(self, saved: Any) -> Any:
        # By identity: `Function._forward` gives every input a float object of its own.
        for value, variable in zip(self.values, self.inputs, strict=True):
            if value is saved:
                return variable
        if saved is self.result:
            return self.output
        raise GraphError(
            "backward with create_graph: a function saved a value that is neither one of its inputs nor its output, "
            "so the derivative of its rule is unknown; save inputs or the output"
        )

    def _with(self, saved: Iterable[Any]) -> Context:
        twin = Context()
        twin.__dict__.update(self.__dict__)
        twin.saved_values = tuple(saved)
        return twin

    def __repr__(self) -> str:
        return f"Context(saved_values={self.saved_values})"


@dataclass(frozen=True)
class History:
    """How a variable was made.

    Attributes:
        last_fn: The function, a subclass of `Function`; None for a leaf.
        ctx: What its forward saved.
        inputs: The variables and constants that it was applied to.

    >>> x = minigrad.Scalar(2.0)
    >>> (x * 3.0).history.last_fn.__name__
    'Mul'
    """

    last_fn: Any = None
    ctx: Context | None = None
    inputs: Sequence[Any] = ()


class _GradMode(threading.local):
    """The one switch of this package's engine: whether operations are recorded, in this thread."""

    def __init__(self) -> None:  # an attribute of the instance is twice as quick as one of the class
        self.enabled = True
        self.latest: Any = None


grad_mode = _GradMode()


def is_grad_enabled() -> bool:
    """Return whether operations are being recorded.

    >>> with minigrad.no_grad():
    ...     minigrad.is_grad_enabled()
    False
    """
    return grad_mode.enabled


@overload
def no_grad() -> Mode: ...
@overload
def no_grad(function: F) -> F: ...
def no_grad(function: Any = None) -> Any:
    """Compute without recording, as a context manager or a decorator; results are constants.

    >>> x = minigrad.Scalar(2.0)
    >>> with minigrad.no_grad():
    ...     y = x * x
    >>> y.is_constant()
    True
    """
    mode = Mode(grad_mode, "enabled", False, "no_grad()")
    return mode if function is None else mode(function)


@overload
def enable_grad() -> Mode: ...
@overload
def enable_grad(function: F) -> F: ...
def enable_grad(function: Any = None) -> Any:
    """Record again inside a `no_grad` block, as a context manager or a decorator.

    >>> x = minigrad.Scalar(2.0)
    >>> with minigrad.no_grad(), minigrad.enable_grad():
    ...     y = x * x
    >>> y.is_constant()
    False
    """
    mode = Mode(grad_mode, "enabled", True, "enable_grad()")
    return mode if function is None else mode(function)


def chain_rule(variable: Variable, d_output: Any) -> Iterable[tuple[Variable, Any]]:
    """Take one step back: from a variable's derivative to those of its inputs.

    Args:
        variable: A variable made by a function (not a leaf, not a constant). Its
            ``history`` has the function ``last_fn``, the function's ``ctx``, and the
            ``inputs``; ``last_fn._backward(ctx, d_output)`` returns a tuple with one
            derivative for each input.
        d_output: The derivative of the final result with respect to this variable.

    Returns:
        Pairs of an input and its derivative, in the order of the inputs, without the
        constants.
    """
    ### BEGIN SOLUTION
    history = variable.history
    derivatives = history.last_fn._backward(history.ctx, d_output)
    pairs = zip(history.inputs, derivatives, strict=True)
    return [(parent, derivative) for parent, derivative in pairs if not parent.is_constant()]
    ### END SOLUTION


def topological_sort(variable: Variable) -> Iterable[Variable]:
    """Order the graph so that each variable comes before those that it was made from.

    Args:
        variable: The result at the right end of the graph.

    Returns:
        All non-constant variables that it depends on, itself first, each exactly once.
        The graph may be deeper than Python's recursion limit.
    """
    ### BEGIN SOLUTION
    order: list[Variable] = []
    seen: set[int] = set()
    stack: list[tuple[Variable, bool]] = [(variable, False)]
    while stack:
        node, parents_are_done = stack.pop()
        if parents_are_done:
            order.append(node)
        elif node.unique_id not in seen and not node.is_constant():
            seen.add(node.unique_id)
            stack.append((node, True))
            stack.extend((parent, False) for parent in node.parents)
    return order[::-1]
    ### END SOLUTION


def is_sort(
    sort: Callable[[Any], Iterable[Any]],
    leaf: Callable[[str], Any],
    constant: Callable[[str], Any],
    result: Callable[..., Any],
) -> bool:
    """Decide by trying whether a function does what `topological_sort` should.

    Several orders of a graph may be right, and any of them will do. A wrong function
    may be right for many graphs, or the first time only.

    Args:
        sort: The function, as `topological_sort` is called.
        leaf: ``leaf("x")`` makes a variable of that name which is a leaf.
        constant: ``constant("c")`` makes one that is a constant.
        result: ``result("z", (a, 1.0), (b, 1.0))`` makes one that was computed from
            others, with a slope for each. The slopes do not matter here.

    Returns:
        True if the function is right.
    """
    ### BEGIN SOLUTION
    rng = random.Random(0)
    deep = leaf("x")
    for _ in range(4_000):
        deep = result("v", (deep, 1.0))
    graphs = [deep]
    for size in range(40):
        variables = [leaf("x")]
        for _ in range(size):
            inputs = [*rng.choices(variables, k=rng.choice([1, 2, 3])), constant("c")]
            variables.append(result("v", *[(each, 1.0) for each in inputs]))
        graphs.append(variables[-1])
    for variable in graphs * 2:
        found, to_do = {}, [variable]
        while to_do:
            each = to_do.pop()
            if each.unique_id not in found and not each.is_constant():
                found[each.unique_id] = each
                to_do += each.parents
        try:
            order = [each.unique_id for each in sort(variable)]
        except RecursionError:
            return False
        if sorted(order) != sorted(found):
            return False
        place = {number: i for i, number in enumerate(order)}
        for number, each in found.items():
            if any(place[number] > place.get(parent.unique_id, len(order)) for parent in each.parents):
                return False
    return True
    ### END SOLUTION


def backpropagate(variable: Variable, deriv: Any) -> None:
    """Compute the derivative of a result in every leaf.

    It is added to what the leaf has.

    Args:
        variable: The result at the right end of the graph.
        deriv: The derivative to start from, usually 1.0.

    Leaves receive theirs through ``accumulate_derivative``; other variables store
    nothing.
    """
    ### BEGIN SOLUTION
    derivatives = {variable.unique_id: deriv}
    for node in topological_sort(variable):
        d_output = derivatives.pop(node.unique_id)
        if node.is_leaf():
            node.accumulate_derivative(d_output)
            continue
        for parent, derivative in node.chain_rule(d_output):
            if parent.unique_id in derivatives:
                derivatives[parent.unique_id] += derivative
            else:
                derivatives[parent.unique_id] = derivative
    ### END SOLUTION
