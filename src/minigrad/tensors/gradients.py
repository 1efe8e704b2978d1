"""Gradients of several results, in chosen tensors: `minigrad.autograd` hands these functions out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.backward import forward_mode, walk
from minigrad.errors import GraphError
from minigrad.tensors import Tensor

__all__ = ["backward", "grad", "jvp"]


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of outputs in inputs, and leave every ``grad`` as it is.

    Args:
        outputs: One tensor or several; their gradients are added up.
        inputs: One tensor or several, leaves or results on the way.
        grad_outputs: The gradient to start from for each output; None for outputs of one element.
        retain_graph: True keeps the graph for another pass; by default as create_graph.
        create_graph: True records the pass itself, so that the gradients can be differentiated again.
        allow_unused: Whether an input that no output depends on has the gradient None, or is an error.

    Returns:
        A tensor for each input, in its shape.

    Raises:
        GraphError: If an input is not behind the outputs, or the graph cannot be differentiated.

    >>> x = minigrad.tensor([3.0], requires_grad=True)
    >>> minigrad.autograd.grad(x**2, [x])
    (tensor([6.]),)
    >>> x.grad is None
    True
    """
    results = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    starts = [grad_outputs] if grad_outputs is None or isinstance(grad_outputs, Tensor) else list(grad_outputs)
    starts = starts if len(starts) == len(results) else starts * len(results)
    roots = [(y, y._start(start, "grad")) for y, start in zip(results, starts, strict=True)]
    for i, x in enumerate(wanted):
        if not x.requires_grad:
            raise GraphError(f"grad: input {i} does not require gradients")
    keep = create_graph if retain_graph is None else retain_graph
    found = walk.differentiate(roots, wanted, keep, create_graph)
    if not allow_unused and any(g is None for g in found):
        missing = next(i for i, g in enumerate(found) if g is None)
        raise GraphError(
            f"grad: no output depends on input {missing}; with allow_unused=True its gradient would be None"
        )
    return tuple(found)


def backward(tensors: Tensor | Sequence[Tensor], grad_tensors: Any = None, retain_graph: bool | None = None) -> None:
    """Add the gradients of several tensors to the ``grad`` of the leaves.

    >>> x = minigrad.tensor([3.0], requires_grad=True)
    >>> minigrad.autograd.backward([x * 2, x * 5])
    >>> x.grad
    tensor([7.])
    """
    results = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    starts = grad_tensors if isinstance(grad_tensors, Sequence) else [grad_tensors] * len(results)
    roots = [(y, y._start(start, "backward")) for y, start in zip(results, starts, strict=True)]
    walk.differentiate(roots, retain_graph=bool(retain_graph))


def jvp(output: Tensor, inputs: Tensor | Sequence[Tensor], tangents: Tensor | Sequence[Tensor]) -> Tensor:
    """Push changes of inputs forward through the recorded graph of a result: the Jacobian times a vector.

    >>> x = minigrad.tensor([3.0], requires_grad=True)
    >>> minigrad.autograd.jvp(x**2, [x], [minigrad.tensor([0.5])])
    tensor([3.], grad_fn=<MulBackward0>)
    """
    given = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    changes = [tangents] if isinstance(tangents, Tensor) else list(tangents)
    return forward_mode.jvp(output, given, changes)
