"""Expressions as ufuncs of NumPy, for arrays too small for threads: NumPy's C code then finds loop and memory.

NumPy calls the loop of a ufunc as `threads` calls a kernel, with the addresses of the operands in the place of the
parts. So a kernel is such a loop, and a call takes a quarter of a microsecond; a plan of `elementwise` takes four.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.backends.guarded import silence, speak
from minigrad.backends.numba import compiler, pool
from minigrad.backends.numba.elementwise import define, indent, loads
from minigrad.backends.numba.expressions import Formula
from minigrad.elementwise.forms import constants_of
from minigrad.machine.numba_extensions import extension

if TYPE_CHECKING:
    from minigrad.operators import Expression

ALONE = 1 << 20
"""Bytes of results up to which one thread is quicker: a plan for several costs as much as half of their work."""

_internal = extension("_internal")


def apply(expression: Expression, inputs: Sequence[Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
    """Compute an expression for every element, or return None where that is no work for one plain loop.

    The arrays must have one floating type, one shape and row-major order, and be too small for threads.
    """
    first, layout = None, ""
    for x in inputs:
        if x.__class__ is float:
            layout += "0"
            continue
        if x.__class__ is not np.ndarray or x.dtype is not dtype or not x.shape or not x.flags.c_contiguous:
            return None
        if first is None:
            first = x
        elif x.shape != first.shape:
            return None
        layout += "c"
    if first is None:
        return None
    ufunc = _ufunc(expression, constants_of(expression), layout, dtype)
    if first.size > ufunc.largest:
        return None
    outputs = (pool.empty(first.shape, dtype),) if first.nbytes >= pool.SMALLEST else ()
    token = silence()
    try:
        return ufunc.call(*inputs, *outputs)  # type: ignore[no-any-return]
    finally:
        speak(token)


class _Ufunc:
    """A ufunc for operands of one floating type.

    Attributes:
        call: The ufunc.
        largest: The number of elements up to which no second thread is worth the plan of a call.
    """

    __slots__ = ("call", "largest")

    def __init__(self, expression: Expression, layout: str, dtype: np.dtype[Any]) -> None:
        formula = Formula(expression, dtype)
        kernel = _generate(formula, layout)
        types, owned, nothing = [dtype.num] * (len(layout) + 1), [kernel], _internal.PyUFunc_None
        self.call = _internal.fromfunc("loop", "", [kernel.address], [types], len(layout), 1, [None], owned, nothing)
        self.largest = ALONE // formula.weight // dtype.itemsize


_ufunc = lru_cache(maxsize=4096)(lambda expression, constants, *rest: _Ufunc(expression, *rest))


def _generate(formula: Formula, layout: str) -> compiler.Kernel:
    """Return the loop over operands of one type; an input is "c" in the layout, or "0" for a number."""
    name, count = formula.dtype.name, len(layout)
    lines = [f"p{i} = operand(item, {(i - 1) % (count + 1)}, {name})" for i in range(count + 1)]
    fixed, moving = loads([(formula.dtype.type, True)] * count, ["c", *layout], 1)
    body = [*moving, *formula.lines, f"store(p0, j, {formula.result})"]
    return define("ufunc", formula, [*lines, *fixed, "for j in range(dimensions[0]):", *indent(body)])
