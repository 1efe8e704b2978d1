"""Choices and loops that depend on data: `cond`, `scan`, `while_loop`, `fori_loop`, by JAX's names.

On plain tensors they are Python's `if`, `for` and `while`. In a trace, where nobody knows the data yet, each becomes one
equation with graphs inside of it. `cond` and `scan` can be differentiated there: the gradient of a choice is a choice,
that of a scan a scan in the other direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad.autodiff import grad_mode
from minigrad.backward.changes import ticks
from minigrad.errors import FunctionError
from minigrad.graph.program import Graph, Several, Var
from minigrad.graph.traced import TracedTensor
from minigrad.graph.tracing import Trace, traced_in
from minigrad.layout import type_name
from minigrad.tensors import Tensor, creation
from minigrad.transforms.arguments import check_callable
from minigrad.transforms.nodes import with_rules
from minigrad.transforms.recording import Recording, is_variable, zeros_like
from minigrad.transforms.trees import PyTreeDef, tree_flatten, tree_leaves, unlike

__all__ = ["cond", "fori_loop", "scan", "while_loop"]


class Cond(Several):
    """One of two graphs, by a truth value."""

    @staticmethod
    def run(operands: Sequence[Any], **options: Any) -> list[Any]:
        """Compute one of them."""
        chosen = options["true" if bool(operands[0]) else "false"]
        return list(chosen.run(*operands[1:]))


class Scan(Several):
    """A graph run for each element along the first axes of some operands, handing values on from one to the next."""

    @staticmethod
    def run(operands: Sequence[Any], **options: Any) -> list[Any]:
        """Run the graph ``length`` times."""
        body, fixed, carried, length = (options[name] for name in ("body", "fixed", "carried", "length"))
        known, carry, xs = operands[:fixed], list(operands[fixed : fixed + carried]), operands[fixed + carried :]
        stacks = [np.empty((length, *shape), dtype) for shape, dtype in options["stacked"]]
        for i in reversed(range(length)) if options["reverse"] else range(length):
            results = body.run(*known, *carry, *[np.asarray(x[i]) for x in xs])
            carry = list(results[:carried])
            for stack, y in zip(stacks, results[carried:], strict=True):
                stack[i] = y
        return [*carry, *stacks]


class While(Several):
    """A graph run again and again as long as another one says so."""

    @staticmethod
    def run(operands: Sequence[Any], **options: Any) -> list[Any]:
        """Run the graph until the condition is false."""
        condition, body, counts = options["condition"], options["body"], options["fixed"]
        first, second, carry = operands[: counts[0]], operands[counts[0] : sum(counts)], operands[sum(counts) :]
        while bool(condition.run(*first, *carry)[0]):
            carry = body.run(*second, *carry)
        return list(carry)


# --- functions of trees as graphs inside of an equation -----------------------------------------------------------


class _Inner:
    """A function traced inside of a running trace.

    Attributes:
        graph: Its graph: the captured tensors are the first inputs.
        captured: The tensors of traces around it that it uses.
        behind: The tensors of before that these were computed from and that want gradients.
        structure: The tree that it returns.
    """

    def __init__(self, outer: Trace, fun: Callable[..., Any], leaves: Sequence[Any], structure: PyTreeDef) -> None:
        run, since = Trace(outer), next(ticks)
        like = [np.empty(x.shape, x.dtype) for x in leaves]

        def tensors_only(*args: Any) -> Any:
            returned, self.structure = tree_flatten(fun(*args))
            return [y if isinstance(y, Tensor) else creation.tensor(y) for y in returned]

        tensors_only.__name__ = getattr(fun, "__name__", "the function")
        self.graph = traced_in(run, tensors_only, like, structure)
        outer.wants_gradients |= run.wants_gradients
        self.captured = [x for _, x in run.captured.values()]
        self._own = [v for v, _ in run.captured.values()]
        self.behind = _older_than(since, self.captured)

    def taking(self, captured: Sequence[Tensor]) -> Graph:
        """Return the graph with further captured tensors among its inputs, which it does not need."""
        known = {id(x): v for x, v in zip(self.captured, self._own, strict=True)}
        first = [known.get(id(x)) or Var(x.shape, x.dtype) for x in captured]
        graph = self.graph
        return Graph((*first, *graph.inputs), graph.constants, graph.equations, graph.outputs, graph.structure)


def _older_than(tick: int, tensors: Sequence[Any]) -> list[Any]:
    """Return the newest tensors of before a reading of the clock that want gradients and stand behind others."""
    found: dict[int, Any] = {}
    stack, seen = [x for x in tensors if x.requires_grad], set[int]()
    while stack:
        x = stack.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if x._tick < tick or x._fn is None:
            found[id(x)] = x
        else:
            stack += [y for y in x._inputs if getattr(y, "requires_grad", False)]
    return list(found.values())


def _innermost(leaves: Sequence[Any]) -> Trace | None:
    """Return the innermost trace among traced tensors; None without any."""
    found = [x._trace for x in leaves if isinstance(x, TracedTensor)]
    return max(found, key=lambda trace: trace.depth) if found else None


def _tensors(tree: Any) -> tuple[list[Any], PyTreeDef]:
    """Return a tree's leaves as tensors, and its structure."""
    leaves, structure = tree_flatten(tree)
    return [x if isinstance(x, Tensor) else creation.tensor(x) for x in leaves], structure


def _check_same(name: str, what: str, old: Sequence[Any], tree: PyTreeDef, new: Sequence[Any], other: PyTreeDef) -> None:
    """Refuse values of another structure, shape or type than before."""
    if tree != other:
        raise TypeError(f"{name}: {what} has another structure, at {unlike(other, tree)}; return it in the same form")
    for x, y in zip(old, new, strict=True):
        before, after = Var(tuple(x.shape), x.dtype).type, Var(tuple(y.shape), y.dtype).type
        if before != after:
            raise TypeError(
                f"{name}: {what} is {after} where it is {before} elsewhere; give it one shape and type, for example by "
                ".reshape() or .to()"
            )


def _differentiable(
    name: str, results: list[Any], inputs: Sequence[Any], others: Sequence[Any], pull: Any, push: Any
) -> list[Any]:
    """Attach rules to results, where anything behind them wants derivatives."""
    variables = [x for x in inputs if is_variable(x)]
    if not grad_mode.enabled or not (others or any(x.requires_grad for x in variables)):
        return results
    if not any(is_variable(y) for y in results):
        return results
    return with_rules(name, results, variables, pull(others), push(others), others)


def _filled(values: Sequence[Any], like: Sequence[Any]) -> list[Any]:
    """Return values, with zeros for None."""
    return [zeros_like(x) if value is None else value for value, x in zip(values, like, strict=True)]


def _only_variables(leaves: Sequence[Any]) -> list[Any]:
    return [x for x in leaves if is_variable(x)]


def _with(leaves: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Return leaves with other values in place of those that can be differentiated."""
    rest = iter(values)
    return [next(rest) if is_variable(x) else x for x in leaves]


# --- a choice -----------------------------------------------------------------------------------------------------


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """Return what one of two functions returns.

    Args:
        pred: A number, truth value or tensor of one element. In a trace both functions are traced and one runs.
        true_fun: Called with the operands where pred is not 0.
        false_fun: Called with them elsewhere. In a trace both must return trees of the same structure, shapes and types.
        *operands: Trees.

    Raises:
        TypeError: If the functions return different things in a trace, or pred is no single value.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html

    >>> f = minigrad.jit(lambda x: minigrad.graph.cond(x.sum() > 0, lambda x: 2.0 * x, lambda x: -x, x))
    >>> f(minigrad.tensor([1.0, 2.0])), f(minigrad.tensor([1.0, -2.0]))
    (tensor([2., 4.]), tensor([-1.,  2.]))
    """
    check_callable("cond", true_fun)
    check_callable("cond", false_fun)
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise TypeError(f"cond: pred has shape {tuple(pred.shape)}; give one value, for example by .any() or .all()")
    if not isinstance(pred, TracedTensor):
        return (true_fun if pred else false_fun)(*operands)
    leaves, structure = _tensors(operands)
    outer = _innermost([pred, *leaves])
    assert outer is not None
    first, second = (_Inner(outer, fun, leaves, structure) for fun in (true_fun, false_fun))
    results = first.graph.outputs
    _check_same("cond", "the result of false_fun", results, first.structure, second.graph.outputs, second.structure)
    captured = list({id(x): x for x in (*first.captured, *second.captured)}.values())
    behind = list({id(x): x for x in (*first.behind, *second.behind)}.values())
    graphs = {"true": first.taking(captured), "false": second.taking(captured)}
    made: list[Any] = outer.emit_several(Cond, [pred.reshape(()), *captured, *leaves], graphs, results)
    wanted = [n for n, y in enumerate(results) if y.dtype.kind == "f"]

    def chosen(use: Callable[[Recording], list[Any]]) -> list[Any]:
        """Choose again, of what is done with a recorded run of one function or the other."""

        def of(fun: Callable[..., Any]) -> Callable[[], list[Any]]:
            def run(values: Sequence[Any]) -> tuple[Any, None]:
                return fun(*structure.unflatten(_with(leaves, values))), None

            return lambda: use(Recording(run, _only_variables(leaves)))

        return list(cond(pred, of(true_fun), of(false_fun)))

    def pull(others: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
        like = [*_only_variables(leaves), *others]

        def rule(cotangents: list[Any]) -> list[Any]:
            every = dict(zip(wanted, _filled(cotangents, [made[n] for n in wanted]), strict=True))
            return chosen(lambda run: _filled(run.pull([every.get(n) for n in range(len(made))], others), like))

        return rule

    def push(others: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
        def rule(tangents: list[Any]) -> list[Any]:
            count = len(tangents) - len(others)
            more = [(x, t) for x, t in zip(others, tangents[count:], strict=True) if t is not None]

            def changes(run: Recording) -> list[Any]:
                found = run.push(tangents[:count], more)
                return _filled([found[n] for n in wanted], [made[n] for n in wanted])

            return chosen(changes)

        return rule

    return first.structure.unflatten(_differentiable("cond", made, leaves, behind, pull, push))


# --- loops --------------------------------------------------------------------------------------------------------


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None, reverse: bool = False
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
    carry, tree = _tensors(init)
    elements, of_xs = _tensors(xs)
    count = _length(elements, length)
    outer = _innermost([*carry, *elements])
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
    return int(next(iter(sizes)))


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
    collected: list[Any] = []
    structure = tree_flatten(None)[1]
    for i in reversed(range(count)) if reverse else range(count):
        value, y = _pair(f(tree.unflatten(carry), of_xs.unflatten([x[i] for x in xs])))
        new, own = _tensors(value)
        _check_same("scan", "the value that f hands on", carry, tree, new, own)
        carry = new
        leaves, structure = _tensors(y)
        collected.append(leaves)
    columns = list(zip(*(reversed(collected) if reverse else collected), strict=True))
    return tree.unflatten(carry), structure.unflatten([creation.stack(list(column)) for column in columns])


class _Scan:
    """A scan in a trace."""

    def __init__(
        self, f: Any, carry: list[Any], tree: PyTreeDef, xs: list[Any], of_xs: PyTreeDef, count: int, reverse: bool
    ) -> None:
        self.f, self.carry, self.tree, self.xs, self.of_xs = f, carry, tree, xs, of_xs
        self.count, self.reverse = count, reverse

    def _step(self, carry: Sequence[Any], xs: Sequence[Any]) -> tuple[Any, Any]:
        value, y = _pair(self.f(self.tree.unflatten(carry), self.of_xs.unflatten(xs)))
        leaves, own = _tensors(value)
        _check_same("scan", "the value that f hands on", self.carry, self.tree, leaves, own)
        return leaves, y

    def traced(self, outer: Trace) -> tuple[Any, Any]:
        """Add one equation. It also keeps the values handed on, if there may be a gradient, and they may have one too."""
        n, keeps = len(self.carry), grad_mode.enabled
        like = [*self.carry, *[np.empty(x.shape[1:], x.dtype) for x in self.xs]]
        form = tree_flatten(tuple(like))[1]

        def body(*values: Any) -> Any:
            leaves, y = self._step(values[:n], values[n:])
            return leaves, y, list(values[:n]) if keeps else []

        inner = _Inner(outer, body, like, form)
        if keeps and not any(x.requires_grad for x in (*self.carry, *self.xs, *inner.captured)):
            inner.graph, keeps = replace(inner.graph, outputs=inner.graph.outputs[:-n] if n else ()), False
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
        made = _differentiable("scan", made, [*self.carry, *self.xs], inner.behind, self._pull(made), self._push(made))
        self.kept = made[last:]
        return self.tree.unflatten(made[:n]), inner.structure.children[1].unflatten(made[n:last])

    def _recorded(self, carry: Sequence[Any], xs: Sequence[Any]) -> Recording:
        """Run a step on inputs of its own."""
        count = len(_only_variables(carry))

        def run(values: Sequence[Any]) -> tuple[Any, None]:
            leaves, y = self._step(_with(carry, values[:count]), _with(xs, values[count:]))
            return (leaves, y, list(_with(carry, values[:count])) if self.keeps else []), None

        return Recording(run, [*_only_variables(carry), *_only_variables(xs)])

    def _pull(self, made: Sequence[Any]) -> Any:
        n, count = len(self.carry), len(_only_variables(self.carry))
        wanted = [i for i, y in enumerate(made) if is_variable(y)]

        def with_others(others: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
            def rule(cotangents: list[Any]) -> list[Any]:
                of_results = dict(zip(wanted, _filled(cotangents, [made[i] for i in wanted]), strict=True))
                of_carry = [of_results[i] for i in wanted if i < n]
                of_ys = [of_results[i] for i in wanted if i >= n]

                def back(so_far: Any, step: Any) -> tuple[Any, Any]:
                    (d_carry, d_others), (xs, carry, d_ys) = so_far, step
                    run = self._recorded(carry, xs)
                    given = dict(zip(wanted, [*d_carry, *d_ys], strict=True))
                    like = [*_only_variables(carry), *_only_variables(xs), *others]
                    found = _filled(run.pull([given.get(i) for i in range(len(made))], others), like)
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
        n, count = len(self.carry), len(_only_variables(self.carry))
        wanted = [i for i, y in enumerate(made) if is_variable(y)]

        def with_others(others: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
            def rule(tangents: list[Any]) -> list[Any]:
                own = [*_only_variables(self.carry), *_only_variables(self.xs), *others]
                given = _filled(tangents, own)
                rest = len(own) - len(others)
                more = list(zip(others, given[rest:], strict=True))

                def step(so_far: Any, each: Any) -> tuple[Any, Any]:
                    (carry, changes), (xs, d_xs) = so_far, each
                    run = self._recorded(carry, xs)
                    found = run.push([*changes, *d_xs], more)
                    found = _filled([found[i] for i in wanted], [run.results[i] for i in wanted])
                    return (run.results[:n], found[:count]), found[count:]

                (_, d_carry), d_ys = scan(
                    step, (self.carry, given[:count]), (self.xs, given[count:rest]), self.count, reverse=self.reverse
                )
                return [*d_carry, *d_ys]

            return rule

        return with_others


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any) -> Any:
    """Apply a function to a value again and again, as long as a condition holds.

    Args:
        cond_fun: Called with the value; returns a truth value.
        body_fun: Called with the value; returns the next one, of the same structure, shapes and types.
        init_val: The first value: a tree.

    Raises:
        TypeError: If the value changes its form.
        FunctionError: In a trace, if derivatives are asked for: nobody knows how many steps there will be. Use `scan`.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html

    >>> minigrad.jit(lambda x: minigrad.graph.while_loop(lambda x: x < 100.0, lambda x: x * 2.0, x))(minigrad.tensor(3.0))
    tensor(192.)
    """
    check_callable("while_loop", cond_fun)
    check_callable("while_loop", body_fun)
    carry, tree = _tensors(init_val)
    outer = _innermost(carry)
    if outer is None:
        while cond_fun(tree.unflatten(carry)):
            new, own = _tensors(body_fun(tree.unflatten(carry)))
            _check_same("while_loop", "the value that body_fun returns", carry, tree, new, own)
            carry = new
        return tree.unflatten(carry)
    form = tree_flatten((init_val,))[1]
    condition, body = (_Inner(outer, fun, carry, form) for fun in (cond_fun, body_fun))
    _check_same("while_loop", "the value that body_fun returns", carry, tree, body.graph.outputs, body.structure)
    options = {
        "condition": condition.taking(condition.captured),
        "body": body.taking(body.captured),
        "fixed": (len(condition.captured), len(body.captured)),
    }
    made = outer.emit_several(While, [*condition.captured, *body.captured, *carry], options, body.graph.outputs)

    def refused(others: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
        def rule(given: list[Any]) -> list[Any]:
            raise FunctionError(
                "while_loop: has no derivative in a trace, since the number of its steps is unknown; use scan, or call "
                "the function without jit"
            )

        return rule

    return tree.unflatten(_differentiable("while_loop", made, carry, body.behind, refused, refused))


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """Apply a function to a value for each integer of a range.

    Args:
        lower: The first integer.
        upper: The integer behind the last one. Where it is a number, the loop can be differentiated as `scan` can.
        body_fun: Called with the integer and the value; returns the next value. In a trace the integer is a tensor.
        init_val: The first value: a tree.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html

    >>> minigrad.graph.fori_loop(0, 5, lambda i, x: x + i, 0.0)
    tensor(10.)
    """
    check_callable("fori_loop", body_fun)
    bounds = [x for x in (lower, upper) if isinstance(x, TracedTensor)]
    if bounds:
        start = creation.tensor(0) + lower

        def following(value: Any) -> Any:
            return value[0] + 1, body_fun(*value)

        return while_loop(lambda value: value[0] < upper, following, (start, init_val))[1]
    numbers = range(int(lower), int(upper))
    if _innermost(tree_leaves(init_val)) is not None and numbers:
        steps = creation.tensor(list(numbers))
        return scan(lambda value, i: (body_fun(i, value), None), init_val, steps)[0]
    value = init_val
    for i in numbers:
        value = body_fun(i, value)
    return value
