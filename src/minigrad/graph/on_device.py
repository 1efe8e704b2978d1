"""Graphs on a CUDA device: a kernel for each loop, and the eager engine for everything else.

The function that runs a graph is the one of the CPU, but for the calls of loops:

    def run(v_a, v_b, v_c):
        v_a, v_b, v_c = map(rows, (v_a, v_b, v_c))
        v_d = empty((1000,), float64)
        launch_0(v_d, v_a, v_b, v_c)
        return (v_d, )
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.backends import arrays
from minigrad.backends.fused import Loop
from minigrad.backends.gpu.array import DeviceArray, allocate, from_host
from minigrad.backends.gpu.fused import Part
from minigrad.graph.planning import Plan
from minigrad.graph.program import Graph
from minigrad.graph.writing import Writer


class OnDevice(Writer):
    """Writes the function that runs a graph on a CUDA device."""

    def __init__(self, graph: Graph, plan: Plan, inside: Callable[[Graph], Any]) -> None:
        self.parts: list[Part] = []
        super().__init__(graph, plan, inside)
        self.scope |= {"empty": allocate, "rows": rows, "to_host": arrays.to_host}

    def source(self) -> str:
        """Return the text of the kernels; behind each, the launches that run it."""
        launches: dict[str, list[str]] = {}
        for n, part in enumerate(self.parts):
            launches.setdefault(part.text, []).append(f"launch_{n}")
        return "\n\n".join(f"# {', '.join(names)}\n{text}" for text, names in launches.items())

    def load(self) -> dict[str, Any]:
        """Return what the lines refer to, with the kernels, which are compiled at their first launch."""
        return super().load() | {f"launch_{n}": part.load() for n, part in enumerate(self.parts)}

    def constant(self, array: Any) -> Any:
        """Return a copy on the device."""
        return from_host(array)

    def allocation(self, shape: tuple[int, ...], dtype: Any) -> str:
        """Return the text that asks for memory."""
        return f"empty({shape}, {self.named_type(dtype)})"

    def in_rows(self, name: str) -> str:
        """Return the line that puts an input into row-major order."""
        return f"{name} = rows({name})"

    def option(self, name: str) -> str:
        """Return the text of an index: functions of tensors want it on the host."""
        return f"to_host({name})"

    def loop(self, loop: Loop, names: list[str]) -> None:
        """Write the launch of a kernel."""
        self.lines.append(f"launch_{len(self.parts)}({', '.join(names)})")
        self.parts.append(Part(loop))


def rows(array: Any) -> DeviceArray:
    """Return an array on the device in row-major order: the same one if it is.

    >>> from minigrad.graph.on_device import rows
    >>> rows(minigrad.zeros(2, 3, device="cuda").T._array).strides
    (2, 1)
    """
    if isinstance(array, np.ndarray):  # drawn, or computed by NumPy
        return from_host(array)
    found: DeviceArray = array if array.is_contiguous else array.copy()
    return found
