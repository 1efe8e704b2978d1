"""Softmax and its logarithm over the last axis, forwards and backwards, each in one pass over memory.

A row is read once, and everything else happens while it lies in the cache. The largest element of a row is subtracted
first, so that no power overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.backends.guarded import address
from minigrad.backends.numba import compiler, pool, threads
from minigrad.backends.numba.elementwise import STREAM_FROM, elementwise, parameters
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


@cache
def _kernel(name: str, dtype: np.dtype[Any], stream: bool) -> compiler.Kernel:
    text = f"{name} {dtype} {'past the caches' if stream else ''}"
    return compiler.kernel(name, text, lambda: _make(name, dtype, stream))


def _make(name: str, dtype: np.dtype[Any], stream: bool) -> Callable[..., None]:
    """Return the function that computes some rows: each into a buffer if it is written past the caches."""
    from minigrad.backends.numba.intrinsics import pointer, store_fence, store_line
    from minigrad.backends.numba.vector import functions

    tools = SimpleNamespace(number=dtype.type, **functions(dtype))
    row = _ROWS[name](tools)
    two_inputs = name.endswith("backward")
    number, itemsize, line = dtype.type, dtype.itemsize, 64 // dtype.itemsize
    rest = 3 if two_inputs else 2  # where the scratch buffer and the lengths are among the parameters

    def kernel(item: Any, dimensions: Any, steps: Any, parameters: Any) -> None:
        out, x = pointer(parameters[0], number), pointer(parameters[1], number)
        y = pointer(parameters[rest - 1], number)
        length = parameters[rest + 1]
        buffer = pointer(parameters[rest] + item[0][2] * parameters[rest + 2] * itemsize, number)
        for i in range(item[0][0], item[0][1]):
            row(buffer, x, y, i * length, length)
            for j in range(0, length, line):
                store_line(out, i * length + j, buffer, j)
        store_fence()

    def direct_kernel(item: Any, dimensions: Any, steps: Any, parameters: Any) -> None:
        x, y = pointer(parameters[1], number), pointer(parameters[rest - 1], number)
        length = parameters[rest + 1]
        for i in range(item[0][0], item[0][1]):
            row(pointer(parameters[0] + i * length * itemsize, number), x, y, i * length, length)

    return kernel if stream else direct_kernel


def _softmax_row(tools: SimpleNamespace) -> Any:
    from minigrad.backends.numba.intrinsics import add_any_order, load, maximum, store
    from minigrad.backends.numba.vector import compiled

    lowest, zero, one, exp = tools.number(-np.inf), tools.number(0), tools.number(1), tools.exp

    @compiled
    def row(buffer: Any, x: Any, y: Any, first: Any, length: Any) -> None:
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

    return row


def _softmax_backward_row(tools: SimpleNamespace) -> Any:
    from minigrad.backends.numba.intrinsics import add_any_order, load, store
    from minigrad.backends.numba.vector import compiled

    zero = tools.number(0)

    @compiled
    def row(buffer: Any, d: Any, y: Any, first: Any, length: Any) -> None:
        total = zero
        for j in range(length):
            total = add_any_order(total, load(d, first + j) * load(y, first + j))
        for j in range(length):
            store(buffer, j, load(y, first + j) * (load(d, first + j) - total))

    return row


def _log_softmax_row(tools: SimpleNamespace) -> Any:
    from minigrad.backends.numba.intrinsics import add_any_order, load, maximum, store
    from minigrad.backends.numba.vector import compiled

    lowest, zero, exp, log = tools.number(-np.inf), tools.number(0), tools.exp, tools.log

    @compiled
    def row(buffer: Any, x: Any, y: Any, first: Any, length: Any) -> None:
        top = lowest
        for j in range(length):
            top = maximum(top, load(x, first + j))
        total = zero
        for j in range(length):
            total = add_any_order(total, exp(load(x, first + j) - top))
        logarithm = log(total)
        for j in range(length):
            store(buffer, j, (load(x, first + j) - top) - logarithm)

    return row


def _log_softmax_backward_row(tools: SimpleNamespace) -> Any:
    from minigrad.backends.numba.intrinsics import add_any_order, load, store
    from minigrad.backends.numba.vector import compiled

    zero, exp = tools.number(0), tools.exp

    @compiled
    def row(buffer: Any, d: Any, y: Any, first: Any, length: Any) -> None:
        total = zero
        for j in range(length):
            total = add_any_order(total, load(d, first + j))
        for j in range(length):
            store(buffer, j, load(d, first + j) - exp(load(y, first + j)) * total)

    return row


_ROWS: dict[str, Callable[[SimpleNamespace], Any]] = {
    "softmax": _softmax_row,
    "softmax_backward": _softmax_backward_row,
    "log_softmax": _log_softmax_row,
    "log_softmax_backward": _log_softmax_backward_row,
}
