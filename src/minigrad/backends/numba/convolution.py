"""Convolution of images, and its gradients in the input and in the weights.

A padded plane is treated as one long vector. A weight of the window then stands for a shift: output p of the plane is

    out[p] = sum over taps t of  weight[t] * plane[p + shift[t]]

for all p at once, with a few values of no meaning between the end of one row and the start of the next, which are
dropped. There is nothing to gather, and the loop over p runs in vector registers. With a stride s the plane is cut into
s x s planes, of the elements that are s apart: a tap is then a shift inside one of them. The gradient in the input is
a convolution too, with the roles of input and output exchanged, for each of these planes by itself.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from minigrad.backends.guarded import address
from minigrad.backends.numba import convolution_kernels, pool, threads
from minigrad.backends.numba.elementwise import elementwise, parameters

Array = np.ndarray[Any, Any]
Pair = tuple[int, int]


class _Geometry(NamedTuple):
    """How windows lie on an image."""

    size: Pair
    kernel: Pair
    stride: Pair
    padding: Pair
    dilation: Pair

    @property
    def output(self) -> Pair:
        """Return the number of windows down and to the right."""
        down, right = (
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(self.size, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        )
        return down, right

    @property
    def plane(self) -> Pair:
        """Return the size of each plane after cutting by the stride."""
        high, wide = (-(-(n + 2 * p) // s) for n, p, s in zip(self.size, self.padding, self.stride, strict=True))
        return high, wide

    def taps(self) -> list[Pair]:
        """Return where the elements of the window are, seen from its first one."""
        down, right = self.dilation
        return [(i * down, j * right) for i in range(self.kernel[0]) for j in range(self.kernel[1])]

    def shifts(self) -> list[int]:
        """Return the shift of each tap in the planes of one channel, which lie behind each other."""
        (s_h, s_w), (high, wide) = self.stride, self.plane
        return [((y % s_h) * s_w + x % s_w) * high * wide + (y // s_h) * wide + x // s_w for y, x in self.taps()]


def conv2d(x: Array, weight: Array, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> Array:
    """Return the sums of windows times weights.

    Args:
        x: Shape (n, c, h, w).
        weight: Shape (o, c / groups, kh, kw).
        stride: Steps between windows, down and to the right.
        padding: Zeros on both sides of each axis.
        dilation: Steps between the elements of a window.
        groups: Into how many groups channels and outputs are split.

    Returns:
        Shape (n, o, rows of windows, windows in a row).
    """
    geometry = _Geometry(_pair(x.shape), _pair(weight.shape), stride, padding, dilation)
    out = pool.empty((x.shape[0], weight.shape[0], *geometry.output), x.dtype)
    width = geometry.plane[1]
    planes = _planes(x, geometry)
    grouped = weight.reshape(groups, weight.shape[0] // groups, weight.shape[1], -1)
    target = _Target(out, 0, (out.shape[3], 1), geometry.output)
    _correlate(planes, width, grouped, geometry.shifts(), target)
    return out


def conv2d_backward_input(
    d: Array, weight: Array, size: Pair, stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> Array:
    """Return the gradient in the input.

    Args:
        d: The gradient in the output, of shape (n, o, rows of windows, windows in a row).
        weight: Shape (o, c / groups, kh, kw).
        size: Height and width of the input.
        stride: See `conv2d`, also for what follows.
        padding: See `conv2d`.
        dilation: See `conv2d`.
        groups: See `conv2d`.

    Returns:
        Shape (n, c, *size).
    """
    geometry = _Geometry(size, _pair(weight.shape), stride, padding, dilation)
    out = pool.empty((d.shape[0], weight.shape[1] * groups, *size), d.dtype)
    grouped = weight.reshape(groups, -1, weight.shape[1], math.prod(geometry.kernel)).swapaxes(1, 2)
    # Zeros before the gradient for the taps that reach back, and behind it up to the size of the planes.
    back = [max(tap[axis] for tap in geometry.taps()) // stride[axis] for axis in (0, 1)]
    high, wide = (back[i] + max(geometry.plane[i], d.shape[2 + i]) for i in (0, 1))
    planes = _framed(d, (high, wide), (back[0], back[1]))
    for phase in np.ndindex(*stride):
        _input_of_phase(planes, (high, wide), (back[0], back[1]), grouped, geometry, phase, out)
    return out


def _input_of_phase(
    planes: Array, size: Pair, back: Pair, grouped: Array, geometry: _Geometry, phase: Pair, out: Array
) -> None:
    """Compute the gradient in the elements of the input that are at one place between the strides."""
    chosen, shifts, first, count = [], [], [0, 0], [0, 0]
    for axis in (0, 1):
        step, pad = geometry.stride[axis], geometry.padding[axis]
        first[axis] = -(-(pad - phase[axis]) // step)
        count[axis] = (pad + geometry.size[axis] - 1 - phase[axis]) // step - first[axis] + 1
    if min(count) <= 0:
        return
    for number, (y, x) in enumerate(geometry.taps()):
        if (y % geometry.stride[0], x % geometry.stride[1]) == phase:
            row, column = back[0] - y // geometry.stride[0] + first[0], back[1] - x // geometry.stride[1] + first[1]
            chosen.append(number)
            shifts.append(row * size[1] + column)
    starts = [f * s + q - p for f, s, q, p in zip(first, geometry.stride, phase, geometry.padding, strict=True)]
    if not chosen:
        out[:, :, starts[0] :: geometry.stride[0], starts[1] :: geometry.stride[1]] = 0.0
        return
    width = geometry.size[1]
    steps = (geometry.stride[0] * width, geometry.stride[1])
    target = _Target(out, starts[0] * width + starts[1], steps, (count[0], count[1]))
    _correlate(planes, size[1], grouped[..., chosen], shifts, target)


def conv2d_backward_weight(
    d: Array, x: Array, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, groups: int
) -> Array:
    """Return the gradient in the weights.

    Args:
        d: The gradient in the output, of shape (n, o, rows of windows, windows in a row).
        x: Shape (n, c, h, w).
        kernel: Height and width of the window.
        stride: See `conv2d`, also for what follows.
        padding: See `conv2d`.
        dilation: See `conv2d`.
        groups: See `conv2d`.

    Returns:
        Shape (o, c / groups, *kernel).
    """
    geometry = _Geometry(_pair(x.shape), kernel, stride, padding, dilation)
    channels, outputs = x.shape[1] // groups, d.shape[1] // groups
    shape = (d.shape[1], channels, *kernel)
    if not math.prod(shape) or not d.size:
        return np.zeros(shape, d.dtype)
    planes = _planes(x, geometry)
    found = _products(planes, geometry, d, groups).reshape(shape)
    if np.isfinite(found).all():
        return found
    # Between the rows zeros meet elements of other windows, and 0 * inf is nan: then every window is looked at.
    return _weight_by_windows(d, x, geometry, (groups, outputs, channels))


def _products(planes: Array, geometry: _Geometry, d: Array, groups: int) -> Array:
    """Return the scalar products of gradient planes with shifted input planes: (o, c / groups, taps)."""
    n, outputs, rows, columns = d.shape
    width = geometry.plane[1]
    wide = _framed(d, (rows, width), (0, 0)) if columns != width else _contiguous(d)
    shifts = np.array(geometry.shifts(), np.int64)
    channels = planes.shape[1] // groups
    pairs = -(-(outputs // groups) // 2)
    units = groups * pairs * channels
    slots = min(n, -(-16 // units))
    out = pool.empty((slots, outputs, channels, len(shifts)), d.dtype)
    length = (rows - 1) * width + columns
    numbers = [
        *[address(a) for a in (out, planes, wide, shifts)],
        *[n, slots, units, pairs, outputs // groups, channels, planes.shape[1], len(shifts), length],
        *[planes[0, 0].size, rows * width],
    ]
    kernel = convolution_kernels.weight_gradient(d.dtype, len(shifts))
    count = threads.count_for(length * n * outputs * channels * len(shifts) // 8, d.itemsize)
    threads.run(kernel, parameters(numbers), threads.parts(units * slots, count))
    return out[0] if slots == 1 else np.asarray(np.add.reduce(out, axis=0))


def _weight_by_windows(d: Array, x: Array, geometry: _Geometry, split: tuple[int, int, int]) -> Array:
    """Return the gradient in the weights, tap by tap, from the elements inside the windows alone."""
    groups, outputs, channels = split
    rows, columns = geometry.output
    (top, left), (down, right) = geometry.padding, geometry.stride
    padded = np.pad(x, ((0, 0), (0, 0), (top, top), (left, left)))
    given = d.reshape(d.shape[0], groups, outputs, rows, columns)
    out = np.empty((groups, outputs, channels, math.prod(geometry.kernel)), d.dtype)
    for number, (i, j) in enumerate(geometry.taps()):
        seen = padded[:, :, i : i + down * (rows - 1) + 1 : down, j : j + right * (columns - 1) + 1 : right]
        seen = seen.reshape(x.shape[0], groups, channels, rows, columns)
        out[..., number] = np.einsum("ngohw,ngchw->goc", given, seen)
    return out.reshape(groups * outputs, channels, *geometry.kernel)


def _pair(shape: tuple[int, ...]) -> Pair:
    return shape[-2], shape[-1]


def _contiguous(x: Array) -> Array:
    return x if x.flags.c_contiguous else elementwise(("id", ("in", 0)), [x], x.dtype)


def _planes(x: Array, geometry: _Geometry) -> Array:
    """Return the padded image, cut by the stride: (n, c, stride planes, height, width) in one piece."""
    if geometry.stride == (1, 1) and geometry.padding == (0, 0):
        return _contiguous(x)
    (high, wide), (s_h, s_w) = geometry.plane, geometry.stride
    framed = _framed(x, (high * s_h, wide * s_w), geometry.padding)
    if geometry.stride == (1, 1):
        return framed
    cut = framed.reshape(*x.shape[:2], high, s_h, wide, s_w).transpose(0, 1, 3, 5, 2, 4)
    return _contiguous(cut)


def _framed(x: Array, size: Pair, start: Pair) -> Array:
    """Return images of a larger size with zeros around x, which stands at `start`."""
    if size == x.shape[2:] and start == (0, 0):
        return _contiguous(x)
    x = _contiguous(x)
    framed = pool.empty((*x.shape[:2], *size), x.dtype)
    images = x.shape[0] * x.shape[1]
    numbers = [address(framed), address(x), *x.shape[2:], *size, *start]
    count = threads.count_for(framed.size, framed.itemsize)
    threads.run(convolution_kernels.frame(x.dtype), parameters(numbers), threads.parts(images, count))
    return framed


class _Target(NamedTuple):
    """Where results go: from which element of each plane of `out` on, in which steps, how many."""

    out: Array
    start: int
    steps: Pair
    size: Pair


def _correlate(planes: Array, width: int, weight: Array, shifts: list[int], target: _Target) -> None:
    """Compute sums of shifted planes times weights.

    Args:
        planes: Shape (n, groups * inputs, ...), in one piece.
        width: The length of a row of the planes.
        weight: Shape (groups, outputs, inputs, taps).
        shifts: The shift of each tap.
        target: Where the results go; its array has the shape (n, groups * outputs, height, width).
    """
    groups, outputs, inputs, taps = weight.shape
    out, (rows, columns) = target.out, target.size
    if not out.size or not rows * columns:
        return
    if not inputs * taps:
        out[:] = 0.0
        return
    weight = np.ascontiguousarray(weight)
    moves = np.array(shifts, np.int64)
    pairs = -(-outputs // 2)
    items = planes.shape[0] * groups * pairs
    length = (rows - 1) * width + columns
    numbers = [
        *[address(a) for a in (out, planes, weight, moves)],
        *[groups, pairs, outputs, inputs, taps, length, width, columns],
        *[out[0, 0].size, target.start, *target.steps, planes[0, 0].size],
    ]
    kernel = convolution_kernels.correlation(planes.dtype, taps)
    count = threads.count_for(items * 2 * inputs * taps * length // 8, planes.itemsize)
    threads.run(kernel, parameters(numbers), threads.parts(items, count))
