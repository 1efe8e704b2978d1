"""Forward mode along a recorded graph: changes of inputs are pushed to results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from minigrad.backward.shared import fit_tensor, newest_first
from minigrad.engine import context_of
from minigrad.errors import GraphError

if TYPE_CHECKING:
    from minigrad.tensors import Tensor


def push(outputs: Sequence[Tensor], inputs: Sequence[Tensor], tangents: Sequence[Tensor], since: int = 0) -> list[Any]:
    """Push changes of inputs forward through the graph of several results.

    Args:
        outputs: Recorded results, or constants.
        inputs: Tensors that they were computed from.
        tangents: A change for each input, in its shape.
        since: A reading of the clock before which no input was made: what is older is left alone.

    Returns:
        The change of each output, recorded if recording is on; None where it depends on no input.
    """
    changes: dict[int, Any] = {id(x): t for x, t in zip(inputs, tangents, strict=True)}
    for node in reversed(newest_first([y for y in outputs if y.requires_grad], since)):
        if id(node) in changes or node._fn is None:
            continue
        given = [changes.get(id(x)) for x in node._inputs]
        if any(t is not None for t in given):
            if node._ctx is None:  # elementwise: a change is repeated wherever its input was
                given = [t if t is None else t.expand(*node.shape) for t in given]
            changes[id(node)] = fit_tensor(node, node._fn.jvp(_context(node), *given))
    return [changes.get(id(y)) for y in outputs]


def _context(node: Tensor) -> Any:
    ctx = context_of(node)
    return ctx if node._fn.raw else ctx.as_variables()  # a forward on tensors saved tensors


def jvp(output: Tensor, inputs: Sequence[Tensor], tangents: Sequence[Tensor]) -> Tensor:
    """Push changes of inputs forward through the graph of a result: the Jacobian times a vector.

    Args:
        output: A recorded result.
        inputs: Tensors that it was computed from.
        tangents: A change for each of them, in its shape.

    Returns:
        The change of the output, recorded if recording is on.
    """
    (change,) = push([output], inputs, tangents)
    if change is None:
        raise GraphError("jvp: the result does not depend on any of the inputs")
    return change  # type: ignore[no-any-return]
