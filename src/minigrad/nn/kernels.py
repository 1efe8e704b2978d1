"""Convolution as loops: what a layer computes, written out, compiled by Numba and run in parallel.

Stride, padding, dilation and groups are no business of these loops: `minigrad.nn.convolution` pads and spreads the
arrays before, and takes every s-th output behind.
"""

from __future__ import annotations

from typing import Any

from minigrad.machine._numba import numba

prange = numba.prange


def conv2d_kernel(out: Any, input: Any, weight: Any) -> None:
    """Slide windows of weights over images, and write what they give into out.

    Output (i, j) of channel o is the sum, over all input channels c and all k and m, of
    input[c, i + k, j + m] * weight[o, c, k, m]: the window's upper left corner lies at
    (i, j), the window lies wholly inside the image, and it is not turned round.

    Args:
        out: Of shape (batch, out_channels, height - kernel_height + 1, width -
            kernel_width + 1), to be overwritten: it may hold anything before.
        input: Of shape (batch, in_channels, height, width), with any strides; not to be
            changed.
        weight: Of shape (out_channels, in_channels, kernel_height, kernel_width).

    The outer loop is a `prange`: its iterations run at the same time, and no two of
    them write to the same element.
    """
    ### BEGIN SOLUTION
    batch, out_channels, out_height, out_width = out.shape
    _, in_channels, kernel_height, kernel_width = weight.shape
    for job in prange(batch * out_channels):
        b = job // out_channels
        o = job % out_channels
        for i in range(out_height):
            for j in range(out_width):
                total = 0.0
                for c in range(in_channels):
                    for k in range(kernel_height):
                        for m in range(kernel_width):
                            total += input[b, c, i + k, j + m] * weight[o, c, k, m]
                out[b, o, i, j] = total
    ### END SOLUTION
