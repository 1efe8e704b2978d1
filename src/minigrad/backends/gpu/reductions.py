"""Folding axes away on the device, in chunks that many threads work on, and chunks of their results in turn.

Two kernels, for the two ways in which memory can lie. Threads that run side by side should read neighbours:

    rows      the folded elements lie close together: a block folds them, its threads taking every n-th element, and
              then folds the threads' results in shared memory, half as many threads at each step
    columns   the kept elements lie close together: each thread folds a column by itself
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, cast

import numpy as np

from minigrad import operators
from minigrad.backends.gpu import launching
from minigrad.backends.gpu.array import DeviceArray, allocate
from minigrad.backends.gpu.sizes import COLUMNS, LOOP, ROW_THREADS, ROWS
from minigrad.backends.gpu.sources import WAIT, collapse, compiled, positions

Ints = tuple[int, ...]

_ROWS = """
def kernel(out, x, at, kept, kept_at, folded, folded_at, length, chunk, chunks):
    cache = cuda.shared.array({threads}, of)
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    o = b // chunks
    j = (b % chunks) * chunk
    end = min(j + chunk, length)
    first = at
    {to_first}
    total = of(start)
    j += t
    while j < end:
        p = first
        {to_element}
        total = of(fn(total, of(x[p])))
        j += {threads}
    cache[t] = total
    {wait}
    half = {threads} // 2
    while half > 0:
        if t < half:
            cache[t] = of(fn(cache[t], cache[t + half]))
        {wait}
        half //= 2
    if t == 0:
        out[b] = finish(cache[0])
"""

_COLUMNS = """
def kernel(out, x, at, kept, kept_at, folded, folded_at, length, chunk, chunks, outputs):
    i = cuda.grid(1)
    while i < outputs * chunks:
        o = i % outputs
        j = (i // outputs) * chunk
        end = min(j + chunk, length)
        first = at
        {to_first}
        total = of(start)
        while j < end:
            p = first
            {to_element}
            total = of(fn(total, of(x[p])))
            j += 1
        out[i] = finish(total)
        i += cuda.gridsize(1)
"""


def start_value(kernel: str, dtype: np.dtype[Any]) -> Any:
    """Return what a reduction begins with: the value that changes nothing.

    Args:
        kernel: "add", "mul", "max" or "min".
        dtype: Of the elements.
    """
    start = cast(float, operators.FORMS[kernel].start)
    if dtype.kind == "f" or math.isfinite(start):
        return start if dtype.kind == "f" else int(start)
    return int(np.iinfo(np.int64).min if start < 0 else np.iinfo(np.int64).max)


def fold(kernel: str, x: DeviceArray, axes: Ints, dtype: np.dtype[Any]) -> DeviceArray:
    """Fold axes away.

    Args:
        kernel: "add", "mul", "max" or "min".
        x: An array with any strides, and at least one element.
        axes: Sorted, from 0, at least one.
        dtype: The result's.

    Returns:
        A new array without these axes.
    """
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape = tuple(x.shape[axis] for axis in kept)
    length, outputs = math.prod(x.shape[axis] for axis in axes), math.prod(shape)
    sides = [collapse(*(tuple(each[axis] for axis in side) for each in (x.shape, x.strides))) for side in (kept, axes)]
    (kept_shape, (kept_steps,)), (folded_shape, (folded_steps,)) = sides
    by_rows = outputs == 1 or folded_steps[-1] <= kept_steps[-1]
    chunk = (ROWS if by_rows else COLUMNS).chunk(outputs, length)
    chunks = -(-length // chunk)
    inside = _inside(kernel, dtype)
    last = chunks == 1
    out = allocate(shape if last else (outputs, chunks) if by_rows else (chunks, outputs), dtype if last else inside)
    run = _kernel(by_rows, len(kept_shape), len(folded_shape), inside, out.dtype, *_function(kernel, inside))
    args = [out.storage, x.storage, x.offset, kept_shape, (0, *kept_steps), folded_shape, (0, *folded_steps)]
    if by_rows:
        run((outputs * chunks, 1, 1), (ROW_THREADS, 1, 1), *args, length, chunk, chunks)
    else:
        run(*LOOP.grid(outputs * chunks), *args, length, chunk, chunks, outputs)
    return out if last else DeviceArray(fold(kernel, out, (1,) if by_rows else (0,), dtype).storage, shape)


def _inside(kernel: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type to fold in: wide enough that a long sum of float32 loses nothing on the way."""
    if dtype.kind == "f":
        return dtype if kernel in ("max", "min") else np.dtype(np.float64)
    return np.dtype(np.int64)


def _function(kernel: str, inside: np.dtype[Any]) -> tuple[Any, Any]:
    return getattr(operators, kernel), start_value(kernel, inside)


@lru_cache(maxsize=256)
def _kernel(
    by_rows: bool, kept: int, folded: int, inside: np.dtype[Any], dtype: np.dtype[Any], function: Any, start: Any
) -> launching.Kernel:
    """Write and make ready a kernel; the function is part of the key, since it can be replaced."""
    template = _ROWS if by_rows else _COLUMNS
    indent = "\n" + " " * (4 if by_rows else 8)
    to_first = positions("o", "kept", kept, [("first", "kept_at")])
    to_element = positions("j", "folded", folded, [("p", "folded_at")])
    source = template.format(
        threads=ROW_THREADS, wait=WAIT, to_first=indent.join(to_first), to_element=(indent + "    ").join(to_element)
    )
    finish = np.dtype(bool).type if dtype == np.bool_ else dtype.type
    names = {"of": inside.type, "finish": finish, "fn": function, "start": start}
    return launching.ready(compiled(source, names))
