"""Batching rules of layers: examples become images of one larger batch, or groups of channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.language import Embed
from minigrad.nn.checking import InRange
from minigrad.nn.convolution import Conv2d, ConvInput, ConvWeight
from minigrad.nn.loss_rules import BCEWithLogits, CrossEntropy, SquaredError
from minigrad.nn.pool_functions import AvgPool2d, AvgSpread, MaxIndices, MaxPool2d, WindowScatter, WindowTake
from minigrad.transforms.batching_rules import Mine, Values, aligned, batch_size, batched, rule_for


@rule_for(InRange)
def _in_range(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    return function.apply(*values, **options)


@rule_for(Embed)
def _embed(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    return values[0][:, options["tokens"]]


def _merged(x: Any) -> Any:
    """Return (examples, n, ...) as (examples * n, ...)."""
    return x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])


def _parted(x: Any, size: int) -> Any:
    """Return (examples * n, ...) as (examples, n, ...)."""
    return x.reshape(size, x.shape[0] // size if size else 0, *x.shape[1:])


def _side_by_side(x: Any) -> Any:
    """Return (examples, n, channels, ...) as (n, examples * channels, ...)."""
    size, n, channels = x.shape[:3]
    return x.permute(1, 0, *range(2, x.ndim)).reshape(n, size * channels, *x.shape[3:])


def _apart(x: Any, size: int) -> Any:
    """Return (n, examples * channels, ...) as (examples, n, channels, ...)."""
    wide = x.reshape(x.shape[0], size, x.shape[1] // size, *x.shape[2:])
    return wide.permute(1, 0, *range(2, wide.ndim))


def _of_none(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    """Return a batch of no examples: of the shape that one would have."""
    one = [x.new_zeros(x.shape[1:]) if own else x for x, own in zip(values, mine, strict=True)]
    return function.apply(*one, **options).unsqueeze(0)[:0]


@rule_for(Conv2d, ConvInput)
def _convolve(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    x, weight, *bias = values
    size = batch_size(values, mine)
    if not size:
        return _of_none(function, values, mine, options)
    if not mine[1]:
        out = _parted(function.apply(_merged(x), weight, **options), size) if mine[0] else None
        out = batched(function.apply(x, weight, **options), False, size) if out is None else out
    else:
        wide = _side_by_side(batched(x, mine[0], size))
        out = _apart(function.apply(wide, _merged(weight), **_in_groups(options, size)), size)
    if not bias:
        return out
    column = bias[0].reshape(*((size, 1) if mine[2] else (1,)), -1, 1, 1)
    return out + column


@rule_for(ConvWeight)
def _weights_of_convolution(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    size = batch_size(values, mine)
    if not size:
        return _of_none(function, values, mine, options)
    wide = [_side_by_side(batched(x, own, size)) for x, own in zip(values, mine, strict=True)]
    return _parted(function.apply(*wide, **_in_groups(options, size)), size)


def _in_groups(options: dict[str, Any], size: int) -> dict[str, Any]:
    """Return options with the channels of each example in groups of their own."""
    windows = options["windows"]
    return options | {"windows": windows._replace(groups=windows.groups * size)}


@rule_for(AvgPool2d, AvgSpread, MaxPool2d, WindowTake, WindowScatter)
def _pool(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    (x,) = values
    size = x.shape[0]
    if not size:
        return _of_none(function, values, mine, options)
    if "places" in options:
        options = options | {"places": np.concatenate([options["places"]] * size)}
    return _parted(function.apply(_merged(x), **options), size)


def _reduced(losses: Any, reduction: str) -> Any:
    axes = tuple(range(1, losses.ndim))
    return losses if reduction == "none" else losses.mean(axes) if reduction == "mean" else losses.sum(axes)


@rule_for(MaxIndices)
def _places_of_maxima(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    size = batch_size(values, mine)
    if not size:
        return _of_none(function, values, mine, options)
    both = [_merged(batched(x, own, size)) for x, own in zip(values, mine, strict=True)]
    return _parted(function.apply(*both, **options), size)


@rule_for(SquaredError, BCEWithLogits)
def _loss_of_each_element(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    size = batch_size(values, mine)
    both = [batched(x, own, size) for x, own in zip(aligned(values, mine), mine, strict=True)]
    return _reduced(function.apply(*both, reduction="none"), options["reduction"])


@rule_for(CrossEntropy)
def _cross_entropy(function: Any, values: Values, mine: Mine, options: dict[str, Any]) -> Any:
    (x,), (size, n) = values, values[0].shape[:2]
    each = {name: np.concatenate([options[name]] * size) for name in ("target", "factors")} if size else {}
    if not size:
        return _of_none(function, values, mine, options)
    losses = function.apply(_merged(x), **each, reduction="none").reshape(size, n)
    if options["reduction"] == "mean":
        return losses.sum(1) / float(options["factors"].sum())
    return _reduced(losses, options["reduction"])
