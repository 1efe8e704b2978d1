"""Layers with weights, look-up and normalisation, as functions. `minigrad.nn.functional` exports them."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import autodiff, functions, tensor_functions
from minigrad.nn.activation_functions import pad
from minigrad.nn.checking import (
    as_tuple,
    check_integers,
    check_padding,
    check_running,
    check_size,
    in_range,
    padding_row,
)
from minigrad.nn.convolution import Conv2d, Windows
from minigrad.tensors import Tensor, need_tensors
from minigrad.tensors.creation import of_one_type


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Compute input @ weight.T + bias in one operation.

    Args:
        input: Of shape (..., in_features).
        weight: Of shape (out_features, in_features).
        bias: Of shape (out_features,), or None.

    Raises:
        ValueError: If the sizes do not match.

    >>> x, weight = minigrad.tensor([[1.0, 2.0]]), minigrad.tensor([[3.0, 4.0]])
    >>> minigrad.nn.functional.linear(x, weight, minigrad.tensor([0.5]))
    tensor([[11.5]])
    """
    try:
        size, wanted = input._array.shape, weight._array.shape  # of the arrays: this is asked at every step of training
    except AttributeError:
        need_tensors("linear", input, weight)
        raise
    if len(wanted) != 2 or not size or size[-1] != wanted[1]:
        raise ValueError(
            f"linear: an input of shape {tuple(input.shape)} and weights of shape {tuple(weight.shape)}: the input's "
            "last axis must have the size of the weights' last"
        )
    if len(size) == 1:
        return linear(input.unsqueeze(0), weight, bias).squeeze(0)
    inputs = of_one_type((input, weight) if bias is None else (input, weight, bias))
    return tensor_functions.Linear.apply(*inputs)  # type: ignore[no-any-return]


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] | str = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
) -> Tensor:
    """Slide windows of weights along lines, as `conv2d` does over images.

    Args:
        input: Of shape (batch, in_channels, width), or without batch.
        weight: Of shape (out_channels, in_channels / groups, kernel_width).
        bias: Of shape (out_channels,), or None.
        stride: Steps between windows.
        padding: Zeros added on both sides; "same" adds as many as keep the size, "valid" none.
        dilation: Steps between the elements of a window.
        groups: Into how many groups the channels are split.

    Raises:
        ValueError: If sizes do not match.

    >>> line, weight = minigrad.tensor([[[1.0, 2.0, 4.0]]]), minigrad.tensor([[[-1.0, 1.0]]])
    >>> minigrad.nn.functional.conv1d(line, weight)
    tensor([[[1., 2.]]])
    """
    if isinstance(padding, str):
        input, padding = _padded_by_name("conv1d", input, weight, padding, stride, dilation)
    windows = _windows("conv1d", stride, padding, dilation, groups)
    return _convolve("conv1d", input, weight, bias, windows)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] | str = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
) -> Tensor:
    """Slide windows of weights over images: each output is the sum of a window's elements times the weights.

    Args:
        input: Of shape (batch, in_channels, height, width), or without batch.
        weight: Of shape (out_channels, in_channels / groups, kernel_height, kernel_width).
        bias: Of shape (out_channels,), or None.
        stride: Steps between windows. One number sets both axes.
        padding: Zeros added on both sides of each axis; "same" adds as many as keep the size, "valid" none.
        dilation: Steps between the elements of a window.
        groups: Into how many groups the channels are split.

    Returns:
        A tensor of shape (batch, out_channels, rows of windows, windows in a row).

    Raises:
        ValueError: If sizes do not match.

    >>> image, weight = minigrad.ones(1, 1, 3, 3), minigrad.ones(1, 1, 2, 2)
    >>> minigrad.nn.functional.conv2d(image, weight)
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    if isinstance(padding, str):
        input, padding = _padded_by_name("conv2d", input, weight, padding, stride, dilation)
    windows = _windows("conv2d", stride, padding, dilation, groups)
    return _convolve("conv2d", input, weight, bias, windows)


def _padded_by_name(name: str, x: Tensor, weight: Tensor, padding: str, stride: Any, dilation: Any) -> tuple[Any, Any]:
    """Return an input and numbers of zeros for a padding that keeps the size, or for none."""
    check_padding(name, padding, stride)
    axes = 1 if name == "conv1d" else 2
    if padding == "valid" or weight.ndim != axes + 2:
        return x, 0
    steps = as_tuple(f"{name}: dilation", dilation, axes, 1)
    totals = [step * (k - 1) for step, k in zip(steps, weight.shape[2:], strict=True)]
    if any(total % 2 for total in totals):  # one zero more behind than in front
        x = pad(x, [n for total in reversed(totals) for n in (0, total % 2)])
    return x, tuple(total // 2 for total in totals)


def _windows(name: str, *settings: object) -> Windows:
    """Return the places of windows. A layer asks with the same settings at every step."""
    return _checked_windows(name, *(tuple(x) if isinstance(x, list) else x for x in settings))


@functools.lru_cache(maxsize=256)
def _checked_windows(
    name: str, stride: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], groups: int
) -> Windows:
    axes = 1 if name == "conv1d" else 2
    before = ((), ()) if axes == 2 else ((1,), (0,))  # a line is an image of height 1
    return Windows(
        (*before[0], *as_tuple(f"{name}: stride", stride, axes, 1)),
        (*before[1], *as_tuple(f"{name}: padding", padding, axes, 0)),
        (*before[0], *as_tuple(f"{name}: dilation", dilation, axes, 1)),
        groups,
    )


def _convolve(name: str, x: Tensor, weight: Tensor, bias: Tensor | None, windows: Windows) -> Tensor:
    axes = 1 if name == "conv1d" else 2
    if x.ndim == axes + 1 and weight.ndim == axes + 2:
        return _convolve(name, x.unsqueeze(0), weight, bias, windows).squeeze(0)
    _check_channels(name, x, weight, bias, windows.groups, axes)
    if axes == 1:
        x, weight = x.unsqueeze(2), weight.unsqueeze(2)
    check_size(name, x.shape[2:], weight.shape[2:], windows)
    operands = of_one_type((x, weight) if bias is None else (x, weight, bias))
    out = Conv2d.apply(*operands, windows=windows)
    return out.squeeze(2) if axes == 1 else out  # type: ignore[no-any-return]


def _check_channels(name: str, x: Tensor, weight: Tensor, bias: Tensor | None, groups: int, axes: int) -> None:
    shapes = f"an input of shape {tuple(x.shape)} and weights of shape {tuple(weight.shape)}"
    if x.ndim != axes + 2 or weight.ndim != axes + 2:
        raise ValueError(f"{name}: {shapes}; both need {axes + 2} axes")
    if groups < 1 or weight.shape[0] % groups or x.shape[1] != weight.shape[1] * groups:
        raise ValueError(
            f"{name}: {shapes} with {groups} groups; the input needs {weight.shape[1]} * {groups} channels, and the "
            f"{weight.shape[0]} output channels must split into {groups} groups"
        )
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        raise ValueError(f"{name}: a bias of shape {tuple(bias.shape)} for {weight.shape[0]} output channels")


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Look up rows of a table by number.

    Args:
        input: Row numbers: int64, of any shape.
        weight: The table, of shape (rows, size).
        padding_idx: A row that gets no gradient, or None. A negative number counts from the end.

    Raises:
        TypeError: If the numbers are no integers.
        IndexError: If a number is none of a row.
        ValueError: If padding_idx is none of a row.

    >>> table = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> minigrad.nn.functional.embedding(minigrad.tensor([1, 0, 1]), table)
    tensor([[3., 4.],
            [1., 2.],
            [3., 4.]])
    """
    check_integers("embedding", "row numbers are integers", input)
    padding = padding_row("embedding", padding_idx, weight.shape[0])
    numbers = in_range(input, weight.shape[0], "embedding: there is no row {}; the table has {}", IndexError)
    rows: Tensor = weight[numbers]
    if padding is None:
        return rows
    is_padding = (input == padding).unsqueeze(-1)
    return functions.where(is_padding, rows.detach(), rows)  # type: ignore[no-any-return]


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Return int64 rows that are 1 at the number given and 0 elsewhere.

    Args:
        input: Numbers from 0: int64, of any shape.
        num_classes: The size of a row. -1 means the largest number plus 1.

    >>> minigrad.nn.functional.one_hot(minigrad.tensor([2, 0]), num_classes=3)
    tensor([[0, 0, 1],
            [1, 0, 0]])
    """
    if num_classes == -1:
        if input.abstract:
            raise input._array.error("one_hot: the largest number is unknown here; give num_classes")
        num_classes = int(input.max().item()) + 1
    numbers = in_range(input, num_classes, "one_hot: there is no class {}; a row has {}")
    return (numbers.unsqueeze(-1) == input.from_host(np.arange(num_classes))).long()  # type: ignore[no-any-return]


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Shift and scale each channel to mean 0 and variance 1 over the batch, then by weight and bias.

    Args:
        input: Of shape (batch, channels, ...).
        running_mean: Collected means of shape (channels,), or None. Evaluation uses them, and training updates them.
        running_var: Collected unbiased variances, likewise.
        weight: Factors of shape (channels,), or None.
        bias: Shifts of shape (channels,), or None.
        training: Whether to take mean and variance of this batch.
        momentum: The weight of this batch in the collected values.
        eps: Added to the variance.

    Raises:
        ValueError: If training has a single value for each channel, or evaluation nothing that was collected.

    >>> batch = minigrad.tensor([[1.0], [3.0]])
    >>> minigrad.nn.functional.batch_norm(batch, None, None, training=True)
    tensor([[-1.],
            [ 1.]])
    """
    column = (1, -1, *(1,) * (input.ndim - 2))
    if not training:
        if running_mean is None or running_var is None:
            raise ValueError("batch_norm: evaluation needs running_mean and running_var")
        centred = input - running_mean.view(*column)
        return _scaled(centred, running_var.view(*column), eps, weight, bias, column)
    check_running(input, running_mean)
    axes = (0, *range(2, input.ndim))
    count = input.numel() // input.shape[1] if input.shape[1] else 0
    if count == 1:
        raise ValueError(
            f"batch_norm: an input of shape {tuple(input.shape)} has 1 value for each channel; training needs 2"
        )
    mean = input.mean(axes, keepdim=True)
    centred = input - mean
    variance = (centred * centred).mean(axes, keepdim=True)
    with autodiff.no_grad():
        if count and running_mean is not None and running_var is not None:
            running_mean.mul_(1.0 - momentum).add_(mean.view(-1) * momentum)
            running_var.mul_(1.0 - momentum).add_(variance.view(-1) * (momentum * count / (count - 1)))
    return _scaled(centred, variance, eps, weight, bias, column)


def layer_norm(
    input: Tensor,
    normalized_shape: tuple[int, ...],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Shift and scale to mean 0 and variance 1 over the last axes, then by weight and bias.

    Args:
        input: Of shape (..., *normalized_shape).
        normalized_shape: The sizes of those axes.
        weight: Factors of that shape, or None.
        bias: Shifts of that shape, or None.
        eps: Added to the variance.

    Raises:
        ValueError: If the last axes have other sizes.

    >>> minigrad.nn.functional.layer_norm(minigrad.tensor([[1.0, 3.0], [10.0, 30.0]]), (2,))
    tensor([[-1.,  1.],
            [-1.,  1.]])
    """
    axes = _last_axes("layer_norm", input, normalized_shape)
    return normalized(input, axes, weight, bias, eps)


def normalized(x: Tensor, axes: tuple[int, ...], weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    """Return x as `layer_norm` shifts and scales it over its last axes."""
    centred = x - x.mean(axes, keepdim=True)
    variance = centred.square().mean(axes, keepdim=True)
    return _scaled(centred, variance, eps, weight, bias, x.shape[axes[0] :])


def rms_norm(
    input: Tensor, normalized_shape: tuple[int, ...], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Scale to a mean square of 1 over the last axes, then by weight. Nothing is shifted.

    Args:
        input: Of shape (..., *normalized_shape).
        normalized_shape: The sizes of those axes.
        weight: Factors of that shape, or None.
        eps: Added to the mean square; None takes the distance from 1 to the next number of the input's type.

    Raises:
        ValueError: If the last axes have other sizes.

    Source: Zhang and Sennrich, "Root mean square layer normalization", 2019, equation 4.

    >>> minigrad.nn.functional.rms_norm(minigrad.tensor([[3.0, 3.0], [-1.0, 1.0]]), (2,))
    tensor([[ 1.,  1.],
            [-1.,  1.]])
    """
    axes = _last_axes("rms_norm", input, normalized_shape)
    small = float(np.finfo(input.dtype).eps) if eps is None else eps
    out = input / (input.square().mean(axes, keepdim=True) + small).sqrt()
    return out if weight is None else out * weight.view(*normalized_shape)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Shift and scale each group of channels of each example to mean 0 and variance 1, then by weight and bias.

    Args:
        input: Of shape (batch, channels, ...).
        num_groups: Into how many groups the channels are split.
        weight: Factors of shape (channels,), or None.
        bias: Shifts of shape (channels,), or None.
        eps: Added to the variance.

    Raises:
        ValueError: If the input has fewer than 2 axes, or its channels do not split into the groups.

    Source: Wu and He, "Group normalization", 2018.

    >>> minigrad.nn.functional.group_norm(minigrad.tensor([[1.0, 3.0, 10.0, 30.0]]), num_groups=2)
    tensor([[-1.,  1., -1.,  1.]])
    """
    if input.ndim < 2 or num_groups < 1 or input.shape[1] % num_groups:
        raise ValueError(
            f"group_norm: an input of shape {tuple(input.shape)} for {num_groups} groups; it must have the shape "
            "(batch, channels, ...), and its channels split into the groups"
        )
    size = math.prod(input.shape[1:]) // num_groups
    out = layer_norm(input.reshape(input.shape[0], num_groups, size), (size,), eps=eps).reshape(*input.shape)
    column = (1, -1, *(1,) * (input.ndim - 2))
    if weight is not None:
        out = out * weight.view(*column)
    return out if bias is None else out + bias.view(*column)


def _last_axes(name: str, input: Tensor, normalized_shape: Sequence[int]) -> tuple[int, ...]:
    count = len(normalized_shape)
    if not count or tuple(input.shape[-count:]) != tuple(normalized_shape):
        raise ValueError(f"{name}: an input of shape {tuple(input.shape)} does not end in {normalized_shape}")
    return tuple(range(input.ndim - count, input.ndim))


def _scaled(
    centred: Tensor,
    variance: Tensor,
    eps: float,
    weight: Tensor | None,
    bias: Tensor | None,
    shape: tuple[int, ...],
) -> Tensor:
    out = centred / (variance + eps).sqrt()
    if weight is not None:
        out = out * weight.view(*shape)
    return out if bias is None else out + bias.view(*shape)
