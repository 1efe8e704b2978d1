"""PyTorch's flags as rules: what a tensor says about gradients, and what each way to make or change one does to that.

Three questions can be put to every tensor: `requires_grad`, `is_leaf`, and whether it has a `grad_fn`. Of the eight
possible answers only three occur. The engine follows the rules below; nothing in the library calls them, and tests
compare both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from minigrad.errors import GraphError

__all__ = [
    "CONSTANT",
    "PARAMETER",
    "RESULT",
    "Flags",
    "flags_after_change",
    "flags_after_requires_grad_",
    "flags_of",
    "flags_of_result",
    "gets_grad",
]


class Flags(NamedTuple):
    """The answers of a tensor to three questions about gradients.

    Attributes:
        requires_grad: Whether derivatives in it, or through it, are asked for.
        is_leaf: Whether no recorded operation made it.
        has_grad_fn: Whether it knows the operation that made it: ``grad_fn is not None``.
    """

    requires_grad: bool
    is_leaf: bool
    has_grad_fn: bool


CONSTANT = Flags(requires_grad=False, is_leaf=True, has_grad_fn=False)
"""Data, targets, and every result that was not recorded."""

PARAMETER = Flags(requires_grad=True, is_leaf=True, has_grad_fn=False)
"""A leaf that gradients are asked for."""

RESULT = Flags(requires_grad=True, is_leaf=False, has_grad_fn=True)
"""The result of a recorded operation."""


def flags_of(tensor: Any) -> Flags:
    """Return the flags of a tensor, of minigrad or of PyTorch.

    >>> minigrad.flags.flags_of(minigrad.ones(2, requires_grad=True) * 2.0)
    Flags(requires_grad=True, is_leaf=False, has_grad_fn=True)
    """
    return Flags(tensor.requires_grad, tensor.is_leaf, tensor.grad_fn is not None)


def flags_of_result(
    inputs: Sequence[Flags],
    recording: bool = True,
    floating: bool = True,
) -> Flags:
    """Return the flags of the new tensor that an operation returns.

    The operation is recorded if recording is on, if the result consists of floats, and
    if at least one input requires gradients. What is not recorded is a constant.

    Args:
        inputs: The flags of the operation's inputs.
        recording: False inside ``no_grad()``.
        floating: False for a result without slopes, such as that of a comparison or of
            argmax.
    """
    ### BEGIN SOLUTION
    recorded = recording and floating and any(x.requires_grad for x in inputs)
    return RESULT if recorded else CONSTANT
    ### END SOLUTION


def flags_after_change(
    x: Flags,
    others: Sequence[Flags],
    recording: bool = True,
) -> Flags:
    """Return a tensor's flags after a change in place.

    ``x.add_(y)``, ``x += y`` and ``x[0] = y`` are such changes.

    Where recording is off, the values change and the flags stay. Where it is on, a leaf
    that requires gradients refuses. Any other tensor has the operation for its history
    if x or one of the others requires gradients; else it stays a constant.

    Args:
        x: The flags that the tensor had before.
        others: The flags of the operation's other inputs.
        recording: False inside ``no_grad()``.

    Raises:
        GraphError: If x is a leaf that requires gradients, and recording is on.
    """
    ### BEGIN SOLUTION
    if not recording:
        return x
    if x.is_leaf and x.requires_grad:
        raise GraphError("a leaf that requires gradients cannot be changed in place")
    return RESULT if any(each.requires_grad for each in (x, *others)) else CONSTANT
    ### END SOLUTION


def flags_after_requires_grad_(x: Flags, value: bool) -> Flags:
    """Return the flags of a tensor after ``x.requires_grad_(value)``.

    A leaf requires gradients or not, as it is told. A result requires them already, so
    True changes nothing; and its history cannot be taken back, so False is refused.

    Raises:
        GraphError: If x is no leaf, and the value is False.
    """
    ### BEGIN SOLUTION
    if x.is_leaf:
        return PARAMETER if value else CONSTANT
    if not value:
        raise GraphError("only a leaf can be told not to require gradients; detach() cuts a result off")
    return x
    ### END SOLUTION


def gets_grad(x: Flags, retained: bool = False) -> bool:
    """Return whether a backward pass that comes by x stores a gradient in ``x.grad``.

    Leaves that require gradients keep theirs. A result hands its own on, and keeps it
    only if that was asked for.

    Args:
        x: The tensor's flags.
        retained: Whether ``x.retain_grad()`` was called.
    """
    ### BEGIN SOLUTION
    return x.requires_grad and (x.is_leaf or retained)
    ### END SOLUTION
