"""Operations on many gradients at once, and on sequences of different lengths."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from minigrad import autodiff
from minigrad.machine.first_use import first_use
from minigrad.nn.utils import rnn
from minigrad.tensors import Tensor, creation

__all__ = ["clip_grad_norm_", "clip_grad_value_", "rnn"]

if not TYPE_CHECKING:  # names that are not there are errors of mypy's
    __getattr__, __dir__ = first_use(__name__, {})


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients, in place, so that the norm of all their elements is at most max_norm.

    Args:
        parameters: Whose gradients are scaled.
        max_norm: The largest norm allowed.
        norm_type: The p of the norm. Infinity takes the largest absolute value.
        error_if_nonfinite: Whether a norm that is nan or infinite is an error.
        foreach: Taken, and without effect: PyTorch's choice between two routines of the same values.

    Returns:
        The norm before.

    Raises:
        ValueError: If the norm is not finite and that is an error. No gradient is changed then.

    >>> x = minigrad.tensor([0.0, 0.0], requires_grad=True)
    >>> x.grad = minigrad.tensor([3.0, 4.0])
    >>> minigrad.nn.utils.clip_grad_norm_([x], max_norm=1.0)
    tensor(5.)
    >>> x.grad
    tensor([0.6, 0.8])
    """
    gradients = _gradients(parameters)
    # Added up in float64: a sum of squares in float32 overflows from 1.8e19 on.
    parts = [np.abs(g.detach().to("cpu").numpy()).astype(np.float64) for g in gradients]
    if math.isinf(norm_type):
        total = max((float(part.max()) for part in parts if part.size), default=0.0)
    else:
        total = sum(float((part**norm_type).sum()) for part in parts) ** (1.0 / norm_type)
    if error_if_nonfinite and not math.isfinite(total):
        raise ValueError(f"clip_grad_norm_: the norm of the gradients is {total}")
    factor = max_norm / (total + 1e-6)
    if not factor >= 1.0:  # nan is handed on
        with autodiff.no_grad():
            for gradient in gradients:
                gradient.mul_(factor)
    return creation.tensor(total, dtype=gradients[0].dtype if gradients else None)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Limit every element of all gradients, in place, to the range from -clip_value to clip_value.

    Args:
        parameters: Whose gradients are limited.
        clip_value: The largest absolute value.
        foreach: Taken, and without effect, as in `clip_grad_norm_`.

    >>> x = minigrad.tensor([0.0, 0.0], requires_grad=True)
    >>> x.grad = minigrad.tensor([3.0, -0.5])
    >>> minigrad.nn.utils.clip_grad_value_([x], 1.0)
    >>> x.grad
    tensor([ 1.0, -0.5])
    """
    with autodiff.no_grad():
        for gradient in _gradients(parameters):
            gradient.copy_(gradient.clamp(-clip_value, clip_value))


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    found = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in found if p.grad is not None]
