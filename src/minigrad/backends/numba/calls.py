"""Calls of fused loops from a generated function: one kernel has all loops of a graph."""

from __future__ import annotations

import ctypes
import math
import struct
from typing import Any

import numpy as np

from minigrad.backends import arrays
from minigrad.backends.fused import Loop
from minigrad.backends.guarded import handle
from minigrad.backends.numba import pool, products, programs, threads
from minigrad.backends.numba.fused import Part

_QUICK = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_char_p)
"""A call of a small kernel, which keeps Python's lock: to give it away takes longer."""

_item = (ctypes.c_int64 * 3)(0, 0, 0)
_items = (ctypes.c_void_p * 1)(ctypes.addressof(_item))
ALONE = ctypes.addressof(_items)


class Calls:
    """Writes the calls of a graph's loops on the CPU.

    Attributes:
        names: What the lines refer to.
        loops: The loops of the kernel.
    """

    def __init__(self) -> None:
        self.names: dict[str, Any] = {
            "ALONE": ALONE,
            "empty": np.empty,
            "handle": handle,
            "large": pool.empty,
            "product": products.matmul,
            "rows": rows,
            "scratch": scratch,
            "shared": shared,
        }
        self.loops = programs.Loops()
        self._count = 0
        self._waiting: list[tuple[Part, list[str]]] = []

    def constant(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the array itself."""
        return array

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
        """Return the text that asks for memory; for a large array it comes from the pool."""
        size = math.prod(shape) * dtype.itemsize
        return f"{'large' if size >= pool.SMALLEST else 'empty'}({shape}, {dtype})"

    def in_rows(self, name: str) -> str:
        """Return the line that puts an array into row-major order."""
        return f"if not {name}.flags.c_contiguous: {name} = rows({name})"

    def on_host(self, name: str) -> str:
        """Return the name: the array is there."""
        return name

    def loop(self, loop: Loop, names: list[str]) -> list[str]:
        """Let a loop wait for its call: small ones are called together. A large one is called now."""
        lines = []
        for part in programs.parts_of(loop):
            if part.worth > 1:
                lines += self.flush()
            self._waiting.append((part, names))
            if part.worth > 1:
                lines += self.flush()
        return lines

    def flush(self) -> list[str]:
        """Return the call of the loops that wait."""
        if not self._waiting:
            return []
        number, parts = self._count, [part for part, _ in self._waiting]
        given, lines = list[str](), list[str]()
        for part, handles in self._waiting:
            given += [f"handle({name})" for name in handles]
            if part.scratch:
                memory, dtype = f"memory_{number}_{len(given)}", part.loop.dtype
                self.names[dtype.name] = dtype
                lines.append(f"{memory} = scratch({part.scratch}, {part.worth}, {dtype})")
                given.append(f"handle({memory})")
        table = self.loops.add(parts)
        pack, tail = f"pack_{number}", f"table_{number}"
        self.names[pack] = struct.Struct(f"{1 + len(given)}q").pack
        self.names[tail] = struct.pack(f"{len(table)}q", *table)
        packed = f"{pack}({', '.join([str(1 + len(given)), *given])}) + {tail}"
        if programs.is_shared(parts):
            lines.append(f"shared(of_threads, {packed}, {parts[0].total}, {parts[0].multiple}, {parts[0].worth})")
        else:
            lines.append(f"kernel(ALONE, 0, 0, {packed})")
        self._count += 1
        self._waiting = []
        return lines

    def source(self) -> str:
        """Return the text of the kernel."""
        return self.loops.text if self._count else ""

    def load(self) -> dict[str, Any]:
        """Return what the lines refer to; the kernel is compiled now if it was not yet."""
        if not self._count:
            return self.names
        kernel = self.loops.load()
        return self.names | {"kernel": _QUICK(kernel.address), "of_threads": kernel}


def shared(kernel: Any, numbers: bytes, total: int, multiple: int, worth: int) -> None:
    """Call a kernel for all parts of its work, on several threads."""
    threads.run(kernel, numbers, threads.parts(total, min(threads.thread_count(), worth), multiple))


def scratch(size: int, worth: int, dtype: Any) -> Any:
    """Return memory for values that each thread keeps."""
    return pool.empty((size * (min(threads.thread_count(), worth) if worth > 1 else 1),), dtype)


def rows(array: Any) -> Any:
    """Return an array in row-major order: the same one if it is.

    >>> from minigrad.backends.numba.calls import rows
    >>> rows(np.zeros((2, 3)).T).flags.c_contiguous
    True
    """
    return array if array.flags.c_contiguous else arrays.contiguous(array)
