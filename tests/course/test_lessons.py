"""Every lesson runs from top to bottom: with right answers, with none, and with wrong ones."""

import json
import re

import pytest
from executing import LIMIT, run_lesson
from printing import RECORD, missing
from visible import COURSE, check, references

from autograder.course.answers import wrong_answers

PRINTED = json.loads(RECORD.read_text(encoding="utf-8"))
LESSONS = [name for each in COURSE.assignments.values() if not each.draft for name in each.lessons]


def mistakes(lesson):
    """For each exercise a known-wrong answer that its visible checks reject, and the failing checks' hints."""
    for exercise in COURSE.of_lesson(lesson):
        for text in wrong_answers(COURSE.directory, exercise.id).values():
            hints = [result.hint for result in check(exercise.id, text).results if not result.passed and result.hint]
            if hints:
                yield exercise.id, text, hints
                break
        else:
            pytest.fail(f"no visible check of {exercise.id} rejects a known-wrong answer with a hint")


def halves(lesson):
    """The mistakes of a lesson for two runs: of an answer and one that it calls, each run has one that is wrong."""
    right, runs = references(lesson), ([], [])

    def callers(id, run):
        return sum(bool(re.search(rf"\b{id.rpartition('.')[2]}\(", right[other])) for other, *_ in run)

    for id, *mistake in reversed([*mistakes(lesson)]):  # an answer calls those before it
        min(runs, key=lambda run: (callers(id, run), len(run))).append((id, *mistake))
    return runs


@pytest.fixture
def on_idle_cores(alone, tmp_path, monkeypatch):
    """A lesson's seconds; above the limit, those of a run while no other test runs, with no kernel compiled yet."""

    def seconds(run, lesson, answers):
        if run.seconds < LIMIT:
            return run.seconds
        monkeypatch.setenv("MINIGRAD_CACHE_DIR", str(tmp_path))
        with alone():
            return run_lesson(lesson, answers).seconds

    return seconds


@pytest.mark.full("a kernel for each lesson", share=16)
@pytest.mark.parametrize("lesson", LESSONS)
def test_with_right_answers(lesson, pytestconfig, on_idle_cores):
    """Nothing raises, checks pass, pictures have words, examples print what was read before, all within a minute."""
    keep = None if pytestconfig.getoption("tiers_all") else pytestconfig.cache.mkdir("lessons")
    run = run_lesson(lesson, references(lesson), keep=keep)
    assert (run.errors, run.waiting, run.stderr, run.silent) == ((), (), "", ())
    assert list(run.checks) == [each.id for each in COURSE.of_lesson(lesson)]
    assert [
        id for id, text in run.checks.items() if not re.search(f"{re.escape(id)}: all \\d+ checks pass", text)
    ] == []
    assert missing(run.printed, PRINTED.get(lesson, ())) == "", "read the lesson again; tests/course/printing.py"
    assert on_idle_cores(run, lesson, references(lesson)) < LIMIT


@pytest.mark.full("a kernel for each lesson; the checks of stubs are tested without one", share=88)
@pytest.mark.parametrize("lesson", LESSONS)
def test_with_nothing_written(lesson, on_idle_cores):
    """The lesson runs as it was released, and each check says what is missing in its own exercise."""
    run = run_lesson(lesson, {})
    assert (run.errors, run.stderr) == ((), "")
    for exercise in COURSE.of_lesson(lesson):
        assert f"{exercise.id}: 0 of " in run.checks[exercise.id]
    assert on_idle_cores(run, lesson, {}) < LIMIT


@pytest.mark.full("a kernel for each half of a lesson; the hints are tested without one", share=176)
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("lesson", LESSONS)
def test_with_wrong_answers(lesson, first):
    """Each check in the notebook names the mistake, where every other exercise is right."""
    wrong = halves(lesson)[first]
    answers = references(lesson) | {id: text for id, text, _ in wrong}
    run = run_lesson(lesson, answers, only_exercises=True)
    assert run.errors == ()
    for id, _, hints in wrong:
        shown = " ".join(run.checks[id].split())
        # On a page code is code, and has no backticks.
        assert any(" ".join(hint.replace("`", "").split()) in shown for hint in hints), shown
