"""What an equation computes for each element, as an expression of operators: what loops can fuse of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import operators, tensor_functions
from minigrad.backends import arrays
from minigrad.functions import Elementwise
from minigrad.graph import traced
from minigrad.graph.program import Equation, Var
from minigrad.transforms.checkpointing import Barrier

if TYPE_CHECKING:
    from minigrad.operators import Expression

Element = tuple[Any, "Expression"]
"""The type in which an expression is computed (None: any float, for truth values) and the expression."""

FOLDS: dict[Any, str] = {
    tensor_functions.Sum: "add",
    tensor_functions.Prod: "mul",
    tensor_functions.Amax: "max",
    tensor_functions.Amin: "min",
}

_LOGICAL = {"&": "mul", "|": "max", "^": "ne"}
_OF_TRUTH = {name: name for name in ("eq", "id", "is_false", "max", "mul", "ne", "where")} | {"add": "max"}
"""The operators of truth values, which are 0 and 1 in a loop."""


def operands_of(equation: Equation) -> tuple[Any, ...]:
    """Return the operands of an equation; the second one of `&` and its kin stands among the options.

    >>> from minigrad.graph.elements import operands_of
    >>> operands_of(minigrad.graph.trace(lambda x: x * 2.0, minigrad.zeros(3)).equations[0])[1]
    2.0
    """
    if traced.method_of(equation.op) == "_logical":
        return (*equation.operands, equation.options["other"])
    return equation.operands


def element_of(equation: Equation) -> Element | None:
    """Return what an equation computes for each element; None if that is no expression of floats and truth values.

    In the expression ``("in", i)`` is the operand number i.

    >>> from minigrad.graph.elements import element_of
    >>> element_of(minigrad.graph.trace(lambda x: x * 2.0, minigrad.zeros(3)).equations[0])
    (dtype('float32'), ('mul', ('in', 0), ('const', 2.0)))
    """
    operands = operands_of(equation)
    if equation.saved or not any(isinstance(x, Var) for x in operands):
        return None
    kernel = _kernel_of(equation)
    dtype = _type_of(kernel, operands, equation.outputs[0].dtype) if kernel else None
    if dtype is None:
        return None
    if dtype == np.bool_:
        if kernel not in _OF_TRUTH:
            return None
        kernel, dtype = _OF_TRUTH[kernel], None
    arguments = [("in", i) if isinstance(x, Var) else ("const", float(x)) for i, x in enumerate(operands)]
    if kernel in ("is_false", "is_true"):
        return dtype, ("eq" if kernel == "is_false" else "ne", *arguments, ("const", 0.0))
    return dtype, (kernel, *arguments)


def _kernel_of(equation: Equation) -> str:
    """Return the name of the operator that an equation applies to each element, or ""."""
    op = equation.op
    if issubclass(op, Elementwise):
        return op.kernel if hasattr(operators, op.kernel) else ""
    if op in (tensor_functions.Cast, tensor_functions.Clone):
        (x,), out = equation.operands, equation.outputs[0].dtype.kind
        return {"ff": "id", "bf": "id", "if": "id", "bb": "id", "fb": "is_true"}.get(x.dtype.kind + out, "")
    method = traced.method_of(op)
    if not method:
        return ""
    kinds = {x.dtype.kind if isinstance(x, Var) else type(x).__name__ for x in operands_of(equation)}
    if method == "_logical" and kinds <= {"b", "bool"}:
        return _LOGICAL[equation.options["sign"]]
    return "is_false" if method == "__invert__" and kinds == {"b"} else ""


def _type_of(kernel: str, operands: Sequence[Any], out: np.dtype[Any]) -> Any:
    """Return the type in which an operator computes: bool for truth values alone, None if not in floats."""
    values = operands[1:] if kernel == "where" else operands
    if out.kind == "f":
        return out
    if out != np.bool_:
        return None
    if all(x.dtype == np.bool_ if isinstance(x, Var) else isinstance(x, bool) for x in values):
        return out
    common = arrays.promote([_empty(x.dtype, len(x.shape)) if isinstance(x, Var) else x for x in values])
    compares = kernel == "is_true" or operators.FORMS.get(kernel, operators.Form()).compares
    return common if common.kind == "f" and compares else None


@lru_cache(maxsize=256)
def _empty(dtype: Any, rank: int) -> Any:
    return np.empty((0,) * rank, dtype)


def fold_of(equation: Equation) -> tuple[str, tuple[int, ...]] | None:
    """Return the operator that an equation folds floats with, and the axes; None if it does nothing of the kind.

    >>> from minigrad.graph.elements import fold_of
    >>> fold_of(minigrad.graph.trace(lambda x: x.sum(1), minigrad.zeros(3, 2)).equations[0])
    ('add', (1,))
    """
    kernel = FOLDS.get(equation.op)
    if kernel is None or equation.saved or not isinstance(equation.operands[0], Var):
        return None
    (x,), axes = equation.operands, tuple(equation.options["dim"])
    if x.dtype.kind != "f" or x.dtype != equation.outputs[0].dtype or not axes:
        return None
    return kernel, axes


def is_view(equation: Equation) -> bool:
    """Return whether an equation only looks at the elements of another value: in another order, shape or part."""
    if not equation.operands or not isinstance(equation.operands[0], Var) or equation.saved:
        return False
    if equation.op is tensor_functions.Index:
        return tensor_functions._is_basic(equation.options["key"])
    return equation.op in (tensor_functions.View, tensor_functions.Permute, tensor_functions.Expand)


def shares_memory(equation: Equation) -> bool:
    """Return whether an equation's result is the memory of its first operand: a view, or the same behind a barrier."""
    return equation.op is Barrier or is_view(equation)


def looked_at(equation: Equation, array: Any) -> Any:
    """Return the view that an equation makes of an array; None if only a copy would do.

    >>> import numpy as np
    >>> from minigrad.graph.elements import looked_at
    >>> (equation,) = minigrad.graph.trace(lambda x: x.view(6), minigrad.zeros(2, 3)).equations
    >>> looked_at(equation, np.zeros((2, 3))).shape, looked_at(equation, np.zeros((3, 2)).T)
    ((6,), None)
    """
    op, options = equation.op, equation.options
    if op is tensor_functions.View:
        try:
            return array.reshape(options["shape"], copy=False)
        except ValueError:
            return None
    if op is tensor_functions.Permute:
        return array.transpose(options["order"])
    if op is tensor_functions.Expand:
        return arrays.expand(array, options["shape"])
    return array[options["key"]]
