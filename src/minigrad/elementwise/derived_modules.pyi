"""What the table gives `minigrad.nn`, for type checkers alone: written by scripts/types_of_names.py."""

from minigrad.nn.module import Module
from minigrad.tensors import Tensor

class Sigmoid(Module):
    """Computes the sigmoid of every element: 1 / (1 + e^-x).

    >>> minigrad.nn.Sigmoid()(minigrad.tensor([-1.0, 0.0, 1.0]))
    tensor([0.2689, 0.5000, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor: ...

class Tanh(Module):
    """Computes the hyperbolic tangent of every element.

    >>> minigrad.nn.Tanh()(minigrad.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def forward(self, input: Tensor) -> Tensor: ...
