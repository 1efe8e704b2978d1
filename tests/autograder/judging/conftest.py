"""The judge of the course, as tests of marks ask it: an answer's text is graded, and its causes are confirmed."""

import pytest
from places import ROOT

from autograder.course.loading import load_course
from autograder.judging.judge import Judge
from autograder.results.causes import SEEN, confirmed, read_seen
from autograder.sandbox import SandboxUnavailable, choose


@pytest.fixture(scope="module")
def grade():
    """Grades a text for an exercise, its causes confirmed as in a report."""
    try:
        choose()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    course, seen = load_course(ROOT / "course"), read_seen(ROOT / "course" / SEEN)
    with Judge(course, shrink_seconds=0) as judge:
        yield lambda exercise, text: confirmed(judge.grade_text(course.exercise(exercise), text), seen[exercise])
