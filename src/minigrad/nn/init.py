"""Starting values of parameters. Every function fills a tensor in place, without recording, and returns it.

Source: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010;
He, Zhang, Ren and Sun, "Delving deep into rectifiers", 2015.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import autodiff
from minigrad.machine.first_use import first_use
from minigrad.tensors import Tensor, creation
from minigrad.tensors.creation import Generator

__all__ = [
    "calculate_gain",
    "constant_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

if TYPE_CHECKING:
    from minigrad.nn.init_by_fan import kaiming_normal_, kaiming_uniform_, xavier_normal_, xavier_uniform_
else:  # names that are not there are errors of mypy's
    _BY_FAN = ("kaiming_normal_", "kaiming_uniform_", "xavier_normal_", "xavier_uniform_")
    __getattr__, __dir__ = first_use(__name__, dict.fromkeys(_BY_FAN, ".init_by_fan"))

_GAINS = {"linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3.0, "relu": math.sqrt(2.0)}


def _fill(tensor: Tensor, values: Tensor) -> Tensor:
    with autodiff.no_grad():
        tensor.copy_(values)
    return tensor


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with numbers evenly spread over [a, b).

    Args:
        tensor: Of a floating dtype.
        a: The lower bound.
        b: The upper bound.
        generator: Where random numbers come from. None takes the default generator.

    >>> weight = minigrad.nn.init.uniform_(minigrad.zeros(100), 2.0, 3.0)
    >>> bool((weight >= 2.0).all())
    True
    """
    with autodiff.no_grad():
        return _fill(tensor, creation.rand(*tensor.shape, dtype=tensor.dtype, generator=generator) * (b - a) + a)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normally distributed numbers of that mean and standard deviation. The generator is as for `uniform_`.

    >>> weight = minigrad.nn.init.normal_(minigrad.zeros(1000), mean=5.0, std=2.0)
    >>> round(weight.mean().item()), round(weight.std().item())
    (5, 2)
    """
    with autodiff.no_grad():
        return _fill(tensor, creation.randn(*tensor.shape, dtype=tensor.dtype, generator=generator) * std + mean)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with normally distributed numbers, drawn again until they lie between a and b.

    Args:
        tensor: Of a floating dtype.
        mean: Of the whole distribution, as std is.
        std: Its standard deviation, more than 0.
        a: The lower bound, a number and no multiple of std.
        b: The upper bound, likewise.
        generator: As for `uniform_`.

    >>> weight = minigrad.nn.init.trunc_normal_(minigrad.zeros(1000), std=0.02, a=-0.01, b=0.04)
    >>> bool(((weight >= -0.01) & (weight <= 0.04)).all())
    True
    """
    if not (a < b and std > 0.0):
        raise ValueError(f"trunc_normal_: std {std}, from {a} to {b}; std must be more than 0, and a below b")
    stream = generator or creation.default_generator
    likeliest = min(max(mean, a), b)
    low, high = max(a, likeliest - 9.0 * std), min(b, likeliest + 9.0 * std)  # e^-40 of the chance lies beyond
    values = np.empty(tensor.numel())
    left = np.arange(values.size)
    while left.size:
        places, chances = stream.uniform(0.0, 1.0, (2, left.size)).numpy()
        drawn = low + (high - low) * places
        kept = chances <= np.exp(((likeliest - mean) ** 2 - (drawn - mean) ** 2) / (2.0 * std**2))
        values[left[kept]] = drawn[kept]
        left = left[~kept]
    rounded = tensor.from_host(values.astype(tensor.dtype).reshape(tensor.shape))
    return _fill(tensor, rounded.clamp(a, b))  # a number that is rounded may pass a bound


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill a matrix with rows, or columns where they are fewer, of one length that are orthogonal to each other.

    Args:
        tensor: Of shape (rows, ...); the further axes are one axis of columns.
        gain: The length.
        generator: As for `uniform_`.

    Raises:
        ValueError: If the tensor has fewer than two axes.

    Source: Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear networks", 2013.

    >>> weight = minigrad.nn.init.orthogonal_(minigrad.zeros(2, 3))
    >>> (weight @ weight.T).allclose(minigrad.eye(2), atol=1e-6)
    True
    """
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_: a tensor of shape {tuple(tensor.shape)}; it needs at least two axes")
    if not tensor.numel():
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    drawn = (generator or creation.default_generator).normal(0.0, 1.0, (rows, columns)).numpy()
    q, r = np.linalg.qr(drawn if rows >= columns else drawn.T)
    q *= np.sign(np.diag(r))  # without this, some rotations would be likelier than others
    values = (gain * (q if rows >= columns else q.T)).astype(tensor.dtype).reshape(tensor.shape)
    return _fill(tensor, tensor.from_host(values))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number.

    >>> minigrad.nn.init.constant_(minigrad.zeros(2), 0.5)
    tensor([0.5, 0.5])
    """
    with autodiff.no_grad():
        tensor.fill_(val)
    return tensor


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0.

    >>> minigrad.nn.init.zeros_(minigrad.ones(2))
    tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1.

    >>> minigrad.nn.init.ones_(minigrad.zeros(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity.

    >>> minigrad.nn.init.eye_(minigrad.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndim != 2:
        raise ValueError(f"eye_: a tensor of shape {tuple(tensor.shape)}; it must be a matrix")
    return _fill(tensor, creation.eye(tensor.shape[0], tensor.shape[1], dtype=tensor.dtype))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor by which weights must be larger because of the nonlinearity behind them.

    Args:
        nonlinearity: "linear", "conv1d", "conv2d", "sigmoid", "tanh", "relu" or "leaky_relu".
        param: The negative slope of "leaky_relu". None means 0.01.

    Raises:
        ValueError: If the nonlinearity is unknown.

    >>> round(minigrad.nn.init.calculate_gain("relu"), 4)  # sqrt(2)
    1.4142
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1.0 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        known = ", ".join([*_GAINS, "leaky_relu"])
        raise ValueError(f"calculate_gain: there is no nonlinearity {nonlinearity!r}; known are {known}")
    return _GAINS[nonlinearity]
