"""The visible checks of an exercise and its hidden tests agree, or the check says what it does not look at."""

import pytest
from visible import COURSE, check

from autograder.course.answers import variants, wrong_answers
from autograder.proof.record import read_shown
from minigrad.checks.unseen import UNSEEN, unseen

KERNELS = pytest.mark.full("kernels are compiled, or run in the simulator of a GPU", share=24)
SIMULATED = "cuda_ops"
"""The module whose exercises take up to half a minute each in the simulator of a GPU."""

LAUNCHED = ("first_kernels", "fast_ops")
"""Exercises whose checks name in their titles or messages on which arrays a kernel is run."""

WRONG = [
    pytest.param(exercise.id, name, text, id=f"{exercise.id}/{name}", marks=KERNELS if exercise.uses else ())
    for exercise in COURSE.exercises.values()
    if not exercise.id.startswith(SIMULATED)
    for name, text in wrong_answers(COURSE.directory, exercise.id).items()
]


@pytest.mark.full("every known-wrong answer is checked", share=16)
@pytest.mark.no_cover  # twice as quick; test_checks.py runs the same checks
@pytest.mark.parametrize(("exercise", "name", "text"), WRONG)
def test_a_wrong_answer_is_refused_or_listed(exercise, name, text):
    """Each known wrong answer, which the grader refuses, fails its check or is listed as not looked at: never both.

    Each check that fails names the call, unless its title or its hint does: compiled code tells nobody that it runs.
    That each right answer passes both is tested by `test_visible_checks.py` and by `verify`.
    """
    report = check(exercise, text)
    assert report.passed == (name in UNSEEN.get(exercise, {})), str(report)
    unnamed = [each for each in report.results if not (each.passed or each.call or "Numba's result, for" in each.hint)]
    assert exercise.startswith(LAUNCHED) or unnamed == [], str(report)


def test_what_the_checks_do_not_look_at_costs_half_at_most():
    """Checks that are all green do not promise every point, and never less than half of them for one mistake."""
    costs = {}
    for exercise, found in read_shown(COURSE.directory).items():
        worth = COURSE.exercise(exercise)
        for name in UNSEEN.get(exercise, {}):
            costs[f"{exercise}: {name}"] = worth.groups[found[name].group] / worth.points
    assert len(costs) > 75
    assert {name: cost for name, cost in costs.items() if cost > 0.5} == {}


@pytest.mark.parametrize("exercise", UNSEEN)
def test_what_is_listed_is_said(exercise):
    """Each entry belongs to a known wrong answer, and a report of checks that all pass says it, as text and HTML."""
    assert UNSEEN[exercise].keys() <= wrong_answers(COURSE.directory, exercise).keys()
    assert all(each in unseen(exercise) for each in UNSEEN[exercise].values())


def test_a_report_says_what_was_not_looked_at():
    """The sentence stands below checks that all pass, and nowhere else."""
    right = variants(COURSE.directory, "operators.arithmetic")["minitorch"]
    passed = check("operators.arithmetic", right)
    failed = check("operators.arithmetic", "def add(x, y): ...\ndef mul(x, y): ...\ndef neg(x): ...")
    for shown in (str, type(passed)._repr_html_):
        assert "Not looked at here: the last digits." in " ".join(shown(passed).split())
        assert "Not looked at" not in shown(failed)
