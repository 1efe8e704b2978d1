"""Replay what the judge saw of one exercise of one submission, for its instructor.

The submitted notebook is grafted and run in the sandbox again, by the judge itself; nothing is recorded. The result is
laid beside the recorded one: the two must agree, and where they do not, the explanation says why.

The judge takes a listener, which hears each question and answer. For the exercise that is listened to no cached
result is used, and none is written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from autograder.course import Course, CourseError
from autograder.grafting.collecting import regraft
from autograder.grafting.grafted import Grafted
from autograder.judging.expect import Expectation
from autograder.judging.judge import Judge, source_cells
from autograder.judging.listening import Listener
from autograder.judging.student import Asked
from autograder.reading import StudentNotebook, read_notebook
from autograder.reading.student_files import Unreadable, read_bytes
from autograder.results import Graded, Verdict
from autograder.results.causes import essence
from autograder.results.ledger import read_entry
from autograder.sandbox import CellOutcome, Session

MAX_VALUE = 600
"""Characters of one value."""

MAX_QUESTIONS = 8
"""Questions of one test that are shown, the last ones: they led to the verdict."""


@dataclass(frozen=True)
class Question:
    """A question of a hidden test to the student's code, and the answer.

    Attributes:
        given: The probe's arguments, by name.
        came: The answer; empty where none came.
    """

    given: tuple[tuple[str, str], ...]
    came: str


@dataclass(frozen=True)
class Examined:
    """One hidden test at work.

    Attributes:
        verdict: Its finding.
        where: Its file and line.
        asked: How many questions it asked in all; a property test asks many.
        questions: The last of them.
        wanted: The value that the failed comparison wanted; empty where nothing was compared, or all agreed.
        cause: Why its misconception was confirmed, or was not; empty where it names none.
    """

    verdict: Verdict
    where: str
    asked: int
    questions: tuple[Question, ...]
    wanted: str = ""
    cause: str = ""


@dataclass(frozen=True)
class CellRun:
    """One cell of the grafted notebook.

    Attributes:
        label: Its name in a report.
        exercise: The exercise that it solves; empty for others.
        origin: Where its text came from.
        outcome: How it ended; empty where it was not run.
        output: The beginning of its output.
        source: Its text.
    """

    label: str
    exercise: str
    origin: str
    outcome: str
    output: str
    source: str


@dataclass(frozen=True)
class Explanation:
    """Everything that led to a mark.

    Attributes:
        student: Whose.
        assignment: Of which assignment.
        lesson: Of which lesson.
        notes: The repairs of grafting and the parts that it ignored, for this exercise and the whole notebook.
        cells: The cells that the sandbox runs.
        graded: The judge's result, as a report has it.
        tests: The hidden tests, in their order; empty where none ran.
        recorded: The ledger's result; None where nothing was recorded.
        differences: Why the two disagree; empty where they agree.
    """

    student: str
    assignment: str
    lesson: str
    notes: tuple[str, ...]
    cells: tuple[CellRun, ...]
    graded: Graded
    tests: tuple[Examined, ...]
    recorded: Graded | None
    differences: tuple[str, ...]


def explain(
    course: Course, student: str, exercise_id: str, *, hidden: Path, isolation: str = "auto", cache: Path | None = None
) -> Explanation:
    """Run one exercise of a submission again, and tell all that was seen.

    Args:
        course: The course.
        student: nbgrader's student id.
        exercise_id: The exercise.
        hidden: The directory of hidden tests.
        isolation: The sandbox's kind.
        cache: Kept results, for the other exercises of the notebook alone.

    Raises:
        CourseError: If there is no such exercise, or nothing was submitted.
    """
    exercise = course.exercise(exercise_id)
    if course.is_draft(exercise):
        raise CourseError(f"{exercise_id} belongs to a draft, which nobody has handed in")
    lesson, assignment = exercise.lesson, course.assignment_of(exercise).name
    place = course.directory / "submitted" / student / assignment / f"{lesson}.ipynb"
    if Path(student).name != student or not place.parent.is_dir():
        raise CourseError(f"{student} has handed in nothing of {assignment}; there is no {place.parent}")
    originals = course.directory / "originals" / student / assignment
    grafted = regraft(course, lesson, place, originals)
    watcher = _Watcher(exercise_id)
    with Judge(course, hidden=hidden, isolation=isolation, cache=cache, listener=watcher) as judge:
        submission = judge.grade(grafted, lesson)
    graded = next(each for each in submission.exercises if each.exercise == exercise_id)
    entry = read_entry(course.directory, student, assignment, lesson)
    recorded = (
        next((each for each in entry.submission.exercises if each.exercise == exercise_id), None) if entry else None
    )
    changed = entry is not None and entry.sha256 != _sha256(place)
    notes = (grafted.unreadable, *(note.text for note in grafted.notes if note.exercise in ("", exercise_id)))
    return Explanation(
        student,
        assignment,
        lesson,
        tuple(filter(None, notes)),
        tuple(_cell_runs(grafted, watcher.outcomes, _Originals(originals))),
        graded,
        tuple(watcher.tests(graded, judge.fingerprint.seen.get(exercise_id, {}))),
        recorded,
        tuple(_differences(graded, recorded, changed)) if recorded else (),
    )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


class _Watcher(Listener):
    """Keeps how an exercise's cells ended, and what each of its hidden tests asked and wanted."""

    def __init__(self, exercise: str) -> None:
        super().__init__(exercise)
        self.runs: list[Examined] = []
        self._session: Session | None = None
        self._count = 0

    @property
    def outcomes(self) -> Mapping[int, CellOutcome]:
        """The cells' outcomes, by their index; empty where none was run."""
        return dict(enumerate(self._session.cells)) if self._session else {}

    def cells_ran(self, session: Session) -> None:
        self._session = session

    def test_begins(self) -> None:
        self._count = 0

    def asked(self) -> None:
        self._count += 1

    def judged(
        self, item: pytest.Item, verdict: Verdict, questions: Sequence[Asked], error: BaseException | None
    ) -> None:
        wanted = _shown(error.wanted) if isinstance(error, Expectation) and not verdict.passed else ""
        shown = tuple(_question(each) for each in questions[-MAX_QUESTIONS:])
        where = f"{item.path}:{(item.location[1] or 0) + 1}"
        self.runs.append(Examined(verdict, where, self._count, shown, wanted))

    def tests(self, graded: Graded, seen: Mapping[str, Mapping[str, str]]) -> Iterator[Examined]:
        """Yield the tests' findings, with the verdicts of a report.

        Args:
            graded: The result as a report has it.
            seen: The tests' findings about known wrong answers.
        """
        verdicts = {verdict.test: verdict for verdict in graded.verdicts}
        for run in self.runs:
            # The record holds the full text; a report may have shortened it.
            passed = [each.verdict.test for each in self.runs if each.verdict.passed]
            cause = _cause(verdicts[run.verdict.test], run.verdict.reason, passed, seen)
            yield replace(run, verdict=verdicts[run.verdict.test], cause=cause)


def _question(asked: Asked) -> Question:
    # A probe of *args has fewer names than arguments.
    names = (*asked.names, *("" for _ in asked.args[len(asked.names) :]))
    given = tuple((name, _shown(value)) for name, value in zip(names, asked.args, strict=False))
    return Question(given, _shown(asked.value) if asked.answered else "")


def _shown(value: object) -> str:
    """A value as Python writes it, as much of it as is read."""
    try:
        text = repr(value)
    except Exception as error:  # an int of more digits than Python writes, or nested too deep
        text = f"<{type(value).__name__}, which cannot be written: {type(error).__name__}>"
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]} ... ({len(text):,} characters)"


def _cause(verdict: Verdict, saw: str, passed: Sequence[str], seen: Mapping[str, Mapping[str, str]]) -> str:
    """Why a misconception is named in the report, or why it is not."""
    name = verdict.misconception
    if verdict.passed or not name:
        return ""
    if verdict.confirmed:
        return "named in the report, since this test sees the same of the known wrong answer"
    not_named = "not named in the report, which says only what was seen"
    if name not in seen:
        return f"{not_named}; no wrong answer of that name is recorded, which `autograder verify --record` does"
    if verdict.test not in seen[name]:
        return f"{not_named}; the known wrong answer passes this test"
    if seen[name][verdict.test] != essence(saw):
        return f"{not_named}; of the known wrong answer this test saw: {seen[name][verdict.test]}"
    if against := [test for test in passed if test in seen[name]]:
        return f"{not_named}; the known wrong answer fails {against[0]}, which passed"
    return f"{not_named}; it fits, but another mistake fits this test and all others as well"


def _cell_runs(grafted: Grafted, outcomes: Mapping[int, CellOutcome], originals: _Originals) -> Iterator[CellRun]:
    for index, cell in enumerate(source_cells(grafted.notebook)):
        outcome = outcomes.get(index)
        origin = "the master" if cell.kind == "setup" else originals.place_of(cell.source)
        said = outcome.sentence().removeprefix(f"{outcome.label}: ") if outcome else ""
        said += "".join(f"; {note}" for note in outcome.notes) if outcome else ""
        yield CellRun(cell.label, cell.exercise or "", origin, said, outcome.output if outcome else "", cell.source)


class _Originals:
    """The notebooks that a student handed in, in which the text of a grafted cell is looked for."""

    def __init__(self, folder: Path) -> None:
        kept = (path for path in folder.glob("*/**/*.ipynb")) if folder.is_dir() else ()
        newest = sorted(kept, key=lambda path: (-path.lstat().st_mtime_ns, path))
        self._notebooks = [(path, notebook) for path in newest if (notebook := _notebook(path)) is not None]

    def place_of(self, text: str) -> str:
        """Return the place of a text in what was handed in: the whole of it, else its parts."""
        for path, notebook in self._notebooks:
            for number, cell in enumerate(notebook.cells, start=1):
                if cell.text.strip() == text.strip():
                    return f"cell {number} of {path.name}"
        for path, notebook in self._notebooks:
            parts = [n for n, cell in enumerate(notebook.cells, start=1) if cell.text.strip() and cell.text in text]
            if parts:
                return f"cells {', '.join(map(str, parts))} of {path.name}, put together"
        return (
            "the master, since no cell that was handed in has this text"
            if self._notebooks
            else "unknown: no original is kept"
        )


def _notebook(path: Path) -> StudentNotebook | None:
    try:
        return read_notebook(read_bytes(path))
    except Unreadable:
        return None


def _differences(now: Graded, then: Graded, changed: bool) -> Iterator[str]:
    """In what a mark differs from the recorded one, and what may be the reason."""
    same_marks = (now.earned, now.points) == (then.earned, then.points)
    passed = {verdict.test: verdict.passed for verdict in then.verdicts}
    others = [verdict.test for verdict in now.verdicts if passed.pop(verdict.test, None) != verdict.passed]
    others += passed
    if same_marks and not others and now.reason == then.reason:
        return
    if changed:
        yield "the submitted notebook was changed after it was graded"
    if not same_marks:
        yield f"{now.earned:g} of {now.points:g} points now, {then.earned:g} of {then.points:g} recorded"
    if others:
        yield f"other verdicts now: {', '.join(sorted(others))}"
    if now.reason != then.reason:
        yield f"recorded was: {then.reason or 'hidden tests ran'}"
    if not changed:
        yield "tests, library or course were changed since; `autograder regrade --diff` lists every mark that changes"
