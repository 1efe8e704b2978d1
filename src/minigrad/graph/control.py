"""Choices and loops that depend on data: `cond`, `scan`, `while_loop`, `fori_loop`, by JAX's names.

On plain tensors they are Python's `if`, `for` and `while`; under `vmap` too, with a choice for each example. In a
trace, where nobody knows the data yet, each becomes one equation with graphs inside of it. `cond` and `scan` can be
differentiated there: the gradient of a choice is a choice, that of a scan a scan in the other direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from minigrad.backward.changes import ticks
from minigrad.errors import FunctionError
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
from minigrad.graph.scanning import scan
from minigrad.layout import type_name
from minigrad.tensors import Tensor, abstract_mode, creation
from minigrad.transforms.abstract import AbstractTensor
from minigrad.transforms.arguments import check_callable
from minigrad.transforms.batched import BatchedTensor, expose_all, hide_all, levels_of
from minigrad.transforms.recording import Recording, held
from minigrad.transforms.trees import PyTreeDef, tree_flatten, tree_leaves

__all__ = ["cond", "fori_loop", "scan", "while_loop"]


class Cond(Several):
    """One of two graphs, by a truth value."""

    @staticmethod
    def run(operands: Sequence[Any], **options: Any) -> list[Any]:
        """Compute one of them."""
        chosen = options["true" if bool(operands[0]) else "false"]
        return list(chosen.run(*operands[1:]))


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


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """Return what one of two functions returns.

    Args:
        pred: A number, truth value or tensor of one element. In a trace both functions are traced and one runs. Under
            `vmap` both run, and each example gets its own one's result.
        true_fun: Called with the operands where pred is not 0.
        false_fun: Called with them elsewhere. In a trace both must return trees of one structure, with the same types.
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
    if not isinstance(pred, AbstractTensor):
        return (true_fun if pred else false_fun)(*operands)
    if abstract_mode.running.maps:
        condition = pred.reshape(()) != 0
        with _Branch(condition):
            first = true_fun(*operands)
        with _Branch(~condition):
            second = false_fun(*operands)
        return _selected(condition, first, second)
    leaves, structure = tensors_of(operands)
    outer = innermost([pred, *leaves])
    assert outer is not None
    first, second = (Inner(outer, fun, leaves, structure) for fun in (true_fun, false_fun))
    results = first.graph.outputs
    check_same("cond", "the result of false_fun", results, first.structure, second.graph.outputs, second.structure)
    captured = list({id(x): x for x in (*first.captured, *second.captured)}.values())
    behind = list({id(x): x for x in (*first.behind, *second.behind)}.values())
    graphs = {"true": first.taking(captured), "false": second.taking(captured)}
    made: list[Any] = outer.emit_several(Cond, [pred.reshape(()), *captured, *leaves], graphs, results)
    wanted = [n for n, y in enumerate(results) if y.dtype.kind == "f"]

    def chosen(use: Callable[[Recording], list[Any]]) -> list[Any]:
        """Choose again, of what is done with a recorded run of one function or the other."""

        def of(fun: Callable[..., Any]) -> Callable[[], list[Any]]:
            def run(values: Sequence[Any]) -> tuple[Any, None]:
                return fun(*structure.unflatten(with_values(leaves, values))), None

            def recorded() -> Recording:
                with abstract_mode.only(()):  # it was traced outside of the vmaps that run in its rule
                    return Recording(run, only_variables(leaves))

            return lambda: use(recorded())

        return list(cond(pred, of(true_fun), of(false_fun)))

    def pull(others: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
        like = [*only_variables(leaves), *others]

        def rule(cotangents: list[Any]) -> list[Any]:
            every = dict(zip(wanted, filled(cotangents, [made[n] for n in wanted]), strict=True))
            return chosen(lambda run: filled(run.pull([every.get(n) for n in range(len(made))], others), like))

        return rule

    def push(others: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
        def rule(tangents: list[Any]) -> list[Any]:
            count = len(tangents) - len(others)
            more = [(x, t) for x, t in zip(others, tangents[count:], strict=True) if t is not None]

            def changes(run: Recording) -> list[Any]:
                found = run.push(tangents[:count], more)
                return filled([found[n] for n in wanted], [made[n] for n in wanted])

            return chosen(changes)

        return rule

    return first.structure.unflatten(with_derivatives("cond", made, leaves, behind, pull, push, first, second))


class _Branch:
    """Lets a function under `vmap` compute for all examples, and have derivatives for those that have chosen it.

    Where another function was chosen, this one may divide by 0 or leave a domain: its slope there is infinite or nan,
    which a gradient of 0 from behind does not take away. So a batched value from outside is taken through a `where`
    whose other side is constant.

    Args:
        chosen: For each example, whether it has chosen the function.
    """

    def __init__(self, chosen: Tensor) -> None:
        self._chosen, self._level = chosen, max(levels_of(chosen), default=0)
        self._since = next(ticks)
        self._known: dict[int, tuple[Tensor, Tensor]] = {}

    def __enter__(self) -> None:
        self._around, abstract_mode.running.branch = abstract_mode.running.branch, self

    def __exit__(self, *error: object) -> None:
        abstract_mode.running.branch = self._around

    def of_chosen(self, inputs: Sequence[Any]) -> list[Any]:
        """Return inputs of an operation, those from outside with no derivative where the function is not chosen."""
        return [self._guarded(x) if isinstance(x, BatchedTensor) else x for x in inputs]

    def _guarded(self, x: BatchedTensor) -> Tensor:
        if x._tick > self._since or x._level < self._level or not x.requires_grad:
            return x
        if id(x) not in self._known:
            abstract_mode.running.branch = self._around
            try:
                self._known[id(x)] = x, creation.where(self._chosen, x, x.detach())
            finally:
                abstract_mode.running.branch = self
        return self._known[id(x)][1]


def _selected(condition: Tensor, first: Any, second: Any) -> Any:
    """Return, for each example of a vmap, the result that its condition chooses."""
    results, tree = tensors_of(first)
    others, other = tensors_of(second)
    check_same("cond", "the result of false_fun", results, tree, others, other)
    return tree.unflatten(_where(condition, results, others))


def _where(condition: Tensor, first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    return [creation.where(condition, x, y) for x, y in zip(first, second, strict=True)]


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any) -> Any:
    """Apply a function to a value again and again, as long as a condition holds.

    Args:
        cond_fun: Called with the value; returns a truth value. Under `vmap` the loop goes on until it is false for all
            examples; those that have ended keep their values.
        body_fun: Called with the value; returns the next one, of the same structure, shapes and types.
        init_val: The first value: a tree.

    Raises:
        TypeError: If the value changes its form, or the condition is no truth value.
        FunctionError: In a trace, if derivatives are asked for: nobody knows how many steps there will be. Use `scan`.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html

    >>> f = minigrad.jit(lambda x: minigrad.graph.while_loop(lambda x: x < 100.0, lambda x: x * 2.0, x))
    >>> f(minigrad.tensor(3.0))
    tensor(192.)
    """
    check_callable("while_loop", cond_fun)
    check_callable("while_loop", body_fun)
    carry, tree = tensors_of(init_val)
    outer = innermost(carry)
    while outer is None:
        goes_on = _one_truth_value(cond_fun(tree.unflatten(carry)))
        outer = innermost([goes_on])  # the first value may be a number where the condition or the step is traced
        if outer is None:
            if isinstance(goes_on, BatchedTensor) and held(goes_on).abstract:
                return _while_of_batch(cond_fun, body_fun, carry, tree)
            if not held(goes_on).any() if isinstance(goes_on, BatchedTensor) else not goes_on:
                return tree.unflatten(carry)
            new, own = tensors_of(body_fun(tree.unflatten(carry)))
            check_same("while_loop", "the value that body_fun returns", carry, tree, new, own)
            carry = _where(goes_on, new, carry) if isinstance(goes_on, BatchedTensor) else new
    form = tree_flatten((init_val,))[1]
    condition = Inner(outer, lambda value: _one_truth_value(cond_fun(value)), carry, form)
    body = Inner(outer, body_fun, carry, form)
    check_same("while_loop", "the value that body_fun returns", carry, tree, body.graph.outputs, body.structure)
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

    return tree.unflatten(with_derivatives("while_loop", made, carry, body.behind, refused, refused))


def _while_of_batch(cond_fun: Any, body_fun: Any, carry: Sequence[Any], tree: PyTreeDef) -> Any:
    """Loop in a trace, inside of vmaps, over the examples of all of them at once."""
    maps = tuple(abstract_mode.running.maps)

    def goes_on(batch: Sequence[Any]) -> Tensor:
        with abstract_mode.within(maps):
            condition: Any = _one_truth_value(cond_fun(tree.unflatten([hide_all(x, maps) for x in batch])))
        return cast(Tensor, expose_all(condition, maps))

    def step(batch: Sequence[Any]) -> list[Any]:
        condition = hide_all(goes_on(batch), maps)
        with abstract_mode.within(maps):
            before = [hide_all(x, maps) for x in batch]
            new, own = tensors_of(body_fun(tree.unflatten(before)))
            check_same("while_loop", "the value that body_fun returns", carry, tree, new, own)
            return [expose_all(x, maps) for x in _where(condition, new, before)]

    batch = [expose_all(x, maps) for x in carry]
    with abstract_mode.only(()):
        batch = while_loop(lambda batch: goes_on(batch).any(), step, batch)
    return tree.unflatten([hide_all(x, maps) for x in batch])


def _one_truth_value(x: Any) -> Any:
    """Return what a condition has returned, if it is one truth value."""
    is_one = isinstance(x, Tensor) and x.dtype == bool and x.numel() == 1
    if not is_one and not isinstance(x, bool | np.bool_):
        shown = Var(tuple(x.shape), x.dtype).type if isinstance(x, Tensor) else type_name(x)
        raise TypeError(
            f"while_loop: cond_fun returned {shown}; it must return one truth value, for example by .any() or .all()"
        )
    return x.reshape(()) if is_one else x


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """Apply a function to a value for each integer of a range.

    Args:
        lower: The first integer.
        upper: The integer behind the last one. Where it is a number, the loop can be differentiated as `scan` can.
        body_fun: Called with the integer and the value; returns the next value. In a trace the integer is a tensor.
        init_val: The first value: a tree.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html

    >>> minigrad.graph.fori_loop(0, 5, lambda i, x: x + i, 0.0)
    10.0
    """
    check_callable("fori_loop", body_fun)
    bounds = [x for x in (lower, upper) if isinstance(x, AbstractTensor)]
    if bounds:
        start = creation.tensor(0, device=bounds[0].device) + lower

        def following(value: Any) -> Any:
            return value[0] + 1, body_fun(*value)

        return while_loop(lambda value: value[0] < upper, following, (start, init_val))[1]
    numbers = range(int(lower), int(upper))
    outer = innermost(tree_leaves(init_val))
    if outer is not None and numbers:
        steps = creation.tensor(list(numbers), device=outer.device)
        return scan(lambda value, i: (body_fun(i, value), None), init_val, steps)[0]
    value = init_val
    for i in numbers:
        value = body_fun(i, value)
    return value
