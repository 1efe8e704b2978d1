"""The visible checks of lessons 00 and 01 name the mistake that a student can see in the own cell."""

import pytest
from visible import COURSE, check

from autograder.building.slicing import slice_exercise
from autograder.course.answers import wrong_answers
from autograder.course.loading import DEFAULT_COURSE

KNOWN = [
    ("operators.arithmetic", "neg-loses-the-sign-of-zero", "subtracting loses the sign"),
    ("operators.comparison", "eq-compares-identity", "one object in memory"),
    ("operators.comparison", "eq-has-a-tolerance", "only is_close forgives that"),
    ("operators.comparison", "is-close-forgets-abs", "the distance is abs(x - y)"),
    ("operators.comparison", "lt-includes-equal", "< instead of <="),
    ("operators.comparison", "returns-a-bool", "choose 1.0 or 0.0"),
    ("operators.elementary", "relu-by-arithmetic", "infinity times 0 is nan"),
    ("operators.elementary", "sigmoid-cancels", "no digits left"),
    ("operators.elementary", "sigmoid-mirrors-negatives", "the sign of the exponent"),
    ("operators.higher_order", "reduce-remembers", "went on where the first ended"),
    ("operators.higher_order", "results-are-read-once", "make a list of it"),
    ("operators.higher_order", "results-outlive-the-call", "make the list inside the inner function"),
    ("operators.higher_order", "zip-makes-all-pairs", "a loop inside a loop"),
    ("operators.folds", "add-lists-concatenates", "one behind the other"),
    ("module.Module", "children-come-first", "own parameters first"),
    ("module.Module", "mode-reaches-one-level", "one level is reached"),
    ("module.Module", "mode-skips-the-module", "the module itself is not reached"),
    ("module.Module", "mode-stays-at-the-top", "its children are not reached"),
    ("module.Module", "names-lose-their-path", "the child's name and a dot"),
    ("module.Module", "names-reach-one-level", "the grandchild is missing"),
    ("module.Module", "parameters-are-values", "not their values"),
    ("module.Module", "parameters-of-the-top-only", "the children's parameters are missing"),
    ("derivatives.central_difference", "backward-instead-of-central", "the slope to the left"),
    ("derivatives.central_difference", "divides-by-one-epsilon", "twice the slope"),
    ("derivatives.central_difference", "forward-instead-of-central", "the forward difference"),
    ("derivatives.central_difference", "multiplies-by-epsilon", "put 2 * epsilon in parentheses"),
    ("derivatives.central_difference", "sign-is-reversed", "comes first"),
    ("derivatives.central_difference", "slope-is-rounded", "without rounding"),
    ("derivatives.central_difference", "steps-are-halved", "has the length epsilon"),
    ("derivatives.gradient", "epsilon-is-not-passed-on", "a default of its own"),
    ("derivatives.gradient", "every-slope-in-the-first-argument", "pass arg on"),
]


@pytest.mark.parametrize(("id", "mistake", "words"), KNOWN, ids=[f"{id}/{mistake}" for id, mistake, _ in KNOWN])
def test_the_hint_fits_the_mistake(id, mistake, words):
    """Some check fails, and its hint speaks of this mistake."""
    report = check(id, wrong_answers(DEFAULT_COURSE, id)[mistake])
    assert any(words in result.hint for result in report.results if not result.passed), str(report)


MAP, ALL = "return [fn(x) for x in values]", "return [parameter for _, parameter in self.named_parameters()]"
SLIPS = [
    ("generator", "operators.higher_order", MAP, "return (fn(x) for x in values)", "a list of it"),
    ("no return", "operators.higher_order", "return fold", "pass", "return"),
    ("called", "operators.higher_order", "return fold", "return fold([1.0])", "no parentheses"),
    ("joined", "module.Module", 'f"{child}.{name}"', 'f"{child}_{name}"', "a dot between them"),
    ("names", "module.Module", ALL, ALL.replace("[parameter for _,", "[_ for _,"), "these are the names"),
    ("pairs", "module.Module", ALL, "return self.named_parameters()", "leave out the names"),
    ("dictionary", "module.Module", "return named", "return dict(named)", "a list of pairs"),
    ("no return", "module.Module", "return named", "pass", "return"),
    ("no return", "derivatives.gradient", "return [", "[", "return"),
]


@pytest.mark.parametrize(
    ("name", "id", "right", "slip", "words"), SLIPS, ids=[f"{slip[1]}/{slip[0]}" for slip in SLIPS]
)
def test_the_hint_fits_the_slip(name, id, right, slip, words):
    """A slip in a right answer gets a hint that fits, and no error from inside the checks."""
    answer = slice_exercise(COURSE, id).reference_cell
    assert right in answer
    failed = [result for result in check(id, answer.replace(right, slip)).results if not result.passed]
    assert any(words in result.hint for result in failed), failed
    errors = [result for result in failed if "raised" in result.reason]
    assert all("your line" in result.reason for result in errors), errors


def test_only_the_mistake_is_called_one():
    """An answer that multiplies by epsilon fails for its slopes alone: its arguments are chosen rightly."""
    text = wrong_answers(DEFAULT_COURSE, "derivatives.central_difference")["multiplies-by-epsilon"]
    assert [result.passed for result in check("derivatives.central_difference", text).results] == [False, False, True]
