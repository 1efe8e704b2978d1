"""Visible tests of numerical derivatives."""

from __future__ import annotations

import math
from typing import Any

from minigrad.checks.expectation import expect
from minigrad.checks.runner import visible

FORWARD = "01 'One step forward'"
CENTRAL = "01 'One step to either side'"
GRADIENT = "01 'All slopes at once'"


@visible("derivatives.forward_difference", FORWARD)
def slope_over_a_large_step(student: Any) -> None:
    """For x * x at 3 with a step of 0.5 the slope is 6.5."""
    when = {
        3.25: "3.25 is the rise; divide it by epsilon",
        5.5: "5.5 is the slope to the left: the step goes to x + epsilon",
        6.0: "6 is the central difference (or the exact slope); here one of the two points is x itself",
        -6.5: "the value at the new point comes first",
    }
    seen = student.forward_difference(lambda x: x * x, 3.0, epsilon=0.5)
    expect(seen, 6.5, hint="(3.5 * 3.5 - 3 * 3) / 0.5", when=when)


@visible("derivatives.forward_difference", FORWARD)
def slope_over_a_small_step(student: Any) -> None:
    """With the small default step, the slope of sin at 1 is cos(1)."""
    expect(student.forward_difference(math.sin, 1.0), math.cos(1.0), hint="rise over run", tolerance=1e-5)


@visible("derivatives.forward_difference", FORWARD)
def one_argument_moves(student: Any) -> None:
    """Only the argument number arg moves, counted from either end."""
    seen = [student.forward_difference(_plane, 1.0, 2.0, 3.0, arg=i) for i in (0, 1, 2, -1)]
    expect(seen, [1.0, 10.0, 100.0, 100.0], hint="copy vals into a list and change the element arg", tolerance=1e-6)


@visible("derivatives.central_difference", CENTRAL)
def slope_between_two_sides(student: Any) -> None:
    """For e^x at 0 with steps of 1 the slope is sinh(1)."""
    when = {
        math.e - 1.0: "1.718 is the forward difference: the other point is x - epsilon",
        1.0 - 1.0 / math.e: "0.632 is the slope to the left: the other point is x + epsilon",
        2.0 * math.sinh(1.0): "2.35 is twice the slope: the points are 2 epsilon apart",
        -math.sinh(1.0): "the value at x + epsilon comes first",
    }
    seen = student.central_difference(math.exp, 0.0, epsilon=1.0)
    expect(seen, math.sinh(1.0), hint="(e - 1/e) / 2", when=when)


@visible("derivatives.central_difference", CENTRAL)
def much_closer(student: Any) -> None:
    """With steps of 0.001 the error is below a millionth."""
    seen = student.central_difference(math.sin, 1.0, epsilon=1e-3)
    expect(seen, math.cos(1.0), hint="both steps have the length epsilon", tolerance=1e-6)


@visible("derivatives.central_difference", CENTRAL)
def one_argument_moves_both_ways(student: Any) -> None:
    """Only the argument number arg moves, counted from either end."""
    seen = [student.central_difference(_plane, 1.0, 2.0, 3.0, arg=i) for i in (0, 1, 2, -1)]
    expect(
        seen, [1.0, 10.0, 100.0, 100.0], hint="make two lists of vals and change one element in each", tolerance=1e-6
    )


@visible("derivatives.gradient", GRADIENT)
def one_slope_for_each_argument(student: Any) -> None:
    """The gradient of x + 10 y + 100 z is (1, 10, 100)."""
    seen = [float(slope) for slope in student.gradient(_plane, 1.0, 2.0, 3.0)]
    when = {(1.0, 1.0, 1.0): "three times the slope in the first argument: pass arg on"}
    expect(seen, [1.0, 10.0, 100.0], hint="one central difference for each argument", tolerance=1e-6, when=when)


@visible("derivatives.gradient", GRADIENT)
def epsilon_is_passed_on(student: Any) -> None:
    """The steps have the length that is asked for."""
    seen = [float(slope) for slope in student.gradient(lambda x, y: x**3 + y, 0.0, 0.0, epsilon=0.5)]
    hint = "central_difference has a default of its own for epsilon: give it yours"
    expect(seen, [0.25, 1.0], hint=hint, tolerance=1e-6)


def _plane(x: float, y: float, z: float) -> float:
    return x + 10.0 * y + 100.0 * z
