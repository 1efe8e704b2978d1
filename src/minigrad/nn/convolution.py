"""Convolution and its derivatives.

A convolution is linear in its input and in its weight. Three functions are each other's derivatives: with y = x * w,

    Conv2d        y   from x and w      its derivatives are ConvInput(dy, w) and ConvWeight(dy, x)
    ConvInput     dx  from dy and w     its derivatives are Conv2d(g, w) and ConvWeight(dy, g)
    ConvWeight    dw  from dy and x     its derivatives are Conv2d(x, g) and ConvInput(dy, g)

so that derivatives of any order are convolutions again. Each is made of the kernel of `minigrad.nn.kernels`, which may
be a student's; `minigrad.quick.convolution` has quick forms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minigrad import backends
from minigrad.backends import arrays
from minigrad.functions import Function
from minigrad.machine import overrides
from minigrad.tensor_functions import either, expand, sum_over

if TYPE_CHECKING:
    from minigrad.engine import TensorContext

Pair = tuple[int, int]


class Windows(NamedTuple):
    """How windows lie on an image.

    Attributes:
        stride: Steps between windows, down and to the right.
        padding: Zeros added on both sides of each axis.
        dilation: Steps between the elements of a window.
        groups: Into how many groups the channels are split.
    """

    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)
    groups: int = 1


PLAIN = Windows()
"""Windows side by side, one step apart, inside the image."""


def output_size(size: Sequence[int], kernel: Sequence[int], windows: Windows) -> tuple[int, ...]:
    """Return how many windows fit along each axis of an image.

    >>> from minigrad.nn.convolution import Windows, output_size
    >>> output_size((28, 28), (3, 3), Windows(stride=(1, 1), padding=(1, 1), dilation=(1, 1), groups=1))
    (28, 28)
    """
    parts = zip(size, kernel, windows.stride, windows.padding, windows.dilation, strict=True)
    return tuple((n + 2 * padding - dilation * (k - 1) - 1) // stride + 1 for n, k, stride, padding, dilation in parts)


class Conv2d(Function):
    """Sums of windows times weights: x of (n, c, h, w), weights of (o, c / groups, kh, kw), a bias of (o,) or none."""

    raw = True
    crosswise = True

    @staticmethod
    def forward(ctx: TensorContext, x: Any, weight: Any, bias: Any = None, windows: Windows = PLAIN) -> Any:
        """Return an array of shape (n, o, rows of windows, windows in a row)."""
        ctx.windows, ctx.size, ctx.kernel = windows, x.shape[2:], weight.shape[2:]
        ctx.save_for_backward(x, weight)
        out = _form("conv2d")(x, weight, windows)
        return out if bias is None else arrays.add_in_place(out, arrays.reshape(bias, (-1, 1, 1)))

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """Each input and each weight moves the outputs that it went into."""
        x, weight = ctx.saved_values
        need_x, need_weight, *need_bias = ctx.needs_input_grad
        d_x = either(ConvInput, d_output, weight, windows=ctx.windows, size=ctx.size) if need_x else None
        d_weight = either(ConvWeight, d_output, x, windows=ctx.windows, size=ctx.kernel) if need_weight else None
        if not need_bias:
            return d_x, d_weight
        return d_x, d_weight, sum_over(d_output, (0, 2, 3)) if need_bias[0] else None

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Each factor's change with the other factor, and the change of the bias."""
        factors, bias = tangents[:2], tangents[2] if len(tangents) > 2 else None
        if bias is None:
            return _product_rule(cls, ctx, factors, windows=ctx.windows)
        rows, columns = output_size(ctx.size, ctx.kernel, ctx.windows)
        images = ctx.saved_values[0].shape[0]
        change = expand(bias.reshape((-1, 1, 1)), (images, bias.shape[0], rows, columns))
        if factors == (None, None):
            return change
        return _product_rule(cls, ctx, factors, windows=ctx.windows) + change


class ConvInput(Function):
    """The transpose of `Conv2d` in its input: from the outputs' shape back to the image's."""

    raw = True
    crosswise = True

    @staticmethod
    def forward(ctx: TensorContext, d_output: Any, weight: Any, windows: Windows, size: Pair) -> Any:
        """Return an array of shape (n, c, *size)."""
        ctx.windows, ctx.size, ctx.kernel = windows, size, weight.shape[2:]
        ctx.save_for_backward(d_output, weight)
        return _form("conv_input")(d_output, weight, windows, size)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """A convolution, and a gradient of weights."""
        of_output, weight = ctx.saved_values
        need_output, need_weight = ctx.needs_input_grad
        d_first = either(Conv2d, d_output, weight, windows=ctx.windows) if need_output else None
        d_weight = either(ConvWeight, of_output, d_output, windows=ctx.windows, size=ctx.kernel)
        return d_first, d_weight if need_weight else None

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Each factor's change with the other factor."""
        return _product_rule(cls, ctx, tangents, windows=ctx.windows, size=ctx.size)


class ConvWeight(Function):
    """The transpose of `Conv2d` in its weights: from the outputs' shape back to the weights'."""

    raw = True
    crosswise = True

    @staticmethod
    def forward(ctx: TensorContext, d_output: Any, x: Any, windows: Windows, size: Pair) -> Any:
        """Return an array of shape (o, c / groups, *size)."""
        ctx.windows, ctx.size, ctx.image = windows, size, x.shape[2:]
        ctx.save_for_backward(d_output, x)
        return _form("conv_weight")(d_output, x, windows, size)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """A convolution with the change of the weights, and its transpose."""
        of_output, x = ctx.saved_values
        need_output, need_x = ctx.needs_input_grad
        d_first = either(Conv2d, x, d_output, windows=ctx.windows) if need_output else None
        d_x = either(ConvInput, of_output, d_output, windows=ctx.windows, size=ctx.image) if need_x else None
        return d_first, d_x

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Each factor's change with the other factor."""
        return _product_rule(cls, ctx, tangents, windows=ctx.windows, size=ctx.size)


def _product_rule(function: type[Function], ctx: TensorContext, tangents: Sequence[Any], **options: Any) -> Any:
    first, second = ctx.as_variables().saved_values
    d_first, d_second = tangents
    terms = [function.apply(d_first, second, **options)] if d_first is not None else []
    terms += [function.apply(first, d_second, **options)] if d_second is not None else []
    return sum(terms[1:], terms[0])


def _form(name: str) -> Callable[..., Any]:
    """Return a form that takes arrays of any device, and gives one on the device of the first."""

    def compute(first: Any, second: Any, *settings: Any) -> Any:
        form = (forms if backends.is_quick() else SPECIFIED)[name]
        out = form(arrays.to_host(first), arrays.to_host(second), *settings)
        return out if arrays.on_host(first) else backends.cuda().from_host(out)

    return compute


def _run_kernel(out: Any, x: Any, weight: Any) -> None:
    """Run the convolution that is the specification, or a student's."""
    from minigrad import compiling
    from minigrad.nn import kernels

    kernel = kernels.conv2d_kernel
    run = compiling.compile_kernel(kernel) if backends.chosen() != "python" else compiling.interpreted(kernel)
    run(out, x, weight)


def _by_groups(x: Any, weight: Any, windows: Windows) -> Any:
    """Convolve with stride 1 and without padding: each group of channels by itself."""
    n, channels, *size = x.shape
    outputs = weight.shape[0]
    out = np.empty((n, outputs, *output_size(size, weight.shape[2:], PLAIN)), x.dtype)
    step, taken = outputs // windows.groups, channels // windows.groups
    for group in range(windows.groups):
        own, theirs = slice(group * step, (group + 1) * step), slice(group * taken, (group + 1) * taken)
        _run_kernel(out[:, own], x[:, theirs], weight[own])
    return out


def padded(x: Any, padding: Pair, value: float = 0.0) -> Any:
    """Return the image with a value on both sides of its axes, or the image itself if there is no padding.

    >>> from minigrad.nn.convolution import padded
    >>> padded(np.ones((1, 1, 1, 2)), (0, 1))
    array([[[[0., 1., 1., 0.]]]])
    """
    (top, left) = padding
    if not top and not left:
        return x
    out = np.full((*x.shape[:2], x.shape[2] + 2 * top, x.shape[3] + 2 * left), value, x.dtype)
    out[:, :, top : top + x.shape[2], left : left + x.shape[3]] = x
    return out


def _spread(x: Any, steps: Pair) -> Any:
    """Return the image with steps - 1 zeros between neighbours."""
    if steps == (1, 1):
        return x
    size = [(n - 1) * step + 1 for n, step in zip(x.shape[2:], steps, strict=True)]
    out = np.zeros((*x.shape[:2], *size), x.dtype)
    out[:, :, :: steps[0], :: steps[1]] = x
    return out


def _conv2d_by_kernel(x: Any, weight: Any, windows: Windows) -> Any:
    down, right = windows.stride
    every = _by_groups(padded(x, windows.padding), _spread(weight, windows.dilation), windows)
    return np.ascontiguousarray(every[:, :, ::down, ::right])


def _input_by_kernel(d_output: Any, weight: Any, windows: Windows, size: Pair) -> Any:
    """Convolve the spread gradient with the weights turned round, inputs and outputs exchanged."""
    spread = _spread(weight, windows.dilation)[:, :, ::-1, ::-1]
    groups, (height, width) = windows.groups, spread.shape[2:]
    turned = spread.reshape(groups, -1, *spread.shape[1:]).swapaxes(1, 2)
    turned = np.ascontiguousarray(turned.reshape(-1, turned.shape[2], height, width))
    wide = padded(_spread(d_output, windows.stride), (height - 1, width - 1))
    found = _by_groups(wide, turned, windows)
    (top, left), (rows, columns) = windows.padding, size
    # What no window reaches, at the lower and right edge, keeps a gradient of 0.
    out = np.zeros((*found.shape[:2], rows + 2 * top, columns + 2 * left), found.dtype)
    out[:, :, : found.shape[2], : found.shape[3]] = found
    return np.ascontiguousarray(out[:, :, top : top + rows, left : left + columns])


def _weight_by_kernel(d_output: Any, x: Any, windows: Windows, size: Pair) -> Any:
    """Convolve the image with the spread gradient as weights: examples take the part of channels."""
    groups, (down, right), (rows, columns) = windows.groups, windows.dilation, size
    # A kernel is compiled for each combination of memory layouts; copies keep the one that it has from the way forward.
    wide = np.ascontiguousarray(padded(x, windows.padding).swapaxes(0, 1))
    spread = np.ascontiguousarray(_spread(d_output, windows.stride).swapaxes(0, 1))
    taken, given = wide.shape[0] // groups, spread.shape[0] // groups
    parts = []
    for group in range(groups):
        image = wide[group * taken : (group + 1) * taken]
        weight = spread[group * given : (group + 1) * given]
        found = _by_groups(image, weight, PLAIN)
        parts.append(found.swapaxes(0, 1)[:, :, ::down, ::right][:, :, :rows, :columns])
    return np.ascontiguousarray(np.concatenate(parts))


SPECIFIED: dict[str, Callable[..., Any]] = {
    "conv2d": _conv2d_by_kernel,
    "conv_input": _input_by_kernel,
    "conv_weight": _weight_by_kernel,
}
"""The forms by the kernels that are the specification, or a student's."""

forms = dict(SPECIFIED)
"""What computes where nothing forbids to be quick (`minigrad.quick.convolution`)."""

overrides.load_quick("convolution")
