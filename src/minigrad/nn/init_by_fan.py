"""Starting values whose spread follows from a layer's inputs and outputs. `minigrad.nn.init` exports them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from minigrad.nn.init import calculate_gain, normal_, uniform_
from minigrad.tensors import Tensor
from minigrad.tensors.creation import Generator


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill evenly over [-bound, bound) with bound = gain * sqrt(3 / fan): variances stay the same from layer to layer.

    Args:
        tensor: Weights of shape (outputs, inputs, ...).
        a: The negative slope behind the layer, for "leaky_relu".
        mode: "fan_in" keeps the variance on the way forward, "fan_out" on the way back.
        nonlinearity: As for `calculate_gain`.
        generator: As for `uniform_`.

    >>> weight = minigrad.nn.init.kaiming_uniform_(minigrad.zeros(4, 6), nonlinearity="relu")
    >>> weight.abs().max().item() <= (6 / 6) ** 0.5  # gain sqrt(2), 6 inputs
    True
    """
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3.0 / max(1, _fan(tensor, mode)))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill with normally distributed numbers of deviation gain / sqrt(fan). Arguments as for `kaiming_uniform_`.

    >>> weight = minigrad.nn.init.kaiming_normal_(minigrad.zeros(20, 200), nonlinearity="relu")
    >>> round(weight.std().item(), 2)  # sqrt(2 / 200)
    0.1
    """
    std = calculate_gain(nonlinearity, a) / math.sqrt(max(1, _fan(tensor, mode)))
    return normal_(tensor, 0.0, std, generator)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill evenly over [-bound, bound) with bound = gain * sqrt(6 / (fan_in + fan_out)).

    Args:
        tensor: Weights of shape (outputs, inputs, ...).
        gain: A factor, see `calculate_gain`.
        generator: As for `uniform_`.

    >>> weight = minigrad.nn.init.xavier_uniform_(minigrad.zeros(4, 2))
    >>> weight.abs().max().item() <= 1.0  # sqrt(6 / (2 + 4))
    True
    """
    bound = gain * math.sqrt(6.0 / max(1, sum(_fans(tensor.shape))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with normally distributed numbers of deviation gain * sqrt(2 / (fan_in + fan_out)).

    >>> weight = minigrad.nn.init.xavier_normal_(minigrad.zeros(20, 180))
    >>> round(weight.std().item(), 2)  # sqrt(2 / (20 + 180))
    0.1
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / max(1, sum(_fans(tensor.shape)))), generator)


def _fans(shape: Sequence[int]) -> tuple[int, int]:
    """Return how many inputs an output has, and how many outputs an input reaches."""
    if len(shape) < 2:
        raise ValueError(f"an initialisation by fan needs weights of at least two axes, got shape {tuple(shape)}")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _fan(tensor: Tensor, mode: str) -> int:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is {mode!r}; it must be 'fan_in' or 'fan_out'")
    return _fans(tensor.shape)[mode == "fan_out"]
