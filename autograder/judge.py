"""Judge a grafted notebook: every exercise by its hidden tests, in a sandbox of its own.

While exercise X is judged, only X is cut from the library and only X is taken from the student's cells;
everything else is the reference. So one mistake costs one exercise, and no other. A sandbox with its edition
of the library stays warm from one submission to the next, and a result is kept by the content it follows
from: the same cells, tests, edition, seed and limits are not run again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import nbformat

from autograder.causes import SEEN, confirmed, read_seen
from autograder.course import Course, Exercise
from autograder.editions import cached_edition
from autograder.files import write
from autograder.graft import Grafted, stubs
from autograder.masters import find_master
from autograder.notebooks import setup_texts
from autograder.plugin import HIDDEN, SHRINK_SECONDS, HiddenTestError, HiddenTests, files_of, run_hidden_tests
from autograder.reading import defined_names, definitions_only
from autograder.results import Graded, GroupScore, Submission, Verdict
from autograder.sandbox import CellOutcome, ExerciseSpec, Limits, Sandbox, SourceCell, pack_probe
from autograder.shortening import shortened, shortened_notes

__all__ = ["Hurried", "Judge", "scored", "solution_cell", "source_cells", "zero"]

Outcomes = dict[int, CellOutcome]
"""How cells ended, by their index."""

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
        self._grader = _hash_files(_grader_files())

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
        not_done = _not_done(grafted, self.course)
        given_up: Outcomes = {}
        results = []
        exercises = self.course.of_lesson(lesson)
        allowed = SESSIONS * max((self._limits[each.id].submission_seconds for each in exercises), default=0.0)
        deadline = time.monotonic() + allowed
        for exercise in exercises:
            if grafted.unreadable:
                results.append(zero(exercise, grafted.unreadable))
            elif exercise.id in not_done:
                results.append(zero(exercise, not_done[exercise.id]))
            elif time.monotonic() > deadline:
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
        record = _read_record(kept)
        if record is None and points_only and kept is not None:
            kept = kept.with_suffix(".points.json")
            record = _read_record(kept)
        if record is None:
            record = self._run(exercise, cells, given_up, edition, points_only)
            if kept is not None and _settled(*record):
                _write_record(kept, record)
        graded, ended = record
        given_up.update(ended)
        return confirmed(graded, self._seen.get(exercise.id, {}))

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
        with self._sandbox(exercise, edition).session(ready, spec) as session:
            ended = {index: each for index, each in enumerate(session.cells) if index not in trimmed}
            outcomes = {**given_up, **ended}
            if len(session.missing) == len(exercise.objects):
                graded = zero(exercise, _why_missing(exercise, cells, outcomes))
            else:
                asked = Hurried(session, self._limits[exercise.id].test_seconds)
                seed, shrink = self.course.seed, self.shrink_seconds
                plugin = HiddenTests(exercise.id, self._groups, asked, pack_probe, seed, shrink, points_only)
                graded = scored(exercise, run_hidden_tests(plugin, self.hidden))
            notes = _cell_notes(exercise, cells, outcomes, graded)
            if session.missing and graded.verdicts:
                notes = [*notes, f"no cell defines {_last_names(session.missing)}"]
        costly = {index: outcome for index, outcome in ended.items() if outcome.status in COSTLY}
        return replace(graded, notes=tuple(notes)), costly

    def _edition(self, exercise: Exercise) -> Path:
        if exercise.id not in self._editions:
            self._editions[exercise.id] = cached_edition(self.course, [exercise.id])
        return self._editions[exercise.id]

    def _tests_hash(self, exercise: Exercise) -> str:
        if exercise.id not in self._hashes:
            self._hashes[exercise.id] = _hash_files(files_of(exercise.id, self.hidden))
        return self._hashes[exercise.id]

    def _sandbox(self, exercise: Exercise, edition: Path) -> Sandbox:
        box = self._sandboxes.pop(exercise.id, None)
        if box is None:
            while len(self._sandboxes) >= WARM:
                self._sandboxes.pop(next(iter(self._sandboxes))).close()
            box = Sandbox(edition, self._limits[exercise.id], isolation=self.isolation, preload=exercise.uses)
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
            "grader": self._grader,
            "exercise": [exercise.id, list(exercise.objects), exercise.points, dict(exercise.groups)],
            "cells": [asdict(cell) for cell in cells],
            "given_up": {str(index): asdict(outcome) for index, outcome in sorted(given_up.items())},
            "tests": self._tests_hash(exercise),
            "edition": edition.name,
            "seed": self.course.seed,
            "limits": asdict(self._limits[exercise.id]),
            "uses": list(exercise.uses),
            "isolation": self.isolation,
            "shrink_seconds": self.shrink_seconds,
        }
        text = json.dumps(content, sort_keys=True)
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:40]
        return self._cache / digest[:2] / f"{digest}.json"


class Hurried:
    """A session in which a question gets a fifth of the time after two were answered too late.

    An exercise of many tests with an endless function does not cost each of them its full time, and quick functions
    beside it still answer.

    Args:
        session: The submission in the sandbox.
        seconds: The time of a question.
    """

    def __init__(self, session: Any, seconds: float) -> None:
        self._session = session
        self._seconds = seconds
        self._late = 0

    def observe(self, probe: bytes, args: list[Any]) -> Any:
        """Ask the session."""
        seconds = self._seconds / 5 if self._late >= 2 else None
        observation = self._session.observe(probe, args, seconds)
        self._late += observation.failure is not None and observation.failure.kind == "timeout"
        return observation


def _with_notes(graded: Graded, grafted: Grafted) -> Graded:
    """The result with what grafting said of the exercise before it."""
    said = tuple(note.text for note in grafted.notes if note.exercise == graded.exercise)
    return replace(graded, notes=said + graded.notes)


def _settled(graded: Graded, ended: Outcomes) -> bool:
    """Whether a result would be the same on another day."""
    failures = {verdict.failure for verdict in graded.verdicts} | {outcome.status for outcome in ended.values()}
    return not failures & UNLUCKY


def source_cells(notebook: nbformat.NotebookNode) -> list[SourceCell]:
    """The cells of a grafted notebook that the sandbox runs: setup, solutions and added cells."""
    cells: list[SourceCell] = []
    count = {"setup": 0, "added": 0}
    for cell in notebook.cells:
        label = cell.metadata.get("minigrad", {})
        kind = label.get("kind")
        if kind == "solution":
            cells.append(solution_cell(label["exercise"], cell.source))
        elif kind in count:
            count[kind] += 1
            name = f"setup cell {count[kind]}" if kind == "setup" else f"added cell {count[kind]}"
            cells.append(SourceCell(cell.source, kind, None, name))
    return cells


def solution_cell(exercise: str, text: str) -> SourceCell:
    """A solution cell for the sandbox."""
    return SourceCell(text, "solution", exercise, f"solution of {exercise}")


def zero(exercise: Exercise, reason: str, notes: tuple[str, ...] = ()) -> Graded:
    """No points for an exercise, for a reason that stands above any test."""
    groups = tuple(GroupScore(name, points, 0) for name, points in exercise.groups.items())
    return Graded(exercise.id, exercise.points, groups, reason=reason, notes=notes)


def scored(exercise: Exercise, verdicts: Sequence[Verdict], notes: tuple[str, ...] = ()) -> Graded:
    """Points from verdicts: a group earns all of its points if each of its tests passed, else none.

    Raises:
        HiddenTestError: If a group has no test, so that its points would mean nothing.
    """
    groups = []
    for name, points in exercise.groups.items():
        passed = [verdict.passed for verdict in verdicts if verdict.group == name]
        if not passed:
            raise HiddenTestError(f"{exercise.id}: no hidden test is in the group {name!r}; write one")
        groups.append(GroupScore(name, points, points if all(passed) else 0))
    return Graded(exercise.id, exercise.points, tuple(groups), tuple(verdicts), notes=notes)


def _not_done(grafted: Grafted, course: Course) -> dict[str, str]:
    """Exercises that need no sandbox to earn nothing, with the reason."""
    labels = [cell.metadata.get("minigrad", {}) for cell in grafted.notebook.cells]
    added = set[str]()
    for cell, label in zip(grafted.notebook.cells, labels, strict=True):
        if label.get("kind") == "added":
            added |= defined_names(cell.source)
    reasons = {"missing": "there is no cell for this exercise", "untouched": "this exercise was not started"}
    found = {}
    for label in labels:
        if label.get("kind") == "solution" and label["state"] in reasons:
            objects = course.exercise(label["exercise"]).objects
            if not added & {dotted.rpartition(".")[2] for dotted in objects}:
                found[label["exercise"]] = reasons[label["state"]]
    return found


def _why_missing(exercise: Exercise, cells: Sequence[SourceCell], outcomes: Outcomes) -> str:
    """Why there is nothing to test: the solution cell failed, or defines something else."""
    for index, outcome in sorted(outcomes.items()):
        if cells[index].exercise == exercise.id and not outcome.ok:
            return f"nothing could be tested: {outcome.sentence()}"
    return f"nothing could be tested: no cell defines {_last_names(exercise.objects)}"


def _last_names(objects: Iterable[str]) -> str:
    return ", ".join(dotted.rpartition(".")[2] for dotted in objects)


def _cell_notes(exercise: Exercise, cells: Sequence[SourceCell], outcomes: Outcomes, graded: Graded) -> list[str]:
    """What the student should know of the exercise's own cells, and of those that belong to no exercise."""
    notes = []
    for index, outcome in sorted(outcomes.items()):
        if cells[index].exercise in (None, exercise.id):
            if not outcome.ok and not graded.reason.endswith(outcome.sentence()):
                notes.append(outcome.sentence())
            notes += [f"{outcome.label}: {note}" for note in outcome.notes]
    return notes


def _grader_files() -> list[Path]:
    """The code that decides on points. What `expect` compares with belongs to the library, and to its editions."""
    here = Path(__file__).parent
    names = ("comparing.py", "expect.py", "judge.py", "plugin.py", "results.py", "student.py")
    return [here / name for name in names] + sorted((here / "sandbox").rglob("*.py"))


def _hash_files(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _read_record(path: Path | None) -> tuple[Graded, Outcomes] | None:
    """A result that was kept; None if there is none or it is damaged."""
    if path is None or not path.is_file():
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        ended = {int(index): _outcome(data) for index, data in record["given_up"].items()}
        return Graded.from_json(record["graded"]), ended
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _outcome(data: Mapping[str, Any]) -> CellOutcome:
    return CellOutcome(**{**data, "notes": tuple(data["notes"])})


def _write_record(path: Path, record: tuple[Graded, Outcomes]) -> None:
    graded, ended = record
    given_up = {str(index): asdict(outcome) for index, outcome in ended.items()}
    write(path, json.dumps({"graded": graded.as_json(), "given_up": given_up}))
