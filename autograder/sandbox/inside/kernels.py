"""A kernel that is compiled in the warm parent, and never run: what is loaded for it is there for the sessions."""

from typing import Any

import numpy as np
from numba import prange, typeof

from minigrad.compiling import compile_kernel
from minigrad.tensor_data import broadcast_index, index_to_position, to_index


def compile_parallel_loops() -> None:
    """Compile a kernel much like a student's, together with the helpers of the library, which most of theirs call."""
    numbers, sizes = np.zeros(1), np.ones(1, dtype=np.int64)
    compile_kernel(_walk).dispatcher.compile(tuple(map(typeof, (numbers, sizes, sizes, numbers, 1))))


def _walk(out: Any, shape: Any, strides: Any, values: Any, axis: int) -> None:
    if len(shape) == len(strides) and (shape == strides).all():
        for place in prange(len(out)):
            out[place] = values[place]
    else:
        for ordinal in prange(len(out)):
            index = np.empty(len(shape), dtype=np.int64)
            smaller = np.empty(len(strides), dtype=np.int64)
            to_index(ordinal, shape, index)
            broadcast_index(index, shape, strides, smaller)
            position = index_to_position(index, strides)
            result = out[position]
            for step in range(shape[axis]):
                result = result * values[index_to_position(smaller, strides) + step]
            out[position] = result
