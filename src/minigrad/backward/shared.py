"""The parts that both backward passes share: hooks, shape and type of a gradient, the order, and freeing the graph."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import engine
from minigrad.autodiff import grad_mode
from minigrad.backends import arrays
from minigrad.backward import changes
from minigrad.backward.changes import find_old_inputs
from minigrad.errors import FunctionError, GraphError

if TYPE_CHECKING:
    from minigrad.tensors import Tensor


def newest_first(roots: Sequence[Tensor], since: int = 0) -> list[Tensor]:
    """Return all tensors that want gradients behind some results, each before those that it was made from.

    Args:
        roots: The results.
        since: A reading of the clock. Tensors that were made before it are left out, and what is behind them.
    """
    seen = {id(root): root for root in roots}
    stack = list(seen.values())
    while stack:
        node = stack.pop()
        if node._inputs is None:
            raise freed(node)
        if changes.any_history_replaced:
            find_old_inputs(node)
        for x in node._inputs:
            if getattr(x, "requires_grad", False) and id(x) not in seen and x._tick >= since:
                seen[id(x)] = x
                stack.append(x)
    return sorted(seen.values(), key=operator.attrgetter("_tick"), reverse=True)


def leading_to(order: list[Tensor], wanted: Sequence[Tensor]) -> list[Tensor]:
    """Leave out tensors behind which none of the wanted ones is."""
    useful = {id(x) for x in wanted}
    for node in reversed(order):
        if any(id(x) in useful for x in node._inputs):
            useful.add(id(node))
    return [node for node in order if id(node) in useful]


def notice(node: Tensor, d_output: Tensor) -> Tensor:
    """Call a tensor's hooks with its complete gradient, and keep it if `retain_grad` was called."""
    extra = node._extra or {}
    for hook in list(extra.get("hooks", {}).values()):
        replacement = hook(d_output)
        if replacement is not None:
            _check_replacement(hook, replacement, d_output)
            d_output = replacement
    if extra.get("retain_grad") and node._fn is not None:
        node._grad = d_output.clone() if node._grad is None else node._grad + d_output
    return d_output


def _check_replacement(hook: Any, replacement: Any, gradient: Tensor) -> None:
    """Refuse what a hook returned, unless it can take the gradient's place."""
    name = getattr(hook, "__qualname__", type(hook).__name__)
    if not hasattr(replacement, "_array"):
        raise TypeError(
            f"register_hook: {name} returned {type(replacement).__name__} for a gradient of shape "
            f"{tuple(gradient.shape)}; a hook returns a Tensor of that shape, or None to leave the gradient as it is"
        )
    if tuple(replacement.shape) != tuple(gradient.shape):
        raise ValueError(
            f"register_hook: {name} returned shape {tuple(replacement.shape)} for a gradient of shape "
            f"{tuple(gradient.shape)}; they must be the same"
        )
    if replacement.dtype != gradient.dtype:
        raise TypeError(
            f"register_hook: {name} returned {replacement.dtype} for a gradient of {gradient.dtype}; they must be the "
            "same"
        )


def fit_tensor(node: Tensor, d: Any) -> Tensor:
    """Give a gradient, a tensor or a number, the shape and the type of the tensor that it belongs to."""
    if not hasattr(d, "chain_rule"):
        d = node.new_full(node._array.shape, float(d))
    if d._array.shape != node._array.shape:
        full_shape = shape_of_both(node, d)
        d = d if d._array.shape == full_shape else d.expand(*full_shape)
        d = engine.unbroadcast(d, node._array.shape)
        if d._array.shape != node._array.shape:
            raise GraphError(f"unbroadcast returned shape {tuple(d.shape)} for an input of shape {tuple(node.shape)}")
    return d if d._array.dtype == node._array.dtype else d.to(node._array.dtype)  # type: ignore[no-any-return]


def own_gradient(node: Tensor, d: Any) -> Tensor:
    """Fit a gradient to its tensor, as an object of its own that `+=` does not change for others."""
    d = fit_tensor(node, d)
    abstract: Any = d if d.abstract else node if node.abstract else None
    if abstract is not None:
        return abstract.own(d)  # type: ignore[no-any-return]
    return d + 0.0 if grad_mode.enabled else node._of_array(arrays.contiguous(d._array))


def shape_of_both(node: Tensor, d: Any) -> tuple[int, ...]:
    """Return the shape to which a tensor and its gradient, of another shape, broadcast."""
    try:
        return np.broadcast_shapes(d.shape, node._array.shape)
    except ValueError:
        raise wrong_shape(node, d) from None


def wrong_shape(node: Tensor, d: Any) -> FunctionError:
    """Return the error for a gradient that does not fit its tensor."""
    return FunctionError(
        f"backward: a rule gave a gradient of shape {tuple(d.shape)} to an input of shape {tuple(node.shape)}; it must "
        "have the input's shape, or one that the input broadcasts to"
    )


def free(nodes: Iterable[Tensor]) -> None:
    """Drop inputs and saved values of results, so that their memory can be used again."""
    for node in nodes:
        if node._fn is not None:
            node._inputs = node._ctx = None


def freed(node: Tensor) -> GraphError:
    """Return the error for a graph that is gone."""
    return GraphError(
        f"backward: the graph of this {node._fn.__name__} was freed by an earlier backward pass; compute the result "
        "again, or keep the graph with backward(retain_graph=True)"
    )


def wrong_count(node: Tensor, derivatives: Sequence[Any]) -> FunctionError:
    """Return the error for a rule that gave too many gradients, or too few."""
    return FunctionError(
        f"{node._fn.__name__}.backward returned {len(derivatives)} derivatives for {len(node._inputs)} inputs: "
        "return one for each input, in the order of forward's arguments"
    )
