"""Pooling where an edition leaves out the quick form: by tiles, with the exercise that the form would give away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minigrad.tensors import creation

if TYPE_CHECKING:
    from minigrad.nn.convolution import Pair, Windows
    from minigrad.tensors import Tensor


def as_tiles(input: Tensor, kernel: Pair, windows: Windows, edge: float) -> Tensor:
    """Copy windows, which may overlap, next to each other. Pooled by tiles, the copy gives the windows' results.

    Args:
        input: Of shape (batch, channels, height, width).
        kernel: Height and width of a window.
        windows: How they lie.
        edge: What surrounds an image that is padded.
    """
    settings = zip((2, 3), kernel, windows.stride, windows.padding, windows.dilation, strict=True)
    for axis, size, step, padding, apart in settings:
        if padding:
            shape = [padding if each == axis else n for each, n in enumerate(input.shape)]
            border = input.from_host(np.full(shape, edge, input.dtype))
            input = creation.cat([border, input, border], axis)
        reach = (size - 1) * apart + 1
        starts = range(0, input.shape[axis] - reach + 1, step)
        places = [start + offset for start in starts for offset in range(0, reach, apart)]
        input = input.index_select(axis, input.from_host(np.array(places)))
    return input
