"""Losses as modules. Training makes them small."""

from __future__ import annotations

from minigrad.nn import checking, functional
from minigrad.nn.module import Module
from minigrad.tensors import Tensor

__all__ = ["BCEWithLogitsLoss", "CrossEntropyLoss", "MSELoss", "NLLLoss"]


class _Loss(Module):
    """A loss.

    Args:
        reduction: "mean", "sum", or "none" for one loss for each element.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        checking.check_reduction(type(self).__name__, reduction)
        self.reduction = reduction


class MSELoss(_Loss):
    """(input - target)^2.

    Args:
        reduction: "mean", "sum", or "none" for one loss for each element.

    >>> minigrad.nn.MSELoss()(minigrad.tensor([1.0, 4.0]), minigrad.tensor([1.0, 2.0]))
    tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of an input and a target of the same shape."""
        return functional.mse_loss(input, target, self.reduction)


class BCEWithLogitsLoss(_Loss):
    """-log of the probability that logits give to targets between 0 and 1, computed without overflow.

    Args:
        reduction: "mean", "sum", or "none" for one loss for each element.

    >>> minigrad.nn.BCEWithLogitsLoss()(minigrad.tensor([0.0]), minigrad.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits and targets of the same shape."""
        return functional.binary_cross_entropy_with_logits(input, target, self.reduction)


class CrossEntropyLoss(_Loss):
    """-log of the probability that softmax of the logits gives to the target class.

    Args:
        weight: A factor for each class, or None. "mean" divides by the sum of the factors of the targets.
        ignore_index: A target that costs nothing.
        reduction: "mean", "sum", or "none" for one loss for each target.

    >>> minigrad.nn.CrossEntropyLoss()(minigrad.tensor([[0.0, 0.0]]), minigrad.tensor([1]))
    tensor(0.6931)
    """

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits of shape (batch, classes, ...) and int64 targets of shape (batch, ...)."""
        return functional.cross_entropy(input, target, self.weight, self.ignore_index, self.reduction)


class NLLLoss(CrossEntropyLoss):
    """Minus the log-probability of the target class, as `LogSoftmax` computes it.

    Arguments are those of `CrossEntropyLoss`.

    >>> minigrad.nn.NLLLoss()(minigrad.tensor([[0.5, 0.5]]).log(), minigrad.tensor([1]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of log-probabilities (batch, classes, ...) and int64 targets of shape (batch, ...)."""
        return functional.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)
