"""Modules that shift and scale values to mean 0 and variance 1, or to a mean square of 1.

Source: Ioffe and Szegedy, "Batch normalization", 2015; Ba, Kiros and Hinton, "Layer normalization", 2016; Wu and He,
"Group normalization", 2018; Zhang and Sennrich, "Root mean square layer normalization", 2019.
"""

from __future__ import annotations

from numpy.typing import DTypeLike

from minigrad import autodiff
from minigrad.nn import functional
from minigrad.nn.checking import check_running
from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.tensors import Tensor, creation


class BatchNorm1d(Module):
    """Normalises each channel over the batch, then scales and shifts it by trained factors.

    Inputs have the shape (batch, num_features), or (batch, num_features, length).

    In evaluation the means and variances are those that training has collected.

    Args:
        num_features: The number of channels.
        eps: Added to the variance.
        momentum: The weight of a new batch in the collected mean and variance. None takes the mean over all batches.
        affine: Whether to scale by `weight` and shift by `bias`.
        track_running_stats: Whether to collect. Otherwise evaluation normalises by its own batch, too.
        dtype: Of parameters and buffers. None takes the default float dtype.

    Attributes:
        weight: Of shape (num_features,), starting at 1, or None if not affine.
        bias: Of shape (num_features,), starting at 0, or None if not affine.
        running_mean: The collected means, starting at 0.
        running_var: The collected unbiased variances, starting at 1.
        num_batches_tracked: How many batches training has seen.

    >>> layer = minigrad.nn.BatchNorm1d(1)
    >>> layer(minigrad.tensor([[1.0], [3.0]])).detach()
    tensor([[-1.],
            [ 1.]])
    >>> layer.running_mean
    tensor([0.2])
    """

    ranks: tuple[int, ...] = (2, 3)
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.weight = Parameter(creation.ones(num_features, dtype=dtype)) if affine else None
        self.bias = Parameter(creation.zeros(num_features, dtype=dtype)) if affine else None
        tracked = track_running_stats
        self.register_buffer("running_mean", creation.zeros(num_features, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", creation.ones(num_features, dtype=dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", creation.tensor(0) if tracked else None)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise an input of shape (batch, num_features, ...)."""
        self._check(input)
        return functional.batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            training=self.training or self.running_mean is None,
            momentum=self._weight_of_this_batch(),
            eps=self.eps,
        )

    def _check(self, input: Tensor) -> None:
        name = type(self).__name__
        if input.ndim not in self.ranks:
            ranks = " or ".join(map(str, self.ranks))
            raise ValueError(f"{name} takes {ranks} axes, got shape {tuple(input.shape)}")
        if input.shape[1] != self.num_features:
            raise ValueError(f"{name} has {self.num_features} channels, got shape {tuple(input.shape)}: axis 1 differs")
        if self.training:
            check_running(input, self.running_mean)

    def _weight_of_this_batch(self) -> float:
        if not self.training or self.num_batches_tracked is None:
            return 0.0
        with autodiff.no_grad():
            self.num_batches_tracked.add_(1)
        return 1.0 / float(self.num_batches_tracked.item()) if self.momentum is None else self.momentum

    def extra_repr(self) -> str:
        """Return the settings.

        >>> minigrad.nn.BatchNorm1d(4)
        BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)
        """
        tracked = self.running_mean is not None
        settings = f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"
        return f"{settings}, affine={self.weight is not None}, track_running_stats={tracked}"


class BatchNorm2d(BatchNorm1d):
    """Normalises each channel of images, of shape (batch, num_features, height, width), over the batch.

    Arguments and attributes are those of `BatchNorm1d`.

    >>> minigrad.nn.BatchNorm2d(3)(minigrad.randn(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """

    ranks = (4,)


class LayerNorm(Module):
    """Normalises over the last axes, then scales and shifts by trained factors.

    Args:
        normalized_shape: The sizes of those axes. One number stands for the last axis alone.
        eps: Added to the variance.
        elementwise_affine: Whether to scale by `weight` and shift by `bias`.
        bias: Whether to shift.
        dtype: Of the parameters. None takes the default float dtype.

    Attributes:
        weight: Of shape normalized_shape, starting at 1, or None if not affine.
        bias: Of shape normalized_shape, starting at 0, or None if not affine, or without bias.

    >>> minigrad.nn.LayerNorm(2)(minigrad.tensor([[1.0, 3.0], [10.0, 30.0]])).detach()
    tensor([[-1.,  1.],
            [-1.,  1.]])
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        affine = elementwise_affine
        self.weight = Parameter(creation.ones(*self.normalized_shape, dtype=dtype)) if affine else None
        self.bias = Parameter(creation.zeros(*self.normalized_shape, dtype=dtype)) if affine and bias else None

    def forward(self, input: Tensor) -> Tensor:
        """Normalise an input of shape (..., *normalized_shape)."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the settings.

        >>> minigrad.nn.LayerNorm(4)
        LayerNorm((4,), eps=1e-05, elementwise_affine=True)
        """
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.weight is not None}"


class RMSNorm(Module):
    """Scales to a mean square of 1 over the last axes, then by trained factors.

    Args:
        normalized_shape: The sizes of those axes. One number stands for the last axis alone.
        eps: Added to the mean square; None takes the distance from 1 to the next number of the input's type.
        elementwise_affine: Whether to scale by `weight`.
        dtype: Of the parameter. None takes the default float dtype.

    Attributes:
        weight: Of shape normalized_shape, starting at 1, or None if not affine.

    >>> minigrad.nn.RMSNorm(2)(minigrad.tensor([[3.0, 3.0], [-1.0, 1.0]])).detach()
    tensor([[ 1.,  1.],
            [-1.,  1.]])
    """

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...],
        eps: float | None = None,
        elementwise_affine: bool = True,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        ones = creation.ones(*self.normalized_shape, dtype=dtype)
        self.weight = Parameter(ones) if elementwise_affine else None

    def forward(self, input: Tensor) -> Tensor:
        """Scale an input of shape (..., *normalized_shape)."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the settings.

        >>> minigrad.nn.RMSNorm(4)
        RMSNorm((4,), eps=None, elementwise_affine=True)
        """
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.weight is not None}"


class GroupNorm(Module):
    """Normalises groups of channels of each example, then scales and shifts each channel by trained factors.

    Args:
        num_groups: Into how many groups the channels are split.
        num_channels: The number of channels.
        eps: Added to the variance.
        affine: Whether to scale by `weight` and shift by `bias`.
        dtype: Of the parameters. None takes the default float dtype.

    Attributes:
        weight: Of shape (num_channels,), starting at 1, or None if not affine.
        bias: Of shape (num_channels,), starting at 0, or None if not affine.

    >>> minigrad.nn.GroupNorm(2, 4)(minigrad.tensor([[1.0, 3.0, 10.0, 30.0]])).detach()
    tensor([[-1.,  1., -1.,  1.]])
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels do not split into {num_groups} groups")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight = Parameter(creation.ones(num_channels, dtype=dtype)) if affine else None
        self.bias = Parameter(creation.zeros(num_channels, dtype=dtype)) if affine else None

    def forward(self, input: Tensor) -> Tensor:
        """Normalise an input of shape (batch, num_channels, ...)."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the settings.

        >>> minigrad.nn.GroupNorm(2, 4)
        GroupNorm(2, 4, eps=1e-05, affine=True)
        """
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.weight is not None}"
