"""Visible tests of central differences for tensors."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.checks.expectation import Expectation, expect, expect_that
from minigrad.checks.runner import visible
from minigrad.tensors import Tensor

CHECKING = "06b 'Is the gradient right?'"


def slope(student: SimpleNamespace, f: Callable[..., Any], *vals: object, **options: object) -> Any:
    """Return the student's estimate as a number, if it is one."""
    found = student.grad_central_difference(f, *[Tensor(x) for x in vals], **options)
    return float(found) if isinstance(found, int | float | Tensor | np.floating) else found


def cubes(x: Any) -> Any:
    """Add up the third powers of all elements."""
    return (x * x * x).sum()


@visible("gradient_check.grad_central_difference", section=CHECKING)
def cube_at_two(student: SimpleNamespace) -> None:
    """Between 1.5 and 2.5 the cube rises by 12.25."""
    when = {
        15.25: "this is the rise from 2 to 2.5, over 0.5: the other side takes part too",
        9.25: "this is the rise from 1.5 to 2, over 0.5: the other side takes part too",
        24.5: "1.5 and 2.5 are 2 epsilon apart, not epsilon",
        12.0: "the step is the argument epsilon, 0.5 here",
        0.0: "f gave the same twice: do the two copies share memory? detach() shares, clone() copies",
    }
    seen = slope(student, cubes, np.array([2.0]), epsilon=0.5)
    expect(seen, 12.25, hint="(f above - f below) / (2 epsilon)", tolerance=1e-6, when=when)


@visible("gradient_check.grad_central_difference", section=CHECKING)
def one_element(student: SimpleNamespace) -> None:
    """Only the element at ind moves, a number for each axis."""
    weights = Tensor(np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]]))
    seen = slope(student, lambda x: (x * weights).sum(), np.zeros((2, 3)), ind=(1, 0))
    when = {
        63.0: "this is the sum of all derivatives: move one element only",
        56.0: "a whole row moves: x[tuple(ind)] is one element",
        1.0: "the first element moves: use ind",
    }
    expect(seen, 8.0, hint="f weighs the element at (1, 0) with 8", tolerance=1e-6, when=when)


@visible("gradient_check.grad_central_difference", section=CHECKING)
def without_axes(student: SimpleNamespace) -> None:
    """A tensor without axes has one element, at the index ()."""
    try:
        seen = slope(student, lambda x: x * 7.0, np.array(1.0), ind=())
    except IndexError as error:
        hint = "use ind as it is, tuple(ind), instead of single numbers out of it"
        raise Expectation(error, None, f"raised IndexError: {error}", hint, None) from error
    expect(seen, 7.0, hint="f multiplies its only element by 7", tolerance=1e-6)


@visible("gradient_check.grad_central_difference", section=CHECKING)
def one_argument(student: SimpleNamespace) -> None:
    """Only the tensor that arg names moves; the others reach f as they are."""
    seen = slope(student, lambda x, y: (x * 2.0 + y * y).sum(), np.array([1.0]), np.array([5.0]), arg=1)
    when = {2.0: "the first tensor moves: arg is 1 here", 12.0: "both move: only vals[arg] should"}
    expect(seen, 10.0, hint="replace vals[arg], and hand all others on", tolerance=1e-6, when=when)


@visible("gradient_check.grad_central_difference", section=CHECKING)
def left_as_they_are(student: SimpleNamespace) -> None:
    """The tensors have the same numbers afterwards, to the last digit."""
    x = Tensor(np.array([0.1, 0.7, 1.3]))
    student.grad_central_difference(cubes, x, ind=(1,))
    hint = "move the element of a copy, x.clone(): adding and subtracting again does not restore every digit"
    expect_that(x.tolist() == [0.1, 0.7, 1.3], f"the tensor holds {x.tolist()}, and not [0.1, 0.7, 1.3] any more", hint)
