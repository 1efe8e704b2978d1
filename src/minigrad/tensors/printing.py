"""Prints a tensor as PyTorch does: values, then every attribute that differs from the usual."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import backends
from minigrad.tensors import abstract_mode

if TYPE_CHECKING:
    from minigrad.tensors import Tensor

USUAL = frozenset((np.dtype(bool), np.dtype(np.int64)))


def printed(tensor: Tensor) -> str:
    """Return the text of a tensor.

    Args:
        tensor: The tensor. Values have 4 digits, with an exponent where they differ by more; a large tensor is
            abbreviated.

    >>> from minigrad.tensors.printing import printed
    >>> printed(minigrad.tensor([1.5, 2.0], requires_grad=True))
    'tensor([1.5, 2.0], requires_grad=True)'
    """
    name = "tensor" if type(tensor).__name__ == "Tensor" else type(tensor).__name__
    array = abstract_mode.elements(tensor)
    marks: list[str] = []
    if not array.size:
        marks.append(f"size={tensor.shape}")
    if array.dtype not in USUAL and array.dtype != backends.default_float():
        marks.append(f"dtype={array.dtype}")
    if tensor.device != "cpu":
        marks.append(f"device='{tensor.device}'")
    if tensor._fn is not None:
        marks.append(f"grad_fn={tensor.grad_fn!r}")
    elif tensor.requires_grad and name == "tensor":
        marks.append("requires_grad=True")
    values = _values(array, len(name) + 1) if array.size else "[]"
    return f"{name}({', '.join([values, *marks])})"


def _values(array: Any, indent: int) -> str:
    finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
    whole = array.dtype.kind == "f" and bool(np.all(finite == np.round(finite))) and bool(np.all(np.abs(finite) < 1e8))
    with np.printoptions(precision=4, floatmode="maxprec" if whole else "maxprec_equal", threshold=1000, linewidth=100):
        return np.array2string(array, separator=", ", prefix=" " * indent, suffix=", ")
