"""The seam between a compiler of graphs and the backends: generated lines of Python that run loops on arrays.

The compiler writes a function, line by line. A backend's `Calls` writes the lines that need to know where arrays lie
and how a kernel is called, and later loads the kernels. `minigrad.backends.compiler` returns the backend of a device.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from minigrad.backends.fused import Loop


class Calls(Protocol):
    """The part of a generated function that one backend writes.

    Attributes:
        names: What the lines of every function may refer to. Always ``rows``, which returns an array in row-major
            order, the same one if it is.
    """

    names: dict[str, Any]

    def constant(self, array: np.ndarray[Any, Any]) -> Any:
        """Return a NumPy array where the function computes."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
        """Return the text that asks for memory. It may refer to the dtype by its name."""

    def in_rows(self, name: str) -> str:
        """Return the line that puts an array into row-major order."""

    def on_host(self, name: str) -> str:
        """Return the text of an index, as functions of tensors take it."""

    def loop(self, loop: Loop, names: list[str]) -> list[str]:
        """Take a loop on its outputs and inputs; return the lines to be written now. Its call may wait."""

    def flush(self) -> list[str]:
        """Return the calls of the loops that wait."""

    def source(self) -> str:
        """Return the text of the kernels."""

    def load(self) -> dict[str, Any]:
        """Return what the lines refer to, the kernels too: compiled now, or ready for their first call."""
