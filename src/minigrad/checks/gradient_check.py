"""Visible tests of central differences for tensors, and of a judge of backward rules."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.checks.expectation import Expectation, expect, expect_that, hinting
from minigrad.checks.runner import visible
from minigrad.tensors import Tensor

CHECKING = "06b 'Is the gradient right?'"
JUDGING = "06b 'A judge of rules'"


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


# --- a judge of rules -----------------------------------------------------------------------------------------------


def _square(x: Any) -> Any:
    return x * x


def _cube(x: Any) -> Any:
    return x * x * x


def _passes(student: SimpleNamespace, f: Any, back: Any, *shapes: tuple[int, ...], hint: str) -> None:
    expect(bool(student.is_right(f, back, *shapes)), True, hint=hint, of="the verdict on a right rule")


def _is_refused(student: SimpleNamespace, f: Any, back: Any, *shapes: tuple[int, ...], hint: str) -> None:
    expect(bool(student.is_right(f, back, *shapes)), False, hint=hint, of="the verdict on a wrong rule")


@visible("gradient_check.is_right", section=JUDGING)
def right_rules_pass(student: SimpleNamespace) -> None:
    """The right rules of a square, a cube, a sum and a product pass."""
    hint = "2 x d_output is right for x * x: what f makes of a 1 among zeros is its slope only if f is linear"
    _passes(student, _square, lambda d, x: [2.0 * d * x], (4,), hint=hint)
    hint = "3 x**2 d_output is right for x**3: with a large step a difference is no slope"
    _passes(student, _cube, lambda d, x: [3.0 * d * x * x], (4,), hint=hint)
    with hinting("f may return a number of Python: np.shape(...) knows its shape, too", AttributeError):
        hint = "a sum hands d_output, one number, to every element"
        _passes(student, lambda x: float(x.sum()), lambda d, x: [np.full((2, 3), d)], (2, 3), hint=hint)
    hint = "of a @ b, the rule is (d_output @ b.T, a.T @ d_output)"
    _passes(student, lambda a, b: a @ b, lambda d, a, b: (d @ b.T, a.T @ d), (2, 3), (3, 2), hint=hint)


@visible("gradient_check.is_right", section=JUDGING)
def upstream_gradients(student: SimpleNamespace) -> None:
    """A rule for a transpose that does not transpose is refused, and so is one that takes d_output without its sign."""
    hint = "a table of ones is its own transpose: draw the upstream gradient at random"
    _is_refused(student, lambda a: a.T, lambda d, a: [d], (3, 3), hint=hint)
    hint = "this rule is right where d_output is positive: draw numbers of both signs"
    _is_refused(student, lambda x: x + x, lambda d, x: [2.0 * abs(d)], (4,), hint=hint)


@visible("gradient_check.is_right", section=JUDGING)
def inputs(student: SimpleNamespace) -> None:
    """A rule for |x| that is right on one side of 0 is refused, and so is one for a cube that is right at 1."""
    hint = "this rule of |x| is right where x is positive: draw inputs of both signs"
    _is_refused(student, np.abs, lambda d, x: [d], (8,), hint=hint)
    hint = "3 |x| d_output is right for x**3 at -1, 0 and 1: draw inputs that are no whole numbers"
    _is_refused(student, _cube, lambda d, x: [3.0 * d * abs(x)], (4,), hint=hint)
    hint = "for a single number, this rule of |x| is right in every second try: try often"
    _is_refused(student, np.abs, lambda d, x: [d], (1,), hint=hint)
    _is_refused(student, np.abs, lambda d, x: [-d], (1,), hint=hint)


@visible("gradient_check.is_right", section=JUDGING)
def places(student: SimpleNamespace) -> None:
    """A rule that is wrong in its last element, in their order, in the second input, or in the shape is refused."""
    hint = "the last element of this gradient is twice what it should be: compare all elements"
    _is_refused(student, _square, lambda d, x: [2.0 * d * x * np.array([1.0, 1.0, 2.0])], (3,), hint=hint)
    hint = "the elements of this gradient stand in reverse order: sums do not see that"
    _is_refused(student, _square, lambda d, x: [2.0 * (d * x)[::-1]], (3,), hint=hint)
    hint = "the gradient of b lacks a transpose: look at every input"
    _is_refused(student, lambda a, b: a @ b, lambda d, a, b: (d @ b.T, a @ d), (2, 2), (2, 2), hint=hint)
    hint = "this gradient has the shape (1, 3), and a the shape (2, 3): compare shapes, a difference broadcasts"
    _is_refused(student, lambda a: a.sum(0), lambda d, a: [d[None]], (2, 3), hint=hint)
    hint = "every number of this gradient is nan, which is not larger than a tolerance: ask what is small enough"
    _is_refused(student, _square, lambda d, x: [d * np.nan], (3,), hint=hint)


@visible("gradient_check.is_right", section=JUDGING)
def scales(student: SimpleNamespace) -> None:
    """2.002 x is refused for x * x; functions of 1e8 and 1e-8 are judged as others, and a slope may be 0."""
    hint = "2.002 is off by a thousandth: right rules agree to eight digits"
    _is_refused(student, _square, lambda d, x: [2.002 * d * x], (4,), hint=hint)
    hint = "this rule is right, for gradients of 1e8: a tolerance must grow with them"
    _passes(student, lambda x: 1e8 * x * x, lambda d, x: [2e8 * d * x], (4,), hint=hint)
    hint = "gradients of 1e-8, and half of what they should be: a fixed number in the tolerance hides that"
    _is_refused(student, lambda x: 1e-8 * x * x, lambda d, x: [1e-8 * d * x], (4,), hint=hint)
    hint = "two of these slopes are 0, and a difference gives 1e-10: compare with the largest slope, not with each"

    def ends(x: Any) -> Any:
        return np.stack([x.sum() - x[1:].sum(), x.sum() - x[:3].sum()])

    _passes(student, ends, lambda d, x: [np.array([d[0], 0.0, 0.0, d[1]])], (4,), hint=hint)
