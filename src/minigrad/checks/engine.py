"""Visible tests of the tensors' engine: it sums gradients to a shape."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.checks.expectation import Expectation, expect
from minigrad.checks.runner import visible
from minigrad.tensors import Tensor

REPEATS = "06 'What broadcasting repeats'"
AGAIN = "06b 'A gradient that can be differentiated'"


EACH = "say for each axis of the gradient whether the input was repeated along it, shapes aligned at the right"


def summed(student: SimpleNamespace, gradient: object, shape: tuple[int, ...], hint: str = EACH) -> Any:
    """Return the elements of a gradient that was summed to a shape."""
    try:
        found = student.unbroadcast(Tensor(gradient), shape)
    except (ValueError, IndexError) as error:
        raise Expectation(error, None, f"raised {type(error).__name__}: {error}", hint, None) from error
    return found.tolist() if isinstance(found, Tensor) else found


@visible("engine.unbroadcast", section=REPEATS)
def a_repeated_column(student: SimpleNamespace) -> None:
    """A column that was repeated to the right gets the sum of each row."""
    when = {
        ((7.0 / 3.0,), (56.0 / 3.0,)): "this is the mean: the element moved all three places, so add up",
        ((1.0,), (8.0,)): "every place that the element was repeated to counts, not only the first",
        (7.0, 56.0): "the input has an axis of size 1 here: keepdim=True keeps it",
        ((1.0, 2.0, 4.0), (8.0, 16.0, 32.0)): "an axis of size 1 was repeated: sum over it",
    }
    seen = summed(student, np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]]), (2, 1))
    expect(seen, [[7.0], [56.0]], hint="sum over axis 1, and keep it with size 1", when=when)


@visible("engine.unbroadcast", section=REPEATS)
def a_repeated_row(student: SimpleNamespace) -> None:
    """A row, of shape (2,), that was repeated down gets the sum of each column."""
    when = {
        (3.0, 12.0): "these are the sums of the rows: shapes are aligned at their last axes, so axis 0 is missing",
        ((1.0, 2.0), (4.0, 8.0)): "the gradient has an axis in front that the input does not have: sum over it",
        (2.5, 5.0): "this is the mean: add up",
    }
    seen = summed(student, np.array([[1.0, 2.0], [4.0, 8.0]]), (2,))
    expect(seen, [5.0, 10.0], hint="sum over axis 0, which the input does not have", when=when)


@visible("engine.unbroadcast", section=REPEATS)
def several_axes(student: SimpleNamespace) -> None:
    """Of shape (2, 3, 2), a gradient for the shape (3, 1) is summed over two axes, for () over all."""
    ones = np.ones((2, 3, 2))
    hint = "axes 0 and 2 were both repeated; for a number all axes were"
    expect([summed(student, ones, shape, hint) for shape in ((3, 1), ())], [[[4.0], [4.0], [4.0]], 12.0], hint=hint)


@visible("engine.unbroadcast", section=REPEATS)
def nothing_repeated(student: SimpleNamespace) -> None:
    """A gradient that has the input's shape stays as it is."""
    hint = "where no axis was repeated, nothing is to be summed"
    expect(summed(student, np.array([[1.0, 2.0]]), (1, 2)), [[1.0, 2.0]], hint=hint)


@visible("engine.unbroadcast", section=REPEATS)
def repeated_no_times(student: SimpleNamespace) -> None:
    """A row that was repeated no times has the gradient 0."""
    hint = "a size of 1 may have become 0, too: ask whether the sizes differ, not which one is larger"
    expect(summed(student, np.zeros((0, 2)), (1, 2)), [[0.0, 0.0]], hint=hint)


@visible("engine.unbroadcast", section=AGAIN)
def recorded_sum(student: SimpleNamespace) -> None:
    """The summed gradient can be differentiated again."""
    found = student.unbroadcast(Tensor(np.ones((2, 3)), requires_grad=True), (3,))
    seen = "recorded" if isinstance(found, Tensor) and found.requires_grad else "a constant"
    expect(seen, "recorded", hint="what goes by way of an array has no history: use sum and view of the gradient")
