"""The gradebook as CSV: as nbgrader exports it, and as Canvas and Moodle take it.

The marks are the gradebook's own, with what was given by hand and what lateness cost. A field that a spreadsheet
would take for a formula gets an apostrophe before it (https://owasp.org/www-community/attacks/CSV_Injection); numbers
of the gradebook stay numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.course import Course, CourseError
from autograder.course.opening import refuse_a_damaged_gradebook
from autograder.results import format_points

__all__ = ["KINDS", "Mark", "as_csv", "defused", "gradebook_url", "read_marks"]

_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"  # the last four as wide signs
# At the beginning, and where a spreadsheet begins a new field in lands that separate lists by semicolons.
_FORMULA = re.compile(rf"\A(?=[{_SIGNS}\t\r\n])|(?<=[;\t\r\n])(?=[\"' ]*[{_SIGNS}])")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")  # a penalty may be less than nothing

Field = str | float


@dataclass(frozen=True)
class Mark:
    """One student's mark in one assignment.

    Attributes:
        assignment: The assignment's name.
        due: When it was due, as nbgrader writes it; empty where there is no such time.
        student: nbgrader's student id.
        max_score: The points that it is worth.
        last_name: As the gradebook has it; empty where it has none, like the next three.
        first_name: As the gradebook has it.
        email: As the gradebook has it.
        lms_id: The student's number in the learning management system.
        submitted: When it was handed in; None where it was not.
        raw: Points.
        penalty: Points that are taken off because it was late.
    """

    assignment: str
    due: str
    student: str
    max_score: float
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    lms_id: str = ""
    submitted: str | None = None
    raw: float = 0.0
    penalty: float = 0.0

    @property
    def score(self) -> float:
        """The points that count."""
        return max(0.0, self.raw - self.penalty)

    @property
    def name(self) -> str:
        """Last name and first name, as a learning management system sorts them; else the id."""
        return ", ".join(part for part in (self.last_name, self.first_name) if part) or self.student


def read_marks(course: Course, assignments: Iterable[str] = ()) -> list[Mark]:
    """Read the gradebook: every student in every assignment, also those who handed in nothing.

    Args:
        course: The course.
        assignments: Take only these.

    Raises:
        CourseError: If there is no gradebook, or no such assignment in it.
    """
    from nbgrader.api import Gradebook  # loads the database library, which the page does not need

    url = gradebook_url(course)
    if url.startswith("sqlite:///") and not (course.directory / url.removeprefix("sqlite:///")).is_file():
        raise CourseError(f"{url.removeprefix('sqlite:///')}: there is no gradebook yet; grade an assignment first")
    refuse_a_damaged_gradebook(url)
    wanted = set(assignments)
    with Gradebook(url, course.name) as gradebook:
        known = {assignment.name for assignment in gradebook.assignments}
        for name in sorted(wanted - known):
            raise CourseError(f"the gradebook has no assignment {name!r}; it has {', '.join(sorted(known)) or 'none'}")
        students = sorted(gradebook.students, key=lambda each: (each.last_name or "", each.first_name or "", each.id))
        return [
            _mark(assignment, student, {each.student_id: each for each in assignment.submissions})
            for assignment in gradebook.assignments
            if not wanted or assignment.name in wanted
            for student in students
        ]


def gradebook_url(course: Course) -> str:
    """Return the gradebook's address from nbgrader's configuration of a course."""
    from autograder.gradebook.recording import load_app

    return str(load_app(course.directory, next(iter(course.assignments))).coursedir.db_url)


def _mark(assignment: Any, student: Any, submissions: Mapping[str, Any]) -> Mark:
    """One line of the gradebook, from nbgrader's rows."""
    submission = submissions.get(student.id)
    mark = Mark(
        assignment.name,
        _text(assignment.duedate),
        student.id,
        assignment.max_score,
        last_name=_text(student.last_name),
        first_name=_text(student.first_name),
        email=_text(student.email),
        lms_id=_text(student.lms_user_id),
    )
    if submission is None:
        return mark
    when, penalty = _text(submission.timestamp), submission.late_submission_penalty
    return replace(mark, submitted=when, raw=submission.score, penalty=penalty)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def defused(field: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return field if _NUMBER.fullmatch(field) else _FORMULA.sub("'", field)


def as_csv(marks: Sequence[Mark], kind: str) -> tuple[str, list[str]]:
    """The marks as CSV.

    Args:
        marks: In the order of the file.
        kind: One of `KINDS`.

    Returns:
        The text, and the fields that a spreadsheet would have taken for formulas.
    """
    rows = [[_field(value) for value in row] for row in KINDS[kind](marks)]
    harmless = [[defused(value) for value in row] for row in rows]
    changed = sorted({value for row in rows for value in row if defused(value) != value})
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(harmless)
    return buffer.getvalue(), changed


def _field(value: Field) -> str:
    return value if isinstance(value, str) else str(float(value))


def _nbgrader(marks: Sequence[Mark]) -> Iterator[list[Field]]:
    """As `nbgrader export` writes it: a line for each student in each assignment."""
    yield [
        "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
        "raw_score", "late_submission_penalty", "score", "max_score",
    ]  # fmt: skip
    for mark in marks:
        person: list[Field] = [mark.student, mark.last_name, mark.first_name, mark.email]
        points: list[Field] = [mark.raw, mark.penalty, mark.score, mark.max_score]
        yield [mark.assignment, mark.due, mark.submitted or "", *person, *points]


def _canvas(marks: Sequence[Mark]) -> Iterator[list[Field]]:
    """As Canvas's gradebook imports it: a line for each student, a column for each assignment, and what it is worth.

    Canvas finds a student by its own number, where nbgrader's `lms_user_id` holds it, else by the login; and an
    assignment by its name. Someone who handed in nothing has no entry there, rather than a zero.

    Source: gradebook_importer.rb of Canvas LMS, which wants these columns in this order.
    """
    worth = _worth(marks)
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *worth]
    yield ["    Points Possible", "", "", "", "", *map(format_points, worth.values())]
    for own in _by_student(marks):
        someone = next(iter(own.values()))
        yield [someone.name, someone.lms_id, "", someone.student, "", *(_score(own.get(name)) for name in worth)]


def _moodle(marks: Sequence[Mark]) -> Iterator[list[Field]]:
    """As Moodle's grade import takes it: people by user name or address, a column for each assignment.

    Which of the columns name a user, and which grade item a column is, is chosen in Moodle.
    """
    worth = _worth(marks)
    yield ["Username", "First name", "Last name", "Email address", *worth]
    for own in _by_student(marks):
        someone = next(iter(own.values()))
        person: list[Field] = [someone.student, someone.first_name, someone.last_name, someone.email]
        yield [*person, *(_score(own.get(name)) for name in worth)]


def _worth(marks: Iterable[Mark]) -> dict[str, float]:
    return {mark.assignment: mark.max_score for mark in marks}


def _by_student(marks: Iterable[Mark]) -> list[dict[str, Mark]]:
    """Each student's marks by assignment."""
    found: dict[str, dict[str, Mark]] = {}
    for mark in marks:
        found.setdefault(mark.student, {})[mark.assignment] = mark
    return list(found.values())


def _score(mark: Mark | None) -> str:
    return "" if mark is None or mark.submitted is None else format_points(round(mark.score, 4))


KINDS: Mapping[str, Callable[[Sequence[Mark]], Iterator[list[Field]]]] = {
    "nbgrader": _nbgrader,
    "canvas": _canvas,
    "moodle": _moodle,
}
