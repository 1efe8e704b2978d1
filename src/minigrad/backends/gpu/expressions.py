"""Elementwise expressions: each becomes one kernel, in which every operator is a device function.

    ("mul", ("in", 0), ("add", ("in", 1), ("const", 2.0)))

is one loop that reads two elements and writes one. The operators are those of `minigrad.operators`, or what a student
has installed there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import operators
from minigrad.backends.gpu import launching
from minigrad.backends.gpu.array import DeviceArray
from minigrad.backends.gpu.sizes import LOOP
from minigrad.backends.gpu.sources import collapse, compiled, positions
from minigrad.errors import KernelError

if TYPE_CHECKING:
    from minigrad.operators import Expression

FLOAT64, FLOAT32, INT64, BOOL = map(np.dtype, (np.float64, np.float32, np.int64, np.bool_))


def kernels_of(expression: Expression) -> Iterator[str]:
    """Yield the name of every operator in an expression."""
    if expression[0] not in ("in", "const"):
        yield expression[0]
        for argument in expression[1:]:
            yield from kernels_of(argument)


def compute_type(inputs: Sequence[Any], dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that an expression is computed in: the result's if that is a float, else the inputs'."""
    if dtype.kind == "f":
        return dtype
    kinds = [x.dtype for x in inputs if isinstance(x, DeviceArray)]
    if FLOAT64 in kinds:
        return FLOAT64
    if FLOAT32 in kinds:
        return FLOAT32
    return FLOAT64 if any(isinstance(x, float) for x in inputs) else INT64


def evaluate_into(out: DeviceArray, expression: Expression, inputs: Sequence[Any]) -> None:
    """Compute an expression for every element of an array.

    Args:
        out: Where the results go, through any strides.
        expression: ``("in", i)``, ``("const", number)`` or ``(operator, *expressions)``.
        inputs: Device arrays, of shapes that broadcast to out's, and Python numbers.
    """
    if out.size == 0:
        return
    arrays = [x.expand(*out.shape) if isinstance(x, DeviceArray) else x for x in inputs]
    strides = [x.strides for x in (out, *arrays) if isinstance(x, DeviceArray)]
    shape, steps = collapse(out.shape, *strides)
    kinds = tuple(x.dtype if isinstance(x, DeviceArray) else None for x in inputs)
    inside = compute_type(inputs, out.dtype)
    functions = tuple(_function(name, inside) for name in dict.fromkeys(kernels_of(expression)))
    run = _kernel(repr(expression), expression, kinds, len(shape), out.dtype, inside, functions)
    left = iter(steps)
    args: list[Any] = [out.storage, (out.offset, *next(left)), math.prod(shape), shape]
    for x in arrays:
        args += [x.storage, (x.offset, *next(left))] if isinstance(x, DeviceArray) else [inside.type(x)]
    run(*LOOP.grid(math.prod(shape)), *args)


OF_INTEGERS: dict[str, Callable[[int], int]] = {
    "abs": lambda x: x if x >= 0 else -x,
    "neg": lambda x: -x,
    "relu": lambda x: x if x > 0 else 0,
    "sign": lambda x: 1 if x > 0 else -1 if x < 0 else 0,
}
"""What takes an operator's place where all inputs are integers: it would make floats of them."""


def _function(name: str, inside: np.dtype[Any]) -> tuple[str, Any]:
    found: Any = OF_INTEGERS.get(name) if inside.kind == "i" else None
    found = found or getattr(operators, name, None)
    if found is None:
        raise KernelError(f"there is no operator {name!r} in minigrad.operators")
    return name, found


@lru_cache(maxsize=1024)
def _kernel(
    text: str,
    expression: Expression,
    kinds: tuple[np.dtype[Any] | None, ...],
    rank: int,
    dtype: np.dtype[Any],
    inside: np.dtype[Any],
    functions: tuple[tuple[str, Any], ...],
) -> launching.Kernel:
    """Write and make ready the kernel of an expression; functions are part of the key, since they can be replaced.

    So is the text, since 0.0 and -0.0 are equal.
    """
    source = _source(expression, kinds, rank, dtype)
    names = {"cast": inside.type, "finish": dtype.type, **{f"op_{name}": function for name, function in functions}}
    return launching.ready(compiled(source, names))


def _source(expression: Expression, kinds: Sequence[Any], rank: int, dtype: np.dtype[Any]) -> str:
    arrays = [i for i, kind in enumerate(kinds) if kind is not None]
    parameters = ["out", "out_at", "size", "shape"]
    for i, kind in enumerate(kinds):
        parameters += [f"x{i}"] if kind is None else [f"x{i}", f"at{i}"]
    body = ["p = out_at[0]", *[f"p{i} = at{i}[0]" for i in arrays]]
    body += positions("i", "shape", rank, [("p", "out_at"), *[(f"p{i}", f"at{i}") for i in arrays]])
    body += [f"v{i} = cast(x{i}[p{i}])" for i in arrays]
    value, lines = _lines(expression, kinds)
    body += lines
    body.append(f"out[p] = {value} != 0" if dtype == BOOL else f"out[p] = finish({value})")
    return "\n".join(
        [
            f"def kernel({', '.join(parameters)}):",
            "    i = cuda.grid(1)",
            "    while i < size:",
            *["        " + line for line in body],
            "        i += cuda.gridsize(1)",
            "",
        ]
    )


def _lines(expression: Expression, kinds: Sequence[Any]) -> tuple[str, list[str]]:
    """Return the name of an expression's value, and the lines that compute it, each part once."""
    known: dict[str, str] = {}
    lines: list[str] = []

    def name_of(part: Any) -> str:
        if part[0] == "in":
            return f"x{part[1]}" if kinds[part[1]] is None else f"v{part[1]}"
        key = repr(part)  # 0.0 and -0.0 are equal, but not the same
        if key not in known:
            if part[0] == "const":
                value = f"cast({literal(part[1])})"
            else:
                value = f"cast(op_{part[0]}({', '.join(map(name_of, part[1:]))}))"
            known[key] = f"t{len(known)}"
            lines.append(f"{known[key]} = {value}")
        return known[key]

    return name_of(expression), lines


def literal(value: float) -> str:
    """Return Python source for a number, infinities and nan included."""
    if isinstance(value, int) or math.isfinite(value):
        return repr(value if isinstance(value, bool | int) else float(value))
    return "(1e308 * 10.0 - 1e308 * 10.0)" if math.isnan(value) else f"({math.copysign(1e308, value)!r} * 10.0)"
