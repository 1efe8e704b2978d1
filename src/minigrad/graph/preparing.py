"""The passes between a traced graph and loops: what they change shows in rounding at most."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad import functions, tensor_functions
from minigrad.backends import arrays
from minigrad.graph.elements import fold_of
from minigrad.graph.expanding import expand
from minigrad.graph.fusing import fuse, push_broadcasts
from minigrad.graph.passes import optimize, remove_dead
from minigrad.graph.program import Equation, Graph, Var


def shrink_constants(graph: Graph) -> Graph:
    """Keep one number of a constant that has the same everywhere, and repeat it by an expansion.

    >>> from minigrad.graph import shrink_constants, trace
    >>> ones = minigrad.ones(100)
    >>> shrink_constants(trace(lambda x: x + ones, minigrad.zeros(100)))
    a: float32[100]
    b: float32[1] constant
    c: float32[100] = Expand shape=(100) b
    d: float32[100] = Add a c
    return d
    """
    constants: list[tuple[Var, Any]] = []
    first: list[Equation] = []
    for v, array in graph.constants:
        flat = array.reshape(-1).view(np.uint8).reshape(array.size, -1) if array.size > 1 else None
        if flat is None or (flat != flat[0]).any():
            constants.append((v, array))
            continue
        one = Var((1,) * array.ndim, v.dtype)
        constants.append((one, array.reshape(-1)[:1].reshape(one.shape).copy()))
        first.append(Equation(tensor_functions.Expand, (one,), {"shape": v.shape}, (v,)))
    return replace(graph, constants=tuple(constants), equations=(*first, *graph.equations))


def sum_repeated(graph: Graph) -> Graph:
    """Sum before an expansion what was summed behind it: a product where the sum is over repeated elements.

    >>> from minigrad.graph import sum_repeated, trace
    >>> sum_repeated(trace(lambda x: x.expand(4, 3).sum(dim=0), minigrad.zeros(3)))
    a: float32[3]
    b: float32[4,3] = Expand shape=(4, 3) a
    c: float32[1,3] = View shape=(1, 3) a
    d: float32[1,3] = Mul c 4.0
    e: float32[3] = View shape=(3) d
    return e
    """
    made = {v: each for each in graph.equations for v in each.outputs}
    found: list[Equation] = []
    for each in graph.equations:
        source = made.get(each.operands[0]) if fold_of(each) and each.op is tensor_functions.Sum else None
        is_repeated = source is not None and source.op is tensor_functions.Expand and 0 not in source.outputs[0].shape
        found += _summed_before(each, source.operands[0]) if source is not None and is_repeated else [each]
    return replace(graph, equations=tuple(found))


def _summed_before(equation: Equation, x: Var) -> list[Equation]:
    """Return the equations for a sum of an expanded value."""
    (whole,), (out,), options = equation.operands, equation.outputs, equation.options
    axes, shape = options["dim"], (*(1,) * (len(whole.shape) - len(x.shape)), *x.shape)
    count = math.prod(whole.shape[axis] for axis in axes if shape[axis] == 1)
    rest = tuple(axis for axis in axes if shape[axis] != 1)
    steps: list[Equation] = []

    def then(op: Any, sizes: tuple[int, ...], *others: Any, **given: Any) -> None:
        nonlocal x
        result = Var(sizes, out.dtype)
        steps.append(Equation(op, (x, *others), given, (result,)))
        x = result

    then(tensor_functions.View, shape, shape=shape)
    if rest:
        shape = tuple(1 if axis in rest else n for axis, n in enumerate(shape))
        then(tensor_functions.Sum, shape, dim=rest, keepdim=True)
    if count > 1:
        then(functions.Mul, shape, float(count))
    shape = shape if options["keepdim"] else tuple(n for axis, n in enumerate(shape) if axis not in axes)
    then(tensor_functions.View, shape, shape=shape)
    if shape != out.shape:
        then(tensor_functions.Expand, out.shape, shape=out.shape)
    return [*steps[:-1], replace(steps[-1], outputs=(out,))]


def join_placed(graph: Graph) -> Graph:
    """Join rows along the first axis, instead of adding arrays that each hold one row among zeros.

    Such a sum is the gradient of a tensor of which each row was used. A zero is still added: -0.0 + 0.0 is 0.0.

    >>> from minigrad.graph import join_placed, remove_dead, trace
    >>> row = lambda i, x: minigrad.tensor_functions.IndexAdd.apply(x, shape=(2, 3), key=(i, ...))
    >>> rows = trace(lambda x, y: row(0, x) + row(1, y), minigrad.zeros(3), minigrad.zeros(3))
    >>> [each.op.__name__ for each in remove_dead(join_placed(rows)).equations]
    ['Add', 'View', 'Add', 'View', 'Cat']
    """
    uses = _uses(graph)
    rows_of: dict[Any, dict[int, Any]] = {}
    found: list[Equation] = []
    for each in graph.equations:
        rows: dict[int, Any] = {}
        if each.op is tensor_functions.IndexAdd:
            rows = _placed(each)
        elif each.op is functions.Add:
            out = each.outputs[0].type  # an operand of another shape is repeated
            both = (rows_of[x] if x in rows_of and uses[x] == 1 and x.type == out else {} for x in each.operands)
            less, rows = sorted(both, key=len)
            rows = {} if not less or any(i in rows for i in less) else rows | less
        is_whole = each.op is functions.Add and rows and len(rows) == each.outputs[0].shape[0]
        found += _joined([rows[i] for i in range(len(rows))], each.outputs[0]) if is_whole else [each]
        rows_of[each.outputs[0]] = rows
    return replace(graph, equations=tuple(found))


def _uses(graph: Graph) -> Counter[Var]:
    """Return how often each value is read, or returned."""
    read = (v for each in graph.equations for v in each.uses())
    return Counter([*read, *(v for v in graph.outputs if isinstance(v, Var))])


def _placed(equation: Equation) -> dict[int, Any]:
    """Return the row that an equation puts among zeros, by its number; nothing if it puts something else there."""
    (x,), (out,), key = equation.operands, equation.outputs, equation.options["key"]
    if not isinstance(key, tuple) or not key or any(each is not Ellipsis for each in key[1:]):
        return {}
    is_row = type(key[0]) is int and key[0] >= 0 and x.shape == out.shape[1:]
    return {key[0]: x} if is_row else {}


def _joined(rows: list[Var], out: Var) -> list[Equation]:
    """Return the equations for rows that stand one behind the other."""
    steps, parts = [], []
    for x in rows:
        summed, part = Var(x.shape, x.dtype), Var((1, *x.shape), x.dtype)
        steps.append(Equation(functions.Add, (x, 0.0), {}, (summed,)))
        steps.append(Equation(tensor_functions.View, (summed,), {"shape": part.shape}, (part,)))
        parts.append(part)
    return [*steps, Equation(tensor_functions.Cat, tuple(parts), {"dim": 0}, (out,))]


def permute_parts(graph: Graph) -> Graph:
    """Permute parts before they are joined, where the whole is permuted and then given another shape.

    Such a view copies what it is a view of. Parts that are permuted before come to their places in the first copy.

    >>> from minigrad.graph import permute_parts, remove_dead, trace
    >>> columns = trace(lambda x, y: minigrad.stack([x, y]).T.reshape(-1), minigrad.zeros(3), minigrad.zeros(3))
    >>> [each.op.__name__ for each in remove_dead(permute_parts(columns)).equations]
    ['View', 'View', 'Permute', 'Permute', 'Cat', 'View']
    """
    made = {v: each for each in graph.equations for v in each.outputs}
    uses = _uses(graph)
    reshaped = {each.operands[0] for each in graph.equations if each.op is tensor_functions.View}
    found: list[Equation] = []
    for each in graph.equations:
        whole = made.get(each.operands[0]) if each.op is tensor_functions.Permute else None
        is_joined = whole is not None and whole.op is tensor_functions.Cat and uses[whole.outputs[0]] == 1
        is_copied = each.outputs[0] in reshaped and not each.saved
        found += _joined_permuted(whole, each) if whole is not None and is_joined and is_copied else [each]
    return replace(graph, equations=tuple(found))


def _joined_permuted(whole: Equation, permuted: Equation) -> list[Equation]:
    """Return the equations for parts that are permuted and then joined."""
    rank = len(whole.outputs[0].shape)
    order = tuple(axis % rank for axis in permuted.options["order"])
    steps, parts = [], []
    for x in whole.operands:
        part = Var(tuple(x.shape[axis] for axis in order), x.dtype)
        steps.append(Equation(tensor_functions.Permute, (x,), {"order": order}, (part,)))
        parts.append(part)
    dim = order.index(whole.options["dim"] % rank)
    return [*steps, Equation(tensor_functions.Cat, tuple(parts), {"dim": dim}, permuted.outputs)]


def fold_last(graph: Graph) -> Graph:
    """Fold trailing axes of a permuted view where an equation folds other axes of a small array.

    >>> from minigrad.graph import fold_last, trace
    >>> fold_last(trace(lambda x: x.sum(dim=0), minigrad.zeros(4, 3)))
    a: float32[4,3]
    b: float32[3,4] = Permute order=(1, 0) a
    c: float32[3] = Sum dim=(1) keepdim=False b
    return c
    """
    found: list[Equation] = []
    for each in graph.equations:
        fold = fold_of(each)
        x = each.operands[0] if fold else None
        if fold is None or not isinstance(x, Var) or not arrays.is_small(x.shape) or 0 in x.shape:
            found.append(each)
            continue
        kept = [axis for axis in range(len(x.shape)) if axis not in fold[1]]
        if list(fold[1]) == list(range(len(kept), len(x.shape))) or math.prod(x.shape[i] for i in fold[1]) == 1:
            found.append(each)
            continue
        order = (*kept, *fold[1])
        moved = Var(tuple(x.shape[i] for i in order), x.dtype)
        (out,) = each.outputs
        small = Var(moved.shape[: len(kept)], x.dtype) if each.options["keepdim"] else out
        dims = tuple(range(len(kept), len(order)))
        found.append(Equation(tensor_functions.Permute, (x,), {"order": order}, (moved,)))
        found.append(replace(each, operands=(moved,), options={"dim": dims, "keepdim": False}, outputs=(small,)))
        if small is not out:
            found.append(Equation(tensor_functions.View, (small,), {"shape": out.shape}, (out,)))
    return replace(graph, equations=tuple(found))


def prepare(graph: Graph) -> Graph:
    """Apply every pass, those of `optimize` among them, up to the fused graph that is compiled.

    >>> from minigrad.graph import prepare, trace
    >>> prepare(trace(lambda x: x.softmax(1), minigrad.zeros(4, 3)))
    a: float32[4,3]
    b: float32[4,3] = Fused[Amax Sub Exp Sum Div Mul] a
    return b
    """
    graph = optimize(sum_repeated(push_broadcasts(shrink_constants(expand(optimize(graph))))))
    return remove_dead(fuse(fold_last(remove_dead(permute_parts(join_placed(graph))))))
