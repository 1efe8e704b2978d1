"""Pictures of networks that look at images: windows, tiles, learned weights, and the outputs of layers.

    draw.convolution(image, weight, at=(1, 2))   # one step of a sliding window, with its sum
    draw.tiled(image, (2, 2))                    # an image cut into tiles, each of them a row
    draw.digits(images, classes, predicted)      # images, and which of them were misread
    draw.kernels(weight)                         # weights, positive and negative
    draw.activations({"conv": first, ...})       # what a layer makes of an image

Arrays may be NumPy's or tensors. The first two are SVG, the others matplotlib.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from minigrad.draw.paper import CHARACTER, LINE, MARGIN, SMALL, Drawing, arrow, box, label, text
from minigrad.draw.plots import INK, Picture
from minigrad.layout import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST = 12
"""Elements along an axis that can be told apart in a picture of boxes."""

MOST = 160
"""Small images in one picture."""

Array = NDArray[Any]
_HIGH = 26.0
_GAP = 44.0


def _array(operation: str, x: object) -> Array:
    """Return a NumPy array of a tensor or of anything like an array.

    Raises:
        TypeError: If it does not consist of numbers.
    """
    try:
        array = _values(x)
        if array.dtype.kind in "biuf":
            return array
    except (AttributeError, TypeError, ValueError):
        pass
    raise TypeError(f"draw.{operation}: takes arrays or tensors of numbers, not {reprlib.repr(x)}")


def _values(x: object) -> Array:
    return np.asarray(x.detach().to("cpu").numpy() if hasattr(x, "detach") else x)


def convolution(
    image: object, weight: object, at: int | Sequence[int] = 0, *, padding: int = 0, stride: int = 1
) -> Drawing:
    """Draw one place of a window of weights on a line or on an image, and the sum that it gives.

    Args:
        image: A line of shape (width,), an image of shape (height, width), or one with channels: (channels, height,
            width).
        weight: The weights of one output channel: as many axes as the image.
        at: The computed element of the output. For an image it is a row and a column.
        padding: Zeros on both sides of each axis.
        stride: Steps between windows.

    Raises:
        TypeError: If they do not consist of numbers.
        ValueError: If the shapes do not fit, there is no such output, or the picture would be too large.

    >>> print(minigrad.draw.convolution([1.0, 2.0, 4.0], [-1.0, 1.0], at=1))
    A window of weights: output 1 of shape (1, 2), window at (0, 1): 2·(-1) + 4·1 = 2
    """
    x, w = _array("convolution", image), _array("convolution", weight)
    line = x.ndim == 1
    if stride < 1 or padding < 0:
        raise ValueError(f"draw.convolution: stride={stride} and padding={padding}; a stride is at least 1, and a "
                         "padding at least 0")  # fmt: skip
    if x.ndim != w.ndim or not 1 <= x.ndim <= 3:
        raise ValueError(f"draw.convolution: an image of shape {x.shape} and weights of shape {w.shape}: both need the "
                         "same axes, one to three")  # fmt: skip
    x, w = (part.reshape((1,) * (3 - part.ndim) + part.shape) for part in (x, w))
    zeros = (0 if line else padding, padding)
    size = tuple(n + 2 * zero for n, zero in zip(x.shape[1:], zeros, strict=True))
    rows, columns = ((n - k) // stride + 1 for n, k in zip(size, w.shape[1:], strict=True))
    i, j = (0, *_place(at)) if line else (*_place(at), 0)[:2]
    _check_window(x, w, size, (rows, columns), (i, j))
    wide = np.pad(x, ((0, 0), (zeros[0],) * 2, (zeros[1],) * 2))
    out = np.array([[_sum(wide, w, r * stride, c * stride) for c in range(columns)] for r in range(rows)])
    return _convolution(x, w, wide, out, (i, j), stride)


def _place(at: int | Sequence[int]) -> tuple[int, ...]:
    return (at,) if isinstance(at, int) else tuple(at)


def _check_window(x: Array, w: Array, padded: Sequence[int], size: tuple[int, int], at: tuple[int, int]) -> None:
    if x.shape[0] != w.shape[0]:
        raise ValueError(f"draw.convolution: {x.shape[0]} channels of the image, {w.shape[0]} of the weights")
    if max(padded) > LARGEST or x.shape[0] > 4:
        raise ValueError(f"draw.convolution: at most {LARGEST} elements along an axis, and 4 channels, can be drawn")
    if not all(0 <= place < n for place, n in zip(at, size, strict=True)):
        raise ValueError(f"draw.convolution: there is no output {at}: windows lie in {max(0, size[0])} rows of "
                         f"{max(0, size[1])}")  # fmt: skip


def _sum(wide: Array, w: Array, top: int, left: int) -> Any:
    return (wide[:, top : top + w.shape[1], left : left + w.shape[2]] * w).sum()


def _convolution(x: Array, w: Array, wide: Array, out: Array, at: tuple[int, int], stride: int) -> Drawing:
    top, left = at[0] * stride, at[1] * stride
    seen = wide[:, top : top + w.shape[1], left : left + w.shape[2]]
    inner = tuple((big - small) // 2 for big, small in zip(wide.shape[1:], x.shape[1:], strict=True))
    width = max(_width(part) for part in (wide, w, out))
    y0 = MARGIN + LINE
    x1 = MARGIN + wide.shape[2] * width + _GAP
    x2 = x1 + w.shape[2] * width + _GAP
    step = wide.shape[1] * _HIGH + 12.0
    parts = [text(MARGIN, MARGIN + 8.0, "input", "small", "start"), text(x1, MARGIN + 8.0, "weights", "small", "start")]
    for channel in range(len(x)):
        y = y0 + channel * step
        parts += _grid(
            wide[channel], MARGIN, y, width, _kinds_of_input(wide.shape[1:], inner, (top, left), w.shape[1:])
        )
        parts.append(text(x1 - _GAP / 2, y + _HIGH * 0.68, "×", "bold"))
        parts += _grid(w[channel], x1, y, width, lambda r, c: "used")
    parts.append(text(x2 - _GAP / 2, y0 + _HIGH * 0.68, "=", "bold"))
    parts.append(text(x2, MARGIN + 8.0, "output", "small", "start"))
    parts += _grid(out, x2, y0, width, lambda r, c: "mark" if (r, c) == at else "cell")
    lines = _told(seen, w, out[at], x2 + out.shape[1] * width - MARGIN)
    y = y0 + max(len(x) * step - 12.0, out.shape[0] * _HIGH) + LINE + 6.0
    parts += [text(MARGIN, y + n * LINE, words, "text", "start") for n, words in enumerate(lines)]
    wide_enough = max(x2 + out.shape[1] * width, MARGIN + max(map(len, lines)) * CHARACTER) + MARGIN
    place = f"({at[0]}, {at[1]})" if x.shape[1] > 1 or out.shape[0] > 1 else str(at[1])
    about = f"output {place} of shape {out.shape}, window at ({top}, {left}): {' '.join(lines)}"
    return Drawing(wide_enough, y + (len(lines) - 1) * LINE + MARGIN, "A window of weights", about, parts)


def _kinds_of_input(
    size: Sequence[int], inner: Sequence[int], corner: tuple[int, int], window: Sequence[int]
) -> Callable[[int, int], str]:
    """Return a function that says how the element at a place of the padded image is drawn."""

    def kind(row: int, column: int) -> str:
        if all(0 <= at - c < k for at, c, k in zip((row, column), corner, window, strict=True)):
            return "mark"
        inside = all(p <= at < n - p for at, p, n in zip((row, column), inner, size, strict=True))
        return "cell" if inside else "ghost"

    return kind


_WORDS = {"cell": "text", "mark": "marked", "ghost": "ghosttext", "used": "text", "other": "text"}


def _grid(values: Array, x: float, y: float, width: float, kind: Callable[..., str]) -> list[str]:
    """Boxes with the numbers of a matrix. kind(row, column) names the look of each."""
    parts = []
    for (row, column), value in np.ndenumerate(values):
        look = kind(row, column)
        parts.append(box(x + column * width, y + row * _HIGH, width - 3.0, _HIGH - 3.0, look))
        middle = x + column * width + (width - 3.0) / 2
        parts.append(text(middle, y + row * _HIGH + 16.0, label(value.item()), _WORDS[look]))
    return parts


def _width(values: Array) -> float:
    """Room for the longest number of an array."""
    return max(30.0, max(len(label(value.item())) for value in values.ravel()) * CHARACTER + 10.0)


def _told(seen: Array, w: Array, total: np.generic, room: float) -> list[str]:
    """The sum of products in words, on as many lines as it needs."""
    terms = [f"{_bracketed(a)}·{_bracketed(b)}" for a, b in zip(seen.ravel(), w.ravel(), strict=True)]
    words = [term if n == 0 else f"+ {term}" for n, term in enumerate(terms)] + [f"= {label(total.item())}"]
    lines = [""]
    for word in words:
        if lines[-1] and (len(lines[-1]) + len(word) + 1) * CHARACTER > max(room, 380.0):
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _bracketed(value: np.generic) -> str:
    words = label(value.item())
    return f"({words})" if words.startswith("-") else words


def tiled(image: Any, kernel: Sequence[int]) -> Drawing:
    """Draw an image that is cut into tiles, and beside it each tile as a row.

    Args:
        image: Of shape (height, width).
        kernel: Height and width of a tile. They divide the image's.

    Raises:
        TypeError: If the image does not consist of numbers.
        ValueError: If they do not, or the picture would be too large.

    >>> print(minigrad.draw.tiled(np.arange(16.0).reshape(4, 4), (2, 2)))
    An image in tiles of 2 by 2: tile (0, 0): 0, 1, 4, 5; tile (0, 1): 2, 3, 6, 7; tile (1, 0): 8, 9,
    12, 13; tile (1, 1): 10, 11, 14, 15
    """
    x, (height, width) = _array("tiled", image), kernel
    if x.ndim != 2 or not x.size or max(x.shape) > LARGEST or x.shape[0] % height or x.shape[1] % width:
        raise ValueError(
            f"draw.tiled: an image of shape {x.shape} in tiles of {tuple(kernel)}; it takes two axes of 1 to {LARGEST} "
            "elements, which the tile divides"
        )
    rows, columns = x.shape[0] // height, x.shape[1] // width
    tiles = x.reshape(rows, height, columns, width).swapaxes(1, 2).reshape(rows * columns, -1)
    wide, y0 = _width(x), MARGIN + LINE
    parts = [text(MARGIN, MARGIN + 8.0, f"shape {x.shape}", "small", "start")]
    looks = ("used", "cell", "mark", "other")

    def look(row: int, column: int) -> str:
        return looks[(row % 2) * 2 + column % 2]

    for row in range(rows):
        for column in range(columns):
            part = x[row * height : (row + 1) * height, column * width : (column + 1) * width]
            left = MARGIN + column * (width * wide + 6.0)
            top = y0 + row * (height * _HIGH + 6.0)
            parts += _grid(part, left, top, wide, lambda r, c, row=row, column=column: look(row, column))
    right = MARGIN + columns * (width * wide + 6.0)
    names = [f"tile ({row}, {column})" for row in range(rows) for column in range(columns)]
    x1 = right + _GAP + max(map(len, names)) * SMALL + 8.0
    parts += [arrow(right + 4.0, y0 + _HIGH / 2, right + _GAP - 8.0, y0 + _HIGH / 2)]
    parts.append(text(x1, MARGIN + 8.0, f"shape {(rows, columns, height * width)}", "small", "start"))
    for n, (name, elements) in enumerate(zip(names, tiles, strict=True)):
        y = y0 + n * (_HIGH + 4.0)
        parts.append(text(x1 - 8.0, y + 16.0, name, "small", "end"))
        parts += _grid(elements[None], x1, y, wide, lambda r, c, n=n: look(n // columns, n % columns))
    high = max(rows * (height * _HIGH + 6.0), len(names) * (_HIGH + 4.0))
    about = "; ".join(
        f"{name}: {', '.join(label(v.item()) for v in row)}" for name, row in zip(names, tiles, strict=True)
    )
    size = max(x1 + tiles.shape[1] * wide, x1 + 160.0) + MARGIN
    return Drawing(size, y0 + high + MARGIN, f"An image in tiles of {height} by {width}", about, parts)


def digits(images: object, classes: object = None, predicted: object = None, *, columns: int = 10) -> Picture:
    """Draw images in grey, each with its class and the predicted class.

    Args:
        images: Of shape (n, height, width) or (n, 1, height, width), or one of (height, width). Large numbers are dark.
        classes: The class of each, or None.
        predicted: What a network took it for, or None: where it differs, the image gets a frame.
        columns: How many stand side by side.

    Raises:
        TypeError: If they do not consist of numbers.
        ValueError: If they have other axes, there is no image or too many, or there are not as many classes.

    >>> print(minigrad.draw.digits(np.zeros((1, 8, 8)), classes=[3]))
    Picture: 1 image of 3
    """
    pictures = _array("digits", images)
    pictures = pictures[None] if pictures.ndim == 2 else pictures
    if pictures.ndim != 3 and (pictures.ndim != 4 or pictures.shape[1] != 1):
        raise ValueError(f"draw.digits: images of shape {pictures.shape}; it takes (height, width), (n, height, width) "
                         "or (n, 1, height, width)")  # fmt: skip
    _check_count("digits", len(pictures) if pictures.size else 0)
    pictures = pictures.reshape(len(pictures), *pictures.shape[-2:])
    truth = _for_each("classes", classes, len(pictures))
    said = _for_each("predicted", predicted, len(pictures))
    side, names = 0.8 if len(pictures) > 1 else 1.0, 0.2 if truth is not None else 0.0
    figure, axes = _board(len(pictures), min(columns, len(pictures)), side, side * _flat(pictures) + names)
    for n, (ax, picture) in enumerate(zip(axes, pictures, strict=True)):
        ax.imshow(picture, cmap="Greys", vmin=float(pictures.min()), vmax=float(pictures.max()))
        wrong = truth is not None and said is not None and said[n] != truth[n]
        if truth is not None:
            ax.set_title(
                f"{truth[n]} as {said[n]}" if wrong and said else str(truth[n]), fontsize=9.0, color=INK, pad=3.0
            )
        for spine in ax.spines.values():
            spine.set(visible=True, color="#a33a00" if wrong else "#8b949e", linewidth=2.0 if wrong else 0.6)
    caption = count(len(pictures), "image", "images")
    if truth is not None:
        caption += " of " + ", ".join(map(str, truth))
    if truth is not None and said is not None:
        caption += f"; {sum(a != b for a, b in zip(truth, said, strict=True))} were taken for another class"
    return Picture(figure, caption)


def _for_each(name: str, given: object, images: int) -> list[Any] | None:
    """Return the classes given for the images as a list, or None if there are none."""
    if given is None:
        return None
    values: list[Any] = _values(given).reshape(-1).tolist()
    if len(values) != images:
        raise ValueError(f"draw.digits: {name} has {len(values)} elements for {count(images, 'image', 'images')}")
    return values


def kernels(weight: object, title: str = "") -> Picture:
    """Draw the weights of a convolution: a column for each output channel, a row for each input channel.

    Positive weights are purple and negative ones orange. Where there is room the numbers stand in the boxes.

    Args:
        weight: Of shape (out_channels, in_channels, kernel_height, kernel_width).
        title: Above the picture.

    Raises:
        TypeError: If they do not consist of numbers.
        ValueError: If the weights have other axes, or there are too many.

    >>> print(minigrad.draw.kernels(np.zeros((2, 1, 3, 3))))
    Picture: 2 kernels of 1 by 3 by 3 weights, from 0.00 to 0.00
    """
    w = _array("kernels", weight)
    if w.ndim != 4:
        raise ValueError(f"draw.kernels: weights of shape {w.shape}; they need 4 axes, as those of Conv2d")
    outputs, inputs = w.shape[:2]
    _check_count("kernels", outputs * inputs if w.size else 0)
    has_room = outputs * inputs <= 16 and max(w.shape[2:]) <= 5
    side = 1.15 if has_room else 0.62
    figure, axes = _board(outputs * inputs, outputs, side, side * _flat(w), above=0.4 if title else 0.2)
    most = float(np.abs(w).max()) or 1.0
    for n, ax in enumerate(axes):
        row, column = divmod(n, outputs)
        ax.imshow(w[column, row], cmap="PuOr", vmin=-1.8 * most, vmax=1.8 * most)
        if row == 0:
            ax.set_title(str(column), fontsize=9.0, color=INK, pad=3.0)
        if column == 0 and inputs > 1:
            ax.set_ylabel(str(row), fontsize=9.0, color=INK, rotation=0.0, labelpad=8.0, va="center")
        if has_room:
            for (k, m), value in np.ndenumerate(w[column, row]):
                words = f"{round(float(value), 1) + 0.0:.1f}"
                ax.text(m, k, words, ha="center", va="center", fontsize=8.0, color=INK)
    figure.suptitle(title, fontsize=10.5, color=INK)
    caption = (
        f"{outputs} kernels of {inputs} by {w.shape[2]} by {w.shape[3]} weights, from {w.min():.2f} to {w.max():.2f}"
    )
    return Picture(figure, f"{title}: {caption}" if title else caption)


def activations(layers: Mapping[str, Any], *, columns: int = 16) -> Picture:
    """Draw the outputs of layers for one image: a row of pictures for each, one picture a channel.

    Dark is large. All channels of a layer share one scale, from 0 or the smallest number to the largest.

    Args:
        layers: For each name the output for one image, of shape (channels, height, width). One image may be among them.
        columns: How many channels are shown at most.

    Raises:
        TypeError: If they do not consist of numbers.
        ValueError: If there is nothing to draw, or an output has other axes.

    >>> print(minigrad.draw.activations({"first layer": np.zeros((2, 4, 4))}))
    Picture: first layer: 2 of 4 by 4, 0 % above 0
    """
    found = {name: _array("activations", x) for name, x in layers.items()}
    found = {name: x[0] if x.ndim == 4 and len(x) == 1 else x for name, x in found.items()}
    for name, x in found.items():
        if x.ndim != 3:
            raise ValueError(f"draw.activations: {name!r} has shape {x.shape}; it takes (channels, height, width)")
    most = min(columns, max((len(x) for x in found.values()), default=0))
    _check_count("activations", most * len(found) if all(x.size for x in found.values()) else 0)
    figure, axes = _board(most * len(found), most, 0.62, 0.62 * max(map(_flat, found.values())), left=1.0)
    for row, (name, x) in enumerate(found.items()):
        low, high = min(0.0, float(x.min())), float(x.max())
        for column, ax in enumerate(axes[row * most : (row + 1) * most]):
            if column >= len(x):
                ax.set_axis_off()
                continue
            ax.imshow(x[column], cmap="Greys", vmin=low, vmax=high if high > low else low + 1.0)
            if column == 0:
                ax.set_ylabel(name, fontsize=9.0, color=INK, rotation=0.0, ha="right", va="center", labelpad=6.0)
    told = "; ".join(f"{name}: {len(x)} of {x.shape[1]} by {x.shape[2]}, {_share(x)}" for name, x in found.items())
    return Picture(figure, told)


def _share(x: Array) -> str:
    return f"{100.0 * float((x > 0.0).mean()):.0f} % above 0"


def _check_count(name: str, pictures: int) -> None:
    if not 1 <= pictures <= MOST:
        raise ValueError(f"draw.{name}: {pictures} small pictures; it draws 1 to {MOST}: pass a part")


def _flat(images: Array) -> float:
    """Return the height of images as a share of a square's, in which the wide ones leave room."""
    height, width = images.shape[-2:]
    return min(1.0, float(height / width))


def _board(
    pictures: int, columns: int, width: float, height: float, *, left: float = 0.2, above: float = 0.0
) -> tuple[Figure, list[Any]]:
    """Return a figure with rows of small axes without ticks.

    Each takes width by height inches. There is room for names to the left of all of them, and above.
    """
    from matplotlib.figure import Figure

    rows = math.ceil(pictures / columns)
    size = (max(2.2, columns * width + left), rows * height + above)
    figure = Figure(figsize=size, layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for ax in axes:
        ax.set(xticks=[], yticks=[])
        for spine in ax.spines.values():
            spine.set(color="#8b949e", linewidth=0.6)
    for ax in axes[pictures:]:
        ax.set_axis_off()
    return figure, axes[:pictures]
