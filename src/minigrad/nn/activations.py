"""Functions of each element, and of a row of them, as modules."""

from __future__ import annotations

from minigrad.nn import functional
from minigrad.nn.module import Module
from minigrad.tensors import Tensor


class ReLU(Module):
    """Keeps positive elements, and replaces the others by 0.

    Args:
        inplace: Whether to change the input itself.

    >>> minigrad.nn.ReLU()(minigrad.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return relu of each element."""
        return functional.relu(input, self.inplace)

    def extra_repr(self) -> str:
        """Return whether the input is changed."""
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """1 / (1 + e^-x).

    >>> minigrad.nn.Sigmoid()(minigrad.tensor([-1.0, 0.0, 1.0]))
    tensor([0.2689, 0.5000, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return sigmoid of each element."""
        return functional.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent.

    >>> minigrad.nn.Tanh()(minigrad.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.7616,  0.0000,  0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return tanh of each element."""
        return functional.tanh(input)


class GELU(Module):
    """x times the probability that a standard normal number is below x.

    Args:
        approximate: "tanh" approximates that probability by a tanh.

    >>> minigrad.nn.GELU()(minigrad.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Return gelu of each element."""
        return functional.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        """Return the approximation, if there is one."""
        return "" if self.approximate == "none" else f"approximate={self.approximate!r}"


class _AlongAxis(Module):
    """An activation along one axis.

    Args:
        dim: The axis.
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        """Return the axis."""
        return f"dim={self.dim}"


class Softmax(_AlongAxis):
    """Turns rows of numbers into probabilities: e^x over the sum of all e^x along the axis.

    Args:
        dim: The axis, the last one by default.

    >>> minigrad.nn.Softmax(dim=1)(minigrad.tensor([[0.0, 0.0], [1.0, 3.0]]))
    tensor([[0.5000, 0.5000],
            [0.1192, 0.8808]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the probabilities."""
        return functional.softmax(input, self.dim)


class LogSoftmax(_AlongAxis):
    """The logarithm of `Softmax`, computed without overflow.

    Args:
        dim: The axis, the last one by default.

    >>> minigrad.nn.LogSoftmax(dim=0)(minigrad.tensor([0.0, 0.0]))
    tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the logarithms of the probabilities."""
        return functional.log_softmax(input, self.dim)
