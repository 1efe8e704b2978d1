"""Large arrays where there is no Numba, as in a browser: NumPy's forms, which serve small arrays everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.backends import numpy_forms

if TYPE_CHECKING:
    from minigrad.operators import Expression

Array = np.ndarray[Any, Any]


class NumpyBackend:
    """Computes on NumPy arrays, one operator after the other. Results are new and row-major."""

    name = "numpy"

    def elementwise(self, expression: Expression, inputs: Sequence[Any], dtype: np.dtype[Any]) -> Array:
        """Compute an expression of operators for every element. The inputs broadcast."""
        return np.array(numpy_forms.evaluate(expression, inputs), dtype, order="C")

    def reduce(self, kernel: str, x: Array, axes: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Fold axes away with "add", "mul", "max" or "min". nan wins over every other number."""
        out: Array = numpy_forms.reduce(kernel, x, axes, False, dtype)
        return out

    def matmul(self, a: Array, b: Array) -> Array:
        """Multiply matrices in the last two axes. Leading axes broadcast."""
        out: Array = numpy_forms.matmul(a, b)
        return out

    def contiguous(self, x: Array) -> Array:
        """Return a fresh row-major copy."""
        return np.array(x, order="C")

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Return an array with arbitrary values."""
        return np.empty(shape, dtype)
