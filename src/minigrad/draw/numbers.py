"""Pictures of numbers of few bits: what each bit is for, and which of a model's numbers a format can hold.

draw.bits({"bfloat16": (8, 7)})                        # a box for each bit: sign, exponent, fraction
draw.magnitudes({"gradients": numbers}, 6e-8, 65504.0) # a histogram of sizes, beside a format's range
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from minigrad.draw.networks import _array
from minigrad.draw.paper import LINE, MARGIN, Drawing, box, text
from minigrad.draw.plots import INK, LINES, Picture, canvas

_SIDE, _NAMES = 20.0, 80.0


def bits(formats: Mapping[str, tuple[int, int]]) -> Drawing:
    """Draw the bits of formats of numbers, one row for each: a sign, the exponent, and the fraction.

    Args:
        formats: For each name how many bits its exponent and its fraction have.

    Raises:
        ValueError: If there is no format.

    >>> print(minigrad.draw.bits({"bfloat16": (8, 7)}))
    Bits of numbers: bfloat16: 1 bit of sign, 8 of exponent, 7 of fraction.
    """
    if not formats:
        raise ValueError("draw.bits: no format; give at least one, with the bits of its exponent and its fraction")
    parts, told, y = [], [], MARGIN
    for name, (exponent, fraction) in formats.items():
        parts.append(text(MARGIN, y + LINE, name, "bold", "start"))
        kinds = [("s", "mark"), *[("e", "used")] * exponent, *[("f", "cell")] * fraction]
        for i, (letter, kind) in enumerate(kinds):
            x = MARGIN + _NAMES + i * _SIDE
            parts += [box(x, y, _SIDE, _SIDE + 4.0, kind), text(x + _SIDE / 2.0, y + LINE, letter, "small")]
        told.append(f"{name}: 1 bit of sign, {exponent} of exponent, {fraction} of fraction.")
        y += _SIDE + 14.0
    width = 2.0 * MARGIN + _NAMES + _SIDE * (1 + max(map(sum, formats.values())))
    return Drawing(width, y + MARGIN - 10.0, "Bits of numbers", " ".join(told), parts)


def magnitudes(series: Mapping[str, object], smallest: float, largest: float, title: str = "") -> Picture:
    """Draw how large numbers are, as a histogram of powers of two, beside the range of a format.

    Args:
        series: For each name numbers of any shape; zeros among them are left out.
        smallest: The smallest number above 0 that the format has.
        largest: The largest one.
        title: Above the picture.

    Raises:
        TypeError: If a series does not consist of numbers.
        ValueError: If there is no number but 0.

    >>> print(minigrad.draw.magnitudes({"gradients": [1e-9, 0.5, 1.0]}, 6e-8, 65504.0))
    Picture: sizes of numbers; gradients: 33.3% below the range, 0.0% above it
    """
    sizes = {name: np.abs(_array("magnitudes", values)).ravel() for name, values in series.items()}
    sizes = {name: values[values > 0.0] for name, values in sizes.items()}
    if not sizes or not all(len(values) for values in sizes.values()):
        raise ValueError("draw.magnitudes: there is nothing to draw; give each name some numbers that are not 0")
    figure, (ax,) = canvas(width=7.2, height=3.4)
    ax.axvspan(np.log2(smallest), np.log2(largest), color=LINES[0], alpha=0.12, label="the format's range")
    told = []
    for i, (name, values) in enumerate(sizes.items()):
        powers = np.log2(values)
        edges = np.arange(np.floor(powers.min()), np.ceil(powers.max()) + 2.0)
        shares = 100.0 * np.histogram(powers, edges)[0] / len(powers)
        ax.stairs(shares, edges, color=LINES[i % len(LINES)], linewidth=1.6, linestyle=("-", "--", ":")[i % 3],
                  label=name)  # fmt: skip
        below, above = 100.0 * (values < smallest).mean(), 100.0 * (values > largest).mean()
        told.append(f"{name}: {below:.1f}% below the range, {above:.1f}% above it")
    ax.set(xlabel="power of two", ylabel="percent of the numbers")
    ax.set_title(title, fontsize=10.5, color=INK)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    caption = f"sizes of numbers; {'; '.join(told)}"
    return Picture(figure, f"{title}: {caption}" if title else caption)
