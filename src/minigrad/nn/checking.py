"""Checks of the arguments of layers and losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.backends import arrays
from minigrad.functions import Function
from minigrad.nn.convolution import Windows, output_size
from minigrad.tensors import Tensor, need_tensors


def as_tuple(name: str, value: object, count: int, least: int) -> Any:
    """Return one whole number for each axis.

    Args:
        name: What the numbers are, for messages.
        value: The numbers, or one for all axes.
        count: The number of axes.
        least: The least value.

    Raises:
        TypeError: If they are no whole numbers.
        ValueError: If one is too small, or there are not as many as axes.

    >>> from minigrad.nn.checking import as_tuple
    >>> as_tuple("stride", 2, 2, least=1), as_tuple("stride", (2, 1), 2, least=1)
    ((2, 2), (2, 1))
    """
    numbers = (value,) * count if isinstance(value, int) else value
    if not isinstance(numbers, tuple | list) or not all(type(n) is int for n in numbers):
        raise TypeError(f"{name} is {value!r}; it must be a whole number, or {count} of them")
    if len(numbers) != count or min(numbers) < least:
        raise ValueError(f"{name} is {value!r}; it must be {count} whole number{'s' * (count > 1)} from {least} on")
    return tuple(numbers)


def check_padding(name: str, padding: object, stride: object) -> None:
    """Refuse a padding by name that there is not, or that a stride rules out.

    >>> from minigrad.nn.checking import check_padding
    >>> check_padding("conv2d", "half", 1)
    Traceback (most recent call last):
        ...
    ValueError: conv2d: padding is 'half'; it must be numbers, 'same' or 'valid'
    """
    if not isinstance(padding, str):
        return
    if padding not in ("same", "valid"):
        raise ValueError(f"{name}: padding is {padding!r}; it must be numbers, 'same' or 'valid'")
    if padding == "same" and not (stride == 1 or (isinstance(stride, tuple | list) and set(stride) == {1})):
        raise ValueError(f"{name}: padding='same' is for a stride of 1, not {stride}")


def check_probability(name: str, p: float) -> None:
    """Refuse a number that is no probability.

    >>> from minigrad.nn.checking import check_probability
    >>> check_probability("dropout", 1.5)
    Traceback (most recent call last):
        ...
    ValueError: dropout: p is 1.5; a probability lies between 0 and 1
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{name}: p is {p}; a probability lies between 0 and 1")


def check_running(input: Tensor, running_mean: Tensor | None) -> None:
    """Refuse to update collected statistics by numbers that are unknown, before anything is changed."""
    if input.abstract and running_mean is not None:
        array: Any = input._array
        raise array.error(
            "batch_norm collects means and variances in place, which cannot be done here; call eval() on the module, "
            "or make it with track_running_stats=False"
        )


def check_reduction(name: str, reduction: str) -> None:
    """Refuse a reduction that there is not.

    >>> from minigrad.nn.checking import check_reduction
    >>> check_reduction("mse_loss", "median")
    Traceback (most recent call last):
        ...
    ValueError: mse_loss: reduction is 'median'; it must be 'mean', 'sum' or 'none'
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{name}: reduction is {reduction!r}; it must be 'mean', 'sum' or 'none'")


def check_size(name: str, size: Any, kernel: Any, windows: Windows) -> None:
    """Refuse an image into which no window fits."""
    if min(output_size(size, kernel, windows)) < 1 or min(kernel) < 1:
        raise ValueError(
            f"{name}: no window of size {tuple(kernel)} with dilation {windows.dilation} fits into an image of size "
            f"{tuple(size)} with padding {windows.padding}"
        )


def check_integers(name: str, what: str, x: Tensor) -> None:
    """Refuse a tensor that holds no integers.

    >>> from minigrad.nn.checking import check_integers
    >>> check_integers("cross_entropy", "targets are classes", minigrad.ones(2))
    Traceback (most recent call last):
        ...
    TypeError: cross_entropy: targets are classes, got a tensor of float32; convert it with .long()
    """
    if x.dtype.kind not in "iu":
        raise TypeError(f"{name}: {what}, got a tensor of {x.dtype}; convert it with .long()")


def check_scores(name: str, scores: Tensor) -> None:
    """Refuse scores that are no floats, such as targets in their place.

    >>> from minigrad.nn.checking import check_scores
    >>> check_scores("cross_entropy", minigrad.tensor([1, 2]))
    Traceback (most recent call last):
        ...
    TypeError: cross_entropy: scores come first and are floats, got a tensor of int64; convert it with .float()
    """
    need_tensors(name, scores)
    if scores.dtype.kind != "f":
        raise TypeError(
            f"{name}: scores come first and are floats, got a tensor of {scores.dtype}; convert it with .float()"
        )


def check_sizes(name: str, **sizes: int) -> None:
    """Refuse a size that is no whole number from 1 on.

    >>> from minigrad.nn.checking import check_sizes
    >>> check_sizes("Linear", in_features=0)
    Traceback (most recent call last):
        ...
    ValueError: Linear: in_features is 0; it must be at least 1
    """
    for size, value in sizes.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name}: {size} is a {type(value).__name__}; it must be a whole number")
        if value < 1:
            raise ValueError(f"{name}: {size} is {value}; it must be at least 1")


def padding_row(name: str, padding_idx: int | None, rows: int) -> int | None:
    """Return the number of the row for padding, counted from 0, or None.

    Args:
        name: What asks, for the message.
        padding_idx: The number; a negative one counts from the end.
        rows: How many rows there are.

    >>> from minigrad.nn.checking import padding_row
    >>> padding_row("embedding", -1, 5)
    4
    """
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise ValueError(f"{name}: padding_idx {padding_idx} is none of the {rows} rows")
    return None if padding_idx is None else padding_idx % rows


class _InRange(Function):
    """The identity for numbers from 0 to less than a count; an error for others."""

    raw = True
    differentiable = False

    @staticmethod
    def forward(ctx: Any, numbers: Any, count: int, error: type[Exception], message: str) -> Any:
        """Look at the numbers."""
        wrong = np.asarray(arrays.to_host(numbers))
        wrong = wrong[(wrong < 0) | (wrong >= count)]
        if wrong.size:
            raise error(message.format(int(wrong.flat[0]), count))
        return numbers


InRange = _InRange
InRange.__name__ = "InRange"  # as graphs call it


def in_range(numbers: Tensor, count: int, message: str, error: type[Exception] = ValueError) -> Any:
    """Return numbers that are looked at where they are used as places: under vmap, and when a traced graph runs.

    Args:
        numbers: A tensor of integers.
        count: What they must be less than; and at least 0.
        message: What is said of a wrong number: the text has a place for it, and one for the count.
        error: The class of the error.

    >>> from minigrad.nn.checking import in_range
    >>> in_range(minigrad.tensor([1, 3]), 3, "there is no row {}; the table has {}")
    Traceback (most recent call last):
        ...
    ValueError: there is no row 3; the table has 3
    """
    return InRange.apply(numbers, count=count, error=error, message=message)
