"""Visible tests of numbers with a tangent, and of the derivative in a direction."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad import dual
from minigrad.checks.blaming import called_by
from minigrad.checks.expectation import Expectation, expect, expect_that, hinting
from minigrad.checks.runner import visible
from minigrad.tensors import Tensor

TANGENT = "10 'A number that carries its slope'"
RULES = "10 'The rules once more'"
DIRECTION = "10 'A direction'"
LEVELS = "10 'Whose tangent is it?'"


def parts(x: Any) -> Any:
    """Return the value and the tangent of an answer."""
    if not hasattr(x, "tangent"):
        hint = "return self.like(value, tangent): a Dual of the same level"
        got = "None" if x is None else f"a {type(x).__name__}"
        raise Expectation(x, None, f"got {got}, expected a Dual", hint, None)
    return [x.value, x.tangent]


@visible("dual.Dual", section=TANGENT)
def a_sum(student: SimpleNamespace) -> None:
    """3 moves with speed 1 and 5 with speed 10: their sum 8 moves with speed 11."""
    seen = parts(student.Dual(3.0, 1.0).plus(student.Dual(5.0, 10.0)))
    when = {(8.0, 1.0): "the second number moves as well", (8.0, 10.0): "the first number moves as well"}
    expect(seen, [8.0, 11.0], hint="add the values, and add the tangents", when=when)


@visible("dual.Dual", section=TANGENT)
def a_product(student: SimpleNamespace) -> None:
    """3 moves with speed 1 and 5 with speed 10: their product 15 moves with speed 35."""
    seen = parts(student.Dual(3.0, 1.0).times(student.Dual(5.0, 10.0)))
    when = {
        (15.0, 10.0): "the tangents are multiplied with each other; each belongs to the other one's value",
        (15.0, 53.0): "each tangent is multiplied by the other number's value, not by its own",
        (15.0, 5.0): "the second number moves as well",
    }
    expect(seen, [15.0, 35.0], hint="1 * 5 + 3 * 10", when=when)


@visible("dual.Dual", section=RULES)
def a_quotient(student: SimpleNamespace) -> None:
    """6 moves with speed 1 and 2 with speed 4: the quotient 3 moves with speed -5.5."""
    seen = parts(student.Dual(6.0, 1.0).over(student.Dual(2.0, 4.0)))
    when = {
        (3.0, 6.5): "what moves the divisor up moves the quotient down: a minus belongs there",
        (3.0, 5.5): "a' b comes first, a b' is taken away from it",
        (3.0, -11.0): "divide by b twice: by b^2",
    }
    expect(seen, [3.0, -5.5], hint="(1 * 2 - 6 * 4) / 2^2", when=when)


@visible("dual.Dual", section=RULES)
def a_power(student: SimpleNamespace) -> None:
    """The cube of 2, which moves with speed 10, is 8 and moves with speed 120; a power 0 does not move."""
    with hinting("0 ** -1 divides by 0: give the exponent 0 a case of its own", ZeroDivisionError):
        seen = [parts(student.Dual(2.0, 10.0) ** 3), parts(student.Dual(0.0, 1.0) ** 0)]
    when = {((8.0, 12.0), (1.0, 0.0)): "12 is the slope; it is multiplied by the tangent of the base, 10 here"}
    expect(seen, [[8.0, 120.0], [1.0, 0.0]], hint="the slope of x^3 is 3 x^2, times 10", when=when)


@visible("dual.Dual", section=RULES)
def functions(student: SimpleNamespace) -> None:
    """Each function's slope is multiplied by the tangent of its argument."""
    wanted = {
        "sin": [math.sin(2.0), 10.0 * math.cos(2.0)],
        "cos": [math.cos(2.0), -10.0 * math.sin(2.0)],
        "exp": [math.exp(2.0), 10.0 * math.exp(2.0)],
        "log": [math.log(2.0), 5.0],
    }
    slopes = {
        "sin": "cos(2) times 10",
        "cos": "-sin(2) times 10: mind the sign",
        "exp": "e^2, which is the value itself, times 10",
        "log": "1/2 times 10",
    }
    for name, both in wanted.items():
        seen = parts(getattr(student.Dual(2.0, 10.0), name)())
        lost = {(both[0], both[1] / 10.0): f"{name}: the slope alone; the chain rule multiplies it by the tangent"}
        expect(seen, both, hint=f"{name}: the tangent is {slopes[name]}", when=lost)


@visible("dual.Dual", section=RULES)
def tensors_may_move(student: SimpleNamespace) -> None:
    """A value may be a tensor, whose elements all move."""
    moving = student.Dual(Tensor(np.array([0.0, 1.0])), Tensor(np.array([1.0, 10.0])))
    with hinting("use the module's own sin, cos, exp and log, not those of math", TypeError, ValueError):
        found = [parts(each) for each in (moving.sin(), moving.exp())]
    seen = [[each.tolist() for each in both] for both in found]
    wanted = [[[0.0, math.sin(1.0)], [1.0, 10.0 * math.cos(1.0)]], [[1.0, math.e], [1.0, 10.0 * math.e]]]
    expect(seen, wanted, hint="the rules are the same for each element")


@visible("dual.Dual", section=LEVELS)
def levels_are_kept(student: SimpleNamespace) -> None:
    """What is computed from Duals of level 7 has level 7."""
    x = student.Dual(2.0, 1.0, 7)
    results = [x.plus(x), x.times(x), x.over(x), x**2, x.sin(), x.cos(), x.exp(), x.log()]
    seen = [getattr(each, "level", None) for each in results]
    expect(seen, [7] * 8, hint="self.like(value, tangent) keeps the level; Dual(value, tangent) begins at level 1")


def own_dual(student: SimpleNamespace) -> Any:
    """Return the class that the answer calls Dual: the notebook's, where that has written its own above."""
    named = [called_by(function, "Dual", dual) for function in (student.lifted, student.same_level)]
    return next((each for each in named if isinstance(each, type)), dual.Dual)


@visible("dual.jvp", section=DIRECTION)
def a_constant_is_lifted(student: SimpleNamespace) -> None:
    """3.0 becomes a Dual of the level asked for, with the tangent 0; a Dual of this level stays as it is."""
    x = own_dual(student)(2.0, 1.0, 4)
    seen = student.lifted(3.0, 4)
    expect(parts(seen), [3.0, 0.0], hint="make Dual(x, zero(x), level): a number that does not move")
    expect_that(seen.level == 4, f"lifted(3.0, 4) has level {seen.level}", "Dual(x, zero(x), level) takes the level")
    expect_that(student.lifted(x, 4) is x, "a Dual of level 4 became another one", "it has this level: return it")


@visible("dual.jvp", section=DIRECTION)
def one_argument(student: SimpleNamespace) -> None:
    """At 3, moving with speed 10, the square is 9 and moves with speed 60."""
    seen = student.jvp(lambda x: x * x, (3.0,), (10.0,))
    when = {
        (9.0, 6.0): "this is the slope; the result moves with 6 times the speed of x, which is 10 here",
        (100.0, 60.0): "primals are the numbers, tangents are how fast they move",
    }
    expect(list(seen) if isinstance(seen, tuple) else seen, [9.0, 60.0], hint="return y.value, y.tangent", when=when)


@visible("dual.jvp", section=DIRECTION)
def two_arguments(student: SimpleNamespace) -> None:
    """Both arguments move at once: at (3, 5), moving with (1, 10), the product moves with 35."""
    calls: list[int] = []

    def f(x: Any, y: Any) -> Any:
        calls.append(1)
        return x * y

    seen = student.jvp(f, (3.0, 5.0), (1.0, 10.0))
    when = {(15.0, 5.0): "y moves as well: give it its own tangent, which is 10 here"}
    expect(list(seen), [15.0, 35.0], hint="one call of f, with a Dual for each argument", when=when)
    expect_that(len(calls) == 1, f"f was called {len(calls)} times", "all arguments move at once: call f once")


@visible("dual.jvp", section=LEVELS)
def the_higher_level(student: SimpleNamespace) -> None:
    """A Dual of level 2 and one of level 6 meet at level 6, in their order."""
    own = own_dual(student)
    x, y = own(2.0, 5.0, 2), own(3.0, 7.0, 6)
    pairs = student.same_level(x, y), student.same_level(y, x)
    hint = "both at the higher level, the first one first; what is lifted has the tangent 0"
    expect(
        [[[each.level, each.tangent] for each in pair] for pair in pairs],
        [[[6, 0.0], [6, 7.0]], [[6, 7.0], [6, 0.0]]],
        hint=hint,
    )


@visible("dual.jvp", section=LEVELS)
def the_known_trap(student: SimpleNamespace) -> None:
    """d/dx [x * d/dy (x + y)] is 1."""

    def outer(x: Any) -> Any:
        return x * student.jvp(lambda y: x + y, (1.0,), (1.0,))[1]

    seen = student.jvp(outer, (3.0,), (1.0,))[1]
    when = {2.0: "the inner derivative has counted x as moving: x moves at the outer level, and there alone"}
    expect(seen, 1.0, hint="d/dy (x + y) is 1, and d/dx (x * 1) is 1", when=when)


@visible("dual.jvp", section=LEVELS)
def a_second_derivative(student: SimpleNamespace) -> None:
    """The second derivative of x^3 at 2 is 12."""
    seen = student.jvp(lambda x: student.jvp(lambda y: y**3, (x,), (1.0,))[1], (2.0,), (1.0,))[1]
    when = {0.0: "the inner value is a Dual itself: keep it as it is, without float()"}
    expect(seen, 12.0, hint="6 x; same_level takes the higher level", when=when)


@visible("dual.jvp", section=DIRECTION)
def a_constant_function(student: SimpleNamespace) -> None:
    """A function that always returns 7.0 does not move."""
    seen = student.jvp(lambda x: 7.0, (3.0,), (1.0,))
    expect(list(seen), [7.0, 0.0], hint="what f returns may be a plain number: lift it as well")
