"""Quick forms of convolutions: NumPy's products of windows for small arrays or without Numba, and compiled loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import backends
from minigrad.machine import overrides
from minigrad.nn import convolution
from minigrad.nn.convolution import Pair, Windows, output_size, padded

SHOWS = ("nn.kernels",)

LARGE = 30_000
"""Multiplications from which loops are compiled: what they save below is not worth a compiler's second."""


def products(name: str, first: Any, second: Any, windows: Windows, size: Any = ()) -> int:
    """Return how many multiplications a form takes."""
    if name == "conv_weight":  # a gradient of outputs, and an image
        return int(first.size * second.shape[1] // windows.groups * math.prod(size))
    per_window = second.size if name == "conv2d" else second.size // max(1, first.shape[1])
    count = math.prod(output_size(first.shape[2:], second.shape[2:], windows)) * first.shape[0]
    return int(per_window * (count if name == "conv2d" else first.size))


def _windows_of(x: Any, kernel: Sequence[int], windows: Windows) -> Any:
    """Return a view of all windows of a padded image: (n, groups, c / groups, rows, columns, kh, kw)."""
    wide = padded(x, windows.padding)
    rows, columns = output_size(x.shape[2:], kernel, windows)
    n, channels = x.shape[:2]
    s_n, s_c, s_h, s_w = wide.strides
    groups, (down, right), (far, wider) = windows.groups, windows.stride, windows.dilation
    return np.lib.stride_tricks.as_strided(
        wide,
        (n, groups, channels // groups, rows, columns, *kernel),
        (s_n, s_c * (channels // groups), s_c, s_h * down, s_w * right, s_h * far, s_w * wider),
        writeable=False,
    )


def _conv2d_by_numpy(x: Any, weight: Any, windows: Windows) -> Any:
    seen = _windows_of(x, weight.shape[2:], windows)
    n, groups, taken, rows, columns, *kernel = seen.shape
    # A matrix of windows, one column each, for every example and group.
    table = seen.transpose(0, 1, 2, 5, 6, 3, 4).reshape(n, groups, taken * kernel[0] * kernel[1], rows * columns)
    found = np.matmul(weight.reshape(groups, weight.shape[0] // groups, -1), table)
    return found.reshape(n, weight.shape[0], rows, columns)


def _input_by_numpy(d_output: Any, weight: Any, windows: Windows, size: Pair) -> Any:
    n, outputs, rows, columns = d_output.shape
    groups, taken, (kh, kw) = windows.groups, weight.shape[1], weight.shape[2:]
    grouped = weight.reshape(groups, outputs // groups, -1).swapaxes(1, 2)
    table = np.matmul(grouped, d_output.reshape(n, groups, outputs // groups, rows * columns))
    table = table.reshape(n, groups * taken, kh, kw, rows, columns)
    (top, left), (down, right), (far, wider) = windows.padding, windows.stride, windows.dilation
    out = np.zeros((n, groups * taken, size[0] + 2 * top, size[1] + 2 * left), d_output.dtype)
    for i in range(kh):
        for j in range(kw):
            upper, first = i * far, j * wider
            reached = out[:, :, upper : upper + down * rows : down, first : first + right * columns : right]
            reached += table[:, :, i, j]
    return np.ascontiguousarray(out[:, :, top : top + size[0], left : left + size[1]])


def _weight_by_numpy(d_output: Any, x: Any, windows: Windows, size: Pair) -> Any:
    seen = _windows_of(x, size, windows)
    n, groups, taken, rows, columns, *kernel = seen.shape
    outputs = d_output.shape[1]
    # One column for each weight, one row for each window of all examples.
    table = seen.transpose(1, 0, 3, 4, 2, 5, 6).reshape(groups, n * rows * columns, taken * kernel[0] * kernel[1])
    given = d_output.reshape(n, groups, outputs // groups, rows * columns).transpose(1, 2, 0, 3)
    found = np.matmul(given.reshape(groups, outputs // groups, -1), table)
    return found.reshape(outputs, taken, *kernel)


BY_NUMPY: dict[str, Callable[..., Any]] = {
    "conv2d": _conv2d_by_numpy,
    "conv_input": _input_by_numpy,
    "conv_weight": _weight_by_numpy,
}


def _conv2d_compiled(x: Any, weight: Any, windows: Windows) -> Any:
    return backends.compiler("cpu").conv2d(x, weight, *windows[:4])


def _input_compiled(d_output: Any, weight: Any, windows: Windows, size: Pair) -> Any:
    return backends.compiler("cpu").conv2d_backward_input(d_output, weight, size, *windows[:4])


def _weight_compiled(d_output: Any, x: Any, windows: Windows, size: Pair) -> Any:
    return backends.compiler("cpu").conv2d_backward_weight(d_output, x, size, *windows[:4])


COMPILED: dict[str, Callable[..., Any]] = {
    "conv2d": _conv2d_compiled,
    "conv_input": _input_compiled,
    "conv_weight": _weight_compiled,
}


def _by_size(name: str) -> Callable[..., Any]:
    def compute(first: Any, second: Any, *settings: Any) -> Any:
        compiles = first.dtype.kind == "f" and first.dtype == second.dtype
        compiles = compiles and products(name, first, second, *settings) >= LARGE
        compiles = compiles and backends.quickest().name == "numba"  # last: it imports Numba
        return (COMPILED if compiles else BY_NUMPY)[name](first, second, *settings)

    return compute


for _name in convolution.SPECIFIED:
    overrides.twin(convolution.forms, _name, _by_size(_name), unless=("nn.kernels",))
