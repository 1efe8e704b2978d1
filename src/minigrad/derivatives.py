"""Numerical derivatives: slopes measured by evaluating a function at nearby points.

They need nothing but the function itself, which makes them slow and inexact, and the judge of every exact rule.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["central_difference", "forward_difference", "gradient"]


def forward_difference(
    f: Callable[..., float],
    *vals: float,
    arg: int = 0,
    epsilon: float = 1e-6,
) -> float:
    """Approximate the derivative of f in one argument by a step to one side.

    It is the rise over the run: (f(..., x_i + epsilon, ...) - f(..., x_i, ...)) /
    epsilon.

    Args:
        f: A function of n numbers.
        *vals: The n numbers x at which to measure the slope.
        arg: The index i of the argument to move; -1 is the last.
        epsilon: The length of the step.

    Returns:
        The approximate derivative, with an error proportional to epsilon.
    """
    moved = list(vals)
    moved[arg] += epsilon
    return (f(*moved) - f(*vals)) / epsilon


def central_difference(
    f: Callable[..., float],
    *vals: float,
    arg: int = 0,
    epsilon: float = 1e-6,
) -> float:
    """Approximate the derivative of f in one argument by a step to either side.

    It is the rise over the run: (f(..., x_i + epsilon, ...) - f(..., x_i - epsilon,
    ...)) / (2 epsilon).

    Args:
        f: A function of n numbers.
        *vals: The n numbers x at which to measure the slope.
        arg: The index i of the argument to move; -1 is the last.
        epsilon: The length of each step.

    Returns:
        The approximate derivative, with an error proportional to epsilon squared.
    """
    ### BEGIN SOLUTION
    above, below = list(vals), list(vals)
    above[arg] += epsilon
    below[arg] -= epsilon
    return (f(*above) - f(*below)) / (2.0 * epsilon)
    ### END SOLUTION


def gradient(
    f: Callable[..., float],
    *vals: float,
    epsilon: float = 1e-6,
) -> list[float]:
    """Approximate all partial derivatives of f, by central differences.

    Args:
        f: A function of n numbers.
        *vals: The n numbers at which to measure the slopes.
        epsilon: The length of each step.

    Returns:
        The n partial derivatives, in the order of the arguments.
    """
    ### BEGIN SOLUTION
    return [central_difference(f, *vals, arg=i, epsilon=epsilon) for i in range(len(vals))]
    ### END SOLUTION
