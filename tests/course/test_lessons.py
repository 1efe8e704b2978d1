"""Every lesson runs from top to bottom: with right answers, with none, and with wrong ones."""

import re

import pytest
from executing import LIMIT, run_lesson
from visible import COURSE, check

from autograder.building.slicing import slice_exercise
from autograder.proof.verify import ANSWERS

LESSONS = [name for each in COURSE.assignments.values() if not each.draft for name in each.lessons]


def references(lesson):
    """The right answers, by exercise."""
    return {each.id: slice_exercise(COURSE, each.id).reference_cell for each in COURSE.of_lesson(lesson)}


def mistakes(lesson):
    """For each exercise a known-wrong answer that its visible checks reject, and the failing checks' hints."""
    for exercise in COURSE.of_lesson(lesson):
        for file in sorted((ANSWERS / "wrong" / exercise.id).glob("*.py")):
            text = file.read_text(encoding="utf-8")
            hints = [result.hint for result in check(exercise.id, text).results if not result.passed and result.hint]
            if hints:
                yield exercise.id, text, hints
                break
        else:
            pytest.fail(f"no visible check of {exercise.id} rejects a known-wrong answer with a hint")


@pytest.mark.parametrize("lesson", LESSONS)
def test_with_right_answers(lesson, pytestconfig):
    """Nothing raises, nothing is said on stderr, every check passes, every picture has words, all within a minute."""
    keep = None if pytestconfig.getoption("tiers_all") else pytestconfig.cache.mkdir("lessons")
    run = run_lesson(lesson, references(lesson), keep=keep)
    assert (run.errors, run.stderr, run.silent) == ((), "", ())
    assert list(run.checks) == [each.id for each in COURSE.of_lesson(lesson)]
    assert [
        id for id, text in run.checks.items() if not re.search(f"{re.escape(id)}: all \\d+ checks pass", text)
    ] == []
    assert run.seconds < LIMIT


@pytest.mark.full("a kernel for each lesson; the checks of stubs are tested without one", share=10)
@pytest.mark.parametrize("lesson", LESSONS)
def test_with_nothing_written(lesson):
    """The lesson runs as it was released, and each check says what is missing in its own exercise."""
    run = run_lesson(lesson, {})
    assert (run.errors, run.stderr) == ((), "")
    for exercise in COURSE.of_lesson(lesson):
        assert f"{exercise.id}: 0 of " in run.checks[exercise.id]
    assert run.seconds < LIMIT


@pytest.mark.full("a kernel for each half of a lesson; the hints are tested without one", share=20)
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("lesson", LESSONS)
def test_with_wrong_answers(lesson, first):
    """Each check in the notebook names the mistake, where every other exercise is right."""
    wrong = list(mistakes(lesson))[first::2]
    answers = references(lesson) | {id: text for id, text, _ in wrong}
    run = run_lesson(lesson, answers, only_exercises=True)
    assert run.errors == ()
    for id, _, hints in wrong:
        shown = " ".join(run.checks[id].split())
        assert any(" ".join(hint.split()) in shown for hint in hints), shown
