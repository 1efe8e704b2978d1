"""Write what grading found where stock nbgrader keeps it: its gradebook, and the folder `autograded`.

`nbgrader autograde` opens the database nine times for each submission and copies each notebook five times. Here one
opened database serves a whole class; rows and files are the same, row by row and byte by byte. nbgrader's own classes
still decide the score of a cell, the text that it is restored to, and the penalty for being late.

Why there are two ways: to record a graded class of 20 with two notebooks each, `hand_over` takes 0.150 s of processor
for a notebook and `add` 0.014 s (1.04 s and 0.12 s by the clock of a busy machine with two cores). Handing every
result over would add 0.4 s to a submission of three notebooks. By the times of `benchmarks/RESULTS.md` a class without
compiled answers would be graded 20 times as fast as by stock nbgrader in place of 25, and one with compiled answers 6.2
times in place of 6.8. nbgrader also writes into `autograded` in place, where a run that is killed leaves half of a
submission. So `hand_over` is for courses with nbgrader steps of their own alone.

Runs on the same course record in turn (`turns.py`).

Rows come before files, and files before the ledger, so that a run which is killed in between is done again. Where a
course has nbgrader steps of its own, `hand_over` gives the results to nbgrader in memory (`found_already`), and the
ledger still comes last.

So a submission cut off by SIGKILL is recorded again, whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import nbformat
from nbgrader import utils
from nbgrader.api import Gradebook, MissingEntry, Student
from nbgrader.converters import Autograde, NbGraderException
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from autograder.building.notebooks import dump
from autograder.common.atomic import PREFIX, Aside, sweep
from autograder.common.files import copy, put
from autograder.common.unforeseen import unforeseen
from autograder.course import CourseError
from autograder.gradebook.blueprints import Blueprint, has_id, score
from autograder.gradebook.dates import Dates, Penalties, penalty_change
from autograder.gradebook.diagnosing import BusyGradebookError, diagnosed, refuse_an_unusable_gradebook
from autograder.gradebook.group_marks import hand_on_marks
from autograder.gradebook.indexes import add_indexes
from autograder.gradebook.nbgrader_hooks import (
    EXPORTER,
    STEPS,
    JudgePreprocessor,
    fill,
    found_already,
    hidden_tests_of,
    mark_of,
)
from autograder.gradebook.settings import load_app, quiet
from autograder.gradebook.turns import Turn
from autograder.grafting.collecting import handed_in_at, regraft
from autograder.grafting.sharing import hand_on
from autograder.grafting.tidying import ORIGINALS, course_of
from autograder.grafting.written import Marks, answers_of
from autograder.results.changes import Change, afresh, is_recorded_already
from autograder.results.ledger import Entry, read_entry, write_recorded
from autograder.results.regrade_log import AFRESH, logged

ATTEMPTS = 3
"""Number of times that a submission is recorded while the database is busy; SQLite waits five seconds each time."""

_CUSTOM = ("sanitize_preprocessors", "autograde_preprocessors", "exporter_class", "post_convert_hook")
"""Settings of `c.Autograde` that say what is done with a notebook, step by step."""


def hidden_of(root: Path, assignment: str) -> Path:
    """The directory of hidden tests that a course's configuration names, as seen from the course."""
    return hidden_tests_of(root, JudgePreprocessor(parent=load_app(root, assignment)).hidden)


class _Batch(Session):
    """A database session whose `commit`, which nbgrader calls after each row, waits for `finish`."""

    def commit(self) -> None:
        """Send what has changed to the database, and hold it back there."""
        self.flush()

    def finish(self) -> None:
        """Make it so."""
        super().commit()


class _Gradebook(Gradebook):  # type: ignore[misc]  # nbgrader ships no types
    """nbgrader's gradebook, opened once for many submissions."""

    def __init__(self, url: str, course_id: str) -> None:
        super().__init__(url, course_id)
        self.check_course()  # nbgrader's steps open it without the course's name, which adds a row
        add_indexes(self.engine)
        self.db.remove()
        self.db: Any = scoped_session(sessionmaker(autoflush=True, bind=self.engine, class_=_Batch))


@dataclass(frozen=True)
class _Pending:
    """A student's result that was added and does not stand yet."""

    student: str
    entries: tuple[Entry, ...]
    aside: Aside
    answers: Mapping[str, Mapping[str, str]]


class Recorder:
    """Records submissions of one assignment; what was recorded stands when the block ends without an error.

    Args:
        root: The course's directory.
        assignment: The assignment's name.

    Attributes:
        turn: The turn of this run to record, for blocks that first ask whether something is recorded.

    Raises:
        CourseError: If the gradebook cannot be used, or does not know the assignment.
    """

    def __init__(self, root: Path, assignment: str) -> None:
        self.root, self.assignment = root.resolve(), assignment
        self._course = course_of(root)
        self._app = load_app(self.root, assignment)
        self._settings: Any = Autograde(coursedir=self._app.coursedir, parent=self._app)
        self._penalties, self._dates = Penalties(quiet(self._app)), Dates(self._course)
        self._url = str(self._app.coursedir.db_url)
        self.turn = Turn(self.root)
        refuse_an_unusable_gradebook(self._url)
        with self.turn:
            self._open()
        self._pending: list[_Pending] = []
        self._late_changes: list[Change] = []
        sweep((self.root / self._app.coursedir.autograded_directory).glob(f"{PREFIX}*"))
        self._rest()

    def _open(self) -> None:
        with diagnosed(self._url):
            self._gradebook = _Gradebook(self._url, self._app.coursedir.course_id)
            try:
                self._blueprints = self._read_blueprints()
                self._dates.put(self._gradebook, self.assignment)
                self._gradebook.db().finish()
            except BaseException:
                self._gradebook.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if error is None:
                self.commit()
        finally:
            self._drop()
            self._gradebook.close()

    def commit(self) -> None:
        """Make what was added stand: rows, then files, then the ledger. What is killed in between is done again.

        Raises:
            CourseError: If the database refuses; then nothing stands that was added since the last `commit`.
        """
        changes, self._late_changes = self._late_changes, []
        try:
            with diagnosed(self._url), logged(self.root, changes, AFRESH):
                self._gradebook.db().finish()
        except BaseException:
            self._gradebook.db.rollback()
            self._drop()
            raise
        while self._pending:
            each = self._pending.pop(0)
            home = self._home(each.student)
            with each.aside as folder:
                home.parent.mkdir(parents=True, exist_ok=True)
                if home.exists():
                    home.rename(folder / "before")
                (folder / self.assignment).rename(home)
            for lesson, answers in each.answers.items():
                self._marks(each.student, lesson).write(answers)
            self.keep(each.entries)

    def keep(self, entries: Iterable[Entry]) -> None:
        """Put what is recorded into the ledger, from which feedback, reports and regrading take it."""
        for entry in entries:
            write_recorded(self.root, entry)

    def _drop(self) -> None:
        """Forget what was added and does not stand."""
        self._late_changes.clear()
        while self._pending:
            self._pending.pop().aside.close()

    @property
    def is_stock(self) -> bool:
        """True if the course's configuration leaves nbgrader's steps as the grader set them."""
        return not self._own_steps()

    def _own_steps(self) -> list[str]:
        wanted = {"autograde_preprocessors": STEPS, "exporter_class": EXPORTER}
        given = self._app.config.get("Autograde", {})
        return [name for name in _CUSTOM if name in given and given[name] != wanted.get(name)]

    @property
    def excluded(self) -> frozenset[str]:
        """Students whom the course's configuration leaves out."""
        return frozenset(self._app.coursedir.student_id_exclude.split(",")) - {""}

    def hand_over(self, student: str, entries: Sequence[Entry]) -> bool:
        """Let `nbgrader autograde` itself record a student, where its steps are not the grader's; True if it did."""
        self._app.coursedir.student_id = student
        converter = Autograde(coursedir=self._app.coursedir, parent=self._app)
        converter.force = True
        with self.turn:
            try:
                with found_already(entries):
                    converter.start()
            except NbGraderException:
                return False
            self.keep(entries)
        return True

    def has_files(self, student: str) -> bool:
        """Return whether there is anything to make a student's graded notebooks from."""
        return (self._came(student) if self.is_stock else self._submitted(student)).is_dir()

    # What is recorded already --------------------------------------------------------------------------------

    def is_recorded(self, student: str, entries: Sequence[Entry]) -> bool:
        """Return whether gradebook and `autograded` already hold these results.

        Raises:
            CourseError: If the gradebook cannot be read.
        """
        folder = self._home(student)
        with diagnosed(self._url):
            try:
                return self._is_in_gradebook(student, entries) and all(self._shows(folder, entry) for entry in entries)
            finally:
                self._rest()

    def _shows(self, folder: Path, entry: Entry) -> bool:
        """Return whether a graded notebook lies there that shows a result, and the answers in words as handed in."""
        path = folder / f"{entry.lesson}.ipynb"
        try:
            text = path.read_text(encoding="utf-8")
        except OSError:
            return False
        blueprint = self._blueprints.get(entry.lesson)
        if f'"graded": "{mark_of(entry.submission)}"' not in text:
            return False
        if blueprint is None or not blueprint.asks:
            return True
        came = self._grafted(entry, self._submitted(entry.student) / path.name)
        try:
            return answers_of(nbformat.reads(text, as_version=4)) == answers_of(came)
        except ValueError:  # cut off: it is written again
            return False

    def _rest(self) -> None:
        """Hold no lock on the database between submissions, so that Formgrader can be used meanwhile."""
        if not self._pending:
            self._gradebook.db.rollback()

    def _is_in_gradebook(self, student: str, entries: Sequence[Entry]) -> bool:
        try:
            row = self._gradebook.find_submission(self.assignment, student)
        except MissingEntry:
            return False
        wanted = {
            (entry.lesson, self._course.exercise(each.exercise).graded_id): float(each.earned)
            for entry in entries
            for each in entry.submission.exercises
        }
        scores = {
            (notebook.name, grade.name): grade.auto_score for notebook in row.notebooks for grade in notebook.grades
        }
        return row.timestamp == handed_in_at(self._came(student)) and wanted.items() <= scores.items()

    # Recording -----------------------------------------------------------------------------------------------

    def take(self, student: str, entries: Sequence[Entry], kept: bool) -> str:
        """Record a student's results, by nbgrader's own steps where the course has some, unless they are recorded.

        What a member of a group handed in is recorded for all of them, with the marks that a person has given it.

        Args:
            student: nbgrader's student id.
            entries: The results.
            kept: Whether all of them had been found before.

        Returns:
            What kept them from being recorded; empty if nothing did.
        """
        members = self._dates.classmates.members(self.assignment, student)
        others = [each for each in members if each != student and each not in self.excluded]
        # The student comes last: what is recorded of the student is recorded of everybody, also after a kill.
        said = [self._take(each, [replace(own, student=each) for own in entries], kept, of=student) for each in others]
        return "; ".join(filter(None, [*said, self._take(student, entries, kept)]))

    def _refuse_a_stranger(self, student: str, of: str) -> None:
        """Make nobody of a wrong line in groups.csv.

        Raises:
            CourseError: If neither the gradebook nor `submitted` has a member of the group.
        """
        with diagnosed(self._url):
            known = self._gradebook.db.query(Student.id).filter(Student.id == student).first()
        if known is None and not (self.root / "submitted" / student).is_dir():
            raise CourseError(
                f"groups.csv has {student} in the group of {of}, and neither the gradebook nor submitted/ has that "
                f"student; correct the line, or give `nbgrader db student add {student}`"
            )

    def _take(self, student: str, entries: Sequence[Entry], kept: bool, of: str = "") -> str:
        """Record what a student handed in, or another member of the group."""
        try:
            with self.turn:
                if of:
                    self._refuse_a_stranger(student, of)
                if of and not hand_on(self.root, self.assignment, of, student):
                    return ""
                if (kept or self._is_in_ledger(entries)) and self.is_recorded(student, entries):
                    self.keep(entries)  # an earlier run may have been killed just before
                else:
                    with logged(self.root, afresh(self.root, entries), AFRESH):
                        if self.is_stock:
                            self.record(student, entries)
                        elif not self.hand_over(student, entries):
                            raise CourseError("nbgrader could not record it; see what it said above")
                if of:
                    with diagnosed(self._url):
                        hand_on_marks(self._gradebook, self.assignment, of, student)
                        self._gradebook.db().finish()
        except (CourseError, OSError) as error:
            return f"{student}: {error}" if of else str(error)
        except Exception as error:  # the class goes on, whatever one submission does
            return unforeseen("recording it", error)
        return ""

    def _is_in_ledger(self, entries: Sequence[Entry]) -> bool:
        """Return whether another run has put results into the ledger since."""
        return all(read_entry(self.root, each.student, each.assignment, each.lesson) == each for each in entries)

    def record(
        self, student: str, entries: Sequence[Entry], penalties: Mapping[str, float | None] | None = None
    ) -> None:
        """Record what was found in a student's notebooks at once, and again while the gradebook is only busy.

        Raises:
            CourseError: As `add` and `commit` do.
        """
        for left in reversed(range(ATTEMPTS)):
            try:
                with self.turn:
                    self.add(student, entries, penalties)
                    self.commit()
                return
            except BusyGradebookError:
                if not left:
                    raise

    def add(self, student: str, entries: Sequence[Entry], penalties: Mapping[str, float | None] | None = None) -> None:
        """Record what was found in a student's notebooks.

        Args:
            student: nbgrader's student id.
            entries: The results.
            penalties: Points that each notebook loses for lateness, where they are decided already; else the course's
                own rule decides, and a penalty of the same notebook that changes is logged.

        Raises:
            CourseError: If the gradebook has no such student and may not get one, or other points than course.toml;
                then nothing stands that was added since the last `commit`.
        """
        notebooks = {entry.lesson: self._finished(entry) for entry in entries}
        answers = {lesson: answers_of(notebook) for lesson, notebook in notebooks.items()}
        self._pending.append(_Pending(student, tuple(entries), self._aside(), answers))
        try:
            self._write(student, notebooks, self._pending[-1].aside.folder / self.assignment)
            with diagnosed(self._url):
                row = self._add_rows(student, notebooks)
                self._penalise(row, [entry for entry in entries if is_recorded_already(self.root, entry)], penalties)
        except BaseException:
            self._gradebook.db.rollback()
            self._drop()
            raise

    def _finished(self, entry: Entry) -> nbformat.NotebookNode:
        """A notebook as nbgrader's steps leave it."""
        blueprint = self._blueprints.get(entry.lesson)
        if blueprint is None:
            raise CourseError(
                f"the gradebook has no notebook {entry.lesson} in {self.assignment}; run "
                f"`nbgrader generate_assignment {self.assignment}`, then record again"
            )
        notebook = blueprint.apply(self._grafted(entry, self._notebook(entry)))
        fill(notebook, entry.submission, self._course)
        return notebook

    def _grafted(self, entry: Entry, path: Path) -> nbformat.NotebookNode:
        originals = self.root / ORIGINALS / entry.student / entry.assignment
        return regraft(self._course, entry.lesson, path, originals).notebook

    def _notebook(self, entry: Entry) -> Path:
        """The graded notebook: in `autograded` still, where `submitted` has another notebook by now, or none."""
        name = f"{entry.lesson}.ipynb"
        came, shown = self._submitted(entry.student) / name, self._home(entry.student) / name
        if not shown.is_file() or (came.is_file() and hashlib.sha256(came.read_bytes()).hexdigest() == entry.sha256):
            return came
        return shown

    def _aside(self) -> Aside:
        return Aside(self.root / self._app.coursedir.autograded_directory)

    def _write(self, student: str, notebooks: Mapping[str, nbformat.NotebookNode], aside: Path) -> None:
        """Write a student's graded files aside, with the permissions that nbgrader gives them."""
        coursedir = self._app.coursedir
        aside.mkdir()
        source = Path(coursedir.format_path(coursedir.source_directory, ".", self.assignment))
        kept_back = {str(source / name) for name in self._settings.exclude_overwriting.get(self.assignment, [])}
        for folder in (self._came(student), source):
            for file in utils.find_all_files(str(folder), [*coursedir.ignore, "*.ipynb"]):
                if file not in kept_back:
                    target = aside / Path(file).relative_to(folder)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    copy(Path(file), target)
        for lesson, notebook in notebooks.items():
            put(aside / f"{lesson}.ipynb", dump(notebook).encode())
        self._set_permissions(aside)

    def _set_permissions(self, folder: Path) -> None:
        permissions = int(str(self._settings.permissions), 8)
        for path in [folder, *folder.rglob("*")]:
            if path.is_file():
                path.chmod(permissions)
            elif self._app.coursedir.groupshared:
                path.chmod((path.stat().st_mode | 0o2770) & 0o2777)

    def penalise(self, student: str, penalties: Mapping[str, float | None]) -> None:
        """Set what a student's notebooks lose for lateness; nothing else of them changes.

        Args:
            student: nbgrader's student id.
            penalties: The points, by notebook.
        """
        with self.turn, diagnosed(self._url):
            self._dates.put(self._gradebook, self.assignment, [student])
            self._penalise(self._gradebook.find_submission(self.assignment, student), (), penalties)
            self._gradebook.db().finish()

    def _add_rows(self, student: str, notebooks: Mapping[str, nbformat.NotebookNode]) -> Any:
        gradebook = self._gradebook
        if self._settings.create_student:
            gradebook.update_or_create_student(student)
        try:
            row = gradebook.update_or_create_submission(
                self.assignment, student, timestamp=handed_in_at(self._came(student))
            )
        except MissingEntry as error:
            raise CourseError(
                f"no student {student!r} is in the gradebook; add one by `nbgrader db student`"
            ) from error
        for submitted in row.notebooks:
            notebook = notebooks.get(submitted.name)
            if notebook is None:  # handed in before the assignment lost it
                continue
            cells = {cell.metadata["nbgrader"]["grade_id"]: cell for cell in notebook.cells if has_id(cell)}
            marked = self._marks(student, submitted.name).unchanged(answers_of(notebook))
            score(submitted, cells, self._blueprints[submitted.name].names, marked, self._settings.log)
        self._dates.put(gradebook, self.assignment, [student])
        return row

    def _marks(self, student: str, lesson: str) -> Marks:
        return Marks(self.root, student, self.assignment, lesson)

    def _penalise(self, row: Any, again: Iterable[Entry], penalties: Mapping[str, float | None] | None) -> None:
        """Set the penalties for being late: those that are given, else by the course's own rule."""
        late, before = self._dates.of(row), {entry.lesson for entry in again}
        self._gradebook.db.flush()
        for submitted in row.notebooks:
            self._gradebook.db.refresh(submitted)  # its score is computed by the database
            if penalties is not None:
                if submitted.name in penalties:
                    submitted.late_submission_penalty = penalties[submitted.name]
                continue
            penalty = self._penalties.of(row.student_id, submitted.score, late)
            change = penalty_change(submitted, late, penalty)
            if change is not None and submitted.name in before:
                self._late_changes.append(change)
            submitted.late_submission_penalty = penalty

    def _submitted(self, student: str) -> Path:
        return self.root / "submitted" / student / self.assignment

    def _came(self, student: str) -> Path:
        """The folder of a student's files: the graded one, if nothing is in `submitted` any more."""
        submitted = self._submitted(student)
        return submitted if submitted.is_dir() else self._home(student)

    def _home(self, student: str) -> Path:
        coursedir = self._app.coursedir
        return Path(coursedir.format_path(coursedir.autograded_directory, student, self.assignment))

    def _read_blueprints(self) -> dict[str, Blueprint]:
        try:
            assignment = self._gradebook.find_assignment(self.assignment)
        except MissingEntry as error:
            raise CourseError(
                f"the gradebook has no assignment {self.assignment}; run `nbgrader generate_assignment "
                f"{self.assignment}` first"
            ) from error
        return {notebook.name: Blueprint(notebook) for notebook in assignment.notebooks}
