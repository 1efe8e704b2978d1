"""Loops over all elements of several arrays at once: one generated kernel for each expression and layout.

What a kernel reads from its parameters: the address of the output; for each input its address, or the bits of a
number; then the sizes of the axes after the first and, for each array in turn, its strides.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.backends.geometry import Axis, blocks, collapse, contiguous_strides, kind, strides_of
from minigrad.backends.guarded import address
from minigrad.backends.numba import compiler, pool, threads
from minigrad.backends.numba.expressions import Formula, compute_dtype
from minigrad.elementwise.forms import constants_of

if TYPE_CHECKING:
    from minigrad.operators import Expression

STREAM_BUFFER = 512
"""Elements computed in the first-level cache before they are written past the caches."""


def _last_level_cache() -> int:
    try:
        return os.sysconf("SC_LEVEL3_CACHE_SIZE") or os.sysconf("SC_LEVEL2_CACHE_SIZE") or 1 << 25
    except (AttributeError, ValueError, OSError):
        return 1 << 25


STREAM_FROM = max(_last_level_cache(), 1 << 22)
"""Bytes from which on an output is written past the caches: it would not stay in them until it is read."""


def elementwise(
    expression: Expression, inputs: Sequence[Any], dtype: np.dtype[Any], out: np.ndarray[Any, Any] | None = None
) -> np.ndarray[Any, Any]:
    """Compute an expression for every element of the broadcast inputs.

    Args:
        expression: ``("in", i)``, ``("const", number)`` or ``(operator, *expressions)``.
        inputs: Arrays and Python numbers.
        dtype: The dtype of the result.
        out: Where to put the result: an array of the right shape that is none of the inputs or exactly one of them.
    """
    layouts = tuple([layout_of(x) for x in inputs])
    plan = _plan(expression, constants_of(expression), layouts, dtype)
    if plan.copies:
        return elementwise(expression, [aligned(x) for x in inputs], dtype, out)
    if out is None:
        out = pool.empty(plan.shape, dtype)
        plan.run(out, inputs, plan.fresh(out))
    else:
        plan.run(out, inputs, plan.pieces_for(strides_of(out, plan.shape)))
    return out


Layout = tuple[Any, tuple[int, ...], tuple[int, ...]]
"""The dtype, shape and strides (in bytes) of an array; the type of a number, twice nothing."""


def layout_of(x: Any) -> Layout:
    """Return the properties of an input that a plan depends on."""
    if isinstance(x, np.ndarray):
        return x.dtype, x.shape, x.strides
    return (np.int64 if isinstance(x, int) else np.float64), (), ()


def between_elements(layout: Layout) -> bool:
    """Return whether an array's steps are no whole elements, as those of a field of a structured array may be."""
    dtype, shape, strides = layout
    return any(s % dtype.itemsize for n, s in zip(shape, strides, strict=True) if n != 1)


def aligned(x: Any) -> Any:
    """Return an array with steps of whole elements. Numbers are returned as they are."""
    return np.ascontiguousarray(x).reshape(x.shape) if isinstance(x, np.ndarray) else x


def scalar_bits(x: Any) -> int:
    """Return a number's 64 bits as an integer: those of an int, or of a float."""
    return int(x) if isinstance(x, int) else int(struct.unpack("q", struct.pack("d", x))[0])


def memory_dtype(dtype: Any) -> Any:
    """Return the dtype as which a kernel reads memory: NumPy's booleans are bytes."""
    return np.uint8 if dtype == np.bool_ else np.dtype(dtype).type


class Piece:
    """A kernel for a part of the index space, and its parameters beside addresses."""

    __slots__ = ("kernel", "multiple", "numbers", "shifts", "total", "worth")

    def __init__(self, kernel: compiler.Kernel, axes: Sequence[Axis], shifts: Sequence[int], formula: Formula) -> None:
        self.kernel = kernel
        self.shifts = tuple(shifts)
        self.total = int(np.prod([n for n, _ in axes]))
        self.numbers = [n for n, _ in axes[1:]]
        for operand in range(len(axes[0][1])):
            self.numbers += [steps[operand] for _, steps in axes]
        # Whole rows, unless there are so few that they cannot be shared out evenly.
        self.multiple = axes[-1][0] if self.total >= 64 * axes[-1][0] else 64
        self.worth = threads.worth(self.total * formula.weight, formula.dtype.itemsize)


class _Plan:
    """Everything about a call that depends on shapes, strides and dtypes only."""

    def __init__(self, expression: Expression, layouts: Sequence[Layout], dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.arrays = [i for i, layout in enumerate(layouts) if isinstance(layout[0], np.dtype)]
        shapes = [layouts[i][1] for i in self.arrays]
        self.shape = shapes[0] if len(set(shapes)) == 1 else np.broadcast_shapes(*shapes)
        self.empty = 0 in self.shape
        self.copies = any(between_elements(layouts[i]) for i in self.arrays)
        stand_ins = [
            np.empty((1,) * len(shape), d) if isinstance(d, np.dtype) else d(0).item() for d, shape, _ in layouts
        ]
        self.formula = Formula(expression, compute_dtype(stand_ins, dtype))
        self.kinds = [(memory_dtype(d), isinstance(d, np.dtype)) for d, _, _ in layouts]
        self.itemsizes = [dtype.itemsize] + [layouts[i][0].itemsize for i in self.arrays]
        self.strides = [self._broadcast(layouts[i]) for i in self.arrays]
        self.size = int(np.prod(self.shape)) * dtype.itemsize
        self._fresh: dict[bool, list[Piece]] = {}
        self._given: dict[tuple[int, ...], list[Piece]] = {}

    def _broadcast(self, layout: Layout) -> tuple[int, ...]:
        dtype, shape, strides = layout
        steps = tuple(s // dtype.itemsize if n != 1 else 0 for n, s in zip(shape, strides, strict=True))
        return (0,) * (len(self.shape) - len(shape)) + steps

    def fresh(self, out: np.ndarray[Any, Any]) -> list[Piece]:
        """Return the pieces for a new output."""
        stream = self.size >= STREAM_FROM and address(out) % 64 == 0
        if stream not in self._fresh:
            self._fresh[stream] = self._pieces(contiguous_strides(self.shape), stream)
        return self._fresh[stream]

    def pieces_for(self, strides: tuple[int, ...]) -> list[Piece]:
        """Return the pieces for an output with these strides."""
        if strides not in self._given:
            self._given[strides] = self._pieces(strides, False)
        return self._given[strides]

    def _pieces(self, strides: tuple[int, ...], stream: bool) -> list[Piece]:
        if self.empty:
            return []
        axes = collapse(self.shape, (strides, *self.strides))
        return [Piece(self._kernel(a, stream), a, shifts, self.formula) for a, shifts in blocks(axes)]

    def _kernel(self, axes: Sequence[Axis], stream: bool) -> compiler.Kernel:
        layout = [kind(step) for step in axes[-1][1]]
        stream = stream and len(axes) == 1 and layout[0] == "c" and self.dtype != np.bool_
        return generate(self.formula, self.dtype, self.kinds, layout, len(axes), stream)

    def run(self, out: np.ndarray[Any, Any], inputs: Sequence[Any], pieces: list[Piece]) -> None:
        """Run the kernels of all pieces."""
        for piece in pieces:
            shifts = piece.shifts
            given = [address(out) + shifts[0] * self.itemsizes[0]]
            position = 1
            for x in inputs:
                if isinstance(x, np.ndarray):
                    given.append(address(x) + shifts[position] * self.itemsizes[position])
                    position += 1
                else:
                    given.append(scalar_bits(x))
            count = min(threads.thread_count(), piece.worth) if piece.worth > 1 else 1
            work = threads.parts(piece.total, count, piece.multiple)
            threads.run(piece.kernel, parameters(given + piece.numbers), work)


@lru_cache(maxsize=256)
def _packer(count: int) -> Any:
    return struct.Struct(f"{count}q").pack


def parameters(numbers: Sequence[int]) -> bytes:
    """Return integers as an array of C, 64 bits each: ctypes hands the bytes' address to a kernel."""
    return _packer(len(numbers))(*numbers)  # type: ignore[no-any-return]


_plan = lru_cache(maxsize=4096)(lambda expression, constants, *rest: _Plan(expression, *rest))


def generate(
    formula: Formula,
    dtype: np.dtype[Any],
    inputs: Sequence[tuple[Any, bool]],
    layout: Sequence[str],
    rank: int,
    stream: bool,
) -> compiler.Kernel:
    """Return the kernel for an expression and a layout.

    Args:
        formula: The body of the loop.
        dtype: Of the output.
        inputs: For each input its dtype in memory, and whether it is an array.
        layout: For the output and each input array, how it runs along the innermost axis (see `geometry.kind`).
        rank: The number of axes.
        stream: Whether the output is written past the caches.
    """
    lines = pointers(dtype, inputs)
    lines += _strides(layout, rank)
    body = _loop(formula, dtype, inputs, layout, rank, stream)
    return define("elementwise", formula, lines + body)


def define(name: str, formula: Formula, lines: Sequence[str]) -> compiler.Kernel:
    """Return the kernel that consists of these lines.

    Args:
        name: A word for the name of its file.
        formula: What the lines compute.
        lines: The body of the function.
    """
    text = "\n".join(["def kernel(item, dimensions, steps, parameters):", *indent(lines)])
    return compiler.kernel(
        name, f"# in {formula.dtype}\n{formula.described}{text}\n", formula.scope, keep=formula.complete
    )


def indent(lines: Sequence[str]) -> list[str]:
    """Return lines one step further to the right."""
    return ["    " + line for line in lines]


def pointers(dtype: np.dtype[Any], inputs: Sequence[tuple[Any, bool]]) -> list[str]:
    """Return the lines that make pointers of addresses: p0 for the output, p1, ... for input arrays; v0 for numbers."""
    lines = [f"p0 = pointer(parameters[0], {memory_dtype(dtype).__name__})"]
    arrays = 0
    for i, (memory, is_array) in enumerate(inputs):
        if is_array:
            arrays += 1
            lines.append(f"p{arrays} = pointer(parameters[{i + 1}], {memory.__name__})")
        elif memory is np.int64:
            lines.append(f"v{i} = number(parameters[{i + 1}])")
        else:
            lines.append(f"v{i} = number(bits_to_float(parameters[{i + 1}]))")
    lines.append(f"given = {len(inputs) + 1}")
    return lines


def _strides(layout: Sequence[str], rank: int) -> list[str]:
    """Return the lines that read sizes n1, ... and strides s<array>_<axis>."""
    lines = [f"n{axis} = parameters[given + {axis - 1}]" for axis in range(1, rank)]
    for i, how in enumerate(layout):
        for axis in range(rank):
            if axis < rank - 1 or how == "s":
                lines.append(f"s{i}_{axis} = parameters[given + {rank - 1 + i * rank + axis}]")
    return lines


def offsets(count: int, axes: Sequence[int], row: str = "row", prefix: str = "o") -> list[str]:
    """Return the lines that find where each array is in a row, from the row's number.

    Args:
        count: The number of arrays.
        axes: The axes that the number counts through, the outermost first.
        row: The name of the number.
        prefix: The first letter of the offsets' names.
    """
    lines = [f"rest = {row}"]
    terms: list[list[str]] = [[] for _ in range(count)]
    for axis in reversed(axes):
        if axis == axes[0]:
            lines.append(f"i{axis} = rest")
        else:
            lines += [f"i{axis} = rest % n{axis}", f"rest = rest // n{axis}"]
        for i in range(count):
            terms[i].append(f"i{axis} * s{i}_{axis}")
    return lines + [f"{prefix}{i} = {' + '.join(t) or '0'}" for i, t in enumerate(terms)]


def _loop(
    formula: Formula,
    dtype: np.dtype[Any],
    inputs: Sequence[tuple[Any, bool]],
    layout: Sequence[str],
    rank: int,
    stream: bool,
) -> list[str]:
    """Return the loop over the elements from start to stop."""
    span = ["start = item[0][0]", "stop = item[0][1]"]
    fixed, moving = loads(inputs, layout, rank)
    result = f"uint8({formula.result} != zero)" if dtype == np.bool_ else formula.result
    if stream:
        body = [*moving, *formula.lines, f"store(buffer, j, {dtype.name}({result}))"]
        return [*span, *fixed, *_streamed(body, dtype)]
    where = index(layout[0], 0, rank)
    inner = [*moving, *formula.lines, f"store(p0, {where}, {result})"]
    if rank == 1:
        return [*span, *fixed, "for j in range(start, stop):", *indent(inner)]
    row = [
        f"row = position // n{rank - 1}",
        f"begin = position - row * n{rank - 1}",
        f"end = min(n{rank - 1}, begin + stop - position)",
        *offsets(len(layout), range(rank - 1)),
        *fixed,
        "for j in range(begin, end):",
        *indent(inner),
        "position += end - begin",
    ]
    return [*span, "position = start", "while position < stop:", *indent(row)]


def index(how: str, operand: int, rank: int, base: str = "o") -> str:
    """Return the text of an array's index in the innermost loop over j."""
    start = f"{base}{operand} + " if rank > 1 or base != "o" else ""
    if how == "0":
        return f"{start}0"
    return f"{start}j" if how == "c" else f"{start}j * s{operand}_{rank - 1}"


def loads(
    inputs: Sequence[tuple[Any, bool]], layout: Sequence[str], rank: int, base: str = "o"
) -> tuple[list[str], list[str]]:
    """Return the loads before the innermost loop, of arrays that do not move along it, and those inside it."""
    fixed: list[str] = []
    moving: list[str] = []
    arrays = 0
    for i, (_, is_array) in enumerate(inputs):
        if is_array:
            arrays += 1
            line = f"v{i} = number(load(p{arrays}, {index(layout[arrays], arrays, rank, base)}))"
            (fixed if layout[arrays] == "0" else moving).append(line)
    return fixed, moving


def _streamed(body: Sequence[str], dtype: np.dtype[Any]) -> list[str]:
    """Return a loop that fills a buffer in the first-level cache, and writes it from there past the caches."""
    line = 64 // dtype.itemsize
    return [
        f"buffer = local_buffer({dtype.name}, {STREAM_BUFFER})",
        f"for first in range(start, stop, {STREAM_BUFFER}):",
        f"    count = min({STREAM_BUFFER}, stop - first)",
        "    for k in range(count):",
        "        j = first + k",
        *indent(indent([text.replace("store(buffer, j,", "store(buffer, k,") for text in body])),
        f"    lines = count - count % {line}",
        f"    for k in range(0, lines, {line}):",
        "        store_line(p0, first + k, buffer, k)",
        "    for k in range(lines, count):",
        "        p0[first + k] = buffer[k]",
        "store_fence()",
    ]
