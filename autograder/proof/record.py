"""The record of what hidden tests see of known-wrong answers: written, and compared with a run.

`wrong/seen.json` has what each test saw, by which reports know a mistake. `wrong/shown.json` has for each mistake the
finding that a report shows of it, with its counter-example and picture, from which the book's pages are made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.common.files import write
from autograder.course import Course
from autograder.course.answers import wrong_answers
from autograder.proof.fingerprints import fingerprint_of
from autograder.proof.verify import Checked
from autograder.results import Verdict
from autograder.results.causes import SEEN, lines_of, read_fingerprints, read_seen, seen_text

SHOWN = Path("wrong", "shown.json")
"""The place of the findings that reports show, beside `SEEN`."""


def seen_of(checked: Checked) -> dict[str, dict[str, str]]:
    """The reasons that the tests of an exercise gave for each wrong answer that they reject by its name."""
    return {answer.misconception: dict(answer.saw) for answer in checked.wrong if answer.rejected_by}


def stale_record(checked: Iterable[Checked], answers: Path) -> list[str]:
    """Problems of the record of what tests saw: reports would take a mistake for another one."""
    seen, fingerprints = read_seen(answers / SEEN), read_fingerprints(answers / SEEN)
    return [
        f"{SEEN}: is not what the tests of {each.exercise} see now; run `autograder verify --record`"
        for each in checked
        if (seen.get(each.exercise, {}), fingerprints.get(each.exercise)) != (seen_of(each), each.of)
    ]


def unverified(course: Course, hidden: Path | None = None, answers: Path | None = None) -> list[str]:
    """Problems of the record that show without a run: other tests or wrong answers, and an answer that no test rejects.

    The record of mutants does not stand for this one: a test may notice every mutant, and let a wrong answer through.
    """
    hidden, answers = hidden or course.hidden, answers or course.directory
    seen, fingerprints, shown = read_seen(answers / SEEN), read_fingerprints(answers / SEEN), _shown(answers)
    problems = []
    for exercise in course.exercises:
        if fingerprints.get(exercise) != fingerprint_of(exercise, hidden, answers):
            problems.append(
                f"{SEEN}: is not of {exercise}'s present tests; run `autograder verify {exercise} --record`"
            )
        names = wrong_answers(answers, exercise).keys()
        rejected = {name for name, tests in seen.get(exercise, {}).items() if tests}
        lost = sorted(names - rejected)
        problems += [
            f"wrong/{exercise}/{name}.py: no test rejects it; run `autograder verify {exercise}`" for name in lost
        ]
        if not names & rejected <= shown.get(exercise, {}).keys():
            problems.append(
                f"{SHOWN}: has not every mistake of {exercise}; run `autograder verify {exercise} --record`"
            )
    return problems


def read_shown(answers: Path) -> Mapping[str, Mapping[str, Verdict]]:
    """Read for each exercise and mistake the finding that a report shows of it."""
    return {
        exercise: {name: Verdict.from_json(verdict) for name, verdict in found.items()}
        for exercise, found in _shown(answers).items()
    }


def record(course: Course, checked: Iterable[Checked], answers: Path) -> bool:
    """Write the record of what tests saw, for the exercises that were checked; the course's others keep theirs.

    Returns:
        Whether the record changed.
    """
    seen, fingerprints = dict(read_seen(answers / SEEN)), dict(read_fingerprints(answers / SEEN))
    shown = _shown(answers)
    for each in checked:
        seen[each.exercise], fingerprints[each.exercise] = seen_of(each), each.of
        shown[each.exercise] = {wrong.misconception: asdict(wrong.shown) for wrong in each.wrong if wrong.shown}
    there = course.exercises.keys()
    changed = write(
        answers / SEEN,
        seen_text(
            {exercise: found for exercise, found in seen.items() if exercise in there},
            {exercise: found for exercise, found in fingerprints.items() if exercise in there},
        ),
    )
    found = {exercise: shown[exercise] for exercise in shown.keys() & there}
    return write(answers / SHOWN, lines_of(found) + "\n") or changed  # unsorted: the order of a graph's nodes counts


def _shown(answers: Path) -> dict[str, dict[str, Any]]:
    file = answers / SHOWN
    found: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found
