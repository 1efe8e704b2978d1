"""Functions traced inside of a trace: the graphs inside of an equation, as those of a loop or a choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.autodiff import grad_mode
from minigrad.graph.passes import draws
from minigrad.graph.program import Graph, Var
from minigrad.graph.traced import TracedTensor, refuse
from minigrad.graph.tracing import Trace, traced_in
from minigrad.tensors import Tensor, abstract_mode, creation
from minigrad.transforms.nodes import with_rules
from minigrad.transforms.recording import is_variable, zeros_like
from minigrad.transforms.trees import PyTreeDef, tree_flatten, unlike


class Inner:
    """A function traced inside of a running trace.

    Attributes:
        graph: Its graph: the captured tensors are the first inputs.
        captured: The tensors of traces around it that it uses.
        behind: The tensors of before that these were computed from and that want gradients.
        structure: The tree that it returns.
    """

    def __init__(self, outer: Trace, fun: Callable[..., Any], leaves: Sequence[Any], structure: PyTreeDef) -> None:
        run = Trace(outer)
        like = [np.empty(x.shape, x.dtype) for x in leaves]

        def tensors_only(*args: Any) -> Any:
            returned, self.structure = tree_flatten(fun(*args))
            return [y if isinstance(y, Tensor) else creation.tensor(y) for y in returned]

        tensors_only.__name__ = getattr(fun, "__name__", "the function")
        self.graph = traced_in(run, tensors_only, like, structure)
        self.captured = [x for _, x in run.captured.values()]
        self._own = [v for v, _ in run.captured.values()]
        self.behind = _older_than(run.since, self.captured)

    def taking(self, captured: Sequence[Tensor]) -> Graph:
        """Return the graph with further captured tensors among its inputs, which it does not need."""
        known = {id(x): v for x, v in zip(self.captured, self._own, strict=True)}
        first = [known.get(id(x)) or Var(x.shape, x.dtype) for x in captured]
        graph = self.graph
        return Graph((*first, *graph.inputs), graph.constants, graph.equations, graph.outputs, graph.structure)


def _older_than(tick: int, tensors: Sequence[Any]) -> list[Any]:
    """Return the newest tensors of before a reading of the clock that want gradients and stand behind others."""
    found: dict[int, Any] = {}
    stack, seen = [x for x in tensors if x.requires_grad], set[int]()
    while stack:
        x = stack.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if x._tick < tick or x._fn is None:
            found[id(x)] = x
        else:
            stack += [y for y in x._inputs if getattr(y, "requires_grad", False)]
    return list(found.values())


def innermost(leaves: Sequence[Any]) -> Trace | None:
    """Return the innermost trace among traced tensors; None without any, or in a `vmap` inside of the trace.

    There a loop runs as Python's own, for its function may take what differs from example to example from outside.
    """
    if abstract_mode.running.maps:
        return None
    found = [x._trace for x in leaves if isinstance(x, TracedTensor)]
    return max(found, key=lambda trace: trace.depth) if found else None


def tensors_of(tree: Any) -> tuple[list[Any], PyTreeDef]:
    """Return a tree's leaves as tensors, and its structure."""
    leaves, structure = tree_flatten(tree)
    return [x if isinstance(x, Tensor) else creation.tensor(x) for x in leaves], structure


def check_same(name: str, what: str, old: Sequence[Any], tree: PyTreeDef, new: Sequence[Any], other: PyTreeDef) -> None:
    """Refuse values of another structure, shape or type than before."""
    if tree != other:
        raise TypeError(f"{name}: {what} has another structure, at {unlike(other, tree)}; return it in the same form")
    for x, y in zip(old, new, strict=True):
        before, after = Var(tuple(x.shape), x.dtype).type, Var(tuple(y.shape), y.dtype).type
        if before != after:
            raise TypeError(
                f"{name}: {what} is {after} where it is {before} elsewhere; give it one shape and type, for example by "
                ".reshape() or .to()"
            )


def with_derivatives(
    name: str, results: list[Any], inputs: Sequence[Any], others: Sequence[Any], pull: Any, push: Any, *parts: Inner
) -> list[Any]:
    """Attach rules to results, where anything behind them wants derivatives.

    The rules run the functions that were traced to `parts` again, which therefore must draw no random numbers.
    """
    variables = [x for x in inputs if is_variable(x)]
    if not grad_mode.enabled or not (others or any(x.requires_grad for x in variables)):
        return results
    if not any(is_variable(y) for y in results):
        return results
    if any(draws(each) for part in parts for each in part.graph.equations):
        pull = push = _refused(name)
    return with_rules(name, results, variables, pull(others), push(others), others)


def _refused(name: str) -> Callable[[Sequence[Any]], Callable[[list[Any]], list[Any]]]:
    def with_others(others: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
        def rule(given: list[Any]) -> list[Any]:
            raise refuse(
                f"{name}: the function draws random numbers, and its derivative would draw others; draw them before, "
                "and hand them in"
            )

        return rule

    return with_others


def filled(values: Sequence[Any], like: Sequence[Any]) -> list[Any]:
    """Return values, with zeros for None."""
    return [zeros_like(x) if value is None else value for value, x in zip(values, like, strict=True)]


def only_variables(leaves: Sequence[Any]) -> list[Any]:
    """Return the leaves that can be differentiated.

    >>> from minigrad.graph.inner import only_variables
    >>> only_variables([minigrad.tensor([1]), minigrad.tensor([2.0])])
    [tensor([2.])]
    """
    return [x for x in leaves if is_variable(x)]


def with_values(leaves: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Return leaves with other values in place of those that can be differentiated."""
    rest = iter(values)
    return [next(rest) if is_variable(x) else x for x in leaves]
