"""Substitutes for forms that an edition omits. They reach the same results by the exercises behind these forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.tensors import creation

if TYPE_CHECKING:
    from minigrad.nn.convolution import Pair, Windows
    from minigrad.tensors import Tensor

__all__ = ["as_tiles", "logsumexp"]


def as_tiles(input: Tensor, kernel: Pair, windows: Windows, edge: float) -> Tensor:
    """Copy windows, which may overlap, next to each other. Pooled by tiles, the copy gives the windows' results.

    Args:
        input: Of shape (batch, channels, height, width).
        kernel: Height and width of a window.
        windows: How they lie.
        edge: What surrounds an image that is padded.
    """
    for axis, size, step, padding in zip((2, 3), kernel, windows.stride, windows.padding, strict=True):
        if padding:
            shape = [padding if each == axis else n for each, n in enumerate(input.shape)]
            border = input.from_host(np.full(shape, edge, input.dtype))
            input = creation.cat([border, input, border], axis)
        starts = range(0, input.shape[axis] - size + 1, step)
        places = [start + offset for start in starts for offset in range(size)]
        input = input.index_select(axis, input.from_host(np.array(places)))
    return input


def logsumexp(x: Any, axes: Sequence[int], keepdim: bool) -> Any:
    """Return log(e^x1 + e^x2 + ...) along axes: by how much any element exceeds its log-probability.

    Args:
        x: A tensor.
        axes: Counted from 0.
        keepdim: Whether the axes stay, with size 1.
    """
    from minigrad.nn import functional

    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = x.permute(*kept, *axes).reshape(*[x.shape[axis] for axis in kept], -1)
    largest = rows.argmax(-1, keepdim=True)  # of all elements the one that is no infinity, if there is any
    result = (rows - functional.logsoftmax(rows, -1)).gather(-1, largest).squeeze(-1)
    return result.view(*[1 if axis in axes else n for axis, n in enumerate(x.shape)]) if keepdim else result
