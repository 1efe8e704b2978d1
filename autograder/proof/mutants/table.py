"""The record of the last run: counts for each exercise, and a fingerprint of what they follow from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.building.slicing import find_object, solution_lines
from autograder.common.files import write
from autograder.course import Course
from autograder.proof.fingerprints import hidden_tests_of
from autograder.proof.mutants.equivalents import EQUIVALENT, read_equivalents
from autograder.proof.mutants.making import mutants_of
from autograder.proof.mutants.running import Tally

TABLE = "mutants.json"
"""The record's name, beside course.toml."""

GENERATED = "by `autograder verify --mutants --record`; do not edit"


def fingerprint(course: Course, exercise: str, hidden: Path | None = None, equivalent: Path | None = None) -> str:
    """Return a short hash of the sources of an exercise's tally: answer, hidden tests, and the list of equivalents.

    Docstrings of the exercise and the tests of other exercises make no difference.
    """
    digest = hashlib.sha256()
    for dotted in course.exercise(exercise).objects:
        digest.update("\n".join(solution_lines(find_object(course.source, dotted))).encode())
    digest.update(hidden_tests_of(exercise, hidden or course.hidden).encode())
    for entry in read_equivalents(equivalent or course.directory / EQUIVALENT, [exercise]):
        digest.update(str(entry).encode())
    return digest.hexdigest()[:16]


def read_table(path: Path) -> dict[str, Any]:
    """The record, by exercise; empty if there is none."""
    if not path.is_file():
        return {}
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["exercises"]
    return table


def record_table(course: Course, tallies: Sequence[Tally], path: Path | None = None, **places: Path) -> bool:
    """Write what was found of some exercises; the course's others keep their rows.

    Args:
        course: The course.
        tallies: The tallies.
        path: The file.
        **places: `hidden` and `equivalent`, where they are not the project's own.

    Returns:
        Whether the record changed.
    """
    path = path or course.directory / TABLE
    rows = {name: row for name, row in read_table(path).items() if name in course.exercises}
    for tally in tallies:
        rows[tally.exercise] = {
            "mutants": len(tally.outcomes),
            "killed": tally.count("killed"),
            "timed_out": tally.count("timed out"),
            "equivalent": tally.equivalent,
            "survivors": len(tally.survivors),
            "of": fingerprint(course, tally.exercise, **places),
        }
    ordered = {name: rows[name] for name in course.exercises if name in rows}
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in ordered.items())
    return write(path, f'{{"generated": {json.dumps(GENERATED)}, "exercises": {{\n{lines}\n}}}}\n')


def stale_table(course: Course, path: Path | None = None, **places: Path) -> list[str]:
    """Problems of the record: exercises whose answer, tests or mutants are not the last run's, a sentence each."""
    path = path or course.directory / TABLE
    table = read_table(path)
    return [
        f"{path.name}: is not of {exercise}'s present answer and tests; "
        f"run `autograder verify --mutants --record {exercise}`"
        for exercise in course.exercises
        if table.get(exercise, {}).get("of") != fingerprint(course, exercise, **places)
        or table[exercise]["mutants"] != len(mutants_of(course, exercise))
    ]
