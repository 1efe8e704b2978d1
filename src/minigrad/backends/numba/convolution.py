"""Convolution of images, and its gradients in the input and in the weights.

A padded plane is treated as one long vector. A weight of the window then stands for a shift: output p of the plane is

    out[p] = sum over taps t of  weight[t] * plane[p + shift[t]]

for all p at once, with a few values of no meaning between the end of one row and the start of the next, which are
dropped. There is nothing to gather: the sums of many p, for several outputs, stay in vector registers (see `tiles`)
until the taps of all channels are added. With a stride s the plane is cut into s x s planes, of the elements that are s
apart: a tap is then a shift inside one of them. The gradient in the input is a convolution too, with the roles of input
and output exchanged, for each of these planes by itself.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from minigrad.backends.guarded import address
from minigrad.backends.numba import convolution_kernels, pool, threads
from minigrad.backends.numba.compiler import Kernel
from minigrad.backends.numba.elementwise import elementwise, parameters

Array = np.ndarray[Any, Any]
Pair = tuple[int, int]

PARTS = 8
"""Into how many parts a gradient of weights is divided, where there are so many images or outputs."""
SUMMED = 1 << 15
"""How many elements all parts by images may have: they are added in the end."""


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


class _Step(NamedTuple):
    """A kernel and what it is given, except for the arrays of a call.

    Attributes:
        kernel: The kernel.
        shape: The shape of its result.
        parts: How threads share the work.
        scratch: How many elements each part needs for its planes.
        tables: What the kernel looks up.
        numbers: Its other parameters.
    """

    kernel: Kernel
    shape: tuple[int, ...]
    parts: threads.Parts
    scratch: int
    tables: list[Array]
    numbers: bytes

    def run(self, *arrays: Array) -> Array:
        """Run the kernel on its inputs, and return the result."""
        arrays = tuple(_contiguous(array) for array in arrays)
        dtype = arrays[0].dtype
        out, scratch = pool.empty(self.shape, dtype), pool.empty((self.scratch * self.parts.count,), dtype)
        given = [address(array) for array in (out, *arrays, scratch, *self.tables)]
        threads.run(self.kernel, parameters(given) + self.numbers, self.parts)
        return out


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
    return _of_windows(x.shape[0], weight.shape[:2], geometry, groups, x.dtype, threads.thread_count()).run(x, weight)


@lru_cache(maxsize=1024)
def _of_windows(
    images: int, channels: Pair, geometry: _Geometry, groups: int, dtype: np.dtype[Any], most: int
) -> _Step:
    outputs, inputs = channels[0] // groups, channels[1]
    terms, whole = inputs * math.prod(geometry.kernel), math.prod((*geometry.plane, *geometry.stride))
    moves = [c * whole + shift for c in range(inputs) for shift in geometry.shifts()]
    only = _Pass(moves, list(range(terms)), 0, (geometry.output[1], 1), geometry.output)
    frame = _Frame(geometry.size, geometry.plane, geometry.padding, geometry.stride)
    out = (images, groups * outputs, *geometry.output)
    return _correlation([only], out, (groups, outputs, inputs), (outputs * terms, terms), frame, dtype, most)


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
    geometry = _Geometry((size[0], size[1]), _pair(weight.shape), stride, padding, dilation)
    if not np.isfinite(weight).all():
        # Around the gradient zeros meet weights, and 0 * inf is nan: then every window is looked at.
        return _input_by_windows(d, weight, geometry, groups)
    most = threads.thread_count()
    return _of_input(d.shape[0], weight.shape[:2], geometry, groups, d.dtype, most).run(d, weight)


@lru_cache(maxsize=1024)
def _of_input(images: int, channels: Pair, geometry: _Geometry, groups: int, dtype: np.dtype[Any], most: int) -> _Step:
    outputs, inputs = channels[0] // groups, channels[1]
    taps, output = math.prod(geometry.kernel), geometry.output
    # Zeros before the gradient for the taps that reach back, and behind it up to the size of the planes.
    back = [max(tap[axis] for tap in geometry.taps()) // geometry.stride[axis] for axis in (0, 1)]
    high, wide = (back[i] + max(geometry.plane[i], output[i]) for i in (0, 1))
    passes = []
    for phase in np.ndindex(*geometry.stride):
        passes += _passes_of_phase(geometry, phase, (high, wide), (back[0], back[1]), (outputs, inputs * taps))
    out = (images, groups * inputs, *geometry.size)
    frame = _Frame(output, (high, wide), (back[0], back[1]), (1, 1))
    return _correlation(passes, out, (groups, inputs, outputs), (outputs * inputs * taps, taps), frame, dtype, most)


def _passes_of_phase(geometry: _Geometry, phase: Pair, size: Pair, back: Pair, terms: Pair) -> list[_Pass]:
    """Return what computes the gradient in the elements of the input that are at one place between the strides."""
    moves, places, first, count = [], [], [0, 0], [0, 0]
    for axis in (0, 1):
        step, pad = geometry.stride[axis], geometry.padding[axis]
        first[axis] = -(-(pad - phase[axis]) // step)
        count[axis] = (pad + geometry.size[axis] - 1 - phase[axis]) // step - first[axis] + 1
    if min(count) <= 0:
        return []
    for output in range(terms[0]):
        for tap, (y, x) in enumerate(geometry.taps()):
            if (y % geometry.stride[0], x % geometry.stride[1]) == phase:
                row, column = back[0] - y // geometry.stride[0] + first[0], back[1] - x // geometry.stride[1] + first[1]
                moves.append(output * math.prod(size) + row * size[1] + column)
                places.append(output * terms[1] + tap)
    starts = [f * s + q - p for f, s, q, p in zip(first, geometry.stride, phase, geometry.padding, strict=True)]
    width = geometry.size[1]
    steps = (geometry.stride[0] * width, geometry.stride[1])
    return [_Pass(moves, places, starts[0] * width + starts[1], steps, (count[0], count[1]))]


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
    geometry = _Geometry(_pair(x.shape), (kernel[0], kernel[1]), stride, padding, dilation)
    channels, outputs = x.shape[1] // groups, d.shape[1] // groups
    shape = (d.shape[1], channels, *kernel)
    if not math.prod(shape) or not d.size:
        return np.zeros(shape, d.dtype)
    step = _of_weight(x.shape[0], (outputs, channels), geometry, groups, d.dtype, threads.thread_count())
    found = np.add.reduce(step.run(d, x), axis=0)
    # The totals of each tile are in one piece: outputs, then terms.
    tile = convolution_kernels.tile(d.dtype, outputs)
    found = found[..., : tile.outputs * tile.vectors].reshape(*found.shape[:3], tile.outputs, tile.vectors)
    found = found.swapaxes(2, 3).reshape(groups, -1, found.shape[2] * tile.vectors)
    found = np.ascontiguousarray(found[:, :outputs, : channels * math.prod(kernel)]).reshape(shape)
    if np.isfinite(found).all():
        return found
    # Between the rows zeros meet elements of other windows, and 0 * inf is nan: then every window is looked at.
    return _weight_by_windows(d, x, geometry, (groups, outputs, channels))


@lru_cache(maxsize=1024)
def _of_weight(images: int, channels: Pair, geometry: _Geometry, groups: int, dtype: np.dtype[Any], most: int) -> _Step:
    outputs, inputs = channels
    tile = convolution_kernels.tile(dtype, outputs)
    terms, size = inputs * math.prod(geometry.kernel), math.prod(geometry.plane)
    together = min(images, max(convolution_kernels.CHUNK // 2 // size, 1))
    phases, chunks, blocks = math.prod(geometry.stride), -(-images // together), -(-outputs // tile.outputs)
    channel, gradient = phases * together * size, together * size + tile.lanes
    moves = []
    for c in range(inputs):
        for shift in geometry.shifts():
            phase, rest = divmod(shift, size)
            moves.append(c * channel + phase * together * size + rest)
    tiles = -(-terms // tile.vectors)
    moves += moves[-1:] * (tiles * tile.vectors - terms)
    # Parts of the work, by images and by outputs: their number depends on nothing else, so a sum has one order.
    slots = min(chunks, max(SUMMED // (groups * outputs * terms), 1), PARTS)
    splits = min(groups * blocks, -(-PARTS // slots))
    scratch = groups * (inputs * channel + outputs * gradient) + size + 2 * tile.lanes
    frame = _Frame(geometry.size, geometry.plane, geometry.padding, geometry.stride)
    of_gradient = _Frame(geometry.output, geometry.plane, (0, 0), (1, 1))
    numbers = [4 * phases, images, together, chunks, slots, splits, groups, blocks, outputs, inputs, terms]
    numbers += [tiles * tile.totals, scratch, geometry.plane[1], size, channel, gradient]
    numbers += [*frame.steps, math.prod(geometry.output), geometry.output[1]]
    kernel = convolution_kernels.weight_gradient(dtype, tile)
    count = threads.worth(images * groups * outputs * terms * size // 16, dtype.itemsize)
    parts = threads.parts(slots * splits, min(most, count))
    tables = [frame.table(together * size), of_gradient.table(0), moves]
    return _Step(
        kernel, (slots, groups, blocks, tiles, tile.totals), parts, scratch, _tables(*tables), parameters(numbers)
    )


def _input_by_windows(d: Array, weight: Array, geometry: _Geometry, groups: int) -> Array:
    """Return the gradient in the input, tap by tap, from the windows that its elements are in alone."""
    (n, outputs, rows, columns), channels = d.shape, weight.shape[1]
    (top, left), (down, right), (high, wide) = geometry.padding, geometry.stride, geometry.size
    given = d.reshape(n, groups, outputs // groups, rows, columns)
    weight = weight.reshape(groups, outputs // groups, channels, -1)
    padded = np.zeros((n, groups, channels, high + 2 * top, wide + 2 * left), d.dtype)
    for number, (i, j) in enumerate(geometry.taps()):
        reached = padded[..., i : i + down * (rows - 1) + 1 : down, j : j + right * (columns - 1) + 1 : right]
        reached += np.einsum("ngohw,goc->ngchw", given, weight[..., number])
    inside = padded[..., top : top + high, left : left + wide]
    return np.ascontiguousarray(inside).reshape(n, groups * channels, high, wide)


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


class _Frame(NamedTuple):
    """How a plane is copied into a larger one of zeros, cut into planes of elements that are a stride apart."""

    size: Pair
    plane: Pair
    padding: Pair
    stride: Pair

    @property
    def steps(self) -> tuple[int, int, int]:
        """The size of the plane, and the steps in it from one row that is copied to the next and between elements."""
        return math.prod(self.size), self.stride[0] * self.size[1], self.stride[1]

    def table(self, step: int) -> list[int]:
        """Return the table of `tiles.frame`, for planes that are a step apart."""
        numbers, width = list[int](), self.stride[1]
        for a, b in np.ndindex(*self.stride):
            spans = []
            for phase, n, high, pad, s in zip((a, b), self.size, self.plane, self.padding, self.stride, strict=True):
                first = max(-((phase - pad) // s), 0)
                spans.append((first, max(min(-((phase - pad - n) // s), high) - first, 0), first * s + phase - pad))
            (row, rows, y), (column, columns, x) = spans
            to = (a * width + b) * step + row * self.plane[1] + column
            numbers += [to, y * self.size[1] + x, rows, columns]
        return numbers


class _Pass(NamedTuple):
    """Sums for some elements of each plane of the result.

    Attributes:
        moves: For each term, how far its elements are behind those of the sums, in the planes of the input.
        places: For each term, where its weight is.
        start: Where the first sum goes.
        steps: From one row of sums to the next, and from one sum to the next.
        size: Rows, and sums in each.
    """

    moves: list[int]
    places: list[int]
    start: int
    steps: Pair
    size: Pair


def _tables(*lists: list[int]) -> list[Array]:
    return [np.array(numbers, np.int64) for numbers in lists]


def _correlation(
    passes: list[_Pass],
    shape: tuple[int, ...],
    channels: tuple[int, int, int],
    weight_steps: Pair,
    frame: _Frame,
    dtype: np.dtype[Any],
    most: int,
) -> _Step:
    """Return the step for sums of shifted planes times weights.

    Args:
        passes: What to compute.
        shape: The shape of the result.
        channels: Groups, outputs of a group, inputs of a group.
        weight_steps: From one group's weights to the next, and from one output's.
        frame: How the planes are made of the input.
        dtype: The type of the elements.
        most: How many threads there are.
    """
    groups, outputs, inputs = channels
    tile = convolution_kernels.tile(dtype, outputs)
    blocks, wide, size = -(-outputs // tile.outputs), frame.plane[1], math.prod(frame.plane)
    together, channel = max(convolution_kernels.CHUNK // max(wide, 1), 1), size * math.prod(frame.stride)
    scratch = inputs * channel + tile.width + tile.outputs * (together * wide + tile.width)
    moves, places, table, work = list[int](), list[int](), list[int](), 0
    for each in passes:
        first, (rows, columns) = len(moves), each.size
        moves += each.moves
        places += each.places
        table += [first, len(moves), each.start, *each.steps, rows, columns]
        work += len(each.moves) * rows * wide
    phases = frame.table(size)
    numbers = [len(table), len(phases), groups, blocks, outputs, inputs, *weight_steps, math.prod(shape[2:])]
    numbers += [together, scratch, wide, channel, *frame.steps]
    items = shape[0] * groups * blocks
    count = threads.worth(items * tile.outputs * work // 16, dtype.itemsize)
    parts, tables = threads.parts(items, min(most, count)), _tables(phases, moves, places, table)
    return _Step(convolution_kernels.correlation(dtype, tile), shape, parts, scratch, tables, parameters(numbers))
