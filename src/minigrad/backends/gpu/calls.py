"""Calls of fused loops from a generated function: each loop is a kernel, launched by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.backends import arrays
from minigrad.backends.fused import Loop
from minigrad.backends.gpu.array import DeviceArray, allocate, from_host
from minigrad.backends.gpu.fused import Part


class Calls:
    """Writes the launches of a graph's kernels.

    Attributes:
        names: What the lines refer to.
        parts: The kernels.
    """

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"empty": allocate, "rows": rows, "to_host": arrays.to_host}
        self.parts: list[Part] = []

    def constant(self, array: np.ndarray[Any, Any]) -> DeviceArray:
        """Return a copy on the device."""
        return from_host(array)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
        """Return the text that asks for memory."""
        return f"empty({shape}, {dtype})"

    def in_rows(self, name: str) -> str:
        """Return the line that puts an array into row-major order."""
        return f"{name} = rows({name})"

    def on_host(self, name: str) -> str:
        """Return the text of a copy on the host."""
        return f"to_host({name})"

    def loop(self, loop: Loop, names: list[str]) -> list[str]:
        """Return the launch of a loop's kernel."""
        self.parts.append(Part(loop))
        return [f"launch_{len(self.parts) - 1}({', '.join(names)})"]

    def flush(self) -> list[str]:
        """Return nothing: no launch waits."""
        return []

    def source(self) -> str:
        """Return the text of the kernels; before each, the launches that run it."""
        launches: dict[str, list[str]] = {}
        for n, part in enumerate(self.parts):
            launches.setdefault(part.text, []).append(f"launch_{n}")
        return "\n\n".join(f"# {', '.join(names)}\n{text}" for text, names in launches.items())

    def load(self) -> dict[str, Any]:
        """Return what the lines refer to, with the kernels, which are compiled at their first launch."""
        return self.names | {f"launch_{n}": part.load() for n, part in enumerate(self.parts)}


def rows(array: Any) -> DeviceArray:
    """Return an array on the device in row-major order: the same one if it is.

    >>> from minigrad.backends.gpu.calls import rows
    >>> rows(minigrad.zeros(2, 3, device="cuda").T._array).strides
    (2, 1)
    """
    if isinstance(array, np.ndarray):  # drawn, or computed by NumPy
        return from_host(array)
    found: DeviceArray = array if array.is_contiguous else array.copy()
    return found
