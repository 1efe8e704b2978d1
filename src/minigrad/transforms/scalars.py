"""Derivatives along graphs of Scalars: both directions, recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad import autodiff
from minigrad.autodiff import Context
from minigrad.functions import Function
from minigrad.scalar import Scalar


def link(x: Scalar, function: type[Function]) -> Scalar:
    """Return a node for a Scalar: the result of an identity."""
    node = Scalar(x.data)
    ctx = Context()
    ctx.values, ctx.result, ctx.open = (x.data,), x.data, True  # type: ignore[attr-defined]
    node._fn, node._b, node._db = function, (x,), ctx
    return node


def close(node: Scalar) -> None:
    """Note that the function whose input a node was has returned."""
    node._db.open = False


def has_outer(results: Sequence[Scalar], own: Sequence[Scalar]) -> bool:
    """Return whether a leaf, or an input of another transform that is running, stands behind results."""
    mine = set(map(id, own))
    for node in _behind(results):
        if node._fn is None or (getattr(node._db, "open", False) and id(node) not in mine):
            return True
    return False


def _behind(results: Sequence[Scalar]) -> list[Scalar]:
    """Return all variables behind results, each before those that it was made from."""
    order: dict[int, Any] = {}
    for result in reversed(results):
        found = [x for x in autodiff.topological_sort(result) if x.unique_id not in order]
        order = {x.unique_id: x for x in found} | order
    return list(order.values())


def pull(roots: Sequence[tuple[Scalar, Any]], wanted: Sequence[Scalar], recorded: bool) -> list[Any]:
    """Return the derivative in each wanted variable; None where no root depends on it."""
    derivatives: dict[int, Any] = {}
    for root, d in roots:
        _add(derivatives, root, d)
    found: dict[int, Any] = {}
    mine = set(map(id, wanted))
    with autodiff.enable_grad() if recorded else autodiff.no_grad():
        for node in _behind([root for root, _ in roots]):
            if id(node) not in derivatives:
                continue
            d = derivatives.pop(id(node))
            if id(node) in mine:
                found[id(node)] = d
            elif node._fn is not None:
                for parent, derivative in node.chain_rule(d):
                    _add(derivatives, parent, derivative)
    return [_scalar(found.get(id(x))) for x in wanted]


def _add(derivatives: dict[int, Any], node: Any, d: Any) -> None:
    derivatives[id(node)] = derivatives[id(node)] + d if id(node) in derivatives else d


def push(results: Sequence[Scalar], changes: Sequence[tuple[Scalar, Any]]) -> list[Any]:
    """Return the change of each result for changes of variables; None where it does not change."""
    known: dict[int, Any] = {id(x): t for x, t in changes}
    for node in reversed(_behind(results)):
        if id(node) in known or node._fn is None:
            continue
        history = node.history
        assert history is not None
        given = [known.get(id(x)) for x in history.inputs]
        if any(t is not None for t in given):
            known[id(node)] = node._fn.jvp(history.ctx, *given)
    return [_scalar(known.get(id(y))) for y in results]


def _scalar(d: Any) -> Any:
    return d if d is None or isinstance(d, Scalar) else Scalar(d, requires_grad=False)
