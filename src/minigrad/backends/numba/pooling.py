"""Pooling: the loops over the windows of an image, one plane after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.backends.guarded import address
from minigrad.backends.numba import compiler, pool, threads
from minigrad.backends.numba.elementwise import indent, parameters

Array = np.ndarray[Any, Any]
Pair = tuple[int, int]

_WINDOWS = [
    "for number in range(plane * rows, (plane + 1) * rows):",
    "    base = plane * size + (number - plane * rows) * down * width",
    "    for j in range(columns):",
    "        start = base + j * right",
]
_LOOPS = {
    "maximum": [
        "    best = load(x, start)",
        "    place = 0",
        "    for k in range(KH):",
        "        for m in range(KW):",
        "            value = load(x, start + k * far + m * WIDE)",
        "            if (value > best) | (value != value):",
        "                best = value",
        "                place = k * KW + m",
        "    store(y, number * columns + j, best)",
        "    places[number * columns + j] = place",
    ],
    "maximum back": [
        "    place = places[number * columns + j]",
        "    k = place // KW",
        "    target = start + k * far + (place - k * KW) * WIDE",
        "    x[target] = x[target] + y[number * columns + j]",
    ],
    "mean": [
        "    total = zero",
        "    for k in range(KH):",
        "        for m in range(KW):",
        "            total += load(x, start + k * far + m * WIDE)",
        "    store(y, number * columns + j, total / COUNT)",
    ],
    "sum": [
        "    total = zero",
        "    for k in range(KH):",
        "        for m in range(KW):",
        "            total += load(x, start + k * far + m * WIDE)",
        "    store(y, number * columns + j, total)",
    ],
    "mean back": [
        "    value = y[number * columns + j]",
        "    for k in range(KH):",
        "        for m in range(KW):",
        "            target = start + k * far + m * WIDE",
        "            x[target] = x[target] + value",
    ],
}


def max_pool(image: Array, kernel: Pair, size: Pair, stride: Pair, dilation: Pair) -> tuple[Array, Array]:
    """Return the largest element of each window, and the place in the window where the first of them is.

    Args:
        image: Of shape (n, c, height, width), padded.
        kernel: Height and width of a window.
        size: How many windows there are, down and to the right.
        stride: Steps between windows.
        dilation: Steps between the elements of a window.
    """
    out = pool.empty((*image.shape[:2], *size), image.dtype)
    places = pool.empty(out.shape, np.dtype(np.int64))
    _run("maximum", image, out, places, kernel, stride, dilation)
    return out, places


def max_pool_backward(d: Array, places: Array, kernel: Pair, size: Pair, stride: Pair, dilation: Pair) -> Array:
    """Return zeros of an image's size, to which each number is added at its place in its window."""
    image = pool.empty((*d.shape[:2], *size), d.dtype)
    _run("maximum back", image, d, places, kernel, stride, dilation)
    return image


def avg_pool(image: Array, kernel: Pair, size: Pair, stride: Pair, dilation: Pair, divided: bool = True) -> Array:
    """Return the mean of each window, or its sum if that is not to be divided. Other arguments as for `max_pool`."""
    out = pool.empty((*image.shape[:2], *size), image.dtype)
    _run("mean" if divided else "sum", image, out, None, kernel, stride, dilation)
    return out


def avg_pool_backward(d: Array, kernel: Pair, size: Pair, stride: Pair, dilation: Pair) -> Array:
    """Return zeros of an image's size, to which each number is added everywhere in its window."""
    image = pool.empty((*d.shape[:2], *size), d.dtype)
    _run("mean back", image, d, None, kernel, stride, dilation)
    return image


def _run(name: str, image: Array, out: Array, places: Array | None, kernel: Pair, stride: Pair, dilation: Pair) -> None:
    """Run a kernel over all planes of the image, a few to each thread."""
    image, out = np.ascontiguousarray(image), np.ascontiguousarray(out)
    (rows, columns), (height, width) = out.shape[2:], image.shape[2:]
    planes = image.shape[0] * image.shape[1]
    numbers = [address(image), address(out), address(out if places is None else places)]
    numbers += [rows, columns, height * width, width, *stride, dilation[0] * width]
    count = threads.count_for(out.size * kernel[0] * kernel[1], out.itemsize)
    threads.run(_kernel(name, image.dtype, kernel, dilation[1]), parameters(numbers), threads.parts(planes, count))


def _kernel(name: str, dtype: np.dtype[Any], kernel: Pair, wide: int) -> compiler.Kernel:
    names = ("rows", "columns", "size", "width", "down", "right", "far")
    loop = [line.replace("KH", str(kernel[0])).replace("KW", str(kernel[1])) for line in _LOOPS[name]]
    clear = ["for i in range(plane * size, (plane + 1) * size):", "    x[i] = zero"] if "back" in name else []
    lines = [
        f"x = pointer(parameters[0], {dtype.name})",
        f"y = pointer(parameters[1], {dtype.name})",
        "places = pointer(parameters[2], int64)",
        *[f"{each} = parameters[{i}]" for i, each in enumerate(names, 3)],
        # A plane belongs to one thread: windows that overlap add to the same element.
        "for plane in range(item[0][0], item[0][1]):",
        *indent([*clear, *_WINDOWS, *indent(loop)]),
    ]
    text = "\n".join(["def kernel(item, dimensions, steps, parameters):", *indent(lines)])
    # A constant, so that neighbours of a window without gaps are neighbours for the compiler, too.
    text = text.replace("WIDE", str(wide)).replace("COUNT", f"{dtype.name}({kernel[0] * kernel[1]})")
    return compiler.kernel("pooling", text, lambda: {"zero": dtype.type(0)})
