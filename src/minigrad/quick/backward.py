"""The quick backward pass of tensors: it walks the graph newest first, with gradients that are plain arrays.

It stands for `minigrad.backward.specification`, which follows `autodiff.backpropagate`. Every tensor carries the
reading of one clock from when it was made, so that newest first is an order that works. Where the pass itself is
recorded, the gradients are tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import autodiff, engine
from minigrad.autodiff import grad_mode
from minigrad.backends import arrays, guarded
from minigrad.backward import changes
from minigrad.backward.changes import find_old_inputs, refuse_stale_view
from minigrad.backward.shared import (
    fit_tensor,
    free,
    freed,
    leading_to,
    newest_first,
    notice,
    shape_of_both,
    wrong_count,
    wrong_shape,
)
from minigrad.backward.steps import step_as_written, step_on_arrays, step_on_tensors, sums
from minigrad.backward.walk import ways
from minigrad.machine import overrides

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

SHOWS = ("operators.backs", "autodiff")


def run(
    roots: Sequence[tuple[Tensor, Tensor]],
    wanted: Sequence[Tensor] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    ends_there: bool = False,
) -> list[Any]:
    """Propagate gradients newest first; arguments and result are those of `differentiate`."""
    if changes.any_history_replaced:
        for root, _ in roots:
            refuse_stale_view(root, np.inf)
    before = grad_mode.enabled
    grad_mode.enabled = create_graph
    try:
        kind = _RecordedWalk if create_graph else _Walk
        for _, start in roots:
            if start.abstract:  # mapped or traced: there is no array to start from
                kind = _RecordedWalk
        walk = kind(roots, wanted, ends_there)
        guarded.call(walk.go, roots)
        if wanted is None:
            guarded.call(walk.accumulate)
        if not retain_graph:
            free(walk.visited)
        return [walk.found.get(id(x)) for x in wanted or ()]
    finally:
        grad_mode.enabled = before


class _Walk:
    """One backward pass, with gradients that are arrays.

    A heap hands out the newest tensor that has a gradient. None that is older can add to its gradient: everything
    computed from a tensor is newer than it.
    """

    __slots__ = ("ends", "found", "gradients", "heap", "leaves", "useful", "visited", "wanted")

    def __init__(
        self, roots: Sequence[tuple[Tensor, Tensor]], wanted: Sequence[Tensor] | None, ends_there: bool
    ) -> None:
        self.wanted: frozenset[int] | None = None
        self.ends = ends_there
        self.useful: frozenset[int] | None = None
        if wanted is not None:  # gradients that lead to none of these are left out
            self.wanted = frozenset(map(id, wanted))
            behind = newest_first([root for root, _ in roots], min((x._tick for x in wanted), default=0))
            self.useful = frozenset(map(id, leading_to(behind, wanted)))
        self.found: dict[int, Tensor] = {}
        self.gradients: dict[int, Any] = {}
        self.leaves: list[tuple[Tensor, Any]] = []
        self.visited: list[Tensor] = []
        self.heap: list[tuple[int, Tensor]] = []

    def go(self, roots: Sequence[tuple[Tensor, Tensor]]) -> None:
        """Visit every tensor, and pass on what it has received."""
        gradients, heap, visited = self.gradients, self.heap, self.visited
        wanted, useful = self.wanted, self.useful
        for root, start in roots:
            if useful is None or id(root) in useful:
                self.add(root, self.start(start))
        while heap:
            node = heappop(heap)[1]
            d_output = gradients.pop(id(node))
            if node._extra is not None or (wanted is not None and id(node) in wanted):
                d_output = self.notice(node, d_output)
                if self.ends and wanted is not None and id(node) in wanted:
                    continue
            if node._fn is None:
                self.leaves.append((node, d_output))
                continue
            if node._inputs is None:
                raise freed(node)
            visited.append(node)
            if changes.any_history_replaced:
                find_old_inputs(node)
            inputs = node._inputs
            if node._fn.add_back is not None:
                derivatives = d = None  # which hold the array that a part before this one has made
                if self.added(node, inputs[0], d_output):
                    continue
            derivatives = self.step(node, d_output)
            if len(derivatives) != len(inputs):
                raise wrong_count(node, derivatives)
            for x, d in zip(inputs, derivatives):  # noqa: B905 (checked; strict would cost a call)
                if d is None or not getattr(x, "requires_grad", False):
                    continue
                if useful is not None and id(x) not in useful:
                    continue
                if d.__class__ is np.ndarray and id(x) not in gradients:
                    array = x._array
                    if d.shape == array.shape and d.dtype is array.dtype:
                        gradients[id(x)] = d
                        heappush(heap, (-x._tick, x))
                        continue
                if d.__class__ is not float or d != 0.0 or not x._array.ndim:  # 0.0 is a rule's way to say: none
                    self.add(x, d)

    def added(self, node: Tensor, x: Any, d_output: Any) -> bool:
        """Add to the gradient that an input has already, where nobody else holds that array."""
        before = self.gradients.pop(id(x), None)
        if before is None:
            return False
        is_own = before.__class__ is np.ndarray and guarded.has_own_memory(before) and before.flags.writeable
        done: bool = is_own and guarded.is_held_once(before) and node._fn.add_back(node._ctx, d_output, before)
        self.gradients[id(x)] = before
        return done

    @staticmethod
    def step(node: Tensor, d_output: Any) -> Sequence[Any]:
        """Return the gradients of a result's inputs."""
        if node._array.__class__ is np.ndarray:
            return step_on_arrays(node, d_output)
        return step_as_written(node, d_output)

    def start(self, d: Tensor) -> Any:
        """Return the gradient to start from, as this pass hands gradients on."""
        return d._array

    def add(self, node: Tensor, d: Any) -> None:
        """Add a gradient to what a tensor has received so far."""
        key, d = id(node), self.fit(node, d)
        before = self.gradients.get(key)
        if before is None:
            heappush(self.heap, (-node._tick, node))
            self.gradients[key] = d
        else:
            self.gradients[key] = self.sum(before, d)

    def fit(self, node: Tensor, d: Any) -> Any:
        """Give a gradient the shape and the type of its tensor."""
        array = node._array
        if d.__class__ is not np.ndarray and arrays.on_host(d):  # a number, of Python or NumPy
            d = arrays.full((), d, array.dtype, array)
        if d.shape != array.shape:
            if d.ndim < array.ndim or d.size < array.size or not array.size:
                d = arrays.expand(d, shape_of_both(node, d))
            if not sums:
                return engine.unbroadcast(node._of_array(d), array.shape)._array
            try:
                d = sums["sum_to"](d, array.shape)
            except ValueError:
                raise wrong_shape(node, d) from None
        return d if d.dtype is array.dtype else d.astype(array.dtype, copy=False)

    def sum(self, a: Any, b: Any) -> Any:
        """Return the sum of two gradients."""
        return arrays.elementwise("add", a, b)

    def notice(self, node: Tensor, d_output: Any) -> Any:
        """Call a tensor's hooks, and keep its gradient where it was asked for."""
        with autodiff.no_grad():
            d = notice(node, node._of_array(d_output))
        if self.wanted is not None and id(node) in self.wanted:
            self.found[id(node)] = d
        return d._array

    def accumulate(self) -> None:
        """Add the gradients of all leaves to what they have; only now, so that an error changes nothing."""
        leaves = self.leaves
        while leaves:
            leaf, d = leaves.pop()
            if leaf._grad is not None:
                leaf.grad = leaf._of_array(arrays.elementwise("add", leaf._grad._array, d))
                continue
            # An array that nobody else holds is kept, not copied.
            is_own = arrays.on_host(d) and guarded.has_own_memory(d) and d.flags.writeable
            if not is_own or not guarded.is_held_once(d):
                d = arrays.contiguous(d)
            leaf._grad = leaf._of_array(d)


class _RecordedWalk(_Walk):
    """The same with gradients that are tensors, so that the pass can be differentiated again."""

    __slots__ = ()

    def added(self, node: Tensor, x: Any, d_output: Any) -> bool:
        """Do nothing: what is recorded is not changed."""
        return False

    @staticmethod
    def step(node: Tensor, d_output: Any) -> Sequence[Any]:
        """Return the gradients of a result's inputs, recorded."""
        return step_on_tensors(node, d_output)

    def start(self, d: Tensor) -> Any:
        """Return the tensor itself."""
        return d

    def fit(self, node: Tensor, d: Any) -> Any:
        """Give a gradient the shape and the type of its tensor."""
        return fit_tensor(node, d)

    def sum(self, a: Any, b: Any) -> Any:
        """Return the sum of two gradients."""
        return a + b

    def notice(self, node: Tensor, d_output: Any) -> Any:
        """Call a tensor's hooks, and keep its gradient where it was asked for."""
        d_output = notice(node, d_output)
        if self.wanted is not None and id(node) in self.wanted:
            self.found[id(node)] = d_output
        return d_output

    def accumulate(self) -> None:
        """Add the gradients of all leaves to what they have."""
        for leaf, d in self.leaves:
            engine.accumulate_grad(leaf, d)


overrides.twin(ways, "back", run, unless=("autodiff", "engine"))
