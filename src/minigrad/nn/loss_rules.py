"""Losses, each as one function with its own rule.

A rule on arrays reuses what forward computed; where the rule itself is recorded, it is written with tensors.
`cross_entropy_back`, the plainest case of the last one, is an exercise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import backends, functions
from minigrad.backends import arrays
from minigrad.functions import Function

if TYPE_CHECKING:
    from minigrad.engine import TensorContext


def cross_entropy_back(logits: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the gradient of the cross entropy of a batch in its logits.

    The loss of a row is -log of the probability that the softmax of its logits gives to
    its class. The cross entropy of the batch is the mean of these losses.

    Args:
        logits: Of shape (n, classes), float32 or float64, of any size: 1000, say. They
            stay as they are.
        classes: The class of each row: whole numbers, of shape (n,).

    Returns:
        The gradient, of the shape and type of the logits.
    """
    ### BEGIN SOLUTION
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    gradient: np.ndarray = powers / powers.sum(axis=1, keepdims=True)
    gradient[np.arange(len(classes)), classes] -= 1.0
    gradient /= len(classes)
    return gradient
    ### END SOLUTION


class SquaredError(Function):
    """(x - target)^2, each of them, their sum or their mean."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, x: Any, target: Any, reduction: str) -> Any:
        """Return the loss."""
        ctx.reduction = reduction
        ctx.save_for_backward(x, target)
        small = arrays.on_host(x, target) and arrays.is_small(x.shape)
        ctx.difference = difference = x - target if small else arrays.elementwise("sub", x, target)
        return _reduced(difference * difference if small else arrays.elementwise("square", difference), reduction)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """The derivative is twice the difference."""
        x, target = ctx.saved_values
        difference = ctx.difference if _on_arrays(d_output) else x - target
        d_x = difference * (d_output * (2.0 * _part(ctx, x)))
        return d_x, (-d_x if ctx.needs_input_grad[1] else None)

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Twice the difference times its change."""
        x, target = ctx.as_variables().saved_values
        slope = (x - target) * 2.0
        return _sum_of_changes(ctx, x, (slope, -slope), tangents)


class BCEWithLogits(Function):
    """-log of the probability sigmoid(x) that a logit x gives to a target between 0 and 1.

    The loss is (1 - target) * x - log sigmoid(x), and log sigmoid(x) is min(x, 0) - log(1 + e^-|x|), whose exponent is
    never positive.
    """

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, x: Any, target: Any, reduction: str) -> Any:
        """Return the loss."""
        ctx.reduction = reduction
        ctx.save_for_backward(x, target)
        if arrays.on_host(x, target):
            ctx.small = np.exp(-np.abs(x))
            losses = (1.0 - target) * x - (np.minimum(x, 0.0) - np.log1p(ctx.small))
        else:
            small = arrays.elementwise("exp", arrays.elementwise("neg", arrays.elementwise("abs", x)))
            first = arrays.elementwise("mul", arrays.elementwise("sub", 1.0, target), x)
            softplus = arrays.elementwise("log", arrays.elementwise("add", small, 1.0))
            losses = arrays.elementwise(
                "sub", first, arrays.elementwise("sub", arrays.elementwise("min", x, 0.0), softplus)
            )
        return _reduced(losses, reduction)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """The derivative in the logit is sigmoid(x) - target, and in the target it is -x."""
        x, target = ctx.saved_values
        if _on_arrays(d_output):
            probability = np.where(x >= 0.0, x.dtype.type(1), ctx.small) / (1.0 + ctx.small)
        else:
            probability = functions.sigmoid(x)
        scale = d_output * _part(ctx, x)
        return (probability - target) * scale, (-x * scale if ctx.needs_input_grad[1] else None)

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """Both derivatives times their changes."""
        x, target = ctx.as_variables().saved_values
        return _sum_of_changes(ctx, x, (functions.sigmoid(x) - target, -x), tangents)


class CrossEntropy(Function):
    """-log of the probability that the softmax of logits (n, classes) gives to target classes (n,)."""

    raw = True

    @staticmethod
    def forward(ctx: TensorContext, x: Any, target: Any, factors: Any, reduction: str) -> Any:
        """Return the loss. Where every target is ignored, the mean is nan, and its gradient 0.

        Args:
            ctx: Keeps the softmax.
            x: The logits.
            target: int64 of shape (n,), in range; -1 is ignored.
            factors: The factors of each row's loss, 0 of an ignored one. "mean" divides by their sum.
            reduction: "mean", "sum" or "none".
        """
        ctx.reduction, ctx.target = reduction, target
        ctx.save_for_backward(x)
        on_host = arrays.to_host(x)
        # An initial value, so that there may be no classes and no rows.
        ctx.highest = on_host.max(axis=1, keepdims=True, initial=-np.inf)
        shifted = on_host - ctx.highest
        powers = np.exp(shifted)
        total = powers.sum(axis=1, keepdims=True)
        rows = np.arange(len(target))
        losses = (np.log(total)[:, 0] - shifted[rows, target]) * factors
        ignored = target < 0
        ctx.ignored = ignored if ignored.any() else None
        ctx.softmax = np.divide(powers, total, out=powers)
        ctx.rows, ctx.scale = rows, factors.astype(on_host.dtype, copy=False)
        if reduction == "mean":
            ctx.scale = ctx.scale / factors.sum()
        losses = _without(ctx, losses)
        if reduction != "none":
            losses = np.asarray(losses.sum() / factors.sum() if reduction == "mean" else losses.sum())
        out = losses.astype(on_host.dtype, copy=False)
        return out if arrays.on_host(x) else backends.cuda().from_host(out)

    @staticmethod
    def backward(ctx: TensorContext, d_output: Any) -> Any:
        """The derivative in the logits is their softmax, less 1 at the target."""
        if not _on_arrays(d_output):
            (x,) = ctx.saved_values
            column = _without(ctx, d_output * x.from_host(ctx.scale), x).reshape((-1, 1))
            return (CrossEntropy._softmax(ctx, x) - x.from_host(_one_hot(ctx))) * column
        scale = _without(ctx, d_output * ctx.scale)
        gradient = ctx.softmax * scale[:, None]
        gradient[ctx.rows, ctx.target] -= scale
        return gradient

    @staticmethod
    def _softmax(ctx: TensorContext, x: Any) -> Any:
        """The softmax as a function of the logits, of which derivatives can be taken; no shift changes it."""
        powers = functions.exp(x - x.from_host(ctx.highest))
        return powers / powers.sum(dim=1, keepdim=True)

    @classmethod
    def jvp(cls, ctx: TensorContext, *tangents: Any) -> Any:
        """The change of each row's loss, added up as the losses are."""
        (x,) = ctx.as_variables().saved_values
        slopes = CrossEntropy._softmax(ctx, x) - x.from_host(_one_hot(ctx))
        changes = _without(ctx, (slopes * tangents[0]).sum(dim=1) * x.from_host(ctx.scale), x)
        return changes if ctx.reduction == "none" else changes.sum()


def _without(ctx: TensorContext, numbers: Any, x: Any = None) -> Any:
    """Return a number for each row, with 0 for rows that are ignored: times 0 would not do for infinities and nan."""
    if ctx.ignored is None:
        return numbers
    if x is not None:  # a rule with tensors
        return numbers.masked_fill(x.from_host(ctx.ignored), 0.0)
    return np.where(ctx.ignored, numbers.dtype.type(0), numbers)


def _one_hot(ctx: TensorContext) -> Any:
    out = np.zeros(ctx.softmax.shape, ctx.softmax.dtype)
    out[np.arange(len(ctx.target)), ctx.target] = 1.0
    return out


def _on_arrays(d_output: Any) -> bool:
    return not hasattr(d_output, "chain_rule") and arrays.on_host(d_output)


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction == "none":
        return losses
    if losses.__class__ is np.ndarray and arrays.is_small(losses.shape) and losses.size:
        total = np.add.reduce(losses, axis=None)
        return np.asarray(total / losses.dtype.type(losses.size) if reduction == "mean" else total)
    total = arrays.reduce("add", losses, tuple(range(losses.ndim)))
    if reduction == "sum":
        return total
    return arrays.elementwise("div", total, float(losses.size))


def _part(ctx: TensorContext, x: Any) -> float:
    """Return the factors of each element's own loss on its way into the result."""
    if ctx.reduction != "mean":
        return 1.0
    size = math.prod(x.shape)
    return 1.0 / size if size else 1.0


def _sum_of_changes(ctx: TensorContext, x: Any, slopes: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    terms = [slope * t for slope, t in zip(slopes, tangents, strict=True) if t is not None]
    change = sum(terms[1:], terms[0])
    return change if ctx.reduction == "none" else change.sum() * _part(ctx, x)
