"""`scan`: a function run along the first axis of tensors, handing a value on from one element to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad import backends
from minigrad.autodiff import grad_mode
from minigrad.backends import arrays
from minigrad.graph.inner import (
    Inner,
    check_same,
    filled,
    innermost,
    only_variables,
    tensors_of,
    with_derivatives,
    with_values,
)
from minigrad.graph.program import Several, Var
from minigrad.graph.tracing import Trace, traced
from minigrad.layout import type_name
from minigrad.tensors import abstract_mode, creation
from minigrad.transforms.arguments import check_callable
from minigrad.transforms.recording import Recording, is_variable, zeros_like
from minigrad.transforms.trees import PyTreeDef, tree_flatten


class Scan(Several):
    """A graph run for each element along the first axes of some operands, handing values on from one to the next."""

    @staticmethod
    def run(operands: Sequence[Any], **options: Any) -> list[Any]:
        """Run the graph ``length`` times."""
        body, fixed, carried, length = (options[name] for name in ("body", "fixed", "carried", "length"))
        known, carry, xs = operands[:fixed], list(operands[fixed : fixed + carried]), operands[fixed + carried :]
        on_host = arrays.on_host(*operands)
        make = arrays.empty if on_host else backends.cuda().empty
        stacks = [make((length, *shape), dtype) for shape, dtype in options["stacked"]]
        for i in reversed(range(length)) if options["reverse"] else range(length):
            results = body.run(*known, *carry, *[np.asarray(x[i]) if on_host else x[i] for x in xs])
            carry = list(results[:carried])
            for stack, y in zip(stacks, results[carried:], strict=True):
                stack[i] = y
        return [*carry, *stacks]


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Run a function along the first axis of some tensors, handing a value on from one element to the next.

    Args:
        f: Called with the value so far and an element; returns a pair of the next value, of the same structure, shapes
            and types, and something to be collected, or None.
        init: The first value: a tree.
        xs: A tree of tensors whose first axes have one length, or None.
        length: The number of steps, where xs is None.
        reverse: Whether to start with the last element. What is collected stands where its element stands.

    Returns:
        The last value, and what was collected, along a new first axis.

    Raises:
        ValueError: If the lengths of xs differ, or there is none.
        TypeError: If f does not return a pair, or the value changes its form.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html

    >>> total, so_far = minigrad.graph.scan(lambda c, x: (c + x, c + x), 0.0, minigrad.tensor([1.0, 2.0, 3.0]))
    >>> total, so_far
    (tensor(6.), tensor([1., 3., 6.]))
    """
    check_callable("scan", f)
    carry, tree = tensors_of(init)
    elements, of_xs = tensors_of(xs)
    count = _length(elements, length)
    outer = innermost([*carry, *elements])
    if outer is None:
        return _scan_now(f, carry, tree, elements, of_xs, count, reverse)
    return _Scan(f, carry, tree, elements, of_xs, count, reverse).traced(outer)


def _length(xs: Sequence[Any], length: int | None) -> int:
    sizes = {x.shape[0] if x.ndim else None for x in xs} | ({length} if length is not None else set())
    if len(sizes) != 1 or None in sizes:
        shapes = ", ".join(str(tuple(x.shape)) for x in xs) or "none"
        raise ValueError(
            f"scan: tensors of shapes {shapes} and length {length} give no number of steps; the first axes must have "
            "one length, and without tensors there must be a length"
        )
    return sizes.pop()  # type: ignore[return-value]


def _pair(returned: Any) -> tuple[Any, Any]:
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise TypeError(
            f"scan: f returned {type_name(returned)}; it must return a pair: the next value, and what is collected"
        )
    return returned


def _scan_now(
    f: Any, carry: list[Any], tree: PyTreeDef, xs: list[Any], of_xs: PyTreeDef, count: int, reverse: bool
) -> tuple[Any, Any]:
    """Run the steps one after the other."""
    if not count:
        return tree.unflatten(carry), _of_no_steps(f, carry, tree, xs, of_xs)
    collected: list[Any] = []
    structure = tree_flatten(None)[1]
    for i in reversed(range(count)) if reverse else range(count):
        value, y = _pair(f(tree.unflatten(carry), of_xs.unflatten([x[i] for x in xs])))
        new, own = tensors_of(value)
        check_same("scan", "the value that f hands on", carry, tree, new, own)
        carry = new
        leaves, structure = tensors_of(y)
        collected.append(leaves)
    columns = list(zip(*(reversed(collected) if reverse else collected), strict=True))
    return tree.unflatten(carry), structure.unflatten([creation.stack(list(column)) for column in columns])


def _of_no_steps(f: Any, carry: list[Any], tree: PyTreeDef, xs: list[Any], of_xs: PyTreeDef) -> Any:
    """Return what no step collects: tensors whose first axis is empty, of the types that a trace of a step finds."""

    def step(carry: list[Any], xs: list[Any]) -> Any:
        value, y = _pair(f(tree.unflatten(carry), of_xs.unflatten(xs)))
        leaves, structure = tensors_of(y)
        return [*carry, *tensors_of(value)[0]], structure.unflatten(leaves)

    devices = {x.device for x in (*carry, *xs)} or {"cpu"}
    leaves, structure = tree_flatten((carry, [np.empty(x.shape[1:], x.dtype) for x in xs]))
    graph, run = traced(step, leaves, structure, devices.pop())
    types = [v for v in graph.outputs if isinstance(v, Var)]
    collected = graph.structure.children[1]
    found = types[len(types) - collected.num_leaves :]
    return collected.unflatten([creation.zeros((0, *v.shape), dtype=v.dtype, device=run.device) for v in found])


class _Scan:
    """A scan in a trace."""

    def __init__(
        self, f: Any, carry: list[Any], tree: PyTreeDef, xs: list[Any], of_xs: PyTreeDef, count: int, reverse: bool
    ) -> None:
        self.f, self.carry, self.tree, self.xs, self.of_xs = f, carry, tree, xs, of_xs
        self.count, self.reverse = count, reverse

    def _step(self, carry: Sequence[Any], xs: Sequence[Any]) -> tuple[Any, Any]:
        value, y = _pair(self.f(self.tree.unflatten(carry), self.of_xs.unflatten(xs)))
        leaves, own = tensors_of(value)
        check_same("scan", "the value that f hands on", self.carry, self.tree, leaves, own)
        return leaves, y

    def traced(self, outer: Trace) -> tuple[Any, Any]:
        """Add one equation. Where a gradient may be asked for, it also collects the values handed on."""
        n, keeps = len(self.carry), grad_mode.enabled
        like = [*self.carry, *[np.empty(x.shape[1:], x.dtype) for x in self.xs]]
        form = tree_flatten(tuple(like))[1]

        def body(*values: Any) -> Any:
            leaves, y = self._step(values[:n], values[n:])
            return leaves, y, list(values[:n]) if keeps else []

        inner = Inner(outer, body, like, form)
        if keeps and not any(x.requires_grad for x in (*self.carry, *self.xs, *inner.captured)):
            outputs = inner.graph.outputs
            inner.graph, keeps = replace(inner.graph, outputs=outputs[: len(outputs) - n]), False
        results = inner.graph.outputs
        stacked = [((self.count, *v.shape), v.dtype) for v in results[n:]]
        options = {
            "body": inner.taking(inner.captured),
            "fixed": len(inner.captured),
            "carried": n,
            "length": self.count,
            "reverse": self.reverse,
            "stacked": tuple((v.shape, v.dtype) for v in results[n:]),
        }
        types = [*results[:n], *[Var(shape, dtype) for shape, dtype in stacked]]
        made: list[Any] = outer.emit_several(Scan, [*inner.captured, *self.carry, *self.xs], options, types)
        last = len(made) - n * keeps
        self.keeps = keeps
        given, rules = [*self.carry, *self.xs], (self._pull(made), self._push(made))
        made = with_derivatives("scan", made, given, inner.behind, *rules, inner)
        self.kept = made[last:]
        return self.tree.unflatten(made[:n]), inner.structure.children[1].unflatten(made[n:last])

    def _recorded(self, carry: Sequence[Any], xs: Sequence[Any]) -> Recording:
        """Run a step on inputs of its own."""
        count = len(only_variables(carry))

        def run(values: Sequence[Any]) -> tuple[Any, None]:
            leaves, y = self._step(with_values(carry, values[:count]), with_values(xs, values[count:]))
            return (leaves, y, list(with_values(carry, values[:count])) if self.keeps else []), None

        with abstract_mode.only(()):  # it was traced outside of the vmaps that run in its rule
            return Recording(run, [*only_variables(carry), *only_variables(xs)])

    def _pull(self, made: Sequence[Any]) -> Any:
        n, count = len(self.carry), len(only_variables(self.carry))
        wanted = [i for i, y in enumerate(made) if is_variable(y)]

        def with_others(others: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
            def rule(cotangents: list[Any]) -> list[Any]:
                of_results = dict(zip(wanted, filled(cotangents, [made[i] for i in wanted]), strict=True))
                of_carry = [of_results[i] for i in wanted if i < n]
                of_ys = [of_results[i] for i in wanted if i >= n]

                def back(so_far: Any, step: Any) -> tuple[Any, Any]:
                    (d_carry, d_others), (xs, carry, d_ys) = so_far, step
                    run = self._recorded(carry, xs)
                    given = dict(zip(wanted, [*d_carry, *d_ys], strict=True))
                    like = [*only_variables(carry), *only_variables(xs), *others]
                    found = filled(run.pull([given.get(i) for i in range(len(made))], others), like)
                    rest = len(found) - len(others)
                    added = [a + b for a, b in zip(d_others, found[rest:], strict=True)]
                    return (found[:count], added), found[count:rest]

                start = (of_carry, [zeros_like(x) for x in others])
                (d_carry, d_others), d_xs = scan(
                    back, start, (self.xs, self.kept, of_ys), self.count, reverse=not self.reverse
                )
                return [*d_carry, *d_xs, *d_others]

            return rule

        return with_others

    def _push(self, made: Sequence[Any]) -> Any:
        n, count = len(self.carry), len(only_variables(self.carry))
        wanted = [i for i, y in enumerate(made) if is_variable(y)]

        def with_others(others: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
            def rule(tangents: list[Any]) -> list[Any]:
                own = [*only_variables(self.carry), *only_variables(self.xs), *others]
                given = filled(tangents, own)
                rest = len(own) - len(others)
                more = list(zip(others, given[rest:], strict=True))

                def step(so_far: Any, each: Any) -> tuple[Any, Any]:
                    (carry, changes), (xs, d_xs) = so_far, each
                    run = self._recorded(carry, xs)
                    found = run.push([*changes, *d_xs], more)
                    found = filled([found[i] for i in wanted], [run.results[i] for i in wanted])
                    return (run.results[:n], found[:count]), found[count:]

                (_, d_carry), d_ys = scan(
                    step, (self.carry, given[:count]), (self.xs, given[count:rest]), self.count, reverse=self.reverse
                )
                return [*d_carry, *d_ys]

            return rule

        return with_others
