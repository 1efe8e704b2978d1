"""Running a function on inputs of its own, so that exactly its part of the graph can be differentiated.

An input is a node behind the value that the caller gave: an identity that is recorded. A walk that starts at the
function's results and stops at these nodes sees the derivative of this function and of no other: two transforms, one
inside the other, have different nodes for their inputs, even where both were given the same tensor. What the walks
compute is recorded in its turn where an outer transform, or a leaf of the user's, stands behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from minigrad import autodiff
from minigrad.autodiff import grad_mode
from minigrad.backward import forward_mode, walk
from minigrad.backward.changes import ticks
from minigrad.engine import TensorContext
from minigrad.functions import Function
from minigrad.scalar import Scalar
from minigrad.tensors import Tensor, abstract_mode, creation
from minigrad.transforms import scalars
from minigrad.transforms.batched import BatchedTensor, expose, expose_all, hide, hide_all, levels_of
from minigrad.transforms.trees import PyTreeDef, tree_flatten, tree_leaves, tree_map, tree_unflatten


class _Input(Function):
    """The identity: the node that stands for an input of a function that is differentiated."""

    raw = True
    in_place = (
        "an argument of a function that is differentiated is its caller's tensor, and stays as it is; change a clone() "
        "of it, or use the operation that makes a new tensor"
    )

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        """Return the value."""
        return a

    @staticmethod
    def backward(ctx: Any, d_output: Any) -> Any:
        """Pass the gradient on, to the function that made the input."""
        return d_output

    @classmethod
    def jvp(cls, ctx: Any, *tangents: Any) -> Any:
        """The change comes through."""
        return tangents[0]


_Input.__name__ = "Input"  # as messages call it


def is_variable(x: Any) -> bool:
    """Return whether a value can be differentiated: a Scalar, or a tensor of floats."""
    return isinstance(x, Scalar) or (isinstance(x, Tensor) and x.dtype.kind == "f")


def link(x: Any) -> Any:
    """Return a node for a value, that stands for it inside one transform.

    Inside vmap every example has a gradient of its own, also in what all examples share: so the node is one of the
    whole batch.
    """
    if isinstance(x, Scalar):
        return scalars.link(x, _Input)
    maps = abstract_mode.running.maps
    base = expose_all(x, maps)
    node = base.detach()
    node._requires_grad, node._fn, node._inputs = True, _Input, (base,)
    node._ctx = TensorContext((base,), (base._array,), {})
    return hide_all(node, maps)


def held(x: Any) -> Any:
    """Return the tensor that a batched tensor holds, without hidden axes."""
    while isinstance(x, BatchedTensor):
        x = x._value
    return x


def _with_axes_of(x: Any, like: Any) -> Any:
    """Return a tensor with the hidden axes of another one in front, as `held` shows them."""
    for level, size in _hidden(like)[::-1]:
        x = expose(x, level, size)
    return x


def _hiding_axes_of(x: Any, like: Any) -> Any:
    """Hide the axes that `_with_axes_of` has shown."""
    for level in levels_of(like):
        x = hide(x, level)
    return x


def _hidden(x: Any) -> list[tuple[int, int]]:
    return [*_hidden(x._value), (x._level, x._value.shape[0])] if isinstance(x, BatchedTensor) else []


def zeros_like(x: Any) -> Any:
    """Return zeros like a Scalar or a tensor; inside vmap, the same for all examples."""
    if isinstance(x, Scalar):
        return Scalar(0.0, requires_grad=False)
    if not isinstance(x, Tensor):
        return creation.tensor(0.0)
    return creation.zeros(x.shape, dtype=x.dtype if x.dtype.kind == "f" else None, device=x.device)


def detached(tree: Any) -> Any:
    """Return a tree whose tensors and Scalars are constants."""
    return tree_map(lambda x: x.detach() if isinstance(x, Tensor | Scalar) and x.requires_grad else x, tree)


class Recording:
    """One run of a function on inputs of its own.

    Attributes:
        inputs: The nodes that stand for the inputs.
        results: The leaves of what the function returned, on the graph of the inputs.
        structure: Their tree.
        aux: What the function returned beside the tree.
        since: The clock's reading when the run began: what is older comes from outside.
        is_outer: Whether something outside this run wants derivatives of the results.
        hides: Whether a rule takes part that may depend on more than the results do, such as one of the user's.
    """

    inputs: list[Any]
    results: list[Any]
    structure: PyTreeDef
    aux: Any

    def __init__(self, fun: Callable[..., Any], values: Sequence[Any]) -> None:
        """Run a function of a list of values; it returns a tree, and anything beside it."""
        self.since = next(ticks)
        recorded = grad_mode.enabled
        with autodiff.enable_grad():
            self.inputs = [link(x) for x in values]
            returned, self.aux = fun(self.inputs)
        self.results, self.structure = tree_flatten(returned)
        self.hides = False
        self.is_outer = recorded and self._has_outer([*self.results, *tree_leaves(self.aux)])
        self._may_be_outer = recorded and self.hides

    def _has_outer(self, everything: Sequence[Any]) -> bool:
        """Return whether a leaf of the user's, or another transform's input, stands behind some values."""
        seen = set[int]()
        stack = [held(y) for y in everything if isinstance(y, Tensor) and y.requires_grad]
        while stack:
            node = stack.pop()
            if node._tick < self.since or node._fn is None:
                return True
            self.hides |= getattr(node._ctx, "hides", False)
            for x in node._inputs or ():
                if getattr(x, "requires_grad", False) and id(x) not in seen:
                    seen.add(id(x))
                    stack.append(x)
        own = [x for x in self.inputs if isinstance(x, Scalar)]
        return scalars.has_outer([y for y in everything if isinstance(y, Scalar) and y.requires_grad], own)

    def tree(self, leaves: Sequence[Any]) -> Any:
        """Return leaves in the form of what the function returned."""
        return tree_unflatten(self.structure, leaves)

    def returned(self) -> tuple[Any, Any]:
        """Return the tree and what stood beside it: constants, where nobody outside asks for derivatives."""
        for node in self.inputs:
            if isinstance(node, Scalar):
                scalars.close(node)
        results = (self.tree(self.results), self.aux)
        return results if self.is_outer else detached(results)

    def closed_over(self) -> list[Tensor]:
        """Return the tensors from outside, beside the inputs, that the results depend on and that want gradients."""
        own = {id(held(x)) for x in self.inputs if isinstance(x, Tensor)}
        found: dict[int, Tensor] = {}
        stack = [held(y) for y in self.results if isinstance(y, Tensor) and y.requires_grad]
        seen = {id(y) for y in stack}
        while stack:
            node = stack.pop()
            if id(node) in own:
                continue
            if node._tick < self.since or node._fn is None:
                found[id(node)] = node
                continue
            for x in node._inputs:
                if getattr(x, "requires_grad", False) and id(x) not in seen:
                    seen.add(id(x))
                    stack.append(x)
        return list(found.values())

    def pull(self, cotangents: Sequence[Any], more: Sequence[Tensor] = ()) -> list[Any]:
        """Return the gradient in each input, from one for each result; None for a result that has none.

        Args:
            cotangents: Tensors in the results' shapes, Scalars, or None.
            more: Further tensors behind the results, whose gradients stand behind those of the inputs.
        """
        pairs = [(y, c) for y, c in zip(self.results, cotangents, strict=True) if c is not None]
        roots = [(held(y), _with_axes_of(c, y)) for y, c in pairs if isinstance(y, Tensor) and y.requires_grad]
        wanted = [held(x) for x in self.inputs if isinstance(x, Tensor)] + list(more)
        numbers = [(y, c) for y, c in pairs if isinstance(y, Scalar)]
        given = any(c.requires_grad for _, c in (*roots, *numbers))
        recorded = grad_mode.enabled and (self.is_outer or self._may_be_outer or given)
        on_tensors = recorded or any(y.abstract or c.abstract for y, c in roots)
        found = iter(walk.differentiate(roots, wanted, True, on_tensors, True) if roots else [None] * len(wanted))
        found = self._without_own(list(found)) if recorded and not (self.is_outer or given) else found
        own = [x for x in self.inputs if isinstance(x, Scalar)]
        of_numbers = iter(scalars.pull(numbers, own, recorded))
        gradients = []
        for x in self.inputs:
            d = next(of_numbers) if isinstance(x, Scalar) else next(found)
            if d is None:
                d = zeros_like(x)
            elif isinstance(x, Tensor):
                d = _hiding_axes_of(d if recorded else d.detach(), x)
            gradients.append(d)
        return gradients + list(found)

    def _without_own(self, derivatives: list[Any]) -> Iterator[Any]:
        """Return derivatives that a rule may have computed from values outside: constants where none has."""
        if self._has_outer([d for d in derivatives if d is not None]):
            return iter(derivatives)
        return iter([d if d is None else d.detach() for d in derivatives])

    def push(self, tangents: Sequence[Any], more: Sequence[tuple[Tensor, Any]] = ()) -> list[Any]:
        """Return the change of each result for a change of each input; None where it does not change.

        Args:
            tangents: Tensors in the inputs' shapes, or Scalars; None for an input that stays.
            more: Further tensors behind the results, with their changes.
        """
        given = [(x, t) for x, t in zip(self.inputs, tangents, strict=True) if t is not None]
        pairs = [(held(x), _with_axes_of(t, x)) for x, t in given if isinstance(x, Tensor)] + list(more)
        numbers = [(x, t) for x, t in given if isinstance(x, Scalar)]
        results = [y for y in self.results if isinstance(y, Scalar)]
        outputs = [held(y) for y in self.results if isinstance(y, Tensor)]
        nodes, changes_of_nodes = [x for x, _ in pairs], [t for _, t in pairs]
        moved = any(t.requires_grad for _, t in (*pairs, *numbers))
        recorded = grad_mode.enabled and (self.is_outer or self._may_be_outer or moved)
        with autodiff.enable_grad() if recorded else autodiff.no_grad():
            oldest = min((x._tick for x in nodes), default=0)
            found = iter(forward_mode.push(outputs, nodes, changes_of_nodes, oldest))
            of_numbers = iter(scalars.push(results, numbers))
        found = self._without_own(list(found)) if recorded and not (self.is_outer or moved) else found
        changes = []
        for y in self.results:
            if isinstance(y, Tensor):
                d = next(found)
                changes.append(None if d is None else _hiding_axes_of(d, y))
            else:
                changes.append(next(of_numbers) if isinstance(y, Scalar) else None)
        return changes
