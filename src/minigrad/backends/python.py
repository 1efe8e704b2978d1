"""The backend `python`: plain loops, slow and readable, the specification of the others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from minigrad import backends, tensor_ops
from minigrad.backends.loops import Array, Kernel, LoopBackend, broadcast
from minigrad.errors import ExerciseNotDone


class PythonBackend(LoopBackend):
    """Runs the kernels of `minigrad.tensor_ops`, or those that a student has installed there.

    No exercise asks for a product in plain loops. So NumPy multiplies unless this backend was chosen by its name: a
    student's first answers would make every product ten thousand times slower. And in an edition the product in loops
    is left out, since it shows what a later exercise asks for.
    """

    name = "python"

    def map_kernel(self, fn: Callable[[float], float]) -> Kernel:
        """Return `tensor_ops.tensor_map(fn)`."""
        return tensor_ops.tensor_map(fn)

    def zip_kernel(self, fn: Callable[[float, float], float]) -> Kernel:
        """Return `tensor_ops.tensor_zip(fn)`."""
        return tensor_ops.tensor_zip(fn)

    def reduce_kernel(self, fn: Callable[[float, float], float]) -> Kernel:
        """Return `tensor_ops.tensor_reduce(fn)`."""
        return tensor_ops.tensor_reduce(fn)

    def matmul(self, a: Array, b: Array) -> Array:
        """Multiply (..., n, k) by (..., k, m). Leading dimensions broadcast."""
        if backends.chosen() == self.name:
            batch = broadcast(a.shape[:-2], b.shape[:-2])
            shape = (*batch, a.shape[-2], b.shape[-1])
            try:
                return self._multiply(tensor_ops.tensor_matrix_multiply, a, b, shape)
            except ExerciseNotDone as error:
                if error.exercise != "fast_ops._tensor_matrix_multiply":  # a function that the loops call
                    raise
        with np.errstate(all="ignore"):
            product: Array = np.matmul(a, b)
            return product
