"""Writing kernels: the Python source of a loop over elements, for a given number of axes.

A kernel for any number of axes would need loops and index buffers for each element. Here the number of axes is known
when the source is written, after `collapse` has joined those along which all arrays run on: most often one is left.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any

from minigrad.machine import _numba

WAIT = "cuda.syncthreads()"
"""The barrier in templates of kernels."""

Ints = tuple[int, ...]


def collapse(shape: Ints, *strides: Ints) -> tuple[Ints, list[Ints]]:
    """Join neighbouring axes along which all of several arrays run on without a jump.

    Args:
        shape: The size of each axis, the same for all arrays.
        *strides: Each array's strides.

    Returns:
        The new shape, with at least one axis, and each array's new strides.
    """
    runs: list[tuple[int, list[int]]] = []
    for size, *steps in zip(shape, *strides, strict=True):
        if size == 1:
            continue
        if runs and all(outer == size * inner for outer, inner in zip(runs[-1][1], steps, strict=True)):
            runs[-1] = runs[-1][0] * size, steps
        else:
            runs.append((size, steps))
    runs = runs or [(1, [0] * len(strides))]
    return tuple(size for size, _ in runs), [tuple(steps[i] for _, steps in runs) for i in range(len(strides))]


def positions(ordinal: str, shape: str, rank: int, steps: Sequence[tuple[str, str]]) -> list[str]:
    """Return the lines that add to positions what an element's number makes of them.

    Args:
        ordinal: The name of the element's number, counted row by row.
        shape: The name of the tuple of sizes.
        rank: How many sizes there are.
        steps: For each array the name of its position, and the name of a tuple of its offset and its strides.
    """
    lines = []
    if rank > 1:
        lines.append(f"rest = {ordinal}")
    for axis in range(rank - 1, 0, -1):
        lines.append(f"digit = rest % {shape}[{axis}]")
        lines.append(f"rest = rest // {shape}[{axis}]")
        lines += [f"{position} += digit * {at}[{axis + 1}]" for position, at in steps]
    first = "rest" if rank > 1 else ordinal
    return [*lines, *[f"{position} += {first} * {at}[1]" for position, at in steps]]


def compiled(source: str, names: dict[str, Any]) -> FunctionType:
    """Return the function ``kernel`` that a source defines.

    Args:
        source: A module with one function.
        names: The globals that it uses, beside ``cuda``.
    """
    scope = {"__name__": __name__, "cuda": _numba.cuda, **names}
    name = f"<kernel {abs(hash(source)):x}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)  # for errors and the emulator
    exec(_code(source, name), scope)
    kernel: FunctionType = scope["kernel"]
    return kernel


@lru_cache(maxsize=512)
def _code(source: str, name: str) -> Any:
    return compile(source, name, "exec")
