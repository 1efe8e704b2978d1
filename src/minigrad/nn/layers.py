"""Layers that compute with weights, and the small ones that reshape, drop or look up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike

from minigrad.nn import checking, functional, init
from minigrad.nn.activation_functions import MODES, changed
from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.tensors import Tensor, creation


class Identity(Module):
    """Returns its input. Any arguments are taken and ignored.

    >>> minigrad.nn.Identity()(minigrad.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return the input.

        >>> minigrad.nn.Identity()(minigrad.tensor([1.0, 2.0]))
        tensor([1., 2.])
        """
        return input


class Linear(Module):
    """input @ weight.T + bias.

    Args:
        in_features: The size of the input's last axis.
        out_features: The size of the output's last axis.
        bias: Whether to add a bias.
        dtype: Of the parameters. None takes the default float dtype.

    Attributes:
        weight: Of shape (out_features, in_features), starting evenly in [-b, b) with b = 1 / sqrt(in_features).
        bias: Of shape (out_features,), starting likewise, or None without bias.

    >>> layer = minigrad.nn.Linear(3, 2)
    >>> layer(minigrad.ones(5, 3)).shape, layer.weight.shape, layer.bias.shape
    ((5, 2), (2, 3), (2,))
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dtype: DTypeLike | None = None) -> None:
        super().__init__()
        checking.check_sizes("Linear", in_features=in_features, out_features=out_features)
        self.in_features = in_features
        self.out_features = out_features
        self.weight = _uniform((out_features, in_features), in_features, dtype)
        self.bias = _uniform((out_features,), in_features, dtype) if bias else None

    def forward(self, input: Tensor) -> Tensor:
        """Compute the outputs.

        Args:
            input: Of shape (..., in_features).

        Returns:
            A tensor of shape (..., out_features).

        >>> minigrad.nn.Linear(3, 2)(minigrad.ones(5, 3)).shape
        (5, 2)
        """
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the layer's sizes.

        >>> minigrad.nn.Linear(3, 2).extra_repr()
        'in_features=3, out_features=2, bias=True'
        """
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Conv2d(Module):
    """Slides windows of weights over images: a layer for inputs of shape (batch, in_channels, height, width).

    Args:
        in_channels: Channels of the input.
        out_channels: Channels of the output.
        kernel_size: Size of the window along each axis. One number sets all.
        stride: Steps between windows.
        padding: Elements added on both sides; "same" adds as many as keep the size, "valid" none.
        dilation: Steps between the elements of a window.
        groups: Into how many groups the channels are split, each convolved by itself.
        bias: Whether to add a bias.
        padding_mode: What is added: "zeros", or as `functional.pad` has it "reflect", "replicate" or "circular".
        dtype: Of the parameters. None takes the default float dtype.

    Attributes:
        weight: Of shape (out_channels, in_channels / groups, *kernel_size), starting evenly in [-b, b) with
            b = 1 / sqrt(in_channels / groups * elements of the kernel).
        bias: Of shape (out_channels,), starting likewise, or None without bias.

    >>> layer = minigrad.nn.Conv2d(1, 8, kernel_size=3, padding=1)
    >>> layer(minigrad.ones(2, 1, 28, 28)).shape
    (2, 8, 28, 28)
    """

    dims = 2
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] = 1,
        padding: int | tuple[int, ...] | str = 0,
        dilation: int | tuple[int, ...] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if padding_mode != "zeros" and padding_mode not in MODES:
            modes = ", ".join(map(repr, MODES))
            raise ValueError(f"{name}: padding_mode is {padding_mode!r}; it must be 'zeros', {modes}")
        checking.check_sizes(name, in_channels=in_channels, out_channels=out_channels, groups=groups)
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{name}: {in_channels} input and {out_channels} output channels do not split into {groups} groups"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = checking.as_tuple(f"{name}: kernel_size", kernel_size, self.dims, least=1)
        self.stride = checking.as_tuple(f"{name}: stride", stride, self.dims, least=1)
        self.padding: Any = padding
        if not isinstance(padding, str):
            self.padding = checking.as_tuple(f"{name}: padding", padding, self.dims, least=0)
        checking.check_padding(name, padding, self.stride)
        self.dilation = checking.as_tuple(f"{name}: dilation", dilation, self.dims, least=1)
        self.groups = groups
        self.padding_mode = padding_mode
        fan = in_channels // groups * math.prod(self.kernel_size)
        self.weight = _uniform((out_channels, in_channels // groups, *self.kernel_size), fan, dtype)
        self.bias = _uniform((out_channels,), fan, dtype) if bias else None

    def forward(self, input: Tensor) -> Tensor:
        """Convolve an input of shape (batch, in_channels, height, width).

        >>> minigrad.nn.Conv2d(1, 4, 3)(minigrad.ones(2, 1, 8, 8)).shape
        (2, 4, 6, 6)
        """
        input, padding = self._padded(input)
        return functional.conv2d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def _padded(self, input: Tensor) -> tuple[Tensor, Any]:
        """Return the input, and the zeros that are still to be added."""
        if self.padding_mode == "zeros":
            return input, self.padding
        widths = [(n, n) for n in self.padding] if not isinstance(self.padding, str) else [(0, 0)] * self.dims
        if self.padding == "same":
            totals = [step * (k - 1) for step, k in zip(self.dilation, self.kernel_size, strict=True)]
            widths = [(total // 2, total - total // 2) for total in totals]
        return functional.pad(input, [n for pair in reversed(widths) for n in pair], self.padding_mode), 0

    def extra_repr(self) -> str:
        """Return the sizes, and every setting that differs from its default.

        >>> minigrad.nn.Conv2d(1, 8, 3, stride=2)
        Conv2d(1, 8, kernel_size=(3, 3), stride=(2, 2))
        """
        parts = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        parts += [f"padding={self.padding}"] if isinstance(self.padding, str) or any(self.padding) else []
        parts += [f"dilation={self.dilation}"] if set(self.dilation) != {1} else []
        parts += [f"groups={self.groups}"] if self.groups != 1 else []
        parts += ["bias=False"] if self.bias is None else []
        parts += [f"padding_mode={self.padding_mode}"] if self.padding_mode != "zeros" else []
        return ", ".join(parts)


class Conv1d(Conv2d):
    """Slides windows of weights along lines: a layer for inputs of shape (batch, in_channels, width).

    Arguments and attributes are those of `Conv2d`, with one number for each axis instead of two.

    >>> minigrad.nn.Conv1d(2, 4, kernel_size=3)(minigrad.ones(1, 2, 10)).shape
    (1, 4, 8)
    """

    dims = 1

    def forward(self, input: Tensor) -> Tensor:
        """Convolve an input of shape (batch, in_channels, width).

        >>> minigrad.nn.Conv1d(1, 4, 3)(minigrad.ones(2, 1, 8)).shape
        (2, 4, 6)
        """
        input, padding = self._padded(input)
        return functional.conv1d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Flatten(Module):
    """Joins the axes from start_dim to end_dim into one.

    Args:
        start_dim: The first axis to join.
        end_dim: The last one.

    >>> minigrad.nn.Flatten()(minigrad.ones(2, 3, 4)).shape
    (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with those axes joined.

        >>> minigrad.nn.Flatten()(minigrad.ones(2, 3, 4)).shape
        (2, 12)
        """
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Return the axes.

        >>> minigrad.nn.Flatten()
        Flatten(start_dim=1, end_dim=-1)
        """
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Dropout(Module):
    """In training, replaces each element by 0 with probability p and scales the others by 1 / (1 - p).

    Args:
        p: The probability, in [0, 1].
        inplace: Whether to change the input itself.

    >>> layer = minigrad.nn.Dropout(p=0.5)
    >>> _ = layer.eval()
    >>> layer(minigrad.ones(3))
    tensor([1., 1., 1.])
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        checking.check_probability("Dropout", p)
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, with holes while training.

        >>> kept = minigrad.nn.Dropout(p=0.5)(minigrad.ones(100))
        >>> set(kept.tolist()) == {0.0, 2.0}
        True
        """
        if self.inplace and self.training:
            return changed("dropout", input, lambda x: functional.dropout(x, self.p))
        return functional.dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        """Return the probability.

        >>> minigrad.nn.Dropout(p=0.1)
        Dropout(p=0.1)
        """
        return f"p={self.p}, inplace=True" if self.inplace else f"p={self.p}"


class Dropout2d(Dropout):
    """In training, replaces each channel by 0 with probability p and scales the others by 1 / (1 - p).

    Args:
        p: The probability, in [0, 1].
        inplace: Whether to change the input itself.

    >>> minigrad.nn.Dropout2d(p=0.5).eval()(minigrad.ones(1, 1, 1, 2))
    tensor([[[[1., 1.]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, with channels of zeros while training."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Unflatten(Module):
    """Splits one axis into several.

    Args:
        dim: The axis.
        unflattened_size: The sizes that it is split into.

    >>> minigrad.nn.Unflatten(1, (2, 3))(minigrad.ones(5, 6)).shape
    (5, 2, 3)
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with that axis split."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Return the axis and its sizes."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class Embedding(Module):
    """A table of vectors, looked up by number.

    Args:
        num_embeddings: The number of rows.
        embedding_dim: The size of each.
        padding_idx: A row that starts as zeros and is not trained, or None. A negative number counts from the end.
        dtype: Of the table. None takes the default float dtype.

    Attributes:
        weight: Of shape (num_embeddings, embedding_dim), starting normally distributed.

    >>> layer = minigrad.nn.Embedding(10, 4)
    >>> layer(minigrad.tensor([[1, 2, 3]])).shape
    (1, 3, 4)
    """

    weight: Parameter

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__()
        checking.check_sizes("Embedding", num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = checking.padding_row("Embedding", padding_idx, num_embeddings)
        table = creation.randn(num_embeddings, embedding_dim, dtype=dtype)
        if self.padding_idx is not None:
            table[self.padding_idx] = 0.0
        self.weight = Parameter(table)

    def forward(self, input: Tensor) -> Tensor:
        """Look up rows.

        Args:
            input: Row numbers: int64, of any shape.

        Returns:
            A tensor of shape (*input.shape, embedding_dim).

        >>> minigrad.nn.Embedding(10, 4)(minigrad.tensor([1, 2, 3])).shape
        (3, 4)
        """
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """Return the table's sizes.

        >>> minigrad.nn.Embedding(10, 4)
        Embedding(10, 4)
        """
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


def _uniform(shape: tuple[int, ...], fan: int, dtype: DTypeLike | None) -> Parameter:
    """Make a parameter that starts evenly in [-b, b) with b = 1 / sqrt(fan)."""
    bound = 1.0 / math.sqrt(fan) if fan else 0.0
    return Parameter(init.uniform_(creation.zeros(*shape, dtype=dtype), -bound, bound))
