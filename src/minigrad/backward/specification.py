"""Backward passes by the specification in `autodiff`, or by the functions that a student has installed there.

`autodiff.backpropagate` goes back from one result and adds to every leaf. What tensors offer besides - several results,
gradients of chosen tensors that are returned and stored nowhere - is made of it: it is given a graph in which a tensor
that is not asked for is a constant, and a leaf hands its gradient out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from minigrad import autodiff
from minigrad.backward import changes, shared
from minigrad.backward.changes import refuse_stale_view

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

Roots = Sequence[tuple["Tensor", "Tensor"]]


def run(
    roots: Roots,
    wanted: Sequence[Tensor] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    ends_there: bool = False,
) -> list[Any]:
    """Propagate gradients by the specification; arguments and result are those of `walk.differentiate`."""
    if changes.any_history_replaced:
        for root, _ in roots:
            refuse_stale_view(root, np.inf)
    order = shared.newest_first([root for root, _ in roots])
    found: dict[int, Any] = {}
    with autodiff.enable_grad() if create_graph else autodiff.no_grad():
        roots = [(root, shared.own_gradient(root, start)) for root, start in roots]
        if wanted is not None:
            _find(roots, wanted, order, found, ends_there)
        elif len(roots) == 1:
            autodiff.backpropagate(cast(Any, roots[0][0]), roots[0][1])
        else:
            autodiff.backpropagate(cast(Any, _Above(roots)), 1.0)
    if not retain_graph:
        shared.free(order)
    return [found.get(id(x)) for x in wanted or ()]


def _find(roots: Roots, wanted: Sequence[Tensor], order: list[Tensor], found: dict[int, Any], ends_there: bool) -> None:
    """Write the gradients of some tensors into a dictionary, by their ids."""
    asked = {id(x) for x in wanted}
    graph = _Graph({id(node) for node in shared.leading_to(order, wanted)} | asked, asked if ends_there else set())
    starts = [(graph.seen(root), start) for root, start in roots]
    handles = [x.register_hook(_Keep(found, id(x))) for x in {id(x): x for x in wanted}.values()]
    try:
        above = _Above([(root, start) for root, start in starts if not root.is_constant()])
        if above.parents:
            autodiff.backpropagate(cast(Any, above), 1.0)
    finally:
        for handle in handles:
            handle.remove()


class _Keep:
    """A hook that keeps a gradient: being the last one, it is given what the others have made of it."""

    def __init__(self, found: dict[int, Any], key: int) -> None:
        self._found, self._key = found, key

    def __call__(self, gradient: Any) -> None:
        self._found[self._key] = gradient


class _Above:
    """A variable above several results, so that one pass starts from all of them."""

    history = autodiff.History()

    def __init__(self, starts: list[tuple[Any, Any]]) -> None:
        self._starts = starts
        self.unique_id = id(self)
        self.parents = [root for root, _ in starts]

    def is_leaf(self) -> bool:
        """It has inputs."""
        return False

    def is_constant(self) -> bool:
        """It passes gradients on."""
        return False

    def chain_rule(self, d_output: Any) -> Iterable[tuple[Any, Any]]:
        """Return each result, with the gradient to start from."""
        return self._starts


class _Graph:
    """The graph behind some results in which everything is a constant but what is asked for, and what leads there.

    Some nodes are its ends: leaves, whatever they were computed from.
    """

    def __init__(self, useful: set[int], ends: set[int]) -> None:
        self._useful, self._ends = useful, ends
        self._seen: dict[int, _Seen] = {}

    def seen(self, tensor: Tensor) -> _Seen:
        """Return what stands for a tensor, always the same."""
        if id(tensor) not in self._seen:
            self._seen[id(tensor)] = _Seen(tensor, self, id(tensor) not in self._useful, id(tensor) in self._ends)
        return self._seen[id(tensor)]


class _Seen:
    """A tensor as a pass for chosen gradients sees it."""

    def __init__(self, tensor: Tensor, graph: _Graph, constant: bool, end: bool) -> None:
        self._tensor, self._graph, self._constant, self._end = tensor, graph, constant, end
        self.unique_id = id(tensor)

    @property
    def history(self) -> Any:
        """The tensor's own."""
        return None if self._constant else autodiff.History() if self._end else self._tensor.history

    @property
    def parents(self) -> tuple[_Seen, ...]:
        """The nodes of the inputs."""
        return () if self._end else tuple([self._graph.seen(x) for x in self._tensor.parents])

    def is_leaf(self) -> bool:
        """Return whether the tensor is a leaf, or an end."""
        return self._end or bool(self._tensor.is_leaf())

    def is_constant(self) -> bool:
        """Return whether no requested tensor lies here, or beyond."""
        return self._constant

    def chain_rule(self, d_output: Any) -> Iterable[tuple[_Seen, Any]]:
        """Take the tensor's step back."""
        pairs = [(self._graph.seen(x), d) for x, d in self._tensor.chain_rule(d_output)]
        return [(x, d) for x, d in pairs if not x.is_constant()]

    def accumulate_derivative(self, x: Any) -> None:
        """Hand a leaf's gradient to its hooks, one of which keeps it; the leaf stores nothing."""
        shared.notice(self._tensor, shared.fit_tensor(self._tensor, x))
