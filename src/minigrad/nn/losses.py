"""Losses as modules. Training makes them small."""

from __future__ import annotations

from minigrad.nn import checking, functional
from minigrad.nn.module import Module
from minigrad.tensors import Tensor


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


class L1Loss(_Loss):
    """|input - target|.

    Args:
        reduction: "mean", "sum", or "none" for one loss for each element.

    >>> minigrad.nn.L1Loss()(minigrad.tensor([1.0, 4.0]), minigrad.tensor([1.0, 2.0]))
    tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of an input and a target of the same shape."""
        return functional.l1_loss(input, target, self.reduction)


class SmoothL1Loss(_Loss):
    """A parabola where input and target differ by less than beta, else a line.

    Args:
        reduction: "mean", "sum", or "none" for one loss for each element.
        beta: Where the parabola becomes a line; 0 gives `L1Loss`.

    >>> minigrad.nn.SmoothL1Loss()(minigrad.tensor([0.5]), minigrad.tensor([0.0]))
    tensor(0.125)
    """

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of an input and a target of the same shape."""
        return functional.smooth_l1_loss(input, target, self.reduction, self.beta)


class HuberLoss(_Loss):
    """A parabola where input and target differ by less than delta, else a line of slope delta.

    Args:
        reduction: "mean", "sum", or "none" for one loss for each element.
        delta: Where the parabola becomes a line; more than 0.

    >>> minigrad.nn.HuberLoss()(minigrad.tensor([0.5]), minigrad.tensor([0.0]))
    tensor(0.125)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of an input and a target of the same shape."""
        return functional.huber_loss(input, target, self.reduction, self.delta)


class BCELoss(_Loss):
    """-log of a probability, for targets between 0 and 1; see `BCEWithLogitsLoss` for what a sigmoid would give.

    Args:
        weight: Factors that broadcast to the input's shape, or None.
        reduction: "mean", "sum", or "none" for one loss for each element.

    >>> minigrad.nn.BCELoss()(minigrad.tensor([0.5]), minigrad.tensor([1.0]))
    tensor(0.6931)
    """

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of probabilities and targets of the same shape."""
        return functional.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(_Loss):
    """-log of the probability that logits give to targets between 0 and 1, computed without overflow.

    Args:
        weight: Factors that broadcast to the input's shape, or None.
        reduction: "mean", "sum", or "none" for one loss for each element.
        pos_weight: Factors of the part of the loss that belongs to target 1, or None.

    >>> minigrad.nn.BCEWithLogitsLoss()(minigrad.tensor([0.0]), minigrad.tensor([1.0]))
    tensor(0.6931)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits and targets of the same shape."""
        return functional.binary_cross_entropy_with_logits(input, target, self.weight, self.reduction, self.pos_weight)


class CrossEntropyLoss(_Loss):
    """-log of the probability that softmax of the logits gives to the target class.

    Args:
        weight: A factor for each class, or None. "mean" divides by the sum of the factors of the targets.
        ignore_index: A target that costs nothing.
        reduction: "mean", "sum", or "none" for one loss for each target.
        label_smoothing: The part of each target that is spread evenly over all classes, from 0 to 1.

    >>> minigrad.nn.CrossEntropyLoss()(minigrad.tensor([[0.0, 0.0]]), minigrad.tensor([1]))
    tensor(0.6931)
    """

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits of shape (batch, classes, ...) and int64 targets of shape (batch, ...)."""
        return functional.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_Loss):
    """Minus the log-probability of the target class, as `LogSoftmax` computes it.

    Args:
        weight: A factor for each class, or None. "mean" divides by the sum of the factors of the targets.
        ignore_index: A target that costs nothing.
        reduction: "mean", "sum", or "none" for one loss for each target.

    >>> minigrad.nn.NLLLoss()(minigrad.tensor([[0.5, 0.5]]).log(), minigrad.tensor([1]))
    tensor(0.6931)
    """

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of log-probabilities (batch, classes, ...) and int64 targets of shape (batch, ...)."""
        return functional.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)
