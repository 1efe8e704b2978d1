"""The record of what hidden tests see of known-wrong answers, `wrong/seen.json`: written, and compared with a run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from autograder.common.files import write
from autograder.course import Course
from autograder.judging.hidden_tests import HIDDEN
from autograder.proof.fingerprints import fingerprint_of
from autograder.proof.verify import ANSWERS, Checked
from autograder.results.causes import SEEN, read_fingerprints, read_seen, seen_text

__all__ = ["record", "seen_of", "stale_record", "unverified"]


def seen_of(checked: Checked) -> dict[str, dict[str, str]]:
    """The reasons that the tests of an exercise gave for each wrong answer that they reject by its name."""
    return {answer.misconception: dict(answer.saw) for answer in checked.wrong if answer.rejected_by}


def stale_record(checked: Iterable[Checked], answers: Path = ANSWERS) -> list[str]:
    """Problems of the record of what tests saw: reports would take a mistake for another one."""
    seen, fingerprints = read_seen(answers / SEEN), read_fingerprints(answers / SEEN)
    return [
        f"{SEEN}: is not what the tests of {each.exercise} see now; run `autograder verify --record`"
        for each in checked
        if (seen.get(each.exercise, {}), fingerprints.get(each.exercise)) != (seen_of(each), each.of)
    ]


def unverified(course: Course, hidden: Path = HIDDEN, answers: Path = ANSWERS) -> list[str]:
    """Problems of the record that show without a run: other tests or wrong answers, and an answer that no test rejects.

    The record of mutants does not stand for this one: a test may notice every mutant, and let a wrong answer through.
    """
    seen, fingerprints = read_seen(answers / SEEN), read_fingerprints(answers / SEEN)
    problems = []
    for exercise in course.exercises:
        if fingerprints.get(exercise) != fingerprint_of(exercise, hidden, answers):
            problems.append(
                f"{SEEN}: is not of {exercise}'s present tests; run `autograder verify {exercise} --record`"
            )
        names = {file.stem for file in (answers / "wrong" / exercise).glob("*.py")}
        lost = sorted(names - {name for name, tests in seen.get(exercise, {}).items() if tests})
        problems += [
            f"wrong/{exercise}/{name}.py: no test rejects it; run `autograder verify {exercise}`" for name in lost
        ]
    return problems


def record(course: Course, checked: Iterable[Checked], answers: Path = ANSWERS) -> bool:
    """Write the record of what tests saw, for the exercises that were checked; the course's others keep theirs.

    Returns:
        Whether the record changed.
    """
    seen, fingerprints = dict(read_seen(answers / SEEN)), dict(read_fingerprints(answers / SEEN))
    for each in checked:
        seen[each.exercise], fingerprints[each.exercise] = seen_of(each), each.of
    there = course.exercises.keys()
    return write(
        answers / SEEN,
        seen_text(
            {exercise: found for exercise, found in seen.items() if exercise in there},
            {exercise: found for exercise, found in fingerprints.items() if exercise in there},
        ),
    )
