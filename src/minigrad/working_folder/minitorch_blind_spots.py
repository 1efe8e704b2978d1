"""Mistakes that pass MiniTorch's own tests, and how to see them.

MiniTorch's tests compare by the answer's own `is_close`, draw small numbers, fold with sums and products alone, give
every kernel a result that lies row by row, and check gradients by way of `out.sum()`, whose gradient is all ones. What
that leaves unseen is looked for here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from minigrad.checks import standins
from minigrad.working_folder.minitorch_blind_spots_of_tensors import TENSORS
from minigrad.working_folder.probing import Probe, unlike


def _wide(answer: Mapping[str, Any]) -> bool:
    return bool(answer["is_close"](0.0, 0.5)) and not answer["is_close"](0.0, 100.0)


def _overflows(answer: Mapping[str, Any]) -> bool:
    try:
        return not math.isfinite(answer["sigmoid"](-1000.0))
    except OverflowError:
        return True


def _mostly_right(student: Any) -> bool:
    """Whether sigmoid is right where no digits are lost."""
    return all(abs(student.sigmoid(x) - 1.0 / (1.0 + math.exp(-x))) < 1e-9 for x in (-2.0, 0.5))


def _one_sided(answer: Mapping[str, Any]) -> bool:
    slope = float(answer["central_difference"](lambda x: x**3, 3.0, epsilon=0.5))
    forward, backward = (3.5**3 - 27.0) / 0.5, (27.0 - 2.5**3) / 0.5
    return min(abs(slope - forward), abs(slope - backward)) < 1e-9


def _leaf_overwritten(answer: Mapping[str, Any]) -> bool:
    x = standins.leaf("x")
    for _ in range(2):
        answer["backpropagate"](standins.result("y", (x, 3.0)), 1.0)
    return bool(x.derivative == 3.0)


def _recursive(answer: Mapping[str, Any]) -> bool:
    node = standins.leaf("x")
    for _ in range(3000):
        node = standins.result("y", (node, 1.0))
    try:
        list(answer["topological_sort"](node))
    except RecursionError:
        return True
    return False


def _adds(student: Any) -> bool:
    return bool(student.reduce(lambda x, y: x + y, 0.0)([1.0, 2.0]) == 3.0)


def _maps(student: Any) -> bool:
    return list(student.map(lambda x: -x)([1.0, 2.0])) == [-1.0, -2.0]


def _share_a_list(student: Any) -> bool:
    """Whether a second call changes the list that the first one has returned, or gives its elements once more."""
    negate, less = student.map(lambda x: -x), student.zipWith(lambda x, y: x - y)
    for function, once, again in ((negate, [[1.0]], [[2.0]]), (less, [[3.0], [1.0]], [[5.0], [2.0]])):
        first = function(*once)
        before = list(first) if isinstance(first, list) else first
        second = function(*again)
        if first != before or (isinstance(second, list) and len(second) > 1):
            return True
    return False


def _adds_each_time(student: Any) -> list[float]:
    total = student.reduce(lambda x, y: x + y, 0.0)
    return [total([1.0, 2.0]), total([1.0, 2.0])]


def _family() -> tuple[Any, Any, Any]:
    from minigrad.module import Module

    top, child, part = Module(), Module(), Module()
    top.child, child.part = child, part
    part.add_parameter("scale", 1.0)
    return top, child, part


def _after(action: str, *, times: int) -> list[bool]:
    family = _family()
    for _ in range(times):
        getattr(family[0], action)()
    return [each.training for each in family]


def _uneven(student: Any) -> bool:
    """Whether a leaf that is used both by the result and by a long way to it comes before the end of that way."""
    x = standins.leaf("x")
    a = standins.result("a", (x, 2.0))
    b = standins.result("b", (a, 3.0))
    found = [_order(student, *inputs) for inputs in (((x, 1.0), (b, 1.0)), ((b, 1.0), (x, 1.0)))]
    is_each_there = all(sorted(names) == ["a", "b", "x", "z"] for names in found)
    return is_each_there and any(names.index("x") < max(names.index("a"), names.index("b")) for names in found)


def _sorts_a_chain(student: Any) -> bool:
    return _order(student, (standins.result("a", (standins.leaf("x"), 1.0)), 1.0)) == ["z", "a", "x"]


def _order(student: Any, *inputs: Any, calls: int = 1) -> list[str]:
    result = standins.result("z", *inputs)
    for _ in range(calls):
        found = list(student.topological_sort(result))
    return [node.name for node in found]


def _steps(student: Any) -> int:
    """How often the leaf end of twelve diamonds in a row is asked."""
    node = first = standins.result("first", (standins.leaf("x"), 1.0))
    for _ in range(12):
        left, right = standins.result("left", (node, 1.0)), standins.result("right", (node, 1.0))
        node = standins.result("z", (left, 1.0), (right, 1.0))
    student.backpropagate(node, 1.0)
    return len(first.received)


def _leaf_alone(answer: Mapping[str, Any]) -> bool:
    x, y = standins.leaf("x"), standins.leaf("y")
    answer["backpropagate"](standins.result("z", (y, 2.0)), 3.0)
    answer["backpropagate"](x, 3.0)
    return y.derivative == 6.0 and x.derivative is None


def _pairs(student: Any, *inputs: tuple[standins.Node, float]) -> list[tuple[str, Any]]:
    return [(node.name, each) for node, each in student.chain_rule(standins.result("z", *inputs), 1.0)]


PROBES = (
    Probe(
        "is_close-too-wide",
        "operators.comparison",
        "is_close calls 0 and 0.5 close. MiniTorch's assert_close asks this very function, so that every later test "
        "passes with an error of that size.",
        _wide,
    ),
    Probe(
        "results-are-rounded",
        "operators.arithmetic",
        "sums and products lose digits. MiniTorch's tests compare with is_close, which lets 0.01 pass.",
        unlike(
            [1.0 + 2.0**-40, 1.0 + 2.0**-40, -1.0 - 2.0**-40],
            lambda s: [s.add(1.0, 2.0**-40), s.mul(1.0 + 2.0**-40, 1.0), s.neg(1.0 + 2.0**-40)],
            lambda s: (s.add(2.0, 3.0), s.mul(2.0, 3.0), s.neg(2.0)) == (5.0, 6.0, -2.0),
        ),
    ),
    Probe(
        "is_close-forgets-abs",
        "operators.comparison",
        "is_close calls 1 and 5 close in one order only: abs is missing. MiniTorch's assert_close asks this function.",
        lambda answer: bool(answer["is_close"](1.0, 5.0)) != bool(answer["is_close"](5.0, 1.0)),
    ),
    Probe(
        "is_close-relative",
        "operators.comparison",
        "is_close lets large numbers differ by more than 0.01. MiniTorch's assert_close asks this very function.",
        unlike(False, lambda s: bool(s.is_close(1000.0, 1000.5)), lambda s: not s.is_close(0.0, 0.5)),
    ),
    Probe(
        "eq-compares-identity",
        "operators.comparison",
        "eq asks whether two numbers are one object. MiniTorch's test compares a number with itself.",
        unlike(True, lambda s: bool(s.eq(float("2.5"), float("2.5"))), lambda s: not s.eq(1.0, 2.0)),
    ),
    Probe(
        "eq-tolerance",
        "operators.comparison",
        "eq calls different numbers equal. MiniTorch's test tries numbers that differ by 1.",
        unlike(False, lambda s: bool(s.eq(1.0, 1.0 + 2.0**-40)), lambda s: not s.eq(1.0, 2.0)),
    ),
    Probe(
        "lt-includes-equal",
        "operators.comparison",
        "lt calls a number less than itself. MiniTorch's test tries numbers that differ by 1.",
        unlike(False, lambda s: bool(s.lt(2.0, 2.0)), lambda s: s.lt(1.0, 2.0) and not s.lt(2.0, 1.0)),
    ),
    Probe(
        "sigmoid-cancels",
        "operators.elementary",
        "sigmoid loses all digits for large negative numbers: it is 0 or 1 minus a number next to 1. MiniTorch's tests "
        "compare with is_close, which lets 0.01 pass.",
        unlike(
            True,
            lambda s: abs(s.sigmoid(-40.0) * 2.3538526683702e17 - 1.0) < 1e-6,
            _mostly_right,
        ),
    ),
    Probe(
        "sigmoid-unseen",
        "operators.elementary",
        "sigmoid is wrong. MiniTorch leaves its test to the student, and its other tests compare it with itself.",
        unlike(
            [0.119203, 0.880797],
            lambda s: [round(s.sigmoid(x), 6) for x in (-2.0, 2.0)],
            lambda s: [s.sigmoid(x) for x in (-2.0, 2.0)] != [],  # an error is seen by any test that calls it
        ),
    ),
    Probe(
        "backs-unseen",
        "operators.backs",
        "log_back or inv_back is wrong. MiniTorch's tests of Task 0.1 call them and look at no result.",
        unlike(
            (2.5, -2.5),
            lambda s: (round(s.log_back(4.0, 10.0), 4), s.inv_back(2.0, 10.0)),
            lambda s: s.relu_back(3, 2) == 2,
        ),
    ),
    Probe(
        "map-needs-a-list",
        "operators.higher_order",
        "map works for lists only, where MiniTorch's types say Iterable. Its tests give lists.",
        unlike([-1.0, -2.0], lambda s: list(s.map(lambda x: -x)(iter([1.0, 2.0]))), _maps, raising=True),
    ),
    Probe(
        "map-shares-its-result",
        "operators.higher_order",
        "two calls of the function that map or zipWith returns share one list. MiniTorch's tests call it once.",
        unlike(False, _share_a_list, _maps),
    ),
    Probe(
        "reduce-remembers",
        "operators.higher_order",
        "what reduce returns begins its second call where the first one ended. MiniTorch's tests call it once.",
        unlike(False, lambda s: _adds_each_time(s) == [3.0, 6.0], _adds),
    ),
    Probe(
        "reduce-start",
        "operators.higher_order",
        "reduce does not begin with start. MiniTorch's tests start sums at 0 and products at 1.",
        unlike(13.0, lambda s: s.reduce(lambda x, y: x + y, 10.0)([1.0, 2.0]), _adds),
    ),
    Probe(
        "reduce-from-the-right",
        "operators.higher_order",
        "reduce begins at the end of the list. MiniTorch's tests fold with sums and products alone.",
        unlike(False, lambda s: s.reduce(lambda x, y: (x + y) / 2.0, 8.0)([1.0, 2.0, 3.0]) in (2.375, 1.75), _adds),
    ),
    Probe(
        "sum-unseen",
        "operators.folds",
        "sum is wrong. MiniTorch's test compares it with itself.",
        unlike(7.0, lambda s: s.sum([1.0, 2.0, 4.0]), lambda s: isinstance(s.sum([1.0]), float | int)),
    ),
    Probe(
        "empty-product",
        "operators.folds",
        "the product of an empty list is not 1. MiniTorch's test gives three numbers.",
        unlike(1.0, lambda s: s.prod([]), lambda s: s.prod([2.0, 3.0, 4.0]) == 24.0, raising=True),
    ),
    Probe(
        "epsilon-is-ignored",
        "derivatives.central_difference",
        "the steps have another length than epsilon. MiniTorch's tests leave epsilon as it is.",
        lambda answer: (
            not _one_sided(answer)
            and abs(answer["central_difference"](lambda x: x**3, 3.0, epsilon=0.5) - 27.25) > 1e-6
            and abs(answer["central_difference"](lambda x: x**3, 3.0) - 27.0) < 1e-2
        ),
    ),
    Probe(
        "mode-is-toggled",
        "module.Module",
        "train and eval turn the mode round. MiniTorch's test calls eval and train in turn.",
        lambda answer: _after("eval", times=2)[0] and not _after("eval", times=1)[0],
    ),
    Probe(
        "mode-reaches-one-level",
        "module.Module",
        "train and eval do not reach a child's child. MiniTorch's tests nest modules once.",
        lambda answer: _after("eval", times=1) == [False, False, True],
    ),
    Probe(
        "names-reach-one-level",
        "module.Module",
        "the parameter of a child's child is missing, or its name lacks a part. MiniTorch's tests nest modules once.",
        lambda answer: (
            [name for name, _ in _family()[0].named_parameters()] != ["child.part.scale"]
            and [name for name, _ in _family()[1].named_parameters()] == ["part.scale"]
        ),
    ),
    Probe(
        "order-uneven",
        "autodiff.topological_sort",
        "a leaf that the result uses directly and by a longer way comes before the end of that way. MiniTorch's tests "
        "have few such ways.",
        unlike(False, _uneven, _sorts_a_chain),
    ),
    Probe(
        "order-remembers",
        "autodiff.topological_sort",
        "a second call on the same graph gives another order: something lives on from the first. MiniTorch's tests "
        "sort each graph once.",
        unlike(
            ["z", "x"],
            lambda s: _order(s, (standins.leaf("x"), 1.0), calls=2),
            lambda s: _order(s, (standins.leaf("x"), 1.0)) == ["z", "x"],
        ),
    ),
    Probe(
        "order-has-constants",
        "autodiff.topological_sort",
        "constants are sorted in, where MiniTorch asks for non-constant variables. Its tests have no constants.",
        lambda answer: (
            "c" in _order(SimpleNamespace(**answer), (standins.constant("c"), 1.0), (standins.leaf("x"), 1.0))
        ),
    ),
    Probe(
        "path-by-path",
        "autodiff.backpropagate",
        "every way is followed by itself, so that the work doubles at each meeting point. MiniTorch's tests have two.",
        lambda answer: _steps(SimpleNamespace(**answer)) > 1,
    ),
    Probe(
        "leaf-alone",
        "autodiff.backpropagate",
        "a leaf from which backward starts gets no derivative. MiniTorch's tests start at results.",
        _leaf_alone,
    ),
    Probe(
        "pairs-shifted",
        "autodiff.chain_rule",
        "beside a constant, derivatives go to the wrong inputs. MiniTorch's tests have no constants.",
        unlike(
            False,
            lambda s: ("x", 7.0) in _pairs(s, (standins.constant("c"), 7.0), (standins.leaf("x"), 2.0)),
            lambda s: _pairs(s, (standins.leaf("x"), 7.0), (standins.leaf("y"), 2.0)) == [("x", 7.0), ("y", 2.0)],
        ),
    ),
    Probe(
        "sigmoid-overflows",
        "operators.elementary",
        "sigmoid overflows for large negative numbers: exp(-x) is beyond all floats. MiniTorch's tests draw no such "
        "numbers.",
        _overflows,
    ),
    Probe(
        "difference-to-one-side",
        "derivatives.central_difference",
        "the difference is taken to one side. At epsilon 1e-6 its error is smaller than what is_close lets pass, so "
        "that MiniTorch's tests see none.",
        _one_sided,
    ),
    Probe(
        "leaf-overwritten",
        "autodiff.backpropagate",
        "a second backward overwrites what a leaf has collected, instead of adding to it. MiniTorch's tests never go "
        "backward twice to one leaf.",
        _leaf_overwritten,
    ),
    Probe(
        "recursive-order",
        "autodiff.topological_sort",
        "the order is found by a function that calls itself: it fails on a graph 3,000 deep, such as a long sum. "
        "MiniTorch's tests have none.",
        _recursive,
    ),
    *TENSORS,
)
