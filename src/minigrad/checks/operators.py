"""Visible tests of the operators."""

from __future__ import annotations

import functools
import math
from types import SimpleNamespace
from typing import Any

from minigrad import operators
from minigrad.checks.expectation import expect, expect_that, hinting
from minigrad.checks.runner import visible

THREE = "00 'Three lines'"
COMPARISONS = "00 'Comparisons'"
ELEMENTARY = "00 'Elementary functions'"
HIGHER = "00 'Functions that make functions'"
FOLDS = "00 'Folds'"
HUNT = "00 'A hunt'"

BOOLS = "True and False are not wanted here: choose 1.0 or 0.0 by the comparison"
LISTS: dict[Any, str] = {
    "generator": "this can be walked through only once: make a list of it, as in [... for ... in ...]",
    "map": "Python's map can be walked through only once: make a list of it",
    "zip": "Python's zip can be walked through only once: make a list of it",
}
"""Hints for results that are not lists, by the names of their types."""


@visible("operators.arithmetic", THREE)
def sums_and_products(student: SimpleNamespace) -> None:
    """Add and mul give the sum and the product."""
    expect(student.add(2.0, 3.5), 5.5, hint="add is x + y", when={7.0: "7 is the product"})
    expect(student.mul(2.0, -3.5), -7.0, hint="mul is x * y", when={-1.5: "-1.5 is the sum"})


@visible("operators.arithmetic", THREE)
def neg_changes_the_sign(student: SimpleNamespace) -> None:
    """Neg turns the sign round."""
    expect(student.neg(2.5), -2.5, hint="neg is -x")
    expect(student.neg(-2.5), 2.5, hint="minus of a negative number is positive")


@visible("operators.arithmetic", THREE)
def neg_returns_a_float(student: SimpleNamespace) -> None:
    """Neg returns a float also where an int comes in."""
    result = student.neg(3)
    expect(result, -3.0, hint="neg is -x")
    seen = f"got {result} of type {type(result).__name__}, expected one of type float"
    expect_that(isinstance(result, float), seen, "-3 is an int; float(3) is a float")


@visible("operators.arithmetic", THREE)
def neg_of_zero(student: SimpleNamespace) -> None:
    """Neg turns 0.0 into -0.0."""
    seen = str(student.neg(0.0))
    when = {"0.0": "0.0 - 0.0 is 0.0: subtracting loses the sign, a minus sign in front of x does not"}
    expect(seen, "-0.0", hint="there are two zeros: -x of 0.0 is -0.0", when=when)


@visible("operators.comparison", COMPARISONS)
def less_than(student: SimpleNamespace) -> None:
    """Lt answers 1.0 or 0.0, and a number is not less than itself."""
    seen = [student.lt(1.0, 2.0), student.lt(2.0, 1.0), student.lt(2.0, 2.0)]
    when = {
        (True, False, False): BOOLS,
        (1.0, 0.0, 1.0): "2 is not less than 2: < instead of <=",
        (0.0, 1.0, 0.0): "this is greater than: x is the left side, y the right one",
    }
    expect(seen, [1.0, 0.0, 0.0], hint="1.0 where x < y, else 0.0", when=when)


@visible("operators.comparison", COMPARISONS)
def equal(student: SimpleNamespace) -> None:
    """Eq answers 1.0 or 0.0, without any tolerance."""
    # Two objects with one value: literals could be the same object, and `is` would go unnoticed.
    seen = [student.eq(float("2.5"), float("2.5")), student.eq(2.0, 3.0), student.eq(0.1 + 0.2, 0.3)]
    when = {
        (True, False, False): BOOLS,
        (0.0, 0.0, 0.0): "`is` asks whether two names mean one object in memory; == compares values",
        (1.0, 0.0, 1.0): "0.1 + 0.2 is the float next to 0.3: only is_close forgives that",
    }
    expect(seen, [1.0, 0.0, 0.0], hint="eq compares exactly, with ==, and answers with a float", when=when)


@visible("operators.comparison", COMPARISONS)
def larger_of_two(student: SimpleNamespace) -> None:
    """Max is the larger one, and nan if either is nan."""
    expect([student.max(-1.0, -2.0), student.max(1.0, 3.0)], [-1.0, 3.0], hint="one of x and y: the larger one")
    hint = "every comparison with nan is false; x != x is true for nan and for nothing else"
    expect([student.max(math.nan, 1.0), student.max(1.0, math.nan)], [math.nan, math.nan], hint=hint)


@visible("operators.comparison", COMPARISONS)
def close_together(student: SimpleNamespace) -> None:
    """Is_close is 1.0 for a difference below 0.01, on either side."""
    seen = [student.is_close(1.0, 1.005), student.is_close(1.0, 1.02), student.is_close(1.0, 5.0)]
    when = {
        (True, False, False): BOOLS,
        (1.0, 1.0, 1.0): "x - y is negative where y is the larger one: the distance is abs(x - y)",
        (1.0, 1.0, 0.0): "1 and 1.02 are farther apart than 0.01",
    }
    expect(seen, [1.0, 0.0, 0.0], hint="1.0 where the distance of x and y, abs(x - y), is less than 0.01", when=when)


@visible("operators.elementary", ELEMENTARY)
def identity_and_inverse(student: SimpleNamespace) -> None:
    """Id gives x back, and inv gives 1 / x."""
    expect(student.id(-2.5), -2.5, hint="return x itself")
    expect(student.inv(4.0), 0.25, hint="x * inv(x) is 1", when={-4.0: "-4 is neg(4)"})


@visible("operators.elementary", ELEMENTARY)
def rectified(student: SimpleNamespace) -> None:
    """Relu keeps positive numbers, turns negative ones into 0.0, and passes nan on."""
    expect([student.relu(2.5), student.relu(-2.5)], [2.5, 0.0], hint="x where x is positive, else 0.0")
    expect(student.relu(math.nan), math.nan, hint="ask a question to which the answer for nan leads to x")
    hint = "choose between x and 0.0; infinity times 0 is nan, and so is infinity minus infinity"
    expect(student.relu(-math.inf), 0.0, hint=hint)


@visible("operators.elementary", ELEMENTARY)
def exponential_and_logarithm(student: SimpleNamespace) -> None:
    """Exp and log are right, and undo each other."""
    expect(student.exp(1.0), 2.718281828459045, hint="the module math knows exp and log")
    expect(
        student.log(10.0),
        2.302585092994046,
        hint="the base is e, and nothing is added to x",
        when={1.0: "1 is the logarithm to base 10"},
    )


@visible("operators.elementary", ELEMENTARY)
def special_values(student: SimpleNamespace) -> None:
    """In the library, 1/0 is inf, log 0 is -inf and e^1000 is inf."""
    seen = [operators.inv(0.0), operators.log(0.0), operators.exp(1000.0)]
    expect(seen, [math.inf, -math.inf, math.inf], hint="write the plain formula: the decorator ieee does the rest")


@visible("operators.elementary", ELEMENTARY)
def sigmoid_near_the_middle(student: SimpleNamespace) -> None:
    """Sigmoid rises from 0 to 1 and is 1/2 at 0."""
    seen = [student.sigmoid(x) for x in (-2.0, 0.0, 2.0)]
    high, low = 0.8807970779778823, 0.11920292202211755
    when = dict.fromkeys([(high, 0.5, high), (high, 0.5, low), (low, 0.5, low)], "look at the sign of the exponent")
    hint = "1 / (1 + e^-x), and e^x / (1 + e^x) for negative x: mind the parentheses"
    expect(seen, [low, 0.5, high], hint=hint, when=when)


@visible("operators.elementary", ELEMENTARY)
def sigmoid_far_out(student: SimpleNamespace) -> None:
    """Sigmoid does not overflow at -1000 or 1000."""
    try:
        seen = [student.sigmoid(-1000.0), student.sigmoid(1000.0)]
    except OverflowError:
        seen = ["OverflowError"]
    expect(seen, [0.0, 1.0], hint="two formulas: for negative x the exponent must be x, not -x")


@visible("operators.elementary", ELEMENTARY)
def sigmoid_keeps_its_digits(student: SimpleNamespace) -> None:
    """Sigmoid at -40 is about e^-40: tiny, but not 0."""
    when = {0.0: "1 minus a number next to 1 has no digits left: for negative x use e^x / (1 + e^x)"}
    hint = "e^-40, since 1 + e^-40 is next to 1: for negative x use e^x / (1 + e^x)"
    expect(student.sigmoid(-40.0), 4.248354255291589e-18, hint=hint, tolerance=1e-26, when=when)


@visible("operators.higher_order", HIGHER)
def map_makes_a_function(student: SimpleNamespace) -> None:
    """map(fn) is a function that applies fn to every element and returns a list."""
    double = student.map(lambda x: 2.0 * x)
    _expect_function(double, "map")
    hint = "a list with one result for each element"
    expect(_plain(double([1.0, 2.0, 2.0])), [2.0, 4.0, 4.0], hint=hint, when=LISTS)


@visible("operators.higher_order", HIGHER)
def zip_with_pairs(student: SimpleNamespace) -> None:
    """zipWith(fn) combines first with first and second with second, as far as the shorter list goes."""
    minus = student.zipWith(lambda x, y: x - y)
    _expect_function(minus, "zipWith")
    when = {
        **LISTS,
        (-4.0, -5.0): "fn takes the element of the first list first",
        (4.0, 3.0, 6.0, 5.0): "a loop inside a loop makes all pairs: walk through both lists together",
    }
    expect(_plain(minus([5.0, 7.0], [1.0, 2.0])), [4.0, 5.0], hint="walk through both lists together", when=when)
    expect(_plain(minus([5.0, 7.0, 9.0], [1.0])), [4.0], hint="Python's zip stops with the shorter list", when=LISTS)


@visible("operators.higher_order", HIGHER)
def reduce_folds(student: SimpleNamespace) -> None:
    """reduce(fn, start) folds from the left: fn(fn(start, x1), x2)."""
    digits, nothing = (student.reduce(lambda so_far, x: 10.0 * so_far + x, 4.0) for _ in range(2))
    _expect_function(digits, "reduce")
    wrong = {
        21.0: "21 comes from the right and without start",
        421.0: "421 comes from the right: begin with the first element",
        12.0: "12 leaves out start, which the fold begins with",
    }
    expect(digits([1.0, 2.0]), 412.0, hint="write down fn(fn(4, 1), 2) by hand", when=wrong)
    expect(nothing([]), 4.0, hint="an empty list leaves start as it is")


@visible("operators.higher_order", HIGHER)
def every_call_begins_anew(student: SimpleNamespace) -> None:
    """The functions that come back can be called twice, with the same result."""
    double, total = student.map(lambda x: 2.0 * x), student.reduce(lambda x, y: x + y, 0.0)
    _expect_function(double, "map")
    _expect_function(total, "reduce")
    seen = [_plain(double([1.0])), _plain(double([1.0]))]
    kept = "the second result still holds the first: make the list inside the inner function"
    when = {((2.0,), (2.0, 2.0)): kept, ((2.0, 2.0), (2.0, 2.0)): kept}
    expect(seen, [[2.0], [2.0]], hint="map: each call gives a new list", when=when)
    left = (
        "the second call went on where the first ended: nonlocal (or a variable outside) keeps its value between calls"
    )
    hint = "reduce: each call begins with start, in a variable of the inner function"
    expect([total([1.0]), total([1.0])], [1.0, 1.0], hint=hint, when={(1.0, 2.0): left})


TWO_CALLS = (
    "your map, zipWith and reduce are not those of Python and functools: reduce(fn, start) takes no list but makes a "
    "function, and that one takes the list, as in reduce(mul, 1.0)(values)"
)


@visible("operators.folds", FOLDS)
def lists_element_by_element(student: SimpleNamespace) -> None:
    """negList and addLists work element by element."""
    called = {**LISTS, "function": "a function came back: call it with what came in"}
    when = {**called, (1.0, 2.0, 10.0, 20.0): "for Python's lists + puts one behind the other: zipWith(add)"}
    with hinting(TWO_CALLS, TypeError):
        hint = "map(neg) is a function of a list"
        expect(_plain(student.negList([1.0, -2.0])), [-1.0, 2.0], hint=hint, when=called)
        hint = "zipWith(add) is a function of two lists"
        expect(_plain(student.addLists([1.0, 2.0], [10.0, 20.0])), [11.0, 22.0], hint=hint, when=when)


@visible("operators.folds", FOLDS)
def sum_and_product(student: SimpleNamespace) -> None:
    """Sum and prod fold a list with add and mul."""
    made: dict[Any, str] = {
        "function": "a function came back: reduce(fn, start) makes it, and the list goes into that function"
    }
    with hinting(TWO_CALLS, TypeError):
        hint = "reduce with add, from the number that adds nothing"
        expect(_named(student.sum([1.0, 2.0, 4.0])), 7.0, hint=hint, when=made)
        when = {**made, 0.0: "0 times anything is 0: start with 1"}
        expect(_named(student.prod([2.0, 3.0, -4.0])), -24.0, hint="reduce with mul", when=when)


@visible("operators.folds", FOLDS)
def empty_lists(student: SimpleNamespace) -> None:
    """The empty sum is 0.0, the empty product 1.0."""
    with hinting(TWO_CALLS, TypeError):
        expect([student.sum([]), student.prod([])], [0.0, 1.0], hint="that is what start is for")


def _by_functools(fn: Any, start: float) -> Any:
    return lambda values: functools.reduce(fn, values, start)


def _remembering(fn: Any, start: float) -> Any:
    def fold(values: Any) -> float:
        nonlocal start
        start = functools.reduce(fn, values, start)
        return start

    return fold


def _broken(fn: Any, start: float) -> Any:
    raise TypeError("this function is wrong: it raises an error")


@visible("operators.is_reduce", HUNT)
def right_folds_pass(student: SimpleNamespace) -> None:
    """The library's reduce passes, and so does Python's."""
    of = "the verdict on a right function"
    hint = "this function is right: see which of your results you expected to be different, and work it out by hand"
    expect(bool(student.is_reduce(operators.reduce)), True, hint=hint, of=of)
    expect(bool(student.is_reduce(_by_functools)), True, hint=hint, of=of)


@visible("operators.is_reduce", HUNT)
def wrong_folds_are_refused(student: SimpleNamespace) -> None:
    """The function of the lesson that remembers is refused, and so is one that raises an error."""
    of = "the verdict on a wrong function"
    hint = "this is the function of the lesson: its second result begins where the first ended, so call it twice"
    expect(bool(student.is_reduce(_remembering)), False, hint=hint, of=of)
    with hinting("the error comes from the function that is judged: `try` it, and return False", TypeError):
        expect(bool(student.is_reduce(_broken)), False, hint="this function raises an error", of=of)


def _plain(values: object) -> Any:
    """Return a list, a tuple or None as it is, and the name of any other type: it tells a generator from a list."""
    return values if values is None or isinstance(values, list | tuple) else type(values).__name__


def _named(value: object) -> Any:
    """Return a number as it is, and the name of a function's type in its place."""
    return "function" if callable(value) else value


def _expect_function(made: object, maker: str) -> None:
    """Expect the result of map, zipWith or reduce to be a function."""
    seen = made if made is None else "a function" if callable(made) else type(made).__name__
    expect(seen, "a function", hint=f"{maker} returns the inner function itself: no parentheses behind its name")


@visible("operators.backs", section="02 'The _back twins'")
def slope_of_log(student: SimpleNamespace) -> None:
    """log_back(x, d) is d times 1 / x."""
    meanings = {
        40.0: "this is d divided by the slope; multiply instead",
        0.25: "this is the slope alone: multiply it by d, which was 10 here",
        10.0 / math.log(4.0): "the slope of log at x is 1 / x, not 1 / log x",
    }
    expect(student.log_back(4.0, 10.0), 2.5, hint="the slope of log at 4 is 1 / 4", when=meanings)


@visible("operators.backs", section="02 'The _back twins'")
def slope_of_inv(student: SimpleNamespace) -> None:
    """inv_back(x, d) is d times -1 / x^2."""
    meanings = {
        2.5: "1 / x falls, so its slope is negative",
        -0.25: "this is the slope alone: multiply it by d, which was 10 here",
        -40.0: "this is d divided by the slope; multiply instead",
        -5.0: "is x squared?",
    }
    expect(student.inv_back(2.0, 10.0), -2.5, hint="the slope of 1 / x at 2 is -1 / 4", when=meanings)


@visible("operators.backs", section="02 'The _back twins'")
def slope_of_relu(student: SimpleNamespace) -> None:
    """relu_back(x, d) is d where x is positive, else 0."""
    hint = "the slope is 1 for positive x and 0 elsewhere, at 0 too"
    expect(student.relu_back(3.0, 10.0), 10.0, hint=hint, when={30.0: "multiply by the slope 1, not by x", 1.0: hint})
    expect(student.relu_back(-3.0, 10.0), 0.0, hint=hint)
    expect(student.relu_back(0.0, 10.0), 0.0, hint="at the kink the convention is 0")
    expect(student.relu_back(math.nan, 10.0), 10.0, hint="no comparison with nan is true: ask whether x <= 0")
