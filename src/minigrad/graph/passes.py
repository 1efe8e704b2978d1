"""Passes: functions from a graph to a smaller one that computes the same values, bit for bit.

A pass follows IEEE 754: ``x * 0`` is nan where x is infinite, ``x - x`` likewise, and ``x + 0.0`` changes the sign of
-0.0. So none of these is simplified. What is removed is work whose result is known, computed already, undone or unused.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad import functions, tensor_functions
from minigrad.graph.program import Equation, Graph, Var, compute, frozen, replaced
from minigrad.graph.traced import Draw
from minigrad.tensors import Tensor
from minigrad.transforms.checkpointing import Barrier

Pass = Callable[[Graph], Graph]

LARGEST_FOLDED = 1 << 16
"""Elements up to which a value that depends on no input is computed ahead: a larger one would be kept in memory."""


def draws(equation: Equation) -> bool:
    """Return whether an equation draws random numbers, by itself or in a graph inside of it."""
    inside = [each for each in equation.options.values() if isinstance(each, Graph)]
    return equation.op is Draw or any(draws(each) for graph in inside for each in graph.equations)


def _exchange(graph: Graph, rewrite: Callable[[Equation], Any]) -> Graph:
    """Return a graph without the equations for which a function returns other values to take.

    Args:
        graph: The graph.
        rewrite: Is given an equation that reads values of the new graph. It returns None, or what stands for each of
            the equation's outputs from now on.
    """
    new: dict[Var, Any] = {}

    def current(v: Var) -> Any:
        return new.get(v, v)

    kept = []
    for each in graph.equations:
        equation = replace(each, operands=replaced(each.operands, current), options=replaced(each.options, current))
        found = rewrite(equation)
        if found is None:
            kept.append(equation)
        else:
            new.update(zip(each.outputs, found, strict=True))
    outputs = tuple(current(y) if isinstance(y, Var) else y for y in graph.outputs)
    return replace(graph, equations=tuple(kept), outputs=outputs)


def remove_dead(graph: Graph) -> Graph:
    """Remove equations and constants that no output needs.

    A draw of random numbers stays: without it, later draws from its stream would give other numbers.

    >>> from minigrad.graph import passes
    >>> def f(x):
    ...     unused = x.exp()
    ...     return x * 2.0
    ...
    >>> passes.remove_dead(minigrad.graph.trace(f, minigrad.zeros(3)))
    a: float32[3]
    b: float32[3] = Mul a 2.0
    return b
    """
    needed = {y for y in graph.outputs if isinstance(y, Var)}
    kept = []
    for equation in reversed(graph.equations):
        if draws(equation) or any(v in needed for v in equation.outputs):
            if equation.saved:
                used = [n for n, v in enumerate(equation.outputs) if n == 0 or v in needed]
                outputs, saved = [equation.outputs[n] for n in used], [equation.saved[n - 1] for n in used if n]
                equation = replace(equation, outputs=tuple(outputs), saved=tuple(saved))
            kept.append(equation)
            needed.update(equation.uses())
    constants = tuple((v, array) for v, array in graph.constants if v in needed)
    return replace(graph, constants=constants, equations=tuple(reversed(kept)))


def fold_constants(graph: Graph) -> Graph:
    """Compute equations that depend on no input once and for all, except draws of random numbers.

    >>> from minigrad.graph import passes
    >>> graph = minigrad.graph.trace(lambda scale, x: x * scale.sqrt(), minigrad.zeros(2), minigrad.zeros(2))
    >>> passes.optimize(passes.bind(graph, minigrad.tensor([1.0, 4.0])))
    a: float32[2]
    b: float32[2] constant
    c: float32[2] = Mul a b
    return c
    """
    known = dict(graph.constants)

    def rewrite(equation: Equation) -> Any:
        size = sum(int(np.prod(v.shape)) for v in equation.outputs)
        if draws(equation) or size > LARGEST_FOLDED or not all(v in known for v in equation.uses()):
            return None
        operands = [known[x] if isinstance(x, Var) else x for x in equation.operands]
        results = compute(equation.op, operands, replaced(equation.options, known.get), equation.saved)
        made = [Var(v.shape, v.dtype) for v in equation.outputs]
        known.update(zip(made, results, strict=True))
        return made

    folded = _exchange(graph, rewrite)
    return replace(folded, constants=tuple(known.items()))


def bind(graph: Graph, *tensors: Tensor) -> Graph:
    """Return the graph of the function with its first arguments given.

    Args:
        graph: The graph.
        *tensors: Values for its first inputs, of their shapes and types.

    >>> from minigrad.graph import passes
    >>> passes.bind(minigrad.graph.trace(lambda x, y: x - y, minigrad.zeros(2), minigrad.zeros(2)), minigrad.ones(2))
    a: float32[2]
    b: float32[2] constant
    c: float32[2] = Sub b a
    return c
    """
    count = len(tensors)
    given = tuple((v, x._array.copy()) for v, x in zip(graph.inputs[:count], tensors, strict=True))
    return replace(graph, inputs=graph.inputs[count:], constants=graph.constants + given)


def eliminate_common(graph: Graph) -> Graph:
    """Compute equal expressions once. Two draws of random numbers stay two, and so do 0.0 and -0.0.

    What `minigrad.transforms.checkpoint` computes again stays behind a barrier.

    >>> from minigrad.graph import passes
    >>> passes.eliminate_common(minigrad.graph.trace(lambda x: x.exp() + x.exp(), minigrad.zeros(3)))
    a: float32[3]
    b: float32[3] = Exp a
    c: float32[3] = Add b b
    return c
    """
    seen: dict[Any, tuple[Var, ...]] = {}
    names: dict[Var, int] = defaultdict(itertools.count().__next__)

    def rewrite(equation: Equation) -> Any:
        if draws(equation) or equation.op is Barrier:
            return None
        key = (equation.op, frozen(equation.operands, names), frozen(equation.options, names), equation.saved)
        if key in seen:
            return seen[key]
        seen[key] = equation.outputs
        return None

    return _exchange(graph, rewrite)


def cancel_inverses(graph: Graph) -> Graph:
    """Remove what is undone: a negation of a negation, an order of axes put back, a view of the shape that is there.

    >>> from minigrad.graph import passes
    >>> passes.optimize(minigrad.graph.trace(lambda x: -(-x.T).T * 2.0, minigrad.zeros(2, 3)))
    a: float32[2,3]
    b: float32[3,2] = Permute order=(1, 0) a
    c: float32[3,2] = Neg b
    d: float32[2,3] = Permute order=(1, 0) c
    e: float32[2,3] = Neg d
    f: float32[2,3] = Mul e 2.0
    return f
    >>> passes.optimize(minigrad.graph.trace(lambda x: (-(-x)).T.T * 2.0, minigrad.zeros(2, 3)))
    a: float32[2,3]
    b: float32[2,3] = Mul a 2.0
    return b
    """
    made: dict[Var, Equation] = {}

    def rewrite(equation: Equation) -> Any:
        found = _undone(equation, made)
        if found is None:
            made.update((v, equation) for v in equation.outputs[:1])
        return found

    return _exchange(graph, rewrite)


def _undone(equation: Equation, made: dict[Var, Equation]) -> Any:
    if equation.saved or not equation.operands or not isinstance(equation.operands[0], Var):
        return None
    source, op = equation.operands[0], equation.op
    before = made.get(source)
    if op is functions.Neg and before is not None and before.op is op:
        (x,) = before.operands
        return (x,) if isinstance(x, Var) and x.dtype == equation.outputs[0].dtype else None
    if op is tensor_functions.View and equation.options["shape"] == source.shape:
        return (source,)
    if op is tensor_functions.Permute:
        order = equation.options["order"]
        unchanged = tuple(range(len(order)))
        if order == unchanged:
            return (source,)
        if (
            before is not None
            and before.op is op
            and tuple(before.options["order"][axis] for axis in order) == unchanged
        ):
            return (before.operands[0],)
    return None


PASSES: Sequence[Pass] = (fold_constants, eliminate_common, cancel_inverses, remove_dead)
"""In the order in which `optimize` applies them."""


def optimize(graph: Graph) -> Graph:
    """Apply every pass, until nothing changes.

    >>> minigrad.graph.optimize(minigrad.graph.trace(lambda x: -(-x), minigrad.zeros(2)))
    a: float32[2]
    return a
    """
    while True:
        before = len(graph.equations)
        for each in PASSES:
            graph = each(graph)
        if len(graph.equations) == before:
            return graph
