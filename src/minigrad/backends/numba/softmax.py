"""Softmax and its logarithm over the last axis, forwards and backwards, each in one pass over memory.

A row is read once, and everything else happens while it lies in the cache. The largest element of a row is subtracted
first, so that no power overflows.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.backends.guarded import address
from minigrad.backends.numba import compiler, pool, threads
from minigrad.backends.numba.elementwise import STREAM_FROM, elementwise, parameters
from minigrad.backends.numba.expressions import Formula
from minigrad.backends.numba.reductions import reduce_expression

if TYPE_CHECKING:
    from minigrad.operators import Expression

Array = np.ndarray[Any, Any]
X, Y = ("in", 0), ("in", 1)
LONG = 1 << 15
"""Elements of a row from which on a few rows are shared by all threads, in more than one pass."""


def softmax(x: Array) -> Array:
    """Return e^x over the sum of e^x in each row."""
    if _few_and_long(x):
        top = _fold("max", X, x)
        total = _fold("add", ("exp", ("sub", X, Y)), x, top)
        return elementwise(("div", ("exp", ("sub", X, Y)), ("in", 2)), [x, top, total], x.dtype)
    return _run("softmax", x)


def softmax_backward(d: Array, y: Array) -> Array:
    """Return the gradient in x, from that of y = softmax(x): y (d - sum of d y in the row)."""
    if _few_and_long(y):
        total = _fold("add", ("mul", X, Y), d, y)
        return elementwise(("mul", Y, ("sub", X, ("in", 2))), [d, y, total], y.dtype)
    return _run("softmax_backward", d, y)


def log_softmax(x: Array) -> Array:
    """Return the logarithm of softmax(x), without computing numbers that would round to 0."""
    if _few_and_long(x):
        top = _fold("max", X, x)
        total = _fold("add", ("exp", ("sub", X, Y)), x, top)
        return elementwise(("sub", ("sub", X, Y), ("log", ("in", 2))), [x, top, total], x.dtype)
    return _run("log_softmax", x)


def log_softmax_backward(d: Array, y: Array) -> Array:
    """Return the gradient in x, from that of y = log_softmax(x): d - e^y times the sum of d in the row."""
    if _few_and_long(y):
        total = _fold("add", X, d)
        return elementwise(("sub", X, ("mul", ("exp", Y), ("in", 2))), [d, y, total], y.dtype)
    return _run("log_softmax_backward", d, y)


def _few_and_long(x: Array) -> bool:
    return bool(x.shape[-1] >= LONG and x.size // x.shape[-1] < 2 * threads.thread_count())


def _fold(kernel: str, expression: Expression, *inputs: Array) -> Array:
    """Fold the last axis, and keep it with size 1."""
    return reduce_expression(expression, kernel, inputs, (inputs[0].ndim - 1,), inputs[0].dtype)[..., None]


def _run(name: str, *inputs: Array) -> Array:
    """Run a kernel over all rows."""
    dtype, shape = inputs[0].dtype, inputs[-1].shape
    rows = [x if x.shape == shape else np.broadcast_to(x, shape) for x in inputs]
    rows = [x if x.flags.c_contiguous else elementwise(("id", X), [x], x.dtype) for x in rows]
    length = shape[-1]
    out = pool.empty(shape, dtype)
    if not out.size:
        return out
    stream = out.nbytes >= STREAM_FROM and length % (64 // dtype.itemsize) == 0 and address(out) % 64 == 0
    count = threads.count_for(out.size * 4, out.itemsize)
    work = threads.parts(out.size // length, count)
    scratch = pool.empty((work.count, -(-length // 16) * 16), dtype)
    numbers = [address(out), *[address(x) for x in rows], address(scratch), length, scratch.shape[1]]
    threads.run(_kernel(name, dtype, stream), parameters(numbers), work)
    return out


_ROWS = {
    "softmax": """
        top = lowest
        for j in range(length):
            top = maximum(top, load(x, first + j))
        total = zero
        for j in range(length):
            e = exp(load(x, first + j) - top)
            store(buffer, j, e)
            total = add_any_order(total, e)
        factor = one / total
        for j in range(length):
            buffer[j] = buffer[j] * factor
""",
    "softmax_backward": """
        total = zero
        for j in range(length):
            total = multiply_add_any_order(total, load(x, first + j), load(y, first + j))
        for j in range(length):
            store(buffer, j, load(y, first + j) * (load(x, first + j) - total))
""",
    "log_softmax": """
        top = lowest
        for j in range(length):
            top = maximum(top, load(x, first + j))
        total = zero
        for j in range(length):
            total = add_any_order(total, exp(load(x, first + j) - top))
        logarithm = log(total)
        for j in range(length):
            store(buffer, j, (load(x, first + j) - top) - logarithm)
""",
    "log_softmax_backward": """
        total = zero
        for j in range(length):
            total = add_any_order(total, load(x, first + j))
        for j in range(length):
            store(buffer, j, multiply_add(load(x, first + j), -exp(load(y, first + j)), total))
""",
}
_TEXT = """
def kernel(item, dimensions, steps, parameters):
    out, x, y = pointer(parameters[0], number), pointer(parameters[1], number), pointer(parameters[{inputs}], number)
    length = parameters[{inputs} + 2]
    buffer = pointer(parameters[{inputs} + 1] + item[0][2] * parameters[{inputs} + 3] * {size}, number)
    for i in range(item[0][0], item[0][1]):
        first = i * length
{row}
"""
_DIRECT = "        buffer = pointer(parameters[0] + first * {size}, number)"
_STREAMED = """
        for j in range(0, length, {line}):
            store_line(out, first + j, buffer, j)
    store_fence()
"""


@cache
def _kernel(name: str, dtype: np.dtype[Any], stream: bool) -> compiler.Kernel:
    """Return the kernel that computes some rows: each into a buffer if it is written past the caches."""
    row = _ROWS[name] + _STREAMED if stream else _DIRECT + _ROWS[name]
    text = _TEXT.replace("{row}", row).replace("{inputs}", "2" if name.endswith("backward") else "1")
    text = text.replace("{size}", str(dtype.itemsize)).replace("{line}", str(64 // dtype.itemsize))
    formula = Formula(None, dtype)
    return compiler.kernel(name, f"# in {dtype}{text}", lambda: formula.scope() | {"lowest": dtype.type(-np.inf)})
