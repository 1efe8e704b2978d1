"""Nodes of the graph whose rules are functions of whole trees, given when the node is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from minigrad.autodiff import Context
from minigrad.backends import arrays
from minigrad.engine import TensorContext
from minigrad.functions import Function
from minigrad.scalar import Scalar
from minigrad.tensors import Tensor, abstract_mode, creation
from minigrad.transforms.batched import expose_all, hide_all
from minigrad.transforms.recording import is_variable

Pull = Callable[[list[Any]], Sequence[Any]]
"""Takes a cotangent, or None, for each result; returns a gradient, or None, for each input."""
Push = Callable[[list[Any]], Sequence[Any]]
"""Takes a tangent, or None, for each input; returns the change of each result, or None."""


class _Custom(Function):
    """A function whose rules are in its context."""

    @staticmethod
    def backward(ctx: Any, d_output: Any) -> Any:
        """Ask the rule for reverse mode."""
        return tuple(ctx.pull(d_output))

    @classmethod
    def jvp(cls, ctx: Any, *tangents: Any) -> Any:
        """Ask the rule for forward mode."""
        return ctx.push(tangents)


_Custom.__name__ = "Custom"  # as messages call it


def with_rules(
    name: str,
    results: Sequence[Any],
    inputs: Sequence[Any],
    pull: Pull,
    push: Push,
    others: Sequence[Tensor] = (),
    hides: bool = True,
) -> list[Any]:
    """Return results whose derivatives are computed by rules.

    Args:
        name: What messages call the function.
        results: What it returned; those that can be differentiated become results of one node.
        inputs: What its derivatives are asked in: tensors or Scalars.
        pull: The rule for reverse mode, of all results that can be differentiated.
        push: The rule for forward mode, likewise.
        others: Tensors that the function took from elsewhere, without hidden axes; the rules count them last.
        hides: Whether the rules may depend on values that the results do not depend on.

    Raises:
        TypeError: If Scalars and tensors are mixed.
    """
    places = [place for place, y in enumerate(results) if is_variable(y)]
    variables = [results[place] for place in places]
    if not variables:
        return list(results)
    kinds = {isinstance(x, Scalar) for x in (*inputs, *variables)}
    if len(kinds) > 1:
        raise TypeError(f"{name}: the function mixes Scalars and tensors; give it one kind")
    made = (_of_scalars if kinds == {True} else _of_tensors)(variables, inputs, pull, push, others, hides)
    replaced = dict(zip(places, made, strict=True))
    return [replaced.get(place, y) for place, y in enumerate(results)]


def _of_tensors(
    results: Sequence[Any], inputs: Sequence[Any], pull: Pull, push: Push, others: Sequence[Tensor], hides: bool
) -> list[Any]:
    """Make one node for all results: they lie in it one behind the other."""
    maps = tuple(abstract_mode.running.maps)

    shown, hidden = partial(expose_all, maps=maps), partial(hide_all, maps=maps)
    values = [shown(y).detach() for y in results]
    pack, unpack = _packing(values)

    def pull_packed(d: Any) -> list[Any]:
        with abstract_mode.within(maps):
            gradients = pull([hidden(each) for each in unpack(d)])
            of_inputs = [None if g is None else shown(g) for g in gradients[: len(inputs)]]
            return [*of_inputs, *gradients[len(inputs) :]]

    def push_packed(tangents: Sequence[Any]) -> Any:
        with abstract_mode.within(maps):
            own = [None if t is None else hidden(t) for t in tangents[: len(inputs)]]
            changes = push([*own, *tangents[len(inputs) :]])
            return pack([None if c is None else shown(c) for c in changes])

    packed = pack(values)
    behind = (*map(shown, inputs), *others)
    node = packed.detach()  # newer than what is behind it
    ctx = TensorContext(behind, [x._array for x in behind], {})
    ctx.pull, ctx.push, ctx.hides = pull_packed, push_packed, hides
    node._requires_grad, node._fn, node._inputs, node._ctx = True, _Custom, behind, ctx
    return [hidden(y) for y in unpack(node)]


def _packing(values: Sequence[Any]) -> tuple[Callable[[Sequence[Any]], Any], Callable[[Any], list[Any]]]:
    """Return how tensors like some values become one, and how they come back."""
    shapes, dtypes, devices = [x.shape for x in values], [x.dtype for x in values], [x.device for x in values]
    common = arrays.promote([x.reshape(-1) for x in values])
    sizes = [math.prod(shape) for shape in shapes]

    def pack(given: Sequence[Any]) -> Any:
        blank = zip(shapes, dtypes, devices, strict=True)
        filled = [
            creation.zeros(shape, dtype=dtype, device=device) if x is None else x
            for x, (shape, dtype, device) in zip(given, blank, strict=True)
        ]
        return filled[0] if len(filled) == 1 else creation.cat([x.reshape(-1).to(common) for x in filled])

    def unpack(x: Any) -> list[Any]:
        if len(shapes) == 1:
            return [x]
        parts = zip(x.split(sizes), shapes, dtypes, strict=True)
        return [part.reshape(*shape).to(dtype) for part, shape, dtype in parts]

    return pack, unpack


def _of_scalars(
    results: Sequence[Any], inputs: Sequence[Any], pull: Pull, push: Push, others: Sequence[Tensor], hides: bool
) -> list[Any]:
    """Make a node for each result."""
    made = []
    for place, y in enumerate(results):

        def pull_one(d: Any, place: int = place) -> Sequence[Any]:
            cotangents: list[Any] = [None] * len(results)
            cotangents[place] = d if isinstance(d, Scalar) else Scalar(d, requires_grad=False)
            return pull(cotangents)

        def push_one(tangents: Sequence[Any], place: int = place) -> Any:
            return push(list(tangents))[place]

        node, ctx = Scalar(y.data), Context()
        ctx.values, ctx.result = tuple(x.data * 1.0 for x in inputs), y.data
        ctx.pull, ctx.push = pull_one, push_one  # type: ignore[attr-defined]
        node._fn, node._b, node._db = _Custom, tuple(inputs), ctx
        made.append(node)
    return made
