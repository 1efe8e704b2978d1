"""Relatives of ReLU as modules: leaky, round, or bounded."""

from __future__ import annotations

from numpy.typing import DTypeLike

from minigrad.nn import functional
from minigrad.nn.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.tensors import Tensor, creation


class LeakyReLU(Module):
    """Keeps positive elements, and multiplies the others by a small slope.

    Args:
        negative_slope: The slope.
        inplace: Whether to change the input itself.

    >>> minigrad.nn.LeakyReLU(0.1)(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.1,  2.0])
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return leaky_relu of each element."""
        return functional.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """Return the slope."""
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class PReLU(Module):
    """A leaky ReLU whose slope is learned.

    Args:
        num_parameters: One slope, or one for each channel.
        init: Where the slopes start.
        dtype: Of the slopes. None takes the default float dtype.

    >>> minigrad.nn.PReLU()(minigrad.tensor([-1.0, 2.0])).detach()
    tensor([-0.25,  2.00])
    """

    weight: Parameter

    def __init__(self, num_parameters: int = 1, init: float = 0.25, *, dtype: DTypeLike | None = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(creation.full((num_parameters,), float(init), dtype))

    def forward(self, input: Tensor) -> Tensor:
        """Return prelu of each element."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return the number of slopes."""
        return f"num_parameters={self.num_parameters}"


class ELU(Module):
    """Keeps positive elements, and gives alpha * (e^x - 1) for the others.

    Args:
        alpha: Minus the lowest value.
        inplace: Whether to change the input itself.

    >>> minigrad.nn.ELU()(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return elu of each element."""
        return functional.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Return alpha."""
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class SiLU(Module):
    """x * sigmoid(x), also called swish.

    Args:
        inplace: Whether to change the input itself.

    >>> minigrad.nn.SiLU()(minigrad.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return silu of each element."""
        return functional.silu(input, self.inplace)

    def extra_repr(self) -> str:
        """Return whether the input is changed."""
        return "inplace=True" if self.inplace else ""


class Softplus(Module):
    """log(1 + e^(beta x)) / beta: a ReLU with a round corner.

    Args:
        beta: The larger it is, the sharper is the corner.
        threshold: Where beta x is larger, x itself is returned.

    >>> minigrad.nn.Softplus()(minigrad.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        """Return softplus of each element."""
        return functional.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"beta={self.beta}, threshold={self.threshold}"


class LogSigmoid(Module):
    """The logarithm of the sigmoid.

    >>> minigrad.nn.LogSigmoid()(minigrad.tensor([0.0]))
    tensor([-0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return logsigmoid of each element."""
        return functional.logsigmoid(input)


class Hardtanh(Module):
    """Moves every element into [min_val, max_val].

    Args:
        min_val: The lower bound.
        max_val: The upper bound.
        inplace: Whether to change the input itself.

    >>> minigrad.nn.Hardtanh()(minigrad.tensor([-3.0, 0.5]))
    tensor([-1.0,  0.5])
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return hardtanh of each element."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """Return the bounds."""
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class ReLU6(Hardtanh):
    """Moves every element into [0, 6].

    Args:
        inplace: Whether to change the input itself.

    >>> minigrad.nn.ReLU6()(minigrad.tensor([-1.0, 2.0, 8.0]))
    tensor([0., 2., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Return whether the input is changed; the bounds are in the name."""
        return "inplace=True" if self.inplace else ""
