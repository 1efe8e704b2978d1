"""What known mistakes cost is measured, and what costs too much is said in a sentence."""

from dataclasses import replace

import pytest

from autograder.course.loading import load_course
from autograder.proof.weights import Cost, changed_objects, costs_of, unfair
from autograder.results import Graded, Verdict
from autograder.results.causes import NO_WORK, SMALL

COURSE = load_course(tree=False)
EXERCISE = replace(
    COURSE.exercise("operators.comparison"), points=4.0, groups={"order": 2.0, "closeness": 1.0, "special": 1.0}
)


def result(**failed):
    """A result with one test in each group; those that are named failed, each for the misconception given."""
    verdicts = (
        Verdict(f"test_{name}", name, name, "lesson", name not in failed, name, misconception=failed.get(name, ""))
        for name in EXERCISE.groups
    )
    return Graded(EXERCISE.id, 4.0, (), tuple(verdicts))


def cost(graded, kinds, saw):
    """The price of one mistake that tests of these groups see."""
    return costs_of(EXERCISE, {"x": graded}, {"x": {f"test_{name}": name for name in saw}}, kinds)["x"]


def test_costs():
    """A mistake that two groups see costs that of the test which names it, unless it is no work at all."""
    both = result(order="x", special="y")
    assert cost(both, {}, ("order", "special")) == Cost(("order",), 0.5)
    assert cost(both, {"x": NO_WORK}, ("order", "special")) == Cost(("order", "special"), 0.75, NO_WORK)
    assert str(cost(result(special="x"), {"x": "corner"}, ("special",))) == "25%: special (corner)"


@pytest.mark.parametrize("kind", SMALL)
def test_a_small_mistake(kind):
    """A quarter is fair, and more is not."""
    assert list(unfair(EXERCISE, {"x": Cost(("special",), 0.25, kind)}, {})) == []
    (problem,) = unfair(EXERCISE, {"x": Cost(("order",), 0.5, kind)}, {})
    assert f"a mistake of the kind {kind} costs 50% of the points; a quarter at most" in problem


def test_several_groups():
    """One mistake costs one group, but for one that is no work."""
    (problem,) = unfair(EXERCISE, {"x": Cost(("order", "special"), 0.75)}, {})
    assert "x.py: costs the groups order, special; one mistake costs one group" in problem
    assert list(unfair(EXERCISE, {"x": Cost(("order", "special"), 0.75, NO_WORK)}, {})) == []


def test_one_function_of_four():
    """One wrong function of four costs a quarter; two may cost more, and so may one of three."""
    costs = {"x": Cost(("order",), 0.5)}
    (problem,) = unfair(EXERCISE, costs, {"x": 1})
    assert "one wrong function of 4 costs 50%; a quarter at most" in problem
    assert list(unfair(EXERCISE, costs, {"x": 2})) == []
    assert list(unfair(replace(EXERCISE, objects=EXERCISE.objects[:3]), costs, {"x": 1})) == []


def test_changed_objects():
    """Functions and classes are compared by what they say, not by their layout."""
    ours = "def f(x):\n    return x\nclass C:\n    def g(self): return 1\n"
    assert changed_objects(ours, ours.replace("\n    return x", " return (x)")) == 0
    assert changed_objects(ours, ours.replace("return 1", "return 2")) == 1
    assert changed_objects(ours, "def f(x):\n    return 3\n") == 2
