"""The two loops of convolution, written out for a number of taps at a time.

Both take two outputs together, so that each element of the input is loaded once for two products.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.backends.numba import compiler
from minigrad.backends.numba.elementwise import indent

CHUNK = 1024
"""Outputs that are computed together: their sums stay in the first-level cache while all channels are added."""

MOST_TAPS = 9
"""Taps in one pass: with two outputs, as many weights or sums as there are vector registers for."""


def _taps_at_once(taps: int) -> int:
    """Return how many taps each pass takes, so that few are left over."""
    if taps <= MOST_TAPS:
        return taps
    return min(range(4, MOST_TAPS + 1), key=lambda n: (taps // n + taps % n, -n))


def _unpack(names: str, first: int) -> list[str]:
    return [f"{name} = parameters[{i}]" for i, name in enumerate(names.split(), first)]


def _pointers(dtype: np.dtype[Any], names: str) -> list[str]:
    return [f"{name} = pointer(parameters[{i}], {dtype.name})" for i, name in enumerate(names.split())]


def _kernel(name: str, dtype: np.dtype[Any], lines: list[str]) -> compiler.Kernel:
    text = "\n".join(["def kernel(item, dimensions, steps, parameters):", *indent(lines)])

    def make() -> Any:
        from minigrad.backends.numba import intrinsics

        scope: dict[str, Any] = {n: getattr(intrinsics, n) for n in intrinsics.__all__}
        scope |= {dtype.name: dtype.type, "int64": np.int64, "zero": dtype.type(0)}
        exec(text, scope)
        return scope["kernel"]

    return compiler.kernel(name, text, make)


def frame(dtype: np.dtype[Any]) -> compiler.Kernel:
    """Return the kernel that puts planes into larger ones of zeros."""
    row = [
        "q = (number * high + y) * wide",
        "if y < top or y >= top + rows:",
        "    for x in range(wide):",
        "        store(out, q + x, zero)",
        "else:",
        "    for x in range(left):",
        "        store(out, q + x, zero)",
        "    for x in range(columns):",
        "        store(out, q + left + x, load(image, (number * rows + y - top) * columns + x))",
        "    for x in range(left + columns, wide):",
        "        store(out, q + x, zero)",
    ]
    lines = [
        *_pointers(dtype, "out image"),
        *_unpack("rows columns high wide top left", 2),
        "for number in range(item[0][0], item[0][1]):",
        "    for y in range(high):",
        *indent(indent(row)),
    ]
    return _kernel("frame", dtype, lines)


def correlation(dtype: np.dtype[Any], taps: int) -> compiler.Kernel:
    """Return the kernel for sums of shifted planes times weights, two outputs an item (see `convolution`)."""
    at_once = _taps_at_once(taps)
    channel = [
        "base = (image * groups * inputs + group * inputs + channel) * plane + first",
        "row = ((group * outputs + output) * inputs + channel) * taps",
        "next_row = ((group * outputs + other) * inputs + channel) * taps",
        f"for t in range(0, taps - {at_once - 1}, {at_once}):",
        *indent(_add_taps(at_once)),
    ]
    if taps % at_once:
        channel += [f"for t in range(taps - taps % {at_once}, taps):", *indent(_add_taps(1))]
    body = [
        "image = number // (groups * pairs)",
        "group = number // pairs % groups",
        "output = number % pairs * 2",
        "other = min(output + 1, outputs - 1)",
        f"for first in range(0, length, {CHUNK}):",
        f"    count = min({CHUNK}, length - first)",
        "    for k in range(count):",
        "        sums[k] = zero",
        "        others[k] = zero",
        "    for channel in range(inputs):",
        *indent(indent(channel)),
        *indent(_write("sums", "output")),
        "    if other != output:",
        *indent(indent(_write("others", "other"))),
    ]
    lines = [
        *_pointers(dtype, "out planes weight"),
        "shifts = pointer(parameters[3], int64)",
        *_unpack("groups pairs outputs inputs taps length width columns", 4),
        *_unpack("out_plane start down right plane", 12),
        f"sums = local_buffer({dtype.name}, {CHUNK})",
        f"others = local_buffer({dtype.name}, {CHUNK})",
        "for number in range(item[0][0], item[0][1]):",
        *indent(body),
    ]
    return _kernel("convolution", dtype, lines)


def _add_taps(count: int) -> list[str]:
    """Return the lines that add some taps of one channel to the sums of two outputs."""
    lines = [f"a{i}, b{i} = weight[row + t + {i}], weight[next_row + t + {i}]" for i in range(count)]
    lines += [f"q{i} = base + shifts[t + {i}]" for i in range(count)]
    lines += ["for k in range(count):", "    a = sums[k]", "    b = others[k]"]
    for i in range(count):
        lines += [f"    x = load(planes, q{i} + k)"]
        lines += [f"    a = multiply_add(a, a{i}, x)", f"    b = multiply_add(b, b{i}, x)"]
    return [*lines, "    sums[k] = a", "    others[k] = b"]


def _write(sums: str, output: str) -> list[str]:
    """Return the lines that write the sums of a chunk, row by row, without the gaps between the rows."""
    return [
        f"target = ((image * groups + group) * outputs + {output}) * out_plane + start",
        "position = first",
        "while position < first + count:",
        "    y = position // width",
        "    x = position - y * width",
        "    last = min(columns, x + first + count - position)",
        "    for k in range(x, last):",
        f"        out[target + y * down + k * right] = {sums}[position - first + k - x]",
        "    position += width - x",
    ]


def weight_gradient(dtype: np.dtype[Any], taps: int) -> compiler.Kernel:
    """Return the kernel for scalar products of gradient planes with shifted input planes (see `convolution`)."""
    at_once = _taps_at_once(taps)
    body = [
        "slot = number // units",
        "unit = number - slot * units",
        "group = unit // (pairs * channels)",
        "output = unit // channels % pairs * 2",
        "other = min(output + 1, outputs - 1)",
        "channel = unit % channels",
        "begin = images * slot // slots",
        "end = images * (slot + 1) // slots",
        "groups = all_channels // channels",
        "target = ((slot * groups + group) * outputs * channels + output * channels + channel) * taps",
        "other_target = ((slot * groups + group) * outputs * channels + other * channels + channel) * taps",
        f"for t in range(0, taps - {at_once - 1}, {at_once}):",
        *indent(_sum_taps(at_once)),
    ]
    if taps % at_once:
        body += [f"for t in range(taps - taps % {at_once}, taps):", *indent(_sum_taps(1))]
    lines = [
        *_pointers(dtype, "out planes gradient"),
        "shifts = pointer(parameters[3], int64)",
        *_unpack("images slots units pairs outputs channels all_channels taps length plane gradient_plane", 4),
        "for number in range(item[0][0], item[0][1]):",
        *indent(body),
    ]
    return _kernel("convolution_weight", dtype, lines)


def _sum_taps(count: int) -> list[str]:
    """Return the lines that compute some taps of two outputs and one channel, over all images."""
    lines = [f"a{i} = zero" for i in range(count)] + [f"b{i} = zero" for i in range(count)]
    inner = ["u = load(gradient, p + k)", "v = load(gradient, r + k)"]
    for i in range(count):
        inner += [f"x = load(planes, q{i} + k)"]
        inner += [f"a{i} = multiply_add_any_order(a{i}, u, x)", f"b{i} = multiply_add_any_order(b{i}, v, x)"]
    image = [
        "p = ((image * groups + group) * outputs + output) * gradient_plane",
        "r = ((image * groups + group) * outputs + other) * gradient_plane",
        "base = (image * all_channels + group * channels + channel) * plane",
        *[f"q{i} = base + shifts[t + {i}]" for i in range(count)],
        "for k in range(length):",
        *indent(inner),
    ]
    lines += ["for image in range(begin, end):", *indent(image)]
    for i in range(count):
        lines += [f"out[target + t + {i}] = a{i}", f"out[other_target + t + {i}] = b{i}"]
    return lines
