"""Reverse-mode differentiation of tensors: `autodiff`'s algorithm, with a quick twin on plain arrays.

The specification is `autodiff.backpropagate`: tensors speak its `Variable` protocol, so the functions that students
write for numbers differentiate tensors as well. It runs, by way of `walking`, where something of `autodiff` or of this
module is replaced by a student's answer, on the python backend, and where an edition leaves the twin out. The twin
below walks the graph newest first (every tensor carries the reading of one clock from when it was made, so that is an
order that works) and keeps gradients as arrays.

Two duties are the engine's alone, and never a rule's: a gradient is summed to its input's shape (`unbroadcast`) and
converted to its type.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import autodiff, backends, standing_aside
from minigrad.autodiff import grad_mode
from minigrad.backends import arrays, choice, numpy_forms
from minigrad.backward.changes import (
    check_unchanged,
    find_old_inputs,
    note_change,
    owner_of,
    refuse_stale_view,
    renewed,
    ticks,
)
from minigrad.backward.contexts import TensorContext, context_of, saved_pattern
from minigrad.backward.steps import step_on_arrays, step_on_tensors
from minigrad.errors import FunctionError, GraphError

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

__all__ = [
    "TensorContext",
    "accumulate_grad",
    "check_unchanged",
    "context_of",
    "free",
    "jvp",
    "note_change",
    "own_gradient",
    "owner_of",
    "run",
    "saved_pattern",
    "specified",
    "ticks",
    "unbroadcast",
]


def unbroadcast(gradient: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sum a gradient to the shape of an input that was broadcast.

    An element that was repeated moved every place it was repeated to: its derivative is the sum over all of them. So
    the gradient is summed over the axes along which the input was repeated, those that it does not have (shapes are
    aligned at their last axes) and those where its size is 1 and the gradient's is not, be it even 0.

    For the shape (3, 1), a gradient of shape (2, 3, 4) is summed over the axes 0 and 2. ``gradient.sum(dim=axes)``
    drops the axes in the tuple axes, and ``sum(dim=axes, keepdim=True)`` keeps them with size 1; ``view(*shape)``
    changes the shape. These methods are recorded where the gradient is to be differentiated again; what goes by way of
    an array is not.

    Args:
        gradient: The gradient in the shape that the input was broadcast to.
        shape: The input's own shape, perhaps with fewer axes.

    Returns:
        The gradient in the input's own shape.
    """
    ### BEGIN SOLUTION
    padded = (1,) * (gradient.ndim - len(shape)) + shape
    repeated = [axis for axis, size in enumerate(padded) if size != gradient.shape[axis]]
    return gradient.sum(dim=repeated).view(*shape)
    ### END SOLUTION


def accumulate_grad(leaf: Tensor, gradient: Tensor) -> None:
    """Add the gradient of one backward pass to what a leaf has from earlier ones: to ``leaf.grad``.

    Where it has none yet, a copy of the gradient is stored, since the gradient's memory may be another tensor's too.
    ``x.clone()`` is a copy; it is recorded where gradients are to be differentiated again, which ``x.detach()`` is not.
    Later the sum is stored as a new tensor, so that who holds the earlier gradient still has its values: mind that
    ``+=`` changes a tensor in place.

    Args:
        leaf: A tensor with ``grad``: None, or a tensor of the leaf's shape.
        gradient: The gradient, of the leaf's shape; it is left as it is.
    """
    ### BEGIN SOLUTION
    leaf.grad = gradient.clone() if leaf.grad is None else leaf.grad + gradient
    ### END SOLUTION


# --- the walk -----------------------------------------------------------------------------------------------


def run(
    roots: Sequence[tuple[Tensor, Tensor]],
    wanted: Sequence[Tensor] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> list[Any]:
    """Propagate gradients from results to leaves.

    Args:
        roots: Results with the gradients to start from.
        wanted: Return the gradients of these; None adds those of all leaves to their ``grad``.
        retain_graph: False frees the graph at the end; an error leaves it as it was.
        create_graph: Whether the walk itself is recorded.

    Returns:
        The gradients of `wanted`, tensors; None where a result does not depend on one.
    """
    if renewed:
        for root, _ in roots:
            refuse_stale_view(root, np.inf)
    before = grad_mode.enabled
    grad_mode.enabled = create_graph
    try:
        if wanted is None and not create_graph and choice.quick:
            walk: Any = _QuickWalk()
            if numpy_forms.call(walk.go, roots):
                numpy_forms.call(walk.accumulate)
                if not retain_graph:
                    free(walk.visited)
                return []
        return _walk_in_order(roots, wanted, retain_graph, create_graph)
    finally:
        grad_mode.enabled = before


def _walk_in_order(
    roots: Sequence[tuple[Tensor, Tensor]], wanted: Sequence[Tensor] | None, retain_graph: bool, create_graph: bool
) -> list[Any]:
    """Propagate gradients along an order that is known before the walk; see `run`."""
    order = newest_first([root for root, _ in roots])
    if wanted is not None:
        order = leading_to(order, wanted)
    on_arrays = not create_graph and choice.quick and all(node._array.__class__ is np.ndarray for node in order)
    walk = (_WalkOnArrays if on_arrays else _Walk)(wanted, order)
    numpy_forms.call(walk.go, roots, order)
    if wanted is None:
        numpy_forms.call(walk.accumulate)
    if not retain_graph:
        free(order)
    return [walk.found.get(id(x)) for x in wanted or ()]


def newest_first(roots: Sequence[Tensor]) -> list[Tensor]:
    """Return all tensors that want gradients behind some results, each before those that it was made from."""
    seen = {id(root): root for root in roots}
    stack = list(seen.values())
    while stack:
        node = stack.pop()
        if node._inputs is None:
            raise freed(node)
        if renewed:
            find_old_inputs(node)
        for x in node._inputs:
            if getattr(x, "requires_grad", False) and id(x) not in seen:
                seen[id(x)] = x
                stack.append(x)
    return sorted(seen.values(), key=_tick_of, reverse=True)


def _tick_of(node: Tensor) -> int:
    return node._tick


def leading_to(order: list[Tensor], wanted: Sequence[Tensor]) -> list[Tensor]:
    """Leave out tensors behind which none of the wanted ones is."""
    useful = {id(x) for x in wanted}
    for node in reversed(order):
        if any(id(x) in useful for x in node._inputs):
            useful.add(id(node))
    return [node for node in order if id(node) in useful]


class _Walk:
    """One backward pass, with gradients that are tensors and can be recorded."""

    step = staticmethod(step_on_tensors)

    def __init__(self, wanted: Sequence[Tensor] | None, order: Sequence[Tensor]) -> None:
        self.wanted = frozenset() if wanted is None else frozenset(map(id, wanted))
        # Where only some gradients are asked for, the others are left out.
        self.useful = None if wanted is None else frozenset(map(id, order))
        self.found: dict[int, Tensor] = {}
        self.gradients: dict[int, Any] = {}
        self.leaves: list[tuple[Tensor, Any]] = []

    def go(self, roots: Sequence[tuple[Tensor, Tensor]], order: Sequence[Tensor]) -> None:
        """Visit every tensor in order, and pass on what it has received."""
        gradients, useful = self.gradients, self.useful
        for root, d in roots:
            self.add(root, self.start(d))
        for node in order:
            d_output = gradients.pop(id(node), None)
            if d_output is None:  # no rule had a gradient for it
                continue
            if node._extra is not None or id(node) in self.wanted:
                d_output = self.notice(node, d_output)
            if node._fn is None:
                self.leaves.append((node, d_output))
                continue
            derivatives = self.step(node, d_output)
            if len(derivatives) != len(node._inputs):
                raise _wrong_count(node, derivatives)
            for x, d in zip(node._inputs, derivatives):  # noqa: B905 (checked; strict would cost a call)
                if d is None or not getattr(x, "requires_grad", False):
                    continue
                if useful is not None and id(x) not in useful:
                    continue
                if d.__class__ is not float or d != 0.0 or not x._array.ndim:  # 0.0 is a rule's way to say: none
                    self.add(x, d)

    def start(self, d: Tensor) -> Any:
        """Return the gradient to start from, as this walk passes gradients on."""
        return d

    def add(self, node: Tensor, d: Any) -> None:
        """Add a gradient to what a tensor has received so far."""
        d = fit_tensor(node, d)
        before = self.gradients.get(id(node))
        self.gradients[id(node)] = d if before is None else before + d

    def notice(self, node: Tensor, d_output: Any) -> Any:
        """Call a tensor's hooks, and keep its gradient where it was asked for."""
        d_output = notice(node, d_output)
        if id(node) in self.wanted:
            self.found[id(node)] = d_output
        return d_output

    def accumulate(self) -> None:
        """Add the gradients of all leaves to what they have; only now, so that an error changes nothing."""
        for leaf, d in self.leaves:
            accumulate_grad(leaf, d)


class _WalkOnArrays(_Walk):
    """The same with plain arrays, which is several times quicker."""

    step = staticmethod(step_on_arrays)

    def start(self, d: Tensor) -> Any:
        """Return the array."""
        return d._array

    def add(self, node: Tensor, d: Any) -> None:
        """Add a gradient to what a tensor has received so far."""
        array = node._array
        if d.__class__ is not np.ndarray and arrays.on_host(d):  # a number, of Python or NumPy
            d = np.asarray(d, array.dtype)
        if d.shape != array.shape:
            if d.ndim < array.ndim or d.size < array.size or not array.size:
                d = arrays.expand(d, _shape_of_both(node, d))
            try:
                d = arrays.sum_to(d, array.shape)
            except ValueError:
                raise _wrong_shape(node, d) from None
        if d.dtype is not array.dtype:
            d = d.astype(array.dtype, copy=False)
        key = id(node)
        before = self.gradients.get(key)
        self.gradients[key] = d if before is None else arrays.elementwise("add", before, d)

    def notice(self, node: Tensor, d_output: Any) -> Any:
        """Call a tensor's hooks, and keep its gradient where it was asked for."""
        with autodiff.no_grad():
            return super().notice(node, node._of_array(d_output))._array

    def accumulate(self) -> None:
        """Add the gradients of all leaves to what they have."""
        leaves = self.leaves
        while leaves:
            leaf, d = leaves.pop()
            if leaf._grad is not None:
                leaf.grad = leaf._of_array(arrays.elementwise("add", leaf._grad._array, d))
                continue
            # An array that nobody else holds is kept, not copied: its names are `d` and the function's argument.
            if (
                not arrays.on_host(d)
                or isinstance(d.base, np.ndarray)
                or sys.getrefcount(d) > 2
                or not d.flags.writeable
            ):
                d = arrays.contiguous(d)
            leaf._grad = leaf._of_array(d)


class _QuickWalk(_WalkOnArrays):
    """The same for `backward`, which asks for everything: in no order known before, and with the loop written out.

    A heap hands out the newest tensor that has a gradient. None that is older can add to its gradient: everything
    computed from a tensor is newer than it.
    """

    def __init__(self) -> None:
        self.wanted = frozenset()
        self.gradients = {}
        self.leaves = []
        self.visited: list[Tensor] = []
        self.heap: list[tuple[int, Tensor]] = []

    def go(self, roots: Sequence[tuple[Tensor, Tensor]]) -> bool:  # type: ignore[override]
        """Visit every tensor; return False, with nothing changed, if one is not on the CPU."""
        gradients, heap, visited = self.gradients, self.heap, self.visited
        for root, start in roots:
            self.add(root, start._array)
        while heap:
            node = heappop(heap)[1]
            d_output = gradients.pop(id(node))
            if node._extra is not None:
                d_output = self.notice(node, d_output)
            if node._fn is None:
                self.leaves.append((node, d_output))
                continue
            inputs = node._inputs
            if inputs is None:
                raise freed(node)
            if node._array.__class__ is not np.ndarray:
                return False
            visited.append(node)
            if renewed:
                find_old_inputs(node)
                inputs = node._inputs
            derivatives = step_on_arrays(node, d_output)
            if len(derivatives) != len(inputs):
                raise _wrong_count(node, derivatives)
            for x, d in zip(inputs, derivatives):  # noqa: B905 (as above)
                if d is None or not getattr(x, "requires_grad", False):
                    continue
                if d.__class__ is np.ndarray and id(x) not in gradients:
                    array = x._array
                    if d.shape == array.shape and d.dtype is array.dtype:
                        gradients[id(x)] = d
                        heappush(heap, (-x._tick, x))
                        continue
                if d.__class__ is not float or d != 0.0 or not x._array.ndim:
                    self.add(x, d)
        return True

    def add(self, node: Tensor, d: Any) -> None:
        """Add a gradient to what a tensor has received so far."""
        if id(node) not in self.gradients:
            heappush(self.heap, (-node._tick, node))
        super().add(node, d)


def notice(node: Tensor, d_output: Tensor) -> Tensor:
    """Call a tensor's hooks with its complete gradient, and keep it if `retain_grad` was called."""
    extra = node._extra or {}
    for hook in list(extra.get("hooks", {}).values()):
        replacement = hook(d_output)
        if replacement is not None:
            d_output = replacement
    if extra.get("retain_grad") and node._fn is not None:
        node._grad = d_output.clone() if node._grad is None else node._grad + d_output
    return d_output


def fit_tensor(node: Tensor, d: Any) -> Tensor:
    """Give a gradient, a tensor or a number, the shape and the type of the tensor that it belongs to."""
    if not hasattr(d, "chain_rule"):
        d = node._of_array(arrays.full(node._array.shape, float(d), node._array.dtype, node._array))
    if d._array.shape != node._array.shape:
        full_shape = _shape_of_both(node, d)
        d = d if d._array.shape == full_shape else d.expand(*full_shape)
        d = unbroadcast(d, node._array.shape)
        if d._array.shape != node._array.shape:
            raise GraphError(f"unbroadcast returned shape {tuple(d.shape)} for an input of shape {tuple(node.shape)}")
    return d if d._array.dtype == node._array.dtype else d.to(node._array.dtype)  # type: ignore[no-any-return]


def own_gradient(node: Tensor, d: Any) -> Tensor:
    """Fit a gradient to its tensor, as an object of its own that `+=` does not change for others."""
    d = fit_tensor(node, d)
    return d + 0.0 if grad_mode.enabled else node._of_array(arrays.contiguous(d._array))


def _shape_of_both(node: Tensor, d: Any) -> tuple[int, ...]:
    """Return the shape to which a tensor and its gradient, of another shape, broadcast."""
    try:
        return np.broadcast_shapes(d.shape, node._array.shape)
    except ValueError:
        raise _wrong_shape(node, d) from None


def _wrong_shape(node: Tensor, d: Any) -> FunctionError:
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
    return GraphError(
        f"backward: the graph of this {node._fn.__name__} was freed by an earlier backward pass; compute the result "
        "again, or keep the graph with backward(retain_graph=True)"
    )


def _wrong_count(node: Tensor, derivatives: Sequence[Any]) -> FunctionError:
    return FunctionError(
        f"{node._fn.__name__}.backward returned {len(derivatives)} derivatives for {len(node._inputs)} inputs: "
        "return one for each input, in the order of forward's arguments"
    )


# --- forward mode along a recorded graph --------------------------------------------------------------------


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


class _Specified:
    """A switch: backward passes take the specification in `autodiff`, or the twin here."""

    now = False


specified = _Specified()


def _refresh() -> None:
    replaced = standing_aside.any_of("autodiff", "engine")
    specified.now = replaced or backends.chosen() == "python" or standing_aside.is_cut(run)


backends.on_change(_refresh)
_refresh()
