"""Further activations and norms as functions. `minigrad.nn.functional` exports them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from minigrad import backends
from minigrad.backends import arrays
from minigrad.functions import where
from minigrad.tensors import Tensor, creation, need_tensors, several


def _floats(name: str, x: Tensor) -> Tensor:
    need_tensors(name, x)
    return x if x.dtype.kind == "f" else x.to(backends.default_float())


def same_floats(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return two tensors of one shape in the type that a computation with both has; integers become floats.

    >>> from minigrad.nn.activation_functions import same_floats
    >>> [each.dtype for each in same_floats(minigrad.tensor([1]), minigrad.tensor([2.0]))]
    [dtype('float32'), dtype('float32')]
    """
    first, second = x._array.dtype, y._array.dtype
    if first is second and first.kind == "f":
        return x, y
    kind = arrays.promote([x._array, y._array])
    kind = kind if kind.kind == "f" else backends.default_float()
    return x if first == kind else x.to(kind), y if second == kind else y.to(kind)


def changed(name: str, input: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Give a tensor the values of a function of it, and return it: what ``inplace=True`` asks for.

    The function gets a copy, as rules of differentiation may need the values that are overwritten.

    Args:
        name: Of the operation.
        input: Floats; as for every change in place, no leaf that requires gradients.
        function: Returns a tensor of the same shape.
    """
    need_tensors(name, input)
    if input.dtype.kind != "f":
        raise TypeError(f"{name}: inplace=True puts floats into a tensor of {input.dtype}; convert it with .float()")
    return input.copy_(function(input.clone()))


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Keep positive elements, and multiply the others by a small slope; inplace changes the input itself.

    >>> minigrad.nn.functional.leaky_relu(minigrad.tensor([-1.0, 2.0]), 0.1)
    tensor([-0.1,  2.0])
    """
    if inplace:
        return changed("leaky_relu", input, lambda x: leaky_relu(x, negative_slope))
    x = _floats("leaky_relu", input)
    return where(x > 0.0, x, x * negative_slope)  # type: ignore[no-any-return]


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Keep positive elements, and multiply the others by a weight of their channel.

    Args:
        input: Of shape (batch, channels, ...), or (channels,).
        weight: Of shape (channels,) or (1,).

    >>> minigrad.nn.functional.prelu(minigrad.tensor([-1.0, 2.0]), minigrad.tensor([0.25]))
    tensor([-0.25,  2.00])
    """
    x = _floats("prelu", input)
    channels = x.shape[1 if x.ndim > 1 else 0] if x.ndim else 1
    if weight.numel() not in (1, channels):
        raise ValueError(f"prelu: {weight.numel()} weights for the {channels} channels of shape {tuple(x.shape)}")
    column = weight if weight.numel() == 1 or x.ndim < 3 else weight.view(-1, *(1,) * (x.ndim - 2))
    positive = x > 0.0  # whose gradient in the weight is 0, and not 0 times an infinite x
    return where(positive, x, x.masked_fill(positive, 0.0) * column)  # type: ignore[no-any-return]


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Keep positive elements, and give alpha * (e^x - 1) for the others; inplace changes the input itself.

    >>> minigrad.nn.functional.elu(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    if inplace:
        return changed("elu", input, lambda x: elu(x, alpha))
    x = _floats("elu", input)
    # Behind a large x, e^x would be infinite, and its gradient 0 times that.
    return where(x > 0.0, x, alpha * (x.masked_fill(x > 0.0, 0.0).exp() - 1.0))  # type: ignore[no-any-return]


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Compute x * sigmoid(x), also called swish; inplace changes the input itself.

    >>> minigrad.nn.functional.silu(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    if inplace:
        return changed("silu", input, silu)
    x = _floats("silu", input)
    return x * x.sigmoid()


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Compute log(1 + e^(beta x)) / beta: a relu with a round corner.

    Args:
        input: Of any shape.
        beta: The larger it is, the sharper is the corner.
        threshold: Where beta x is larger, x itself is returned.

    >>> minigrad.nn.functional.softplus(minigrad.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """
    x = _floats("softplus", input)
    high = x * beta > threshold
    return where(high, x, (x * beta).masked_fill(high, 0.0).exp().log1p() / beta)  # type: ignore[no-any-return]


def logsigmoid(input: Tensor) -> Tensor:
    """Compute the logarithm of the sigmoid, also where the sigmoid is 0.

    >>> minigrad.nn.functional.logsigmoid(minigrad.tensor([-200.0, 0.0]))
    tensor([-200.0000,   -0.6931])
    """
    x = _floats("logsigmoid", input)
    positive = x > 0.0
    low, high = x.masked_fill(positive, 0.0), x.masked_fill(x <= 0.0, 0.0)
    return where(positive, -(-high).exp().log1p(), low - low.exp().log1p())  # type: ignore[no-any-return]


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Move every element into [min_val, max_val]. At and behind the bounds, the gradient is 0.

    With inplace, the input itself is changed.

    >>> minigrad.nn.functional.hardtanh(minigrad.tensor([-3.0, 0.5]))
    tensor([-1.0,  0.5])
    """
    if inplace:
        return changed("hardtanh", input, lambda x: hardtanh(x, min_val, max_val))
    x = _floats("hardtanh", input)
    inside = (x > min_val) == (x < max_val)  # or nan, for which neither holds
    return where(inside, x, x.detach().clamp(min_val, max_val))  # type: ignore[no-any-return]


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Move every element into [0, 6]; inplace changes the input itself.

    >>> minigrad.nn.functional.relu6(minigrad.tensor([-1.0, 2.0, 8.0]))
    tensor([0., 2., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Compute x times the probability that a standard normal number is below x.

    Args:
        input: Of any shape.
        approximate: "tanh" approximates that probability by a tanh.

    >>> minigrad.nn.functional.gelu(minigrad.tensor([1.0]))
    tensor([0.8413])
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate is {approximate!r}; it must be 'none' or 'tanh'")
    need_tensors("gelu", input)
    if approximate == "none":
        return input.gelu()
    x = _floats("gelu", input)
    return x * 0.5 * ((x + 0.044715 * x * x * x) * math.sqrt(2.0 / math.pi)).tanh().add(1.0)


def normalize(input: Tensor, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12) -> Tensor:
    """Divide vectors by their p-norm, or by eps where that is larger.

    Args:
        input: Of any shape.
        p: The order of the norm.
        dim: The axis or axes of the vectors.
        eps: The least divisor.

    >>> minigrad.nn.functional.normalize(minigrad.tensor([[3.0, 4.0]]))
    tensor([[0.6, 0.8]])
    """
    x = _floats("normalize", input)
    return x / x.norm(p, dim, keepdim=True).clamp(min=eps)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Compute the cosine of the angle between vectors along an axis.

    Args:
        x1: Of any shape.
        x2: Of a shape that broadcasts with it.
        dim: The axis of the vectors, in the shape to which both broadcast.
        eps: The least length by which a product is divided.

    >>> minigrad.nn.functional.cosine_similarity(minigrad.tensor([[1.0, 0.0]]), minigrad.tensor([[1.0, 1.0]]))
    tensor([0.7071])
    """
    need_tensors("cosine_similarity", x1, x2)
    if x1.shape != x2.shape:  # along the vectors' axis as well: a vector of equal elements is longer than one of them
        x1, x2 = several.broadcast_tensors(x1, x2)
    first, second = (x / x.norm(2, dim, keepdim=True).clamp(min=eps) for x in same_floats(x1, x2))
    return (first * second).sum(dim)


MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""The modes of `pad` that repeat elements, by the names of `numpy.pad`."""


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Put a margin around the last axes.

    Args:
        input: Of any shape.
        pad: For the last axis, how many elements to add in front and behind; then for the axis before, and so on.
            Negative numbers cut elements off.
        mode: What the margin holds: "constant" a value, "reflect" the elements beyond the edge as in a mirror that
            stands on the last one, "replicate" the last one, "circular" those of the other end.
        value: The value; None puts 0.

    Raises:
        ValueError: For another mode, numbers that are not pairs for the tensor's axes, or a margin that is wider than
            what it repeats.

    >>> minigrad.nn.functional.pad(minigrad.ones(1, 2), (1, 0, 0, 1), value=9.0)
    tensor([[9., 1., 1.],
            [9., 9., 9.]])
    >>> minigrad.nn.functional.pad(minigrad.arange(4.0), (2, 1), mode="reflect")
    tensor([2., 1., 0., 1., 2., 3., 2.])
    """
    need_tensors("pad", input)
    if mode != "constant" and mode not in MODES:
        raise ValueError(f"pad: mode is {mode!r}; it must be 'constant', {', '.join(map(repr, MODES))}")
    if mode != "constant" and value is not None:
        raise ValueError(f"pad: a value is for the mode 'constant', not {mode!r}")
    numbers = list(pad)
    if len(numbers) % 2 or len(numbers) > 2 * input.ndim:
        raise ValueError(f"pad: {tuple(numbers)} for shape {tuple(input.shape)}; give two numbers for each last axis")
    out = input
    for place in range(len(numbers) // 2):
        axis, (before, behind) = input.ndim - 1 - place, numbers[2 * place : 2 * place + 2]
        size = out.shape[axis]
        if size + before + behind < 0:
            raise ValueError(f"pad: {(before, behind)} cuts off more than axis {axis} of size {size} has")
        start, stop = max(0, -before), size - max(0, -behind)
        if (start, stop) != (0, size):
            out = out.narrow(axis, start, stop - start)
        if before > 0 or behind > 0:
            out = _with_margins(out, axis, (max(before, 0), max(behind, 0)), mode, value)
    return out if out is not input else input.clone()


def _with_margins(x: Tensor, axis: int, widths: tuple[int, int], mode: str, value: float | None) -> Tensor:
    """Put margins in front of an axis and behind it."""
    size = x.shape[axis]
    if mode == "constant":
        shapes = [[n if i != axis else width for i, n in enumerate(x.shape)] for width in widths]
        margins = [creation.full(shape, value or 0, x.dtype, x.device) for shape in shapes]
        return creation.cat([margins[0], x, margins[1]], axis)
    most = size - 1 if mode == "reflect" else size if mode == "circular" else max(widths) if size else 0
    if max(widths) > most:
        raise ValueError(
            f"pad: a margin of {max(widths)} elements in mode {mode!r} for axis {axis} of size {size}, of which it can "
            f"repeat {max(most, 0)}"
        )
    return x.index_select(axis, x.from_host(np.pad(np.arange(size), widths, MODES[mode])))  # type: ignore[call-overload]


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Spread groups of r * r channels over images that are r times as high and wide.

    Args:
        input: Of shape (..., channels * r * r, height, width).
        upscale_factor: The factor r, at least 1.

    Returns:
        A tensor of shape (..., channels, height * r, width * r).

    Source: Shi and others, "Real-time single image and video super-resolution using an efficient sub-pixel
    convolutional neural network", 2016.

    >>> minigrad.nn.functional.pixel_shuffle(minigrad.arange(4.0).view(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    r = _factor("pixel_shuffle", input, upscale_factor)
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        raise ValueError(
            f"pixel_shuffle: {channels} channels of shape {tuple(input.shape)} do not split into groups of {r} * {r}"
        )
    n = len(batch)
    parts = input.reshape(*batch, channels // (r * r), r, r, height, width)
    order = (*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return parts.permute(*order).reshape(*batch, channels // (r * r), height * r, width * r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Gather squares of r * r elements in channels: what `pixel_shuffle` spreads.

    Args:
        input: Of shape (..., channels, height * r, width * r).
        downscale_factor: The factor r, at least 1.

    Returns:
        A tensor of shape (..., channels * r * r, height, width).

    >>> minigrad.nn.functional.pixel_unshuffle(minigrad.arange(4.0).view(1, 2, 2), 2).view(-1)
    tensor([0., 1., 2., 3.])
    """
    r = _factor("pixel_unshuffle", input, downscale_factor)
    *batch, channels, height, width = input.shape
    if height % r or width % r:
        raise ValueError(
            f"pixel_unshuffle: images of shape {tuple(input.shape)} do not split into squares of {r} * {r}"
        )
    n = len(batch)
    parts = input.reshape(*batch, channels, height // r, r, width // r, r)
    order = (*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return parts.permute(*order).reshape(*batch, channels * r * r, height // r, width // r)


def _factor(name: str, x: Tensor, factor: int) -> int:
    need_tensors(name, x)
    if x.ndim < 3:
        raise ValueError(f"{name}: an input of shape {tuple(x.shape)}; it needs channels, height and width")
    if type(factor) is not int or factor < 1:
        raise ValueError(f"{name}: the factor is {factor!r}; it must be a whole number from 1 on")
    return factor
