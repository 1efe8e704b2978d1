"""What the table gives `minigrad.nn.functional`, for type checkers alone: written by scripts/types_of_names.py."""

from minigrad.tensors import Tensor

def sigmoid(input: Tensor) -> Tensor:
    """Compute the sigmoid of every element: 1 / (1 + e^-x).

    >>> minigrad.nn.functional.sigmoid(minigrad.tensor([-1.0, 0.0, 1.0]))
    tensor([0.2689, 0.5000, 0.7311])
    """

def tanh(input: Tensor) -> Tensor:
    """Compute the hyperbolic tangent of every element.

    >>> minigrad.nn.functional.tanh(minigrad.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
