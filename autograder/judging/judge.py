"""Judge a grafted notebook: every exercise by its hidden tests, in a sandbox of its own.

While exercise X is judged, only X is cut from the library and only X is taken from the student's cells;
everything else is the reference. So one mistake costs one exercise, and no other. A sandbox with its edition
of the library stays warm from one submission to the next, and a result is kept by the content it follows
from: the same cells, tests, edition, seed and limits are not run again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import nbformat

from autograder.building.editions import cached_edition, edition_name, graded_without
from autograder.building.masters import find_master
from autograder.building.notebooks import setup_texts
from autograder.course import Course, Exercise
from autograder.grafting.graft import Grafted, stubs
from autograder.judging.hidden_tests import HIDDEN, files_of
from autograder.judging.hurried import Hurried
from autograder.judging.plugin import SHRINK_SECONDS, HiddenTests
from autograder.judging.scoring import scored, scored_again, zero
from autograder.judging.student_cells import cell_notes, last_names, not_done, solution_cell, source_cells, why_missing
from autograder.judging.warm_tests import WarmTests
from autograder.judging.watched import Watched, watched_cells
from autograder.reading import definitions_only
from autograder.results import Graded, Submission, Verdict
from autograder.results.causes import SEEN, confirmed, read_seen
from autograder.results.keeping import (
    Outcomes,
    content_hash,
    grader_files,
    hash_files,
    kept_path,
    read_record,
    text_files,
    write_record,
)
from autograder.results.shortening import shortened, shortened_notes
from autograder.sandbox import ExerciseSpec, Limits, Sandbox, Session, SourceCell, pack_probe
from autograder.sandbox.inside.patience import Patience, kept_waiting

__all__ = ["Judge", "solution_cell", "source_cells"]

UNLUCKY = frozenset({"timeout", "memory", "killed"})
"""What a busy machine does to work that is right: a result that holds one of these is not kept."""

SESSIONS = 3
"""A notebook's exercises may take as long as this many sessions; what is left then is not run."""

WARM = 32
"""Sandboxes that are kept waiting for the next submission: each of them holds a library in memory."""

COSTLY = frozenset({"timeout", "memory", "killed", "output"})
"""A cell that ended so is not run again for the other exercises of its submission, but for its definitions."""


class Judge:
    """Grades notebooks; keeps its sandboxes warm until it is closed.

    It reads course, library and tests once: after any of them has changed, make another judge.

    Args:
        course: The course.
        hidden: The directory of hidden tests.
        isolation: The sandbox's kind; ``"auto"`` takes the best there is.
        cache: Where results are kept; None keeps none.
        shrink_seconds: How long a property test that failed may look for a smaller counter-example.
    """

    def __init__(
        self,
        course: Course,
        *,
        hidden: Path = HIDDEN,
        isolation: str = "auto",
        cache: Path | None = None,
        shrink_seconds: float = SHRINK_SECONDS,
    ) -> None:
        self.course = course
        self.shrink_seconds = shrink_seconds
        self.hidden = hidden
        self.isolation = isolation
        self._limits = {each.id: self._limits_of(each) for each in course.exercises.values()}
        self._cache = cache
        self._seen = read_seen(hidden.parent / SEEN)
        self._groups = {each.id: tuple(each.groups) for each in course.exercises.values()}
        self._masters: dict[str, nbformat.NotebookNode] = {}
        self._editions: dict[str, Path] = {}
        self._hashes: dict[str, str] = {}
        self._sandboxes: dict[str, Sandbox] = {}
        self._tests: dict[str, WarmTests] = {}
        self._states: dict[str, str] = {}
        self._grader, self._text = hash_files(grader_files()), hash_files(text_files())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every sandbox."""
        while self._sandboxes:
            self._sandboxes.popitem()[1].close()

    def grade(self, grafted: Grafted, lesson: str) -> Submission:
        """Grade a grafted notebook.

        Raises:
            HiddenTestError: If a hidden test is at fault.
            SandboxError: If no sandbox can be had, or it failed.
        """
        cells = source_cells(grafted.notebook)
        undone = not_done(grafted, self.course)
        given_up: Outcomes = {}
        results = []
        exercises = self.course.of_lesson(lesson)
        allowed = SESSIONS * max((self._limits[each.id].submission_seconds for each in exercises), default=0.0)
        patience = Patience(allowed, kept_waiting(os.getpid()), 0.0)
        for exercise in exercises:
            if grafted.unreadable:
                results.append(zero(exercise, grafted.unreadable))
            elif exercise.id in undone:
                results.append(zero(exercise, undone[exercise.id]))
            elif not patience.left():
                reason = f"not run: the exercises before it used up its {allowed:g} s, which are for the whole notebook"
                results.append(zero(exercise, reason))
            else:
                results.append(self.grade_exercise(exercise, cells, given_up))
        general = [note.text for note in grafted.notes if not note.exercise]
        # A cell of no exercise concerns the whole notebook: said once, also where it cost nothing.
        labels = tuple(f"{cell.label}: " for cell in cells if cell.exercise is None)
        shared = dict.fromkeys(note for graded in results for note in graded.notes if note.startswith(labels))
        results = [
            _with_notes(shortened(replace(each, notes=tuple(n for n in each.notes if n not in shared))), grafted)
            for each in results
        ]
        if self.isolation == "none":
            general.append("not isolated: this code ran without a sandbox")
        return Submission(lesson, tuple(results), (*general, *shortened_notes(shared)), grafted.unreadable)

    def grade_text(self, exercise: Exercise, text: str, *, points_only: bool = False) -> Graded:
        """Grade the text of one solution cell, below the setup cells and the unwritten exercises of its lesson."""
        cells = [*self._around(exercise), solution_cell(exercise.id, text)]
        return self.grade_exercise(exercise, cells, points_only=points_only)

    def _around(self, exercise: Exercise) -> list[SourceCell]:
        """The other cells of an exercise's lesson: an unwritten exercise gives its names to the library's objects."""
        if self.course.is_draft(exercise):
            return self._around_a_draft(exercise)
        cells = source_cells(stubs(self.master(exercise.lesson), "").notebook)
        return [cell for cell in cells if cell.kind == "setup" or cell.exercise not in (None, exercise.id)]

    def _around_a_draft(self, exercise: Exercise) -> list[SourceCell]:
        """The same where hidden tests are written, and verified, before the lesson is; or while it is."""
        lesson = self.course.lesson_of(exercise)
        setup = setup_texts(lesson.path) if lesson.path.is_file() else [lesson.setup] if lesson.setup else []
        cells = [SourceCell(text, "setup", None, f"setup cell {number}") for number, text in enumerate(setup, start=1)]
        others = (other for other in self.course.of_lesson(lesson.name) if other.id != exercise.id)
        return cells + [solution_cell(other.id, "") for other in others]

    def points(self, exercise: Exercise, text: str) -> float:
        """The points that the text of one solution cell earns; what the build asks for."""
        return self.grade_text(exercise, text, points_only=True).earned

    def master(self, lesson: str) -> nbformat.NotebookNode:
        """The present master of a lesson."""
        if lesson not in self._masters:
            self._masters[lesson] = find_master(self.course, lesson)
        return self._masters[lesson]

    def grade_exercise(
        self,
        exercise: Exercise,
        cells: Sequence[SourceCell],
        given_up: Outcomes | None = None,
        *,
        points_only: bool = False,
    ) -> Graded:
        """Grade one exercise of a submission, unless the same was graded before.

        Args:
            exercise: The exercise.
            cells: The submission's cells.
            given_up: Cells, by index, of which only the definitions are run, because they ran out of time or memory
                when another exercise of this submission was graded; what this exercise finds of that kind is added.
            points_only: Whether verdicts that change no points may be missing.
        """
        given_up = {} if given_up is None else given_up
        edition = self._edition(exercise)
        kept = self._kept(exercise, cells, given_up, edition)
        record = read_record(kept)
        if record is None and points_only and kept is not None:
            kept = kept.with_suffix(".points.json")
            record = read_record(kept)
        if record is None:
            record = self._run(exercise, cells, given_up, edition, points_only)
            if kept is not None and _settled(*record):
                write_record(kept, record, content_hash(self._follows_from(exercise, edition.name)))
        graded, ended = record
        given_up.update(ended)
        return confirmed(scored_again(exercise, graded), self._seen.get(exercise.id, {}))

    def _run(
        self,
        exercise: Exercise,
        cells: Sequence[SourceCell],
        given_up: Outcomes,
        edition: Path,
        points_only: bool,
    ) -> tuple[Graded, Outcomes]:
        spec = ExerciseSpec(exercise.id, exercise.objects)
        trimmed = {index for index in given_up if cells[index].exercise != exercise.id}
        ready = [
            replace(cell, source=definitions_only(cell.source)) if index in trimmed else cell
            for index, cell in enumerate(cells)
        ]
        box = self._sandbox(exercise, edition)
        verdicts: list[Verdict] = []
        with box.session(ready, spec) as session:
            ended = {index: each for index, each in enumerate(session.cells) if index not in trimmed}
            outcomes = {**given_up, **ended}
            missing = list(session.missing)
            is_there = len(missing) < len(exercise.objects)
            watched = self._watchable(exercise, cells) if is_there else Watched()
            if is_there and not watched.cells:
                verdicts = self._verdicts(exercise, session, points_only, watched.refusal)
        events = session.events
        if watched.cells:
            sessions = (box.session(each, spec) for each in (watched.cells, ready))
            verdicts, later = self._verdicts_of_plain_code(exercise, sessions, missing, points_only)
            events = list(dict.fromkeys((*events, *later)))
        graded = scored(exercise, verdicts) if is_there else zero(exercise, why_missing(exercise, cells, outcomes))
        notes = cell_notes(exercise, cells, outcomes, graded)
        if missing and graded.verdicts:
            notes = [*notes, f"no cell defines {last_names(missing)}"]
        costly = {index: outcome for index, outcome in ended.items() if outcome.status in COSTLY}
        return replace(graded, notes=tuple(notes), events=tuple(events)), costly

    def _watchable(self, exercise: Exercise, cells: Sequence[SourceCell]) -> Watched:
        """What a witness watches of a submission; no cells where no test asks one, or none can watch."""
        return watched_cells(cells, exercise.objects) if self._warm_tests(exercise).watched else Watched()

    def _verdicts_of_plain_code(
        self, exercise: Exercise, sessions: Iterator[Session], missing: Sequence[str], points_only: bool
    ) -> tuple[list[Verdict], list[str]]:
        """What the tests find where nothing but the definitions was run, and what had to be contained there.

        Args:
            exercise: The exercise.
            sessions: That of the definitions; and that of all cells, for where the definitions are not enough.
            missing: Objects that are missing after all cells.
            points_only: Whether verdicts that change no points may be missing.
        """
        with next(sessions) as session:
            failed = next((each.sentence() for each in session.cells if not each.ok), "something is missing")
            if set(session.missing) <= set(missing):
                return self._verdicts(exercise, session, points_only), session.events
        with next(sessions) as session:
            refusal = f"it could not be watched: its definitions do not work without the rest of the cells: {failed}"
            return self._verdicts(exercise, session, points_only, refusal), session.events

    def _verdicts(self, exercise: Exercise, session: Session, points_only: bool, refusal: str = "") -> list[Verdict]:
        """What the hidden tests of an exercise find in a submission at rest.

        Args:
            exercise: The exercise.
            session: The submission.
            points_only: Whether verdicts that change no points may be missing.
            refusal: Why tests that rely on a witness cannot be asked; the empty string if they can.
        """
        asked = Hurried(session, self._limits[exercise.id].test_seconds)
        plugin = self._plugin(exercise, asked, points_only)
        plugin.refusal = refusal
        verdicts = self._warm_tests(exercise).run(plugin)
        session.events.extend(event for event in plugin.events if event not in session.events)
        return verdicts

    def _warm_tests(self, exercise: Exercise) -> WarmTests:
        if exercise.id not in self._tests:
            self._tests[exercise.id] = WarmTests(exercise.id, self._groups, self.hidden)
        return self._tests[exercise.id]

    def _plugin(self, exercise: Exercise, asked: Hurried, points_only: bool) -> HiddenTests:
        """What listens to the hidden tests of an exercise."""
        seed, shrink = self.course.seed, self.shrink_seconds
        return HiddenTests(exercise.id, self._groups, asked, pack_probe, seed, shrink, points_only)

    def _edition(self, exercise: Exercise) -> Path:
        if exercise.id not in self._editions:
            self._editions[exercise.id] = cached_edition(self.course, graded_without(self.course, exercise))
        return self._editions[exercise.id]

    def _tests_hash(self, exercise: Exercise) -> str:
        if exercise.id not in self._hashes:
            self._hashes[exercise.id] = hash_files(files_of(exercise.id, self.hidden))
        return self._hashes[exercise.id]

    def _sandbox(self, exercise: Exercise, edition: Path) -> Sandbox:
        box = self._sandboxes.pop(exercise.id, None)
        if box is None:
            while len(self._sandboxes) >= WARM:
                self._sandboxes.pop(next(iter(self._sandboxes))).close()
            box = Sandbox(edition, self._limits[exercise.id], isolation=self.isolation, preload=_preloaded(exercise))
            box.warm()
        self._sandboxes[exercise.id] = box  # the last one, of those that are closed in turn
        return box

    def _limits_of(self, exercise: Exercise) -> Limits:
        return Limits.from_mapping({**self.course.limits, **exercise.limits})

    def _kept(self, exercise: Exercise, cells: Sequence[SourceCell], given_up: Outcomes, edition: Path) -> Path | None:
        """Where the result belongs: its name says everything that it follows from."""
        if self._cache is None:
            return None
        content = {
            **self._follows_from(exercise, edition.name),
            "cells": [asdict(cell) for cell in cells],
            "given_up": {str(index): asdict(outcome) for index, outcome in sorted(given_up.items())},
        }
        return kept_path(self._cache, content)

    def _follows_from(self, exercise: Exercise, edition: str) -> dict[str, Any]:
        """What a result of an exercise follows from, besides the submission and what its groups are worth."""
        return {
            "grader": self._grader,
            "exercise": [exercise.id, list(exercise.objects), list(exercise.groups)],
            "tests": self._tests_hash(exercise),
            "edition": edition,
            "seed": self.course.seed,
            "limits": asdict(self._limits[exercise.id]),
            "uses": list(exercise.uses),
            "isolation": self.isolation,
            "shrink_seconds": self.shrink_seconds,
        }

    def state(self, lesson: str) -> str:
        """A hash of what marks of a lesson follow from, besides the submission: tests, library, limits, points."""
        if lesson not in self._states:
            exercises = self.course.of_lesson(lesson)
            content = [
                (self._follows_from(each, self._edition(each).name), each.points, dict(each.groups))
                for each in exercises
            ]
            seen = {each.id: self._seen.get(each.id, {}) for each in exercises}
            self._states[lesson] = content_hash({"exercises": content, "seen": seen, "text": self._text})
        return self._states[lesson]

    def needed(self, exercise: Exercise) -> tuple[str, str]:
        """The name of the edition that an exercise is graded with, and what results of today follow from, hashed."""
        edition = edition_name(self.course, graded_without(self.course, exercise))
        return edition, content_hash(self._follows_from(exercise, edition))

    def prepare(self, lesson: str) -> None:
        """Do once what every submission of a lesson needs, but for the sandboxes: before a judge is forked."""
        self.state(lesson)
        self.master(lesson)
        for exercise in self.course.of_lesson(lesson):
            self._warm_tests(exercise)

    def release(self, lesson: str) -> None:
        """End the sandboxes that other lessons than this one need, for their memory."""
        needed = {each.id for each in self.course.of_lesson(lesson)}
        for exercise in [each for each in self._sandboxes if each not in needed]:
            self._sandboxes.pop(exercise).close()


def _preloaded(exercise: Exercise) -> tuple[str, ...]:
    """What a sandbox imports first: an exercise's compiler, and the module that shows how it will be used."""
    modules = dict.fromkeys(f"minigrad.{name.rpartition('.')[0]}" for name in exercise.objects)
    return (*exercise.uses, *modules) if exercise.uses else ()


def _with_notes(graded: Graded, grafted: Grafted) -> Graded:
    """The result with what grafting said of the exercise before it."""
    said = tuple(note.text for note in grafted.notes if note.exercise == graded.exercise)
    return replace(graded, notes=said + graded.notes)


def _settled(graded: Graded, ended: Outcomes) -> bool:
    """Whether a result would be the same on another day."""
    failures = {verdict.failure for verdict in graded.verdicts} | {outcome.status for outcome in ended.values()}
    return not failures & UNLUCKY
