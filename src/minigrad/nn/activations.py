"""Functions of each element, and of a row of them, as modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad.elementwise.entry import OPS, Op
from minigrad.nn import functional
from minigrad.nn.module import Module
from minigrad.tensors import Tensor

if TYPE_CHECKING:
    from minigrad.elementwise.derived_modules import *  # noqa: F403 (they are made below, at the end)
else:
    __all__ = ["GELU", "LogSoftmax", "ReLU", "Softmax", *(op.module for op in OPS.values() if op.module)]


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


def _of_the_table(op: Op) -> Any:
    """Make the module of an elementwise operation."""

    def forward(self: Module, input: Tensor) -> Tensor:
        """Return the result for each element."""
        return getattr(functional, op.method)(input)  # type: ignore[no-any-return]

    forward.__qualname__ = f"{op.module}.forward"
    about = op.documented(f"Computes {op.about('every element')}.", f"minigrad.nn.{op.module}()({{0}})")
    return type(op.module, (Module,), {"__doc__": about, "__module__": __name__, "forward": forward})


for _op in OPS.values():
    if _op.module:
        globals()[_op.module] = _of_the_table(_op)
