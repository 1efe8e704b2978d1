"""Expanding: equations of several steps, such as a softmax, are written as these steps, so that loops can fuse them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad import functions, operators, tensor_functions
from minigrad.backends import numpy_forms
from minigrad.functions import Elementwise, Function
from minigrad.graph.program import Equation, Graph, Var, replaced
from minigrad.graph.tracing import traced
from minigrad.nn import loss_rules
from minigrad.tensors import Tensor
from minigrad.transforms.trees import tree_flatten

LONG = 1 << 15
"""Elements of a row from which on few rows are left to the kernels that share a row among threads."""


def log1p(x: float) -> float:
    """Compute log(1 + x), accurate for a small x: an operator that graphs alone use."""
    return math.log1p(x) if x > -1.0 else operators.log(1.0 + x)


vars(operators)["log1p"] = log1p  # where backends look a kernel up
operators.FORMS["log1p"] = operators.Form(numpy="log1p", float_line="log1p({0})", is_dear=True)
numpy_forms.FORMS["log1p"] = np.log1p


class _Log1p(Elementwise):
    """log(1 + a), accurate for a small a."""

    kernel = "log1p"
    differentiable = False


_Log1p.__name__ = "Log1p"


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    product = (x if x.dtype.kind == "f" else x.to(weight.dtype)) @ weight.T
    return product if bias is None else product + bias


def _squared_error(x: Tensor, target: Tensor, reduction: str) -> Tensor:
    difference = x - target
    return _reduced(difference * difference, reduction)


def _bce_with_logits(x: Tensor, target: Tensor, reduction: str) -> Tensor:
    softplus = _Log1p.apply((-abs(x)).exp())
    return _reduced((1.0 - target) * x - (functions.minimum(x, 0.0) - softplus), reduction)


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return losses
    return losses.sum() / losses.numel() if reduction == "mean" else losses.sum()


EXPANSIONS: dict[type[Function], Callable[..., Tensor]] = {
    **{form: form.steps for form in tensor_functions.closed_forms.values() if hasattr(form, "steps")},
    tensor_functions.Linear: _linear,
    loss_rules.SquaredError: _squared_error,
    loss_rules.BCEWithLogits: _bce_with_logits,
}


def expand(graph: Graph) -> Graph:
    """Write softmax, linear layers and losses as the operations that they consist of.

    The results are the same within rounding.

    >>> from minigrad.graph import expand, trace
    >>> expand(trace(lambda x: x.softmax(1), minigrad.zeros(4, 3)))
    a: float32[4,3]
    b: float32[4,1] = Amax dim=(1) keepdim=True a
    c: float32[4,3] = Sub a b
    d: float32[4,3] = Exp c
    e: float32[4,1] = Sum dim=(1) keepdim=True d
    f: float32[4,1] = Div 1.0 e
    g: float32[4,3] = Mul d f
    return g
    """
    found: list[Equation] = []
    new: dict[Var, Any] = {}

    def current(v: Var) -> Any:
        return new.get(v, v)

    for each in graph.equations:
        equation = replace(each, operands=replaced(each.operands, current), options=replaced(each.options, current))
        steps = _steps_of(equation)
        if steps is None:
            found.append(equation)
        else:
            equations, (result,) = inlined(steps, [x for x in equation.operands if isinstance(x, Var)])
            found += equations
            new[equation.outputs[0]] = result
    outputs = tuple(current(y) if isinstance(y, Var) else y for y in graph.outputs)
    return replace(graph, equations=tuple(found), outputs=outputs)


def _steps_of(equation: Equation) -> Graph | None:
    """Return the graph of an equation's steps; None if it has none, or better stays as it is."""
    form = EXPANSIONS.get(equation.op)
    if form is None or equation.saved or any(0 in x.shape for x in equation.uses()):
        return None
    shape = equation.outputs[0].shape
    if "dim" in equation.options:
        size = shape[equation.options["dim"]]
        if size >= LONG and math.prod(shape) < 4 * size:
            return None
    operands = [np.empty(x.shape, x.dtype) if isinstance(x, Var) else x for x in equation.operands]
    leaves, structure = tree_flatten(tuple(operands))
    return traced(lambda *args: form(*args, **equation.options), leaves, structure)[0]


def inlined(graph: Graph, inputs: list[Any]) -> tuple[list[Equation], list[Any]]:
    """Return the equations of a graph without constants for other inputs, and its outputs there."""
    new: dict[Var, Any] = dict(zip(graph.inputs, inputs, strict=True))
    for equation in graph.equations:
        new.update((v, Var(v.shape, v.dtype)) for v in equation.outputs)
    equations = [
        replace(
            each,
            operands=replaced(each.operands, new.__getitem__),
            options=replaced(each.options, new.__getitem__),
            outputs=tuple(new[v] for v in each.outputs),
        )
        for each in graph.equations
    ]
    return equations, [new[y] if isinstance(y, Var) else y for y in graph.outputs]
