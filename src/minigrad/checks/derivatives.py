"""Visible tests of numerical derivatives."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from minigrad.checks.expectation import expect
from minigrad.checks.runner import visible

CENTRAL = "01 'One step to either side'"
GRADIENT = "01 'All slopes at once'"

ROUNDED = "return the slope as it is, without rounding it"


@visible("derivatives.central_difference", CENTRAL)
def slope_between_two_sides(student: SimpleNamespace) -> None:
    """For e^x at 0 with steps of 0.5 the slope is 2 sinh(0.5)."""
    above, below, slope = math.exp(0.5), math.exp(-0.5), 2.0 * math.sinh(0.5)
    when = {
        2.0 * (above - 1.0): "1.297 is the forward difference: the other point is x - epsilon",
        2.0 * (1.0 - below): "0.787 is the slope to the left: the other point is x + epsilon",
        2.0 * slope: "2.08 is twice the slope: the points are 2 epsilon apart",
        slope / 4.0: "a / 2 * epsilon divides by 2, then multiplies by epsilon: put 2 * epsilon in parentheses",
        4.0 * math.sinh(0.25): "1.01 is the slope over steps of epsilon / 2: each step has the length epsilon",
        -slope: "the value at x + epsilon comes first",
    }
    seen = student.central_difference(math.exp, 0.0, epsilon=0.5)
    expect(seen, slope, hint="(e^0.5 - e^-0.5) / (2 * 0.5)", when=when)


@visible("derivatives.central_difference", CENTRAL)
def much_closer(student: SimpleNamespace) -> None:
    """With steps of 0.001 the error is below a millionth."""
    exact = math.cos(1.0)
    one_sided = [(math.sin(1.0 + step) - math.sin(1.0)) / step for step in (1e-3, -1e-3)]
    when = {
        **dict.fromkeys(one_sided, "this is the slope on one side: the points are x + epsilon and x - epsilon"),
        **dict.fromkeys([round(exact, digits) for digits in range(6)], ROUNDED),
    }
    seen = student.central_difference(math.sin, 1.0, epsilon=1e-3)
    expect(seen, exact, hint="(sin(1.001) - sin(0.999)) / 0.002", tolerance=1e-6, when=when)


@visible("derivatives.central_difference", CENTRAL)
def one_argument_moves_both_ways(student: SimpleNamespace) -> None:
    """Only the argument number arg moves, counted from either end."""
    at, moved = (1.0, 2.0, 3.0), []
    for arg in (0, 1, 2, -1):
        points: list[tuple[float, ...]] = []

        def f(*vals: float, points: list[tuple[float, ...]] = points) -> float:
            points.append(vals)
            return _plane(*vals)

        student.central_difference(f, *at, arg=arg)
        moved.append([i for i, x in enumerate(at) if any(point[i] != x for point in points)])
    when = {
        ((0,),) * 4: "the first argument moved each time: arg says which of vals does",
        ((0, 1, 2),) * 4: "all arguments moved together: only vals[arg] does",
        ((),) * 4: "nothing moved: f is asked at vals, and at points where the element arg is changed",
    }
    hint = (
        "for arg = 0, 1, 2 and -1, these are the arguments that moved; copy vals into a list and change the element arg"
    )
    expect(moved, [[0], [1], [2], [2]], hint=hint, when=when)


@visible("derivatives.gradient", GRADIENT)
def one_slope_for_each_argument(student: SimpleNamespace) -> None:
    """The gradient of x + 10 y + 100 z is (1, 10, 100)."""
    seen = _numbers(student.gradient(_plane, 1.0, 2.0, 3.0))
    when = {(1.0, 1.0, 1.0): "three times the slope in the first argument: pass arg on"}
    expect(seen, [1.0, 10.0, 100.0], hint="a list: one central difference for each argument", tolerance=1e-6, when=when)


@visible("derivatives.gradient", GRADIENT)
def epsilon_is_passed_on(student: SimpleNamespace) -> None:
    """The steps have the length that is asked for."""
    seen = _numbers(student.gradient(lambda x, y: x**3 + y, 0.0, 0.0, epsilon=0.5))
    when = {(0.0, 1.0): "central_difference has a default of its own for epsilon: give it yours"}
    expect(seen, [0.25, 1.0], hint="in x that is (0.5**3 + 0.5**3) / 1", tolerance=1e-6, when=when)


@visible("derivatives.gradient", GRADIENT)
def slopes_at_one_point(student: SimpleNamespace) -> None:
    """The gradient of x * x * y at (2, 3) is (12, 4): each slope is central, with the other arguments as given."""
    seen = _numbers(student.gradient(lambda x, y: x * x * y, 2.0, 3.0, epsilon=0.5))
    when = {
        (13.5, 4.0): "the first slope is measured above x alone: a central difference steps to both sides",
        (12.0, 2.25): "when y moved, x was 1.5 and no longer 2: put each argument back before the next one moves",
    }
    expect(seen, [12.0, 4.0], hint="one call of central_difference for each argument", tolerance=1e-6, when=when)


def _plane(x: float, y: float, z: float) -> float:
    return x + 10.0 * y + 100.0 * z


def _numbers(slopes: object) -> Any:
    """A list of slopes as floats, an array as a list; what is neither as it is, or by the name of its type."""
    if hasattr(slopes, "tolist"):
        slopes = slopes.tolist()
    if isinstance(slopes, list | tuple):
        return [float(slope) if hasattr(slope, "__float__") else slope for slope in slopes]
    return slopes if slopes is None or isinstance(slopes, float) else type(slopes).__name__
