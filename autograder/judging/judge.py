"""Judge a grafted notebook: every exercise by its hidden tests, in a sandbox of its own.

While exercise X is judged, only X is cut from the library and only X is taken from the student's cells;
everything else is the reference. So one mistake costs one exercise, and no other. A sandbox with its edition
of the library stays warm from one submission to the next. Results are cached by their content: the same cells,
tests, edition, seed and limits are not run again (`fingerprint`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import nbformat

from autograder.building.masters import find_master
from autograder.building.notebooks import setup_texts
from autograder.common.errors import GraderError
from autograder.common.python_text import definitions_only
from autograder.common.unforeseen import unforeseen
from autograder.course import Course, Exercise
from autograder.grafting.grafted import Grafted, stubs
from autograder.judging.expectation import NO_RETURN
from autograder.judging.fingerprint import Fingerprint
from autograder.judging.listening import Listener
from autograder.judging.plugin import SHRINK_SECONDS, HiddenTests
from autograder.judging.sandboxes import Sandboxes
from autograder.judging.scoring import scored, scored_again, zero
from autograder.judging.student import HiddenTestError, Student
from autograder.judging.student_cells import (
    cell_notes,
    not_done,
    solution_cell,
    source_cells,
    why_missing,
    why_some_are_missing,
    without_later_imports,
    without_some,
)
from autograder.judging.time_budget import TimeBudget
from autograder.judging.warm_tests import WarmTests
from autograder.judging.watched import Watched, watched_cells
from autograder.results import Graded, Submission, Verdict
from autograder.results.causes import confirmed
from autograder.results.result_cache import Outcomes, content_hash, kept_path, read_record, write_record
from autograder.results.shortening import shortened, shortened_notes
from autograder.sandbox import ExerciseSpec, SandboxError, Session, SourceCell, pack_probe
from autograder.sandbox.inside.patience import Patience, kept_waiting

__all__ = ["Judge", "solution_cell", "source_cells"]

UNLUCKY = frozenset({"timeout", "memory", "killed"})
"""Failures that a busy machine may cause in work that is right: a result that holds one of them is not cached."""

SESSIONS = 3
"""A notebook's exercises may take as long as this many sessions; what is left then is not run."""

COSTLY = frozenset({"timeout", "memory", "killed", "output"})
"""The ends of a cell that ran out of time, memory or output.

For the submission's remaining exercises only its definitions are run, so that one endless cell does not cost its time
limit once per exercise.
"""


class Judge:
    """Grades notebooks; keeps its sandboxes warm until it is closed.

    It reads course, library and tests once: after any of them has changed, make another judge.

    Args:
        course: The course.
        hidden: Another directory of hidden tests than the course's own.
        isolation: The sandbox's kind; ``"auto"`` takes the best there is.
        cache: Where results are kept; None keeps none.
        shrink_seconds: How long a property test that failed may look for a smaller counter-example.
        listener: Hears what is seen of one exercise.
        warm: How many sandboxes `release` leaves and `heat` starts; 0 for those of one lesson alone.
    """

    def __init__(
        self,
        course: Course,
        *,
        hidden: Path | None = None,
        isolation: str = "auto",
        cache: Path | None = None,
        shrink_seconds: float = SHRINK_SECONDS,
        listener: Listener | None = None,
        warm: int = 0,
    ) -> None:
        self.course = course
        self.hidden = hidden or course.hidden
        self.isolation = isolation
        self.fingerprint = Fingerprint(course, self.hidden, isolation, shrink_seconds)
        self._shrink_seconds = shrink_seconds
        self._cache = cache
        self._listener = listener or Listener()
        self._groups = {each.id: tuple(each.groups) for each in course.exercises.values()}
        self._masters: dict[str, nbformat.NotebookNode] = {}
        self._tests: dict[str, WarmTests] = {}
        self._sandboxes = Sandboxes(isolation, course, warm)
        self._warm, self._prepared = warm, list[str]()
        self._pack = partial(pack_probe, library=course.library)
        self._apart = 0.0  # seconds of this submission that count against no limit

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every sandbox."""
        self._sandboxes.close()

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
        allowed = SESSIONS * max((self.fingerprint.limits(each).submission_seconds for each in exercises), default=0.0)
        self._apart = 0.0
        patience = Patience(allowed, kept_waiting(os.getpid()), 0.0, lambda: self._apart)
        for exercise in exercises:
            if grafted.unreadable:
                results.append(zero(exercise, grafted.unreadable))
            elif exercise.id in undone:
                results.append(zero(exercise, undone[exercise.id]))
            elif not patience.left():
                reason = f"not run: the exercises before it used up its {allowed:g} s, which are for the whole notebook"
                results.append(zero(exercise, reason))
            else:
                results.append(self._graded(exercise, cells, given_up))
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
        notes = (*general, *shortened_notes(shared))
        return Submission(lesson, tuple(results), notes, grafted.unreadable, grafted.language)

    def _graded(self, exercise: Exercise, cells: Sequence[SourceCell], given_up: Outcomes) -> Graded:
        """The result of an exercise; what nobody foresaw costs this one alone, is told, and is never cached."""
        try:
            return self.grade_exercise(exercise, cells, given_up)
        except (GraderError, HiddenTestError, SandboxError, OSError):  # they concern everyone
            raise
        except Exception as error:
            return zero(exercise, unforeseen("this exercise", error))

    def grade_text(self, exercise: Exercise, text: str, *, points_only: bool = False) -> Graded:
        """Grade the text of one solution cell, below the setup cells and the unwritten exercises of its lesson."""
        cells = [*self.around(exercise), solution_cell(exercise.id, text)]
        return self.grade_exercise(exercise, cells, points_only=points_only)

    def around(self, exercise: Exercise) -> list[SourceCell]:
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
        return self.grade_text(exercise, text).earned

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
            points_only: Whether verdicts of a group that has lost its points may be missing. Then each mistake costs
                every group in which it shows: the points of a wrong answer are at least these.
        """
        given_up = {} if given_up is None else given_up
        kept = self._kept(exercise, cells, given_up)
        record = read_record(kept)
        if record is None and points_only and kept is not None:
            kept = kept.with_suffix(".points.json")
            record = read_record(kept)
        if record is None:
            record = self._run(exercise, cells, given_up, points_only)
            if kept is not None and _settled(*record):
                follows = self.fingerprint.follows(exercise, self.fingerprint.edition(exercise).name)
                write_record(kept, record, content_hash(follows))
        graded, ended = record
        given_up.update(ended)
        graded = scored_again(exercise, graded)
        if not points_only:  # else the failures that a mistake explains may be missing
            graded = scored_again(exercise, confirmed(graded, *self.fingerprint.mistakes(exercise.id)))
        return _without_return(graded)

    def _kept(self, exercise: Exercise, cells: Sequence[SourceCell], given_up: Outcomes) -> Path | None:
        """The place of a result in the cache, by everything that it follows from; None where no cache is asked."""
        if self._cache is None or exercise.id == self._listener.exercise:
            return None
        return kept_path(self._cache, self.fingerprint.of_cells(exercise, cells, given_up))

    def _heard(self, exercise: Exercise) -> Listener:
        """The listener to an exercise."""
        return self._listener if exercise.id == self._listener.exercise else Listener()

    def _run(
        self, exercise: Exercise, cells: Sequence[SourceCell], given_up: Outcomes, points_only: bool
    ) -> tuple[Graded, Outcomes]:
        spec = ExerciseSpec(exercise.id, exercise.objects)
        trimmed = {index for index in given_up if cells[index].exercise != exercise.id}
        ready = [
            replace(cell, source=definitions_only(cell.source)) if index in trimmed else cell
            for index, cell in enumerate(cells)
        ]
        box = self._sandboxes.of(exercise, self.fingerprint.edition(exercise), self.fingerprint.limits(exercise))
        verdicts: list[Verdict] = []
        with box.session(ready, spec) as session:
            self._heard(exercise).cells_ran(session)
            ended = {index: each for index, each in enumerate(session.cells) if index not in trimmed}
            outcomes = {**given_up, **ended}
            missing = list(session.missing)
            is_there = len(missing) < len(exercise.objects)
            watched = self._watchable(exercise, cells) if is_there else Watched()
            if is_there and not watched.cells:
                verdicts = self._verdicts(exercise, session, points_only, watched.refusal)
        events = session.events
        self._apart += session.apart
        if watched.cells:
            sessions = (box.session(each, spec) for each in (watched.cells, ready))
            verdicts, later = self._verdicts_of_plain_code(exercise, sessions, missing, points_only)
            events = list(dict.fromkeys((*events, *later)))
        graded = scored(exercise, verdicts) if is_there else zero(exercise, why_missing(exercise, cells, outcomes))
        if missing and graded.verdicts:
            graded = without_some(graded, why_some_are_missing(missing, exercise, cells, outcomes))
        notes = cell_notes(exercise, cells, outcomes, graded)
        costly = {index: outcome for index, outcome in ended.items() if outcome.status in COSTLY}
        return replace(graded, notes=tuple(notes), events=tuple(events)), costly

    def _watchable(self, exercise: Exercise, cells: Sequence[SourceCell]) -> Watched:
        """The cells that a witness watches; none where no test asks one, or none can watch."""
        if not self._warm_tests(exercise).watched:
            return Watched()
        return watched_cells(without_later_imports(cells, exercise.objects), exercise.objects)

    def _verdicts_of_plain_code(
        self, exercise: Exercise, sessions: Iterator[Session], missing: Sequence[str], points_only: bool
    ) -> tuple[list[Verdict], list[str]]:
        """The tests' findings where nothing but the definitions was run, and the events that were contained there.

        Args:
            exercise: The exercise.
            sessions: That of the definitions; and that of all cells, for where the definitions are not enough.
            missing: Objects that are missing after all cells.
            points_only: Whether verdicts that change no points may be missing.
        """
        with next(sessions) as session:
            failed = next((each.sentence() for each in session.cells if not each.ok), "something is missing")
            if set(session.missing) <= set(missing):
                verdicts = self._verdicts(exercise, session, points_only)
                self._apart += session.apart
                return verdicts, session.events
        with next(sessions) as session:
            refusal = f"it could not be watched: its definitions do not work without the rest of the cells: {failed}"
            return self._verdicts(exercise, session, points_only, refusal), session.events

    def _verdicts(self, exercise: Exercise, session: Session, points_only: bool, refusal: str = "") -> list[Verdict]:
        """The findings of an exercise's hidden tests in a submission at rest.

        Args:
            exercise: The exercise.
            session: The submission.
            points_only: Whether verdicts that change no points may be missing.
            refusal: Why tests that rely on a witness cannot be asked; the empty string if they can.
        """
        listener = self._heard(exercise)
        asked = TimeBudget(session, self.fingerprint.limits(exercise).test_seconds, listener.asked)
        seed, shrink = self.course.seed, self._shrink_seconds
        plugin = HiddenTests(exercise.id, self._groups, asked, self._pack, seed, shrink, points_only, listener)
        plugin.refusal = refusal
        verdicts = self._warm_tests(exercise).run(plugin)
        session.events.extend(event for event in plugin.events if event not in session.events)
        return verdicts

    def ask(self, exercise: str, cells: Sequence[SourceCell], probe: Callable[..., Any], *args: Any) -> Any:
        """Ask one question after a submission's cells, as a hidden test asks it, and once more from the same state.

        Args:
            exercise: The exercise's id.
            cells: The cells.
            probe: The question: a function of the library and of the arguments, as in a hidden test.
            *args: Plain data for it.

        Raises:
            StudentFailure: If no answer came, or two that differ.
            StudentStopped: If the code ran out of time or memory, or ended its process.
            SandboxError: If no sandbox can be had, or it failed.
        """
        known = self.course.exercise(exercise)
        limits = self.fingerprint.limits(known)
        box = self._sandboxes.of(known, self.fingerprint.edition(known), limits)
        with box.session(list(cells), ExerciseSpec(known.id, known.objects)) as session:
            asked = TimeBudget(session, limits.test_seconds, Listener().asked)
            return Student(asked, self._pack)(probe, *args, twice=True)

    def _warm_tests(self, exercise: Exercise) -> WarmTests:
        if exercise.id not in self._tests:
            self._tests[exercise.id] = WarmTests(exercise.id, self._groups, self.hidden)
        return self._tests[exercise.id]

    def prepare(self, lesson: str) -> None:
        """Do once what every submission of a lesson needs, but for the sandboxes: before a judge is forked."""
        self._prepared.append(lesson)
        self.fingerprint.state(lesson)
        self.master(lesson)
        for exercise in self.course.of_lesson(lesson):
            self._warm_tests(exercise)

    def heat(self) -> bool:
        """Start one more sandbox of the prepared lessons, of the last lesson first; False if there are enough.

        Raises:
            SandboxError: If no sandbox can be had.
        """
        if len(self._sandboxes.warm) >= self._warm:
            return False
        for lesson in reversed(self._prepared):
            for exercise in self.course.of_lesson(lesson):
                if exercise.id not in self._sandboxes.warm:
                    self._sandboxes.of(exercise, self.fingerprint.edition(exercise), self.fingerprint.limits(exercise))
                    return True
        return False

    def release(self, lesson: str) -> None:
        """End sandboxes that other lessons than this one need, for their memory: all of them, but for `warm`."""
        needed = {each.id for each in self.course.of_lesson(lesson)}
        self._sandboxes.close(but=needed, beside=self._warm - len(needed))


def _with_notes(graded: Graded, grafted: Grafted) -> Graded:
    """The result with what grafting said of the exercise before it."""
    said = tuple(note.text for note in grafted.notes if note.exercise == graded.exercise)
    return replace(graded, notes=said + graded.notes)


def _without_return(graded: Graded) -> Graded:
    """The same result, in which the question for a missing `return` stays: it says what was seen, no guess."""
    asked = {verdict.test for verdict in graded.verdicts if verdict.hint == NO_RETURN and not verdict.confirmed}
    kept = (replace(each, misconception="", confirmed=True) if each.test in asked else each for each in graded.verdicts)
    return replace(graded, verdicts=tuple(kept))


def _settled(graded: Graded, ended: Outcomes) -> bool:
    """Return whether a result would be the same on another day."""
    failures = {verdict.failure for verdict in graded.verdicts} | {outcome.status for outcome in ended.values()}
    return not failures & UNLUCKY
