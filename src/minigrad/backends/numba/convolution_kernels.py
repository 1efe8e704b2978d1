"""The two loops of convolution, by `tiles`."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from minigrad.backends.numba import compiler, tiles
from minigrad.backends.numba.elementwise import indent

CHUNK = 1024
"""Positions that are computed together, so that what they read stays in the first-level cache."""

TERMS = 128
"""Terms that are added one after the other; of longer sums each part is added by itself, which rounds less."""


class Tile(NamedTuple):
    """What is summed at once: vectors of sums for each pair of a left and a right vector.

    Attributes:
        outputs: How many left vectors there are, one for each output.
        vectors: How many right vectors there are.
        lanes: How many numbers are in a vector.
    """

    outputs: int
    vectors: int
    lanes: int

    @property
    def width(self) -> int:
        """How many numbers are in all right vectors."""
        return self.vectors * self.lanes

    @property
    def totals(self) -> int:
        """How many numbers `tiles.add_totals` writes: a total for each pair, up to a whole vector."""
        return -(-self.outputs * self.vectors // self.lanes) * self.lanes


@cache
def tile(dtype: np.dtype[Any], outputs: int) -> Tile:
    """Return the tile for so many outputs that read the same input."""
    size, count = tiles.registers(compiler.features())
    lanes = size // dtype.itemsize
    if outputs == 1:
        return Tile(1, 6, lanes)
    if count < 32:
        return Tile(4, 3, lanes)
    return Tile(4, 6, lanes) if outputs <= 8 else Tile(8, 3, lanes)


FRAME = """
def frame(planes: NUMBER, to, wide, x: NUMBER, at, down, right, table: int64, count):
    for n in range(0, count, 4):
        target, source, columns = to + table[n], at + table[n + 1], table[n + 3]
        for y in range(table[n + 2]):
            if right == 1:
                for k in range(columns):
                    store(planes, target + y * wide + k, load(x, source + y * down + k))
            else:
                for k in range(columns):
                    planes[target + y * wide + k] = x[source + y * down + k * right]
"""
"""Copies a plane of the input into larger ones, whose rest is zero already.

    planes, to      the larger planes, and where they begin
    wide            the length of their rows
    x, at           the input, and where its plane begins
    down, right     elements of the input from one row that is copied to the next, and from one element to the next
    table, count    for each of the larger planes where its first element goes, where that is from, rows and columns;
                    how many numbers that are
"""


def _kernel(
    name: str, dtype: np.dtype[Any], pointers: str, tables: str, numbers: str, body: list[str]
) -> compiler.Kernel:
    """Return the kernel of a body. It is given arrays of the dtype, tables of integers, and integers by these names."""
    given = [(each, f"pointer(parameters[{{}}], {dtype.name})") for each in pointers.split()]
    given += [(each, "pointer(parameters[{}], int64)") for each in tables.split()]
    given += [(each, "parameters[{}]") for each in numbers.split()]
    lines = [f"{each} = {form.format(place)}" for place, (each, form) in enumerate(given)] + body
    framing = FRAME.replace("NUMBER", dtype.name)
    text = "\n".join([framing, "def kernel(item, dimensions, steps, parameters):", *indent(lines)])
    names = ("zeros", "numbers", "vectors", "add_products", "store_rows", "add_rows", "add_totals")
    return compiler.kernel(name, text, lambda: {"zero": dtype.type(0)} | {n: getattr(tiles, n) for n in names})


def _each(text: str, count: int) -> str:
    """Return the text of a tuple, made of the text of one element {i}."""
    return "(" + "".join(f"{text.format(i=i)}, " for i in range(count)) + ")"


def correlation(dtype: np.dtype[Any], tile: Tile) -> compiler.Kernel:
    """Return the kernel for sums of shifted planes times weights (see `convolution`)."""
    outputs, vectors, lanes = tile
    # What is loaded here lies behind the planes that `frame` stores.
    written = [
        "at, to = sums + i * length + (y - top) * wide, target + i * out_plane + y * down",
        "for k in range(across):",
        "    store(out, to + k * right_step, load(planes, at + k))",
    ]
    side_by_side = _each(f"{{i}} * {lanes}", vectors)
    to = _each("sums + {i} * length + at", outputs)
    one_tile = [
        f"for begin in range(first_term, max(last_term, first_term + 1), {TERMS}):",
        f"    tile = zeros({dtype.name}, {outputs * vectors}, {lanes})",
        f"    for term in range(begin, min(begin + {TERMS}, last_term)):",
        "        first = base + top * wide + at + moves[term]",
        f"        rights = vectors(planes, {side_by_side}, first, {lanes})",
        "        tile = add_products(tile, numbers(weight, rows, places[term]), rights)",
        "    if begin == first_term:",
        f"        store_rows(planes, {to}, tile)",
        "    else:",
        f"        add_rows(planes, {to}, tile)",
    ]
    one_pass = [
        "first_term, last_term = passes[q], passes[q + 1]",
        "down, right_step, high, across = passes[q + 3], passes[q + 4], passes[q + 5], passes[q + 6]",
        "target = (unit * outputs + output) * out_plane + passes[q + 2]",
        "for top in range(0, high, together):",
        "    bottom = min(top + together, high)",
        f"    for at in range(0, (bottom - top - 1) * wide + across, {tile.width}):",
        *indent(indent(one_tile)),
        f"    for i in range(min({outputs}, outputs - output)):",
        "        for y in range(top, bottom):",
        *indent(indent(indent(written))),
    ]
    body = [
        "base = item[0][2] * scratch",
        f"sums, length = base + inputs * channel + {tile.width}, together * wide + {tile.width}",
        "for at in range(base, base + scratch):",
        "    planes[at] = zero",
        "framed = -1",
        "for number in range(item[0][0], item[0][1]):",
        "    unit, output = number // blocks, number % blocks * " + str(outputs),
        "    if unit != framed:",
        "        framed = unit",
        "        for c in range(inputs):",
        "            at = (unit * inputs + c) * plane",
        "            frame(planes, base + c * channel, wide, x, at, x_down, x_right, phases, phase_numbers)",
        "    first_row, last = unit % groups * group_step, outputs - 1",
        f"    rows = {_each('first_row + min(output + {i}, last) * output_step', outputs)}",
        "    for q in range(0, pass_numbers, 7):",
        *indent(indent(one_pass)),
    ]
    numbers = (
        "pass_numbers phase_numbers groups blocks outputs inputs group_step output_step out_plane together scratch "
        "wide channel plane x_down x_right"
    )
    return _kernel("convolution", dtype, "out x weight planes", "phases moves places passes", numbers, body)


def weight_gradient(dtype: np.dtype[Any], tile: Tile) -> compiler.Kernel:
    """Return the kernel for scalar products of gradient planes with shifted input planes (see `convolution`)."""
    outputs, vectors, lanes = tile
    one_tile = [
        f"rights = {_each('x_at + moves[term + {i}]', vectors)}",
        f"tile = zeros({dtype.name}, {outputs * vectors}, {lanes})",
        f"for p in range(first, min(first + {CHUNK}, length), {lanes}):",
        f"    left, right = vectors(planes, lefts, p, {lanes}), vectors(planes, rights, p, {lanes})",
        "    tile = add_products(tile, left, right)",
        "add_totals(out, to, tile)",
        f"to += {tile.totals}",
    ]
    one_chunk = [
        "count = min(together, images - chunk * together)",
        f"length = (count * plane + {lanes - 1}) // {lanes} * {lanes}",
        "for k in range(count):",
        "    unit = (chunk * together + k) * groups + low",
        "    for c in range((high - low) * inputs):",
        "        at = (unit * inputs + c) * x_plane",
        "        to = base + c * channel + k * plane",
        "        frame(planes, to, wide, x, at, x_down, x_right, phases, phase_numbers)",
        "    for o in range((high - low) * outputs):",
        "        at = (unit * outputs + o) * d_plane",
        "        frame(planes, given + o * gradient + k * plane, wide, d, at, d_down, 1, d_phases, 4)",
        # Behind the last image there may be an older one.
        "for o in range((high - low) * outputs):",
        f"    for p in range(count * plane, count * plane + {lanes}):",
        "        planes[given + o * gradient + p] = zero",
        f"for first in range(0, length, {CHUNK}):",
        "    to = (slot * groups * blocks + begin) * row",
        "    for unit in range(begin, end):",
        f"        group, output = unit // blocks - low, unit % blocks * {outputs}",
        "        x_at, d_at, last = base + group * inputs * channel, given + group * outputs * gradient, outputs - 1",
        f"        lefts = {_each('d_at + min(output + {i}, last) * gradient', outputs)}",
        f"        for term in range(0, terms, {vectors}):",
        *indent(indent(indent(one_tile))),
    ]
    body = [
        "base = item[0][2] * scratch",
        "for number in range(item[0][0], item[0][1]):",
        "    slot, part = number // splits, number % splits",
        "    begin, end = groups * blocks * part // splits, groups * blocks * (part + 1) // splits",
        "    low, high = begin // blocks, (end - 1) // blocks + 1",
        "    given = base + (high - low) * inputs * channel + plane",
        "    for at in range(base, base + scratch):",
        "        planes[at] = zero",
        "    for at in range((slot * groups * blocks + begin) * row, (slot * groups * blocks + end) * row):",
        "        out[at] = zero",
        "    for chunk in range(chunks * slot // slots, chunks * (slot + 1) // slots):",
        *indent(indent(one_chunk)),
    ]
    numbers = (
        "phase_numbers images together chunks slots splits groups blocks outputs inputs terms row scratch wide plane "
        "channel gradient x_plane x_down x_right d_plane d_down"
    )
    return _kernel("convolution_weight", dtype, "out d x planes", "phases d_phases moves", numbers, body)
