"""Losses as functions of tensors, with their arguments checked; `minigrad.nn.functional` hands them out."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.nn.activation_functions import logsigmoid, same_floats
from minigrad.nn.checking import check_integers, check_reduction, check_scores, in_range
from minigrad.nn.loss_rules import BCEWithLogits, SquaredError
from minigrad.tensors import Tensor, need_tensors


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Compute (input - target)^2.

    Args:
        input: Of any shape.
        target: Of the same shape.
        reduction: "mean", "sum", or "none" for one loss for each element.

    Raises:
        ValueError: If the shapes differ. Broadcasting would turn (n, 1) and (n,) into (n, n), which is no loss.

    >>> minigrad.nn.functional.mse_loss(minigrad.tensor([1.0, 4.0]), minigrad.tensor([1.0, 2.0]))
    tensor(2.)
    """
    input, target = _matched("mse_loss", input, target, reduction)
    return SquaredError.apply(input, target, reduction=reduction)  # type: ignore[no-any-return]


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Compute |input - target|.

    Args:
        input: Floats of any shape.
        target: Of the same shape.
        reduction: "mean", "sum", or "none" for one loss for each element.

    Raises:
        ValueError: If the shapes differ.

    >>> minigrad.nn.functional.l1_loss(minigrad.tensor([1.0, 4.0]), minigrad.tensor([1.0, 2.0]))
    tensor(1.)
    """
    input, target = _matched("l1_loss", input, target, reduction)
    return _reduced((input - target).abs(), reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Compute half the squared difference over beta where the difference is below beta, else |difference| - beta / 2.

    Args:
        input: Floats of any shape.
        target: Of the same shape.
        reduction: "mean", "sum", or "none" for one loss for each element.
        beta: Where the parabola becomes a line; 0 gives `l1_loss`.

    Raises:
        ValueError: If the shapes differ, or beta is negative.

    Source: Girshick, "Fast R-CNN", 2015, equation 3, for a beta of 1.

    >>> x, target = minigrad.tensor([0.5, 3.0]), minigrad.zeros(2)
    >>> minigrad.nn.functional.smooth_l1_loss(x, target, reduction="none")
    tensor([0.125, 2.500])
    """
    input, target = _matched("smooth_l1_loss", input, target, reduction)
    if not beta >= 0.0:
        raise ValueError(f"smooth_l1_loss: beta is {beta}; it must be at least 0")
    if beta == 0.0:
        return l1_loss(input, target, reduction)
    difference = input - target
    near = difference.clamp(-beta, beta)  # of which the parabola is made; beyond it, the loss is near * difference
    return _reduced((near / beta) * (difference - near * 0.5), reduction)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Compute half the squared difference where the difference is below delta, else a line: delta * `smooth_l1_loss`.

    Args:
        input: Floats of any shape.
        target: Of the same shape.
        reduction: "mean", "sum", or "none" for one loss for each element.
        delta: Where the parabola becomes a line; more than 0.

    >>> minigrad.nn.functional.huber_loss(minigrad.tensor([0.5, 3.0]), minigrad.zeros(2), reduction="none")
    tensor([0.125, 2.500])
    """
    if not delta > 0.0:
        raise ValueError(f"huber_loss: delta is {delta}; it must be more than 0")
    input, target = _matched("huber_loss", input, target, reduction)
    return smooth_l1_loss(input, target, reduction, beta=delta) * delta


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Compute target * (log target - input): how far probabilities are from those of a model.

    Args:
        input: The model's log-probabilities, of any shape.
        target: Probabilities of the same shape.
        reduction: "batchmean" divides the sum by the size of the first axis, and is the divergence of mathematics;
            "mean" divides by the number of elements; "sum"; or "none".
        log_target: Whether target holds log-probabilities, too.

    >>> half = minigrad.tensor([[0.5, 0.5]])
    >>> minigrad.nn.functional.kl_div(half.log(), minigrad.tensor([[1.0, 0.0]]), reduction="batchmean")
    tensor(0.6931)
    """
    input, target = _matched("kl_div", input, target, "sum" if reduction == "batchmean" else reduction)
    if log_target:
        losses = target.exp() * (target - input)
    else:
        nothing = target == 0.0  # whose logarithm counts 0 times
        losses = target * target.masked_fill(nothing, 1.0).log() - target * input
    if reduction == "batchmean":
        return losses.sum() / (input.shape[0] if input.ndim else 1)
    return _reduced(losses, reduction)


def of_probabilities(
    scores: Tensor, target: Tensor, weight: Tensor | None, reduction: str, label_smoothing: float = 0.0
) -> Tensor:
    """Compute the cross entropy with a probability for each class.

    Args:
        scores: Log-probabilities of shape (batch, classes, ...), or (classes,).
        target: Probabilities of that shape.
        weight: A factor for each class, or None.
        reduction: "mean" of the examples, "sum", or "none" for one loss for each of them.
        label_smoothing: The part of each target that is spread evenly over all classes, from 0 to 1.

    >>> from minigrad.nn.loss_functions import of_probabilities
    >>> of_probabilities(minigrad.tensor([[-1.0, -3.0]]), minigrad.tensor([[0.5, 0.5]]), None, "mean")
    tensor(2.)
    """
    scores, target = _matched("cross_entropy", scores, target, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError(f"cross_entropy: label_smoothing is {label_smoothing}; it must lie between 0 and 1")
    axis = 1 if scores.ndim > 1 else 0
    classes = scores.shape[axis]
    if label_smoothing:
        target = target * (1.0 - label_smoothing) + label_smoothing / classes
    if weight is not None:
        if tuple(weight.shape) != (classes,):
            raise ValueError(f"cross_entropy: a weight of shape {tuple(weight.shape)} for {classes} classes")
        scores = scores * weight.detach().reshape(-1, *(1,) * (scores.ndim - axis - 1))
    return _reduced(-(scores * target).sum(axis), reduction)


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Compute -(target log input + (1 - target) log(1 - input)): minus the logarithm of a probability.

    A logarithm counts as -100 at least, as in PyTorch. Behind a sigmoid, `binary_cross_entropy_with_logits` loses no
    digits.

    Args:
        input: Probabilities of any shape.
        target: Numbers between 0 and 1, of the same shape.
        weight: Factors that broadcast to that shape, or None.
        reduction: "mean", "sum", or "none" for one loss for each element.

    Raises:
        ValueError: If the shapes differ, or an input is no probability.

    >>> probabilities, targets = minigrad.tensor([0.5, 0.9]), minigrad.tensor([1.0, 1.0])
    >>> minigrad.nn.functional.binary_cross_entropy(probabilities, targets, reduction="none")
    tensor([0.6931, 0.1054])
    """
    input, target = _matched("binary_cross_entropy", input, target, reduction)
    wrong = ((input < 0.0) | (input > 1.0)).any()
    if not wrong.abstract and bool(wrong):
        raise ValueError("binary_cross_entropy: an input is outside of [0, 1]; logits go into ..._with_logits")
    never, always = input == 0.0, input == 1.0
    log = input.masked_fill(never, 1.0).log().masked_fill(never, -100.0).clamp(min=-100.0)
    log_of_rest = (-input.masked_fill(always, 0.0)).log1p().masked_fill(always, -100.0).clamp(min=-100.0)
    losses = (target - 1.0) * log_of_rest - target * log
    return _reduced(losses if weight is None else losses * weight, reduction)


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.mean()


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Compute -log of the probability that logits give to targets: target 1 has probability sigmoid(input).

    Args:
        input: Logits of any shape.
        target: Numbers between 0 and 1, of the same shape.
        weight: Factors that broadcast to that shape, or None.
        reduction: "mean", "sum", or "none" for one loss for each element.
        pos_weight: Factors of the part of the loss that belongs to target 1, or None.

    Raises:
        ValueError: If the shapes differ.

    >>> logits, targets = minigrad.tensor([0.0, 2.0]), minigrad.tensor([1.0, 1.0])
    >>> minigrad.nn.functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    tensor([0.6931, 0.1269])
    """
    name = "binary_cross_entropy_with_logits"
    need_tensors(name, input, target)
    if target.dtype.kind != "f":
        raise TypeError(f"{name}: targets are probabilities, got a tensor of {target.dtype}; convert it with .float()")
    input, target = _matched(name, input, target, reduction)
    if weight is None and pos_weight is None:
        return BCEWithLogits.apply(input, target, reduction=reduction)  # type: ignore[no-any-return]
    losses = -target * logsigmoid(input) * (1.0 if pos_weight is None else pos_weight)
    losses = losses - (1.0 - target) * logsigmoid(-input)
    return _reduced(losses if weight is None else losses * weight, reduction)


def _matched(name: str, x: Tensor, target: Tensor, reduction: str) -> tuple[Tensor, Tensor]:
    """Return an input and a target of one shape in the floating type that a computation with both has."""
    check_reduction(name, reduction)
    need_tensors(name, x, target)
    if x._array.shape != target._array.shape:
        raise ValueError(
            f"{name}: an input of shape {tuple(x.shape)} and a target of shape {tuple(target.shape)}; they must be the "
            "same"
        )
    return same_floats(x, target)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Compute minus the log-probability of the target class; arguments as for `functional.cross_entropy`.

    Args:
        input: Log-probabilities of shape (batch, classes, ...), or (classes,).
        target: Classes: int64 of shape (batch, ...), or ().
        weight: A factor for each class, or None.
        ignore_index: A target that costs nothing.
        reduction: "mean", "sum", or "none" for one loss for each target.
    """
    if getattr(target, "abstract", False):
        return nll_loss_of_each("nll_loss", input, target, weight, ignore_index, reduction)
    rows, places, factors = rows_and_targets("nll_loss", input, target, weight, ignore_index, reduction)
    losses = rows[rows.from_host(np.arange(len(places))), rows.from_host(places)] * rows.from_host(-factors)
    ignored = places < 0
    if ignored.any():
        losses = losses.masked_fill(rows.from_host(ignored), 0.0)
    if reduction == "none":
        return losses.view(*target.shape)
    return losses.sum() if reduction == "sum" else losses.sum() / float(factors.sum())


def nll_loss_of_each(
    name: str, x: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str
) -> Tensor:
    """Compute `nll_loss` under `transforms.vmap` and in a trace, where nobody can look at the targets here.

    Args:
        name: Whose loss it is, for messages.
        x: Log-probabilities of shape (batch, classes, ...), or (classes,).
        target: Classes: int64 of shape (batch, ...), or ().
        weight: A factor for each class, or None.
        ignore_index: A target that costs nothing.
        reduction: "mean", "sum", or "none" for one loss for each target.

    >>> from minigrad.nn.loss_functions import nll_loss_of_each
    >>> scores = minigrad.tensor([[-1.0, -2.0], [-3.0, -4.0]])
    >>> nll_loss_of_each("nll_loss", scores, minigrad.tensor([0, 1]), None, -100, "none")
    tensor([1., 4.])
    """
    axis = 1 if x.ndim > 1 else 0
    check_targets(name, x, target, weight, reduction)
    counts = target != ignore_index
    places = in_range(target * counts, x.shape[axis], f"{name}: {NO_CLASS}")
    losses = -x.gather(axis, places.unsqueeze(axis)).view(*target.shape)
    factors = _factors(x, places, counts, weight)
    return _reduced_by(losses if weight is None else losses * factors, factors, counts, reduction)


def _factors(x: Tensor, places: Tensor, counts: Tensor, weight: Tensor | None) -> Tensor:
    """Return the factor of each target: that of its class, or 1; and 0 of one that is ignored."""
    return counts.to(x.dtype) if weight is None else weight.detach()[places] * counts


def _reduced_by(losses: Tensor, factors: Tensor, counts: Tensor, reduction: str) -> Tensor:
    """Reduce losses that have their factors already. Where none counts, the mean is nan, and its gradient 0."""
    losses = losses.masked_fill(~counts, 0.0)  # and not times 0: the score of an ignored target may be infinite
    return losses.sum() / factors.sum() if reduction == "mean" else _reduced(losses, reduction)


def smoothed(
    scores: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str, label_smoothing: float
) -> Tensor:
    """Compute the cross entropy with targets of which a part is spread evenly over all classes.

    Args:
        scores: Log-probabilities of shape (batch, classes, ...), or (classes,).
        target: Classes: int64 of shape (batch, ...), or ().
        weight: A factor for each class, or None.
        ignore_index: A target that costs nothing.
        reduction: "mean", "sum", or "none" for one loss for each target.
        label_smoothing: The part, from 0 to 1.

    >>> from minigrad.nn.loss_functions import smoothed
    >>> smoothed(minigrad.tensor([[-1.0, -3.0]]), minigrad.tensor([0]), None, -100, "mean", 0.5)
    tensor(1.5)
    """
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError(f"cross_entropy: label_smoothing is {label_smoothing}; it must lie between 0 and 1")
    axis = 1 if scores.ndim > 1 else 0
    of_targets = nll_loss_of_each("cross_entropy", scores, target, weight, ignore_index, "none")
    column = (-1, *(1,) * (scores.ndim - axis - 1))
    of_all = scores if weight is None else scores * weight.detach().reshape(*column)
    share = label_smoothing / scores.shape[axis]
    losses = of_targets * (1.0 - label_smoothing) - of_all.sum(axis) * share
    counts = target != ignore_index
    return _reduced_by(losses, _factors(scores, target * counts, counts, weight), counts, reduction)


NO_CLASS = "there is no class {}; the scores have {}"


def check_targets(name: str, x: Tensor, target: Tensor, weight: Tensor | None, reduction: str) -> None:
    """Raise an error if scores, targets and the weights of classes do not match."""
    check_reduction(name, reduction)
    need_tensors(name, x, target)
    check_scores(name, x)
    if not x.ndim or (x.shape[:1] + x.shape[2:] if x.ndim > 1 else ()) != tuple(target.shape):
        raise ValueError(
            f"{name}: scores of shape {tuple(x.shape)} and targets of shape {tuple(target.shape)}; the targets must "
            "have the scores' shape without axis 1"
        )
    check_integers(name, "targets are classes", target)
    classes = x.shape[1 if x.ndim > 1 else 0]
    if weight is not None and tuple(weight.shape) != (classes,):
        raise ValueError(f"{name}: a weight of shape {tuple(weight.shape)} for {classes} classes")


def rows_and_targets(
    name: str, x: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str
) -> tuple[Tensor, Any, Any]:
    """Return scores as (n, classes), classes as (n,) with -1 for ignored ones, and the factor of each target."""
    need_tensors(name, x, target)
    if x.ndim == 1:
        x, target = x.unsqueeze(0), target.unsqueeze(0) if target.ndim == 0 else target
    check_targets(name, x, target, weight, reduction)
    places = target.detach().to("cpu").numpy().reshape(-1).copy()  # the loss keeps them, and targets may be changed
    classes = x.shape[1]
    factors: Any = np.ones(len(places), x.dtype)
    if weight is not None:
        table = weight.detach().to("cpu").numpy().astype(x.dtype, copy=False)
        factors = table[np.clip(places, 0, max(classes - 1, 0))] if classes else factors
    if 0 <= ignore_index < classes or not (places.size and places.min() >= 0 and places.max() < classes):
        counts = places != ignore_index
        wrong = places[counts & ((places < 0) | (places >= classes))]
        if wrong.size:
            raise ValueError(f"{name}: {NO_CLASS.format(int(wrong[0]), classes)}")
        places, factors = np.where(counts, places, -1), np.where(counts, factors, factors.dtype.type(0))
    rows = x if x.ndim == 2 else x.permute(0, *range(2, x.ndim), 1).reshape(-1, classes)
    return rows, places, factors
