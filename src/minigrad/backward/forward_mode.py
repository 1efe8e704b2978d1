"""Forward mode along a recorded graph: changes of inputs are pushed to a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from minigrad.backward.shared import fit_tensor, newest_first
from minigrad.engine import context_of
from minigrad.errors import GraphError

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

__all__ = ["jvp"]


def jvp(output: Tensor, inputs: Sequence[Tensor], tangents: Sequence[Tensor]) -> Tensor:
    """Push changes of inputs forward through the graph of a result: the Jacobian times a vector.

    Args:
        output: A recorded result.
        inputs: Tensors that it was computed from.
        tangents: A change for each of them, in its shape.

    Returns:
        The change of the output, recorded if recording is on.
    """
    changes: dict[int, Any] = {id(x): t for x, t in zip(inputs, tangents, strict=True)}
    for node in reversed(newest_first([output])):
        if id(node) in changes or node._fn is None:
            continue
        given = [changes.get(id(x)) for x in node._inputs]
        if any(t is not None for t in given):
            if node._ctx is None:  # elementwise: a change is repeated wherever its input was
                given = [t if t is None else t.expand(*node.shape) for t in given]
            changes[id(node)] = fit_tensor(node, node._fn.jvp(context_of(node), *given))
    if id(output) not in changes:
        raise GraphError("jvp: the result does not depend on any of the inputs")
    return changes[id(output)]  # type: ignore[no-any-return]
