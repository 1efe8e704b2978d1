"""The entrance to backward passes of tensors: by the specification, or by its quick form (`minigrad.quick`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from minigrad import autodiff, backends, engine
from minigrad.backward import specification
from minigrad.errors import GraphError
from minigrad.machine import overrides

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

__all__ = ["accumulate", "differentiate", "wanted_in", "ways"]

ways = {"back": specification.run}
"""How to go back where nothing forbids to be quick."""


def differentiate(
    roots: Sequence[tuple[Tensor, Tensor]],
    wanted: Sequence[Tensor] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    ends_there: bool = False,
) -> list[Any]:
    """Propagate gradients from results to leaves, by the quick pass where it may stand for the specification.

    Args:
        roots: Results with the gradients to start from.
        wanted: Return the gradients of these; None adds those of all leaves to their ``grad``.
        retain_graph: False frees the graph at the end; an error leaves it as it was.
        create_graph: Whether the pass itself is recorded.
        ends_there: Whether the pass ends at the tensors of `wanted`: the gradient of one that was computed from another
            is not passed on to that one.

    Returns:
        The gradients of `wanted`, tensors; None where a result does not depend on one.
    """
    back = ways["back"] if backends.is_quick() else specification.run
    return back(roots, wanted, retain_graph, create_graph, ends_there)


def accumulate(
    roots: Sequence[tuple[Tensor, Tensor]],
    inputs: Tensor | Sequence[Tensor] | None,
    retain_graph: bool,
    create_graph: bool,
) -> None:
    """Add gradients to the ``grad`` of all leaves, or of some tensors alone; the rest is as in `differentiate`."""
    if inputs is None:
        differentiate(roots, None, retain_graph, create_graph)
        return
    wanted = list({id(x): x for x in wanted_in("backward", inputs)}.values())
    found = differentiate(roots, wanted, retain_graph, create_graph)
    with autodiff.enable_grad() if create_graph else autodiff.no_grad():
        for x, gradient in zip(wanted, found, strict=True):
            if gradient is not None and not x.retains_grad:  # such a result has got it by the way
                engine.accumulate_grad(x, gradient)


def wanted_in(operation: str, inputs: Tensor | Sequence[Tensor]) -> list[Tensor]:
    """Return the tensors whose gradients are asked for.

    Raises:
        ValueError: If there are none.
        GraphError: If one does not require gradients.
    """
    wanted = cast("list[Tensor]", [inputs] if hasattr(inputs, "chain_rule") else list(inputs))
    if not wanted:
        raise ValueError(f"{operation}: inputs has no tensors; give those whose gradients you want")
    for i, x in enumerate(wanted):
        if not x.requires_grad:
            raise GraphError(f"{operation}: input {i} does not require gradients")
    return wanted


overrides.load_quick("engine", "backward", "functions")
