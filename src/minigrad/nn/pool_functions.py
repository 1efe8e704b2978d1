"""Pooling with any stride and padding: each function beside its transpose, so that rules of any order are at hand.

The exercises in `minigrad.nn.functional` pool by tiles, which serves windows side by side. These forms take the
elements of all windows that have the same place in their window as one strided slice, and combine the slices.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import backends
from minigrad.backends import arrays
from minigrad.functions import Function
from minigrad.nn.convolution import Pair, Windows, output_size, padded
from minigrad.tensor_functions import either

if TYPE_CHECKING:
    from minigrad.engine import TensorContext


class AvgPool2d(Function):
    """The sum of each window over a divisor: its mean. Zeros that pad the image count, unless the divisor knows better.

    The divisor is a number, or an array with one for each window: None takes the number of a window's elements.
    """

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, x: Any, kernel: Pair, windows: Windows, divisor: Any = None) -> Any:
        """Return an array of shape (n, c, rows of windows, windows in a row)."""
        ctx.kernel, ctx.windows, ctx.size, ctx.divisor = kernel, windows, x.shape[2:], divisor
        image = padded(arrays.to_host(x), windows.padding)
        if (form := _compiled("avg_pool", image)) is not None:
            total = form(
                image, kernel, _count(image, kernel, windows), windows.stride, windows.dilation, divisor is None
            )
            return _back(total if divisor is None else np.divide(total, divisor, out=total), x)
        slices = _slices(image, kernel, windows)
        total = next(slices).copy()
        for part in slices:
            total += part
        total /= math.prod(kernel) if divisor is None else divisor
        return _back(total, x)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Every element of a window moves its mean by the same part."""
        own = {"kernel": ctx.kernel, "windows": ctx.windows, "divisor": ctx.divisor}
        return either(AvgSpread, d_output, size=ctx.size, **own)

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """The mean is linear."""
        return cls.apply(*tangents, **ctx.options)


class AvgSpread(Function):
    """The transpose of `AvgPool2d`: each number spread evenly over its window."""

    raw = True

    @staticmethod
    def forward(
        ctx: TensorContext, d_output: Any, kernel: Pair, windows: Windows, size: Pair, divisor: Any = None
    ) -> Any:
        """Return an array of shape (n, c, *size)."""
        ctx.kernel, ctx.windows, ctx.divisor = kernel, windows, divisor
        on_host = arrays.to_host(d_output)
        part = on_host / np.asarray(math.prod(kernel) if divisor is None else divisor, on_host.dtype)
        if (form := _compiled("avg_pool_backward", on_host, math.prod(kernel))) is not None:
            out = form(part, kernel, _wide(size, windows), windows.stride, windows.dilation)
            return _back(_cut(out, windows, size), d_output)
        return _back(_gathered([part] * math.prod(kernel), kernel, windows, size), d_output)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """The transpose of the transpose."""
        return either(AvgPool2d, d_output, kernel=ctx.kernel, windows=ctx.windows, divisor=ctx.divisor)

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """It is linear."""
        return cls.apply(*tangents, **ctx.options)


class MaxPool2d(Function):
    """The largest element of each window, or nan where a window holds one."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, x: Any, kernel: Pair, windows: Windows) -> Any:
        """Return an array of shape (n, c, rows of windows, windows in a row)."""
        image = padded(arrays.to_host(x), windows.padding, lowest(x.dtype))
        ctx.size, ctx.kernel, ctx.windows, ctx.places = x.shape[2:], kernel, windows, None
        # Saved for the engine alone, which refuses to go back when it was changed in place; `image` may be its copy.
        # The output is kept as a copy: the caller may change his, and the places are looked for on the way back only.
        ctx.save_for_backward(x)
        if (form := _compiled("max_pool", image)) is not None:
            output, ctx.places = form(image, kernel, _count(image, kernel, windows), windows.stride, windows.dilation)
            if any(windows.padding) and (output == -np.inf).any():  # which the first element beyond the edge is, too
                ctx.places = _Places.forward(None, image, output, kernel, windows)
            return _back(output, x)
        slices = _slices(image, kernel, windows)
        output = next(slices).copy()
        for part in slices:
            np.maximum(output, part, out=output)
        ctx.image, ctx.output_array = image, output.copy()
        return _back(output, x)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """The first of a window's largest elements moves its output, or the last nan."""
        return either(WindowScatter, d_output, places=_places(ctx), **_geometry(ctx), size=ctx.size)

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """The first of a window's largest elements hands its change on."""
        return WindowTake.apply(*tangents, places=_places(ctx), **_geometry(ctx))


class WindowTake(Function):
    """One element of each window, by its place in the window."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, x: Any, places: Any, kernel: Pair, windows: Windows) -> Any:
        """Return the elements in the shape of places."""
        ctx.places, ctx.kernel, ctx.windows, ctx.size = places, kernel, windows, x.shape[2:]
        image = padded(arrays.to_host(x), windows.padding)
        out = np.zeros(places.shape, image.dtype)
        for place, part in enumerate(_slices(image, kernel, windows)):
            np.copyto(out, part, where=places == place)
        return _back(out, x)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Each output goes back to where it was taken."""
        return either(WindowScatter, d_output, places=ctx.places, **_geometry(ctx), size=ctx.size)

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """It is linear."""
        return cls.apply(*tangents, **ctx.options)


class WindowScatter(Function):
    """The transpose of `WindowTake`: zeros, and each number added at its place in its window."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, d_output: Any, places: Any, kernel: Pair, windows: Windows, size: Pair) -> Any:
        """Return an array of shape (n, c, *size)."""
        ctx.places, ctx.kernel, ctx.windows = places, kernel, windows
        on_host = arrays.to_host(d_output)
        form = _compiled("max_pool_backward", on_host, math.prod(kernel)) if places.dtype == np.int64 else None
        if form is not None:
            out = form(on_host, places, kernel, _wide(size, windows), windows.stride, windows.dilation)
            return _back(_cut(out, windows, size), d_output)
        parts = (np.where(places == place, on_host, on_host.dtype.type(0)) for place in range(math.prod(kernel)))
        return _back(_gathered(parts, kernel, windows, size), d_output)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Take the elements that the numbers were added to."""
        return either(WindowTake, d_output, places=ctx.places, **_geometry(ctx))

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """It is linear."""
        return cls.apply(*tangents, **ctx.options)


def _geometry(ctx: TensorContext) -> dict[str, Any]:
    return {"kernel": ctx.kernel, "windows": ctx.windows}


def _slices(image: Any, kernel: Pair, windows: Windows) -> Iterator[Any]:
    """Yield, for each place in a window in row-major order, a view of the elements at that place in all windows."""
    rows, columns = _count(image, kernel, windows)
    (down, right), (far, wide) = windows.stride, windows.dilation
    for i in range(0, kernel[0] * far, far):
        for j in range(0, kernel[1] * wide, wide):
            yield image[:, :, i : i + down * rows : down, j : j + right * columns : right]


def _gathered(parts: Any, kernel: Pair, windows: Windows, size: Pair) -> Any:
    """Add up one array for each place in a window where the windows lie, and cut off the padding."""
    out: Any = None
    slices: list[Any] = []
    for part, place in zip(parts, range(math.prod(kernel)), strict=True):
        if out is None:
            out = np.zeros((*part.shape[:2], *_wide(size, windows)), part.dtype)
            slices = list(_slices(out, kernel, windows))
        slices[place] += part
    return _cut(out, windows, size)


def _count(image: Any, kernel: Pair, windows: Windows) -> Any:
    """Return how many windows lie on a padded image, down and to the right."""
    return output_size(image.shape[2:], kernel, windows._replace(padding=(0, 0)))


def _compiled(form: str, array: Any, times: int = 1) -> Any:
    """Return the backend's compiled loops where they are quicker than NumPy's slices; None elsewhere."""
    is_large = array.size * times >= arrays.LARGE_AND_DEAR and array.dtype.kind == "f"
    return getattr(backends.quickest(), form, None) if is_large and backends.is_quick() else None


def _wide(size: Pair, windows: Windows) -> Pair:
    return size[0] + 2 * windows.padding[0], size[1] + 2 * windows.padding[1]


def _cut(image: Any, windows: Windows, size: Pair) -> Any:
    """Return a padded image without the padding."""
    top, left = windows.padding
    return (
        image if not top and not left else np.ascontiguousarray(image[:, :, top : top + size[0], left : left + size[1]])
    )


class _Places(Function):
    """The place of each window's output in the window: the first one, where several are equal, but the last nan."""

    raw = True
    differentiable = False

    @staticmethod
    def forward(ctx: Any, image: Any, output: Any, kernel: Pair, windows: Windows) -> Any:
        """Return numbers of places in the output's shape, for an image that is padded already."""
        slices = list(_slices(image, kernel, windows))
        inside = [np.True_] * len(slices)
        if any(windows.padding):
            (top, left), (height, width) = windows.padding, image.shape[2:]
            edge = padded(np.ones((1, 1, height - 2 * top, width - 2 * left), bool), windows.padding)
            inside = list(_slices(edge, kernel, windows))
        places = np.zeros(output.shape, np.uint8 if len(slices) <= 256 else np.int64)
        for place in reversed(range(len(slices))):
            np.copyto(places, places.dtype.type(place), where=(slices[place] == output) & inside[place])
        if np.isnan(output).any():
            for place, part in enumerate(slices):
                np.copyto(places, places.dtype.type(place), where=np.isnan(part))
        return places


class _MaxIndices(Function):
    """Where each window's largest element stands in its image, as PyTorch counts: row by row, without padding."""

    raw = True
    differentiable = False

    @staticmethod
    def forward(ctx: Any, x: Any, output: Any, kernel: Pair, windows: Windows) -> Any:
        """Return int64 numbers in the shape of the output, the largest elements."""
        image, (rows, columns) = padded(arrays.to_host(x), windows.padding, lowest(x.dtype)), output.shape[2:]
        places = _Places.forward(None, image, arrays.to_host(output), kernel, windows).astype(np.int64)
        (top, left), (down, right), (far, wide) = windows.padding, windows.stride, windows.dilation
        row = places // kernel[1] * far + (np.arange(rows) * down - top)[:, None]
        return _back(row * x.shape[3] + places % kernel[1] * wide + (np.arange(columns) * right - left), x)


MaxIndices = _MaxIndices
MaxIndices.__name__ = "MaxIndices"  # as graphs call it


def _places(ctx: TensorContext) -> Any:
    """Return which place of each window holds its output."""
    if ctx.places is None:
        # In a trace both are tensors.
        find = _Places.apply if hasattr(ctx.image, "chain_rule") else functools.partial(_Places.forward, None)
        ctx.places = find(ctx.image, ctx.output_array, kernel=ctx.kernel, windows=ctx.windows)
    return ctx.places


def lowest(dtype: Any) -> Any:
    """Return what no element of a type is below.

    >>> from minigrad.nn.pool_functions import lowest
    >>> lowest(np.dtype(np.float32)), lowest(np.dtype(np.int32))
    (-inf, -2147483648)
    """
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def _back(out: Any, like: Any) -> Any:
    """Return a NumPy array on the device of another array."""
    return out if arrays.on_host(like) else backends.cuda().from_host(out)
