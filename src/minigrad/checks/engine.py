"""Visible tests of the tensors' engine: it sums gradients to a shape, and adds them up in leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.checks.expectation import Expectation, expect
from minigrad.checks.runner import visible
from minigrad.tensors import Tensor

REPEATS = "06 'What broadcasting repeats'"
LEAVES = "06 'Leaves add up'"
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


def after(student: SimpleNamespace, *gradients: Tensor) -> Tensor:
    """Return a leaf after it was given some gradients."""
    leaf = Tensor(np.zeros(2), requires_grad=True)
    for gradient in gradients:
        try:
            student.accumulate_grad(leaf, gradient)
        except ValueError as error:
            hint = "a tensor of several elements is neither true nor false: ask whether leaf.grad `is None`"
            raise Expectation(error, None, f"raised ValueError: {error}", hint, None) from error
    if leaf.grad is None:
        hint = "store the gradient in leaf.grad; what the function returns is not used"
        raise Expectation(None, None, "leaf.grad is still None", hint, None)
    return leaf


def of(*numbers: float) -> Tensor:
    """Return a vector."""
    return Tensor(np.array(numbers))


@visible("engine.accumulate_grad", section=LEAVES)
def first_gradient(student: SimpleNamespace) -> None:
    """The first gradient is stored."""
    seen: Any = after(student, of(3.0, 5.0)).grad
    expect(seen.tolist(), [3.0, 5.0], when={(6.0, 10.0): "it is there twice: store it, or add it, but not both"})


@visible("engine.accumulate_grad", section=LEAVES)
def second_gradient(student: SimpleNamespace) -> None:
    """The second one is added."""
    seen: Any = after(student, of(3.0, 5.0), of(10.0, 20.0)).grad
    expect(seen.tolist(), [13.0, 25.0], when={(10.0, 20.0): "the first gradient is lost: add to it"})


@visible("engine.accumulate_grad", section=LEAVES)
def memory_of_its_own(student: SimpleNamespace) -> None:
    """The leaf's gradient has memory of its own: what is written to it changes no other tensor."""
    given = of(3.0, 5.0)
    stored: Any = after(student, given).grad
    stored.zero_()
    expect(given.tolist(), [3.0, 5.0], hint="store gradient.clone(): other tensors may have the same memory")


@visible("engine.accumulate_grad", section=LEAVES)
def earlier_gradients_stay(student: SimpleNamespace) -> None:
    """A kept first gradient is the same after the second arrives. The second gradient stays as it was, too."""
    leaf = after(student, of(3.0, 5.0))
    kept, given = leaf.grad, of(1.0, 1.0)
    student.accumulate_grad(leaf, given)
    expect(given.tolist(), [1.0, 1.0], hint="the gradient that is given belongs to the caller: leave it as it is")
    seen: Any = kept
    expect(seen.tolist(), [3.0, 5.0], hint="+= changes a tensor in place: write leaf.grad = leaf.grad + gradient")


@visible("engine.accumulate_grad", section=AGAIN)
def recorded_gradient(student: SimpleNamespace) -> None:
    """A gradient that was recorded is stored with its history."""
    stored: Any = after(student, Tensor(np.array([3.0, 5.0]), requires_grad=True)).grad
    seen = "recorded" if stored.requires_grad else "a constant"
    expect(seen, "recorded", hint="clone() keeps the history of a tensor; detach() and arrays do not")
