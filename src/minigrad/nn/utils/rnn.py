"""Sequences of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from minigrad.machine.first_use import first_use
from minigrad.nn.activation_functions import pad
from minigrad.tensors import Tensor, creation, need_tensors

if not TYPE_CHECKING:  # names that are not there are errors of mypy's
    __getattr__, __dir__ = first_use(__name__, {})


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Put sequences of different lengths into one tensor, the shorter ones filled up at their end.

    Args:
        sequences: Tensors of shape (length, ...), which differ in their length only.
        batch_first: Whether the result has the shape (sequences, longest, ...), else (longest, sequences, ...).
        padding_value: What shorter sequences are filled up with.
        padding_side: "right" fills up at the end, "left" in front.

    >>> minigrad.nn.utils.rnn.pad_sequence([minigrad.tensor([1, 2]), minigrad.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    need_tensors("pad_sequence", *sequences)
    if not sequences or any(x.shape[1:] != sequences[0].shape[1:] or not x.ndim for x in sequences):
        raise ValueError("pad_sequence: needs sequences whose shapes differ along their first axis only")
    if padding_side not in ("left", "right"):
        raise ValueError(f"pad_sequence: padding_side is {padding_side!r}; it must be 'left' or 'right'")
    longest = max(len(x) for x in sequences)
    behind = [0, 0] * (sequences[0].ndim - 1)
    missing = [(0, longest - len(x)) if padding_side == "right" else (longest - len(x), 0) for x in sequences]
    filled = [pad(x, [*behind, *ends], value=padding_value) for x, ends in zip(sequences, missing, strict=True)]
    return creation.stack(filled, 0 if batch_first else 1)
