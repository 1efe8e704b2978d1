"""Folding axes away: sums, products, largest and smallest values, of arrays or of expressions of arrays.

Axes are put in the order in which they lie in memory, and merged where they can be. What is left has one of two forms:

    the innermost axis is folded    each result is one number, built up along the row by LLVM in several registers
    the innermost axis is kept      a row of results lies in the first-level cache; four rows of input at a time are
                                    added to it, so that memory is read in order and never column by column

A sum of n numbers in one chain has an error that grows with n. Long rows are cut into blocks, and blocks are
spread over at least sixteen partial results, whose number depends on the shape alone: any number of threads gives the
same bits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from minigrad import operators
from minigrad.backends import numpy_forms
from minigrad.backends.geometry import Axis, collapse, contiguous_strides, kind
from minigrad.backends.guarded import address
from minigrad.backends.numba import compiler, pool, threads
from minigrad.backends.numba.elementwise import (
    Layout,
    aligned,
    between_elements,
    indent,
    index,
    layout_of,
    loads,
    memory_dtype,
    offsets,
    parameters,
    pointers,
    scalar_bits,
)
from minigrad.backends.numba.expressions import Formula, compute_dtype
from minigrad.elementwise.forms import constants_of

if TYPE_CHECKING:
    from minigrad.operators import Expression

BLOCK = 4096
"""Elements of a row that are summed in one go, and numbers in a row of results."""

PARTIALS = 16
"""Into how many pieces of work a large reduction is divided at least."""


def reduce_expression(
    expression: Expression, kernel: str, inputs: Sequence[Any], axes: tuple[int, ...], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    """Compute an expression for every element of the broadcast inputs, and fold axes of it away, in one loop.

    Args:
        expression: ``("in", i)``, ``("const", number)`` or ``(operator, *expressions)``.
        kernel: "add", "mul", "max" or "min"; nan wins over every other number.
        inputs: Arrays and Python numbers.
        axes: The axes to fold, of the broadcast shape.
        dtype: The dtype of the result.

    Returns:
        An array without these axes. Where nothing is folded into an element it is 0, 1, -inf or inf.
    """
    plan = _plan(expression, constants_of(expression), kernel, tuple([layout_of(x) for x in inputs]), axes, dtype)
    if plan.copies:
        return reduce_expression(expression, kernel, [aligned(x) for x in inputs], axes, dtype)
    if not plan.pieces:
        return np.full(plan.shape, plan.start, dtype)
    slots = plan.slots
    shape = plan.shape if slots == 1 else (slots, *plan.shape)
    out = pool.empty(shape, dtype)
    plan.run(out, inputs)
    return out if slots == 1 else numpy_forms.reduce(kernel, out, (0,), False, out.dtype)


class _Piece:
    """A part of the index space: its axes, kernel and partial results.

    Attributes:
        slots: How many partial results each element of the output has.
        items: How many pieces of work there are: one for each partial result of a unit.
    """

    def __init__(self, plan: _Plan, axes: Sequence[Axis], shifts: Sequence[int], first_slot: int) -> None:
        *outer, (self.inner, steps) = axes
        kept = [a for a in outer if a[1][0]]
        folded = [a for a in outer if not a[1][0]]
        self.folds_inner = steps[0] == 0
        self.shifts = shifts
        self.first_slot = first_slot
        rows = math.prod(n for n, _ in folded)
        units = math.prod(n for n, _ in kept) * (1 if self.folds_inner else -(-self.inner // BLOCK))
        total = rows * self.inner * math.prod(n for n, _ in kept)
        self.worth = threads.worth(total * plan.formula.weight, plan.formula.dtype.itemsize)
        self.slots = min(rows, -(-PARTIALS // units)) if self.worth > 1 else 1
        self.items = units * self.slots
        ordered = [*kept, *folded, axes[-1]]
        self.kernel = _generate(plan, len(kept), len(folded), [kind(s) for s in steps], self.folds_inner)
        self.numbers = [units, rows, self.slots, plan.out_size, self.inner, *[n for n, _ in ordered[:-1]]]
        for operand in range(len(steps)):
            self.numbers += [s[operand] for _, s in ordered]


class _Plan:
    """Everything about a reduction that depends on shapes, strides and dtypes only."""

    def __init__(
        self,
        expression: Expression,
        kernel: str,
        layouts: Sequence[Layout],
        axes: tuple[int, ...],
        dtype: np.dtype[Any],
    ) -> None:
        self.kernel = kernel
        self.dtype = dtype
        arrays = [layout for layout in layouts if isinstance(layout[0], np.dtype)]
        whole = np.broadcast_shapes(*[shape for _, shape, _ in arrays])
        self.shape = tuple(n for i, n in enumerate(whole) if i not in axes)
        self.out_size = math.prod(self.shape)
        stand_ins = [np.empty((1,) * len(s), d) if isinstance(d, np.dtype) else d(0).item() for d, s, _ in layouts]
        self.formula = Formula(expression, compute_dtype(stand_ins, dtype))
        self.kinds = [(memory_dtype(d), isinstance(d, np.dtype)) for d, _, _ in layouts]
        self.itemsizes = [dtype.itemsize] + [d.itemsize for d, _, _ in arrays]
        self.start = self._start()
        self.copies = any(between_elements(layout) for layout in arrays)
        strides = self._strides(whole, axes, arrays)
        self.pieces = [] if 0 in whole else self._divide(whole, strides)
        self.slots = sum(piece.slots for piece in self.pieces)

    def _start(self) -> Any:
        value = cast(float, operators.FORMS[self.kernel].start)
        if self.formula.dtype.kind != "f" and math.isinf(value):
            limits = np.iinfo(self.formula.dtype)
            return limits.min if value < 0 else limits.max
        return self.formula.dtype.type(value)

    def _strides(self, whole: Sequence[int], axes: tuple[int, ...], arrays: Sequence[Layout]) -> list[tuple[int, ...]]:
        """Return the strides of the output, 0 in the folded axes, and of the inputs."""
        steps = iter(contiguous_strides(self.shape))
        strides = [tuple(0 if i in axes else next(steps) for i in range(len(whole)))]
        for dtype, shape, given in arrays:
            own = tuple(s // dtype.itemsize if n != 1 else 0 for n, s in zip(shape, given, strict=True))
            strides.append((0,) * (len(whole) - len(shape)) + own)
        return strides

    def _divide(self, whole: Sequence[int], strides: list[tuple[int, ...]]) -> list[_Piece]:
        """Put the axes in the order of memory, merge them, and cut a long row that is folded into blocks."""
        order = sorted(range(len(whole)), key=lambda i: -max((s[i] for s in strides[1:]), default=0))
        axes = collapse(tuple(whole[i] for i in order), tuple(tuple(s[i] for i in order) for s in strides))
        *outer, (size, steps) = axes
        nothing = (0,) * len(steps)
        if steps[0] != 0 or size < 2 * BLOCK:
            return [_Piece(self, axes, nothing, 0)]
        count, rest = divmod(size, BLOCK)
        pieces = [_Piece(self, [*outer, (count, tuple(s * BLOCK for s in steps)), (BLOCK, steps)], nothing, 0)]
        if rest:
            shifts = tuple(s * BLOCK * count for s in steps)
            pieces.append(_Piece(self, [*outer, (rest, steps)], shifts, pieces[0].slots))
        return pieces

    def run(self, out: np.ndarray[Any, Any], inputs: Sequence[Any]) -> None:
        """Run the kernels of all pieces. Each writes its own partial results."""
        for piece in self.pieces:
            given = [address(out) + piece.first_slot * self.out_size * self.itemsizes[0]]
            position = 1
            for x in inputs:
                if isinstance(x, np.ndarray):
                    given.append(address(x) + piece.shifts[position] * self.itemsizes[position])
                    position += 1
                else:
                    given.append(scalar_bits(x))
            count = min(threads.thread_count(), piece.worth, piece.items)
            work = threads.parts(piece.items, count)
            threads.run(piece.kernel, parameters(given + piece.numbers), work)


_plan = lru_cache(maxsize=4096)(lambda expression, constants, *rest: _Plan(expression, *rest))


def _generate(plan: _Plan, kept: int, folded: int, layout: Sequence[str], folds_inner: bool) -> compiler.Kernel:
    """Return the kernel for a number of kept and folded axes and a layout of the innermost one.

    The axes are numbered: first the kept ones, then the folded ones, then the innermost.
    """
    rank = kept + folded + 1
    names = ["units", "rows", "slots", "size", "inner", *[f"n{i}" for i in range(rank - 1)]]
    names += [f"s{i}_{axis}" for i in range(len(layout)) for axis in range(rank)]
    read = [f"{name} = parameters[given + {i}]" for i, name in enumerate(names)]
    body = (_rows_into_numbers if folds_inner else _rows_into_row)(plan, kept, folded, layout)
    item = [
        "slot = item_number // units",
        "unit = item_number - slot * units",
        "first_row = rows * slot // slots",
        "last_row = rows * (slot + 1) // slots",
        *body,
    ]
    loop = ["for item_number in range(item[0][0], item[0][1]):", *indent(item)]
    lines = [*pointers(plan.dtype, plan.kinds), *read, *loop]
    text = "\n".join(["def kernel(item, dimensions, steps, parameters):", *indent(lines)])
    formula = plan.formula
    described = f"# {plan.kernel} in {formula.dtype}, BLOCK = {BLOCK}\n{formula.described}{text}\n"
    own = {"BLOCK": BLOCK, "initial": formula.dtype.type(plan.start)}
    return compiler.kernel("reduction", described, lambda: formula.scope() | own, keep=formula.complete)


def _value(plan: _Plan, name: str) -> str:
    """Return the text of a result as it is written to the output."""
    return f"uint8({name} != zero)" if plan.dtype == np.bool_ else f"{plan.dtype.name}({name})"


def _row_offsets(kept: int, folded: int, count: int, row: str) -> list[str]:
    """Return the lines that find where each array is in a row: q0, q1, ...; o0, o1, ... is where the unit starts."""
    lines = offsets(count, range(kept, kept + folded), row, "q") if folded else [f"q{i} = 0" for i in range(count)]
    return [*lines, *[f"q{i} += o{i}" for i in range(count)]]


def _unit_offsets(kept: int, count: int, unit: str) -> list[str]:
    return offsets(count, range(kept), unit) if kept else [f"o{i} = 0" for i in range(count)]


def _element(plan: _Plan, layout: Sequence[str], rank: int) -> tuple[list[str], list[str], str]:
    """Return the lines before the innermost loop, those in it that compute an element, and the element's name."""
    fixed, moving = loads(plan.kinds, layout, rank, base="q")
    return fixed, [*moving, *plan.formula.lines], plan.formula.result


def _rows_into_numbers(plan: _Plan, kept: int, folded: int, layout: Sequence[str]) -> list[str]:
    """Return the work on a unit whose rows are folded into one number."""
    rank, combine = kept + folded + 1, operators.FORMS[plan.kernel].fold
    fixed, element, result = _element(plan, layout, rank)
    return [
        *_unit_offsets(kept, len(layout), "unit"),
        "total = initial",
        "for row in range(first_row, last_row):",
        *indent(_row_offsets(kept, folded, len(layout), "row")),
        *indent(fixed),
        "    block = initial",
        "    for j in range(inner):",
        *indent(indent([*element, f"block = {combine}(block, {result})"])),
        f"    total = {combine}(total, block)",
        f"p0[slot * size + o0] = {_value(plan, 'total')}",
    ]


def _rows_into_row(plan: _Plan, kept: int, folded: int, layout: Sequence[str]) -> list[str]:
    """Return the work on a unit whose rows are folded into a row, block by block of columns."""
    rank = kept + folded + 1
    where = index(layout[0], 0, rank).replace("j", "(first + k)")
    return [
        "blocks = (inner + BLOCK - 1) // BLOCK",
        "outer = unit // blocks",
        "first = (unit - outer * blocks) * BLOCK",
        "count = min(BLOCK, inner - first)",
        *_unit_offsets(kept, len(layout), "outer"),
        f"totals = local_buffer({plan.formula.dtype.name}, {BLOCK})",
        "for k in range(count):",
        "    totals[k] = initial",
        "four = first_row + (last_row - first_row) // 4 * 4",
        "for row in range(first_row, four, 4):",
        *indent(_add_rows(plan, kept, folded, layout, 4)),
        "for row in range(four, last_row):",
        *indent(_add_rows(plan, kept, folded, layout, 1)),
        "for k in range(count):",
        f"    p0[slot * size + {where}] = {_value(plan, 'totals[k]')}",
    ]


def _add_rows(plan: _Plan, kept: int, folded: int, layout: Sequence[str], count: int) -> list[str]:
    """Return the lines that add some rows to the row of results; the names of each row's values end in its number."""
    rank, combine = kept + folded + 1, operators.FORMS[plan.kernel].fold
    fixed, element, result = _element(plan, layout, rank)
    before: list[str] = []
    inside = ["j = first + k"]
    for row in range(count):
        before += [_of_row(plan, line, row) for line in _row_offsets(kept, folded, len(layout), f"row + {row}")]
        before += [_of_row(plan, line, row) for line in fixed]
        inside += [_of_row(plan, line, row) for line in element]
    values = [_of_row(plan, result, row) for row in range(count)]
    while len(values) > 1:
        values = [f"{combine}({a}, {b})" for a, b in zip(values[::2], values[1::2], strict=True)]
    inside.append(f"totals[k] = {combine}(totals[k], {values[0]})")
    return [*before, "for k in range(count):", *indent(inside)]


def _of_row(plan: _Plan, line: str, row: int) -> str:
    """Return a line with the names of offsets and values made the row's own; numbers are the same for all rows."""
    own = "|".join([r"q\d+", r"t\d+", *[f"v{i}" for i, (_, is_array) in enumerate(plan.kinds) if is_array]])
    return re.sub(rf"\b({own})\b", rf"\1_{row}", line)
