"""The fingerprint of a result: everything that it follows from, hashed.

A cached result is reused only for the same cells, tests, edition of the library, seed, limits, isolation, data files,
versions of the packages that a course requires, and grader code. The points of a group are no part of it: `scoring.py`
counts the same verdicts by today's points, and an edition that grades lists every exercise with 0 points. So other
points in `course.toml` run no code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.building.editions import cached_edition, edition_name, graded_without
from autograder.course import Course, Exercise
from autograder.judging.hidden_tests import files_of, files_of_hunts
from autograder.results.causes import KINDS, NO_WORK, SEEN, read_kinds, read_seen
from autograder.results.result_cache import Outcomes, content_hash, grader_files, hash_files, text_files
from autograder.sandbox import Limits, SourceCell


class Fingerprint:
    """The sources of a course's results, read once.

    Args:
        course: The course.
        hidden: The directory of hidden tests.
        isolation: The sandbox's kind.
        shrink_seconds: How long a property test that failed may look for a smaller counter-example.

    Attributes:
        seen: The hidden tests' findings about known wrong answers, by exercise.
    """

    def __init__(self, course: Course, hidden: Path, isolation: str, shrink_seconds: float) -> None:
        self.seen = read_seen(hidden.parent / SEEN)
        self._kinds = read_kinds(hidden.parent / KINDS)
        self._course = course
        self._hidden = hidden
        self._how = {
            "seed": course.seed,
            "isolation": isolation,
            "shrink_seconds": shrink_seconds,
            "packages": course.versions(),
        }
        self._limits = {
            each.id: Limits.from_mapping({**course.limits, **each.limits}) for each in course.exercises.values()
        }
        self._grader, self._text = hash_files(grader_files()), hash_files(text_files())
        self._editions: dict[str, Path] = {}
        self._tests: dict[str, str] = {}
        self._states: dict[str, str] = {}

    def mistakes(self, exercise: str) -> tuple[Mapping[str, Mapping[str, str]], frozenset[str]]:
        """Return what tests saw of an exercise's known mistakes, and the names of those that are no work at all."""
        kinds = self._kinds.get(exercise, {})
        return self.seen.get(exercise, {}), frozenset(name for name, kind in kinds.items() if kind == NO_WORK)

    def limits(self, exercise: Exercise) -> Limits:
        """Return what code may use while an exercise is graded."""
        return self._limits[exercise.id]

    def edition(self, exercise: Exercise) -> Path:
        """Return the edition that an exercise is graded with, which is written if it is not there."""
        if exercise.id not in self._editions:
            self._editions[exercise.id] = cached_edition(self._course, graded_without(self._course, exercise))
        return self._editions[exercise.id]

    def follows(self, exercise: Exercise, edition: str) -> dict[str, Any]:
        """Return what a result of an exercise follows from, besides the submission and what its groups are worth."""
        return {
            **self._how,
            "grader": self._grader,
            "exercise": [exercise.id, list(exercise.objects), list(exercise.groups)],
            "tests": self._tests_hash(exercise),
            "edition": edition,
            "limits": asdict(self.limits(exercise)),
            "uses": list(exercise.uses),
            "library": asdict(self._course.library),
            "data": self._data_hash(exercise),
        }

    def of_cells(self, exercise: Exercise, cells: Sequence[SourceCell], given_up: Outcomes) -> dict[str, Any]:
        """Return the same with the submission's cells, and how the cells ended that are not run again."""
        return {
            **self.follows(exercise, self.edition(exercise).name),
            "cells": [asdict(cell) for cell in cells],
            "given_up": {str(index): asdict(outcome) for index, outcome in sorted(given_up.items())},
        }

    def state(self, lesson: str) -> str:
        """Return a hash of what marks of a lesson follow from, besides the submission: its points included."""
        if lesson not in self._states:
            exercises = self._course.of_lesson(lesson)
            content = [
                (self.follows(each, self.edition(each).name), each.points, dict(each.groups)) for each in exercises
            ]
            seen = {each.id: (self.seen.get(each.id, {}), self._kinds.get(each.id, {})) for each in exercises}
            self._states[lesson] = content_hash({"exercises": content, "seen": seen, "text": self._text})
        return self._states[lesson]

    def needed(self, exercise: Exercise) -> tuple[str, str]:
        """Return the name of an exercise's edition, and the hash of what its results of today follow from."""
        edition = edition_name(self._course, graded_without(self._course, exercise))
        return edition, content_hash(self.follows(exercise, edition))

    def _data_hash(self, exercise: Exercise) -> dict[str, str]:
        folder = self._course.data(exercise)
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        return {path.relative_to(folder).as_posix(): hash_files([path]) for path in files}

    def _tests_hash(self, exercise: Exercise) -> str:
        if exercise.id not in self._tests:
            tests = files_of(exercise.id, self._hidden)
            self._tests[exercise.id] = hash_files([*tests, *files_of_hunts(tests)])
        return self._tests[exercise.id]
