"""Gradients of several results, in chosen tensors: `minigrad.autograd` hands these functions out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.backward import forward_mode, walk
from minigrad.errors import GraphError
from minigrad.tensors import Tensor
from minigrad.tensors.creation import stack


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of outputs in inputs, and leave every ``grad`` as it is.

    Args:
        outputs: One tensor or several; their gradients are added up.
        inputs: One tensor or several, leaves or results on the way.
        grad_outputs: The gradient to start from for each output; None for outputs of one element.
        retain_graph: True keeps the graph for another pass; by default as create_graph.
        create_graph: True records the pass itself, so that the gradients can be differentiated again.
        only_inputs: PyTorch's name for what always holds: no other tensor gets a gradient.
        allow_unused: Whether an input that no output depends on has the gradient None, or is an error; by default as
            materialize_grads.
        is_grads_batched: Whether grad_outputs have a first axis more: a pass is run for each of its places.
        materialize_grads: Whether an input that no output depends on has a gradient of zeros, in its own
            shape.

    Returns:
        A tensor for each input, in its shape; with is_grads_batched the gradients of all passes, stacked.

    Raises:
        GraphError: If an input is not behind the outputs, or the graph cannot be differentiated.
        ValueError: If there are no inputs, grad_outputs do not fit the outputs, or only_inputs is False.

    >>> x = minigrad.tensor([3.0], requires_grad=True)
    >>> minigrad.autograd.grad(x**2, [x])
    (tensor([6.]),)
    >>> x.grad is None
    True
    """
    results = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    wanted = walk.wanted_in("grad", inputs)
    if not only_inputs:
        raise ValueError(
            "grad: only_inputs=False has no effect in PyTorch; for the gradients of other tensors use backward"
        )
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: materialize_grads=True makes zeros of gradients that allow_unused=False refuses")
    starts = _starts("grad", results, grad_outputs)
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        passes = [[start[i] for start in starts] for i in range(_batch_size(results, starts))]
        found = [_gradients(results, one, wanted, keep or one is not passes[-1], create_graph) for one in passes]
        gradients = [_stacked(x, column) for x, column in zip(wanted, zip(*found, strict=True), strict=True)]
    else:
        gradients = _gradients(results, starts, wanted, keep, create_graph)
    if materialize_grads:
        gradients = [x.new_zeros(x.shape) if g is None else g for x, g in zip(wanted, gradients, strict=True)]
    if not allow_unused and any(g is None for g in gradients):
        missing = next(i for i, g in enumerate(gradients) if g is None)
        raise GraphError(
            f"grad: no output depends on input {missing}; with allow_unused=True its gradient would be None"
        )
    return tuple(gradients)


def _starts(operation: str, results: list[Tensor], given: Any) -> list[Any]:
    """Return the gradients to start from, or None, one for each result."""
    starts = [None] * len(results) if given is None else [given] if isinstance(given, Tensor) else list(given)
    if len(starts) != len(results):
        raise ValueError(
            f"{operation}: {len(starts)} gradients to start from for {len(results)} outputs; give one each"
        )
    return starts


def _batch_size(results: list[Tensor], starts: list[Any]) -> int:
    """Return how many gradients to start from each output was given.

    Raises:
        ValueError: If one has none, or too many axes, or they are not equally many.
    """
    for y, start in zip(results, starts, strict=True):
        shape = None if start is None else tuple(start.shape)
        if shape is None or shape[1:] != tuple(y.shape) or not shape or shape[0] != starts[0].shape[0] or not shape[0]:
            raise ValueError(
                f"grad: with is_grads_batched a gradient to start from has the output's shape {tuple(y.shape)} behind "
                f"a first axis that all share, not {shape}"
            )
    return int(starts[0].shape[0])


def _gradients(
    results: list[Tensor], starts: list[Any], wanted: list[Tensor], keep: bool, create_graph: bool
) -> list[Any]:
    roots = [(y, y._start(start, "grad")) for y, start in zip(results, starts, strict=True)]
    return walk.differentiate(roots, wanted, keep, create_graph)


def _stacked(x: Tensor, gradients: Sequence[Any]) -> Any:
    """Return the gradients of several passes in one tensor; None where all are."""
    if all(g is None for g in gradients):
        return None
    return stack([x.new_zeros(x.shape) if g is None else g for g in gradients])


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    *,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradients of several tensors to the ``grad`` of the leaves, or of some tensors alone.

    Args:
        tensors: One tensor or several; their gradients are added up.
        grad_tensors: The gradient to start from for each of them; None for those of one element.
        retain_graph: True keeps the graph for another pass; by default as create_graph.
        create_graph: True records the pass itself, so that the gradients can be differentiated again.
        inputs: The tensors, leaves or results on the way, that alone are given a gradient; None for all leaves.

    >>> x = minigrad.tensor([3.0], requires_grad=True)
    >>> minigrad.autograd.backward([x * 2, x * 5])
    >>> x.grad
    tensor([7.])
    """
    results = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    starts = _starts("backward", results, grad_tensors)
    roots = [(y, y._start(start, "backward")) for y, start in zip(results, starts, strict=True)]
    keep = create_graph if retain_graph is None else retain_graph
    walk.accumulate(roots, inputs, keep, create_graph)


def jvp(output: Tensor, inputs: Tensor | Sequence[Tensor], tangents: Tensor | Sequence[Tensor]) -> Tensor:
    """Push changes of inputs forward through the recorded graph of a result: the Jacobian times a vector.

    >>> x = minigrad.tensor([3.0], requires_grad=True)
    >>> minigrad.autograd.jvp(x**2, [x], [minigrad.tensor([0.5])])
    tensor([3.], grad_fn=<MulBackward0>)
    """
    given = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    changes = [tangents] if isinstance(tangents, Tensor) else list(tangents)
    return forward_mode.jvp(output, given, changes)
