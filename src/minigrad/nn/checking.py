"""Checks of the arguments of layers and losses."""

from __future__ import annotations

from typing import Any

from minigrad.nn.convolution import Windows, output_size

__all__ = ["as_tuple", "check_probability", "check_reduction", "check_size"]


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
