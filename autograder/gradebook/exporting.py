"""The gradebook as CSV: as nbgrader exports it, and as Canvas and Moodle take it.

The marks are the gradebook's own, with what was given by hand and what lateness cost. A field that a spreadsheet
would take for a formula gets an apostrophe before it (https://owasp.org/www-community/attacks/CSV_Injection); numbers
of the gradebook stay numbers.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from autograder.course import Course, CourseError
from autograder.gradebook.settings import gradebook_url, has_gradebook, load_app, quiet
from autograder.results import format_points

if TYPE_CHECKING:
    from autograder.gradebook.dates import Dates, Lateness, Penalties

_SIGNS = "=+-@\u2212"  # and all that Unicode calls another form of these, such as wide and small ones
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and a symbol that show nothing
_NEXT = re.compile(r"([;\t\r\n])")  # a spreadsheet begins a new field there in lands that separate lists by semicolons
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
        late: Whether it was late, by the dates of today; None where nothing was handed in.
        penalty_now: Points that the dates of today would take off.
        waiting: Answers that a person has still to mark, or to look at again.
        section: The student's section; empty without one.
        group: The students with whom it was handed in, this one among them; only this one without a group.
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
    late: Lateness | None = None
    penalty_now: float = 0.0
    waiting: int = 0
    section: str = ""
    group: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """The points that count."""
        return max(0.0, self.raw - self.penalty)

    @property
    def tabled(self) -> float | None:
        """The points as tables for a learning platform have them; None, rather than 0, where nothing was handed in."""
        return None if self.submitted is None else round(self.score, 4)

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
        CourseError: If there is no gradebook, it cannot be used, or it has no such assignment.
    """
    from autograder.gradebook.dates import Dates, Penalties  # loads the database library, which the page does not need
    from autograder.gradebook.diagnosing import opened

    url = gradebook_url(course)
    if not has_gradebook(course, url):
        raise CourseError(f"{url.removeprefix('sqlite:///')}: there is no gradebook yet; grade an assignment first")
    wanted = set(assignments)
    app = load_app(course.directory, next(iter(course.assignments)))
    dates, penalties = Dates(course), Penalties(quiet(app))
    with opened(url, course.name) as gradebook:
        known = {assignment.name for assignment in gradebook.assignments}
        for name in sorted(wanted - known):
            raise CourseError(f"the gradebook has no assignment {name!r}; it has {', '.join(sorted(known)) or 'none'}")
        students = sorted(gradebook.students, key=lambda each: (each.last_name or "", each.first_name or "", each.id))
        return [
            _mark(assignment, student, submissions, dates, penalties)
            for assignment in sorted(gradebook.assignments, key=_by_date)
            if not wanted or assignment.name in wanted
            for submissions in [{each.student_id: each for each in _submissions(gradebook, assignment)}]
            for student in students
        ]


def _by_date(assignment: Any) -> tuple[bool, dt.datetime, str]:
    """In the order of their dates, those without one first; databases disagree on these."""
    return assignment.duedate is not None, assignment.duedate or dt.datetime.min, assignment.name


def _submissions(gradebook: Any, assignment: Any) -> list[Any]:
    """The submissions of an assignment with notebooks and grades, in one query for each kind of row."""
    from nbgrader.api import SubmittedAssignment, SubmittedNotebook
    from sqlalchemy.orm import selectinload

    grades = selectinload(SubmittedAssignment.notebooks).selectinload(SubmittedNotebook.grades)
    found: list[Any] = (
        gradebook.db.query(SubmittedAssignment).filter_by(assignment_id=assignment.id).options(grades).all()
    )
    return found


def marks_of(course: Course, assignments: Iterable[str] = ()) -> list[Mark]:
    """Read the gradebook; nothing, where there is none yet or it does not know an assignment."""
    if not has_gradebook(course, gradebook_url(course)):
        return []
    wanted = tuple(assignments)
    return [mark for mark in read_marks(course) if not wanted or mark.assignment in wanted]


def _mark(assignment: Any, student: Any, submissions: Mapping[str, Any], dates: Dates, penalties: Penalties) -> Mark:
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
        section=dates.classmates.sections.get(student.id, ""),
        group=dates.classmates.members(assignment.name, student.id),
    )
    if submission is None:
        return mark
    # nbgrader's own sums search whole tables for each submission, since no index helps them.
    scores = [sum((grade.score for grade in each.grades), 0.0) for each in submission.notebooks]
    taken = sum((each.late_submission_penalty or 0.0 for each in submission.notebooks), 0.0)
    late = dates.of(submission)
    asked = sum(penalties.of(student.id, score, late) or 0.0 for score in scores)
    waiting = sum(bool(grade.needs_manual_grade) for each in submission.notebooks for grade in each.grades)
    own = replace(mark, submitted=_text(submission.timestamp), raw=sum(scores, 0.0), penalty=taken)
    return replace(own, late=late, penalty_now=asked, waiting=waiting)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def defused(field: str) -> str:
    """A text that no spreadsheet takes for a formula, whatever blanks and invisible signs it drops before one."""
    if _NUMBER.fullmatch(field):
        return field
    first, *rest = _NEXT.split(field)
    begins = _is_formula(first) or field.startswith(("\t", "\r", "\n"))
    return "".join(
        [f"'{first}" if begins else first, *(f"'{each}" if _is_formula(each, "\"'") else each for each in rest)]
    )


def _is_formula(text: str, quotes: str = "") -> bool:
    """Return whether the first sign of a text that shows, quotation marks aside, begins a formula."""
    first = next((each for each in text if each not in quotes and not _is_unseen(each)), "")
    return bool(first) and unicodedata.normalize("NFKC", first)[0] in _SIGNS


def _is_unseen(sign: str) -> bool:
    """Return whether a sign shows nothing of its own: blanks, controls, marks that join or turn text, fillers."""
    return unicodedata.category(sign)[0] in "CMZ" or sign in _FILLERS


def as_csv(marks: Sequence[Mark], kind: str) -> tuple[str, list[str]]:
    """The marks as CSV.

    Args:
        marks: In the order of the file.
        kind: One of `KINDS`.

    Returns:
        The text, and the fields that a spreadsheet would have taken for formulas.
    """
    rows = [[value if isinstance(value, str) else str(float(value)) for value in row] for row in KINDS[kind](marks)]
    harmless = [[defused(value) for value in row] for row in rows]
    changed = sorted({value for row in rows for value in row if defused(value) != value})
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(harmless)
    return buffer.getvalue(), changed


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
        person: list[Field] = [someone.name, someone.lms_id, "", someone.student, someone.section]
        yield [*person, *(_score(own.get(name)) for name in worth)]


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
    return "" if mark is None or mark.tabled is None else format_points(mark.tabled)


KINDS: Mapping[str, Callable[[Sequence[Mark]], Iterator[list[Field]]]] = {
    "nbgrader": _nbgrader,
    "canvas": _canvas,
    "moodle": _moodle,
}


MOST_NAMES = 30
"""Students of unknown time who are named in a sentence; the class report lists all."""


def standing(mark: Mark) -> str:
    """One student's mark in a sentence: time, penalty, and what a person has still to mark."""
    if mark.submitted is None:
        return "nothing was handed in"
    points = f"{format_points(mark.raw)} of {format_points(mark.max_score)} points"
    said = [str(mark.late), f"{points}, penalty {format_points(mark.penalty)}, mark {format_points(mark.score)}"]
    if _is_by_other_dates(mark):
        said.append(
            f"today's dates give a penalty of {format_points(mark.penalty_now)}, which `autograder regrade --dates` "
            "records"
        )
    if mark.waiting:
        said.append(f"answers that a person has still to mark: {mark.waiting}")
    return "; ".join(said)


def notable(marks: Iterable[Mark]) -> list[tuple[str, ...]]:
    """Student, assignment, lateness, points, penalty, mark and waiting answers, where a mark has more to it."""
    return [
        (
            each.student,
            each.assignment,
            str(each.late) + ("; the penalty is not that of today's dates" if _is_by_other_dates(each) else ""),
            f"{format_points(each.raw)} of {format_points(each.max_score)}",
            format_points(each.penalty),
            format_points(each.score),
            str(each.waiting or ""),
        )
        for each in marks
        if each.late is not None
        and (each.late.seconds or each.late.is_unknown or each.penalty or each.waiting or _is_by_other_dates(each))
    ]


def remarks(marks: Sequence[Mark]) -> list[str]:
    """The facts that a table of marks does not show: who was late, for whom that is unknown, and whose answers wait.

    Args:
        marks: The gradebook's marks.
    """
    late = [
        f"{_place(each)}: {each.late}, penalty {format_points(each.penalty)}"
        for each in marks
        if each.late is not None and each.late.seconds
    ]
    unknown = [_place(each) for each in marks if each.late is not None and each.late.is_unknown]
    if len(unknown) > MOST_NAMES:
        unknown[MOST_NAMES:] = [f"and {len(unknown) - MOST_NAMES} more, whom `autograder report` lists"]
    waiting = [f"{_place(each)}: {each.waiting}" for each in marks if each.waiting]
    other = [
        f"{_place(each)}: {format_points(each.penalty)} recorded, {format_points(each.penalty_now)} now"
        for each in marks
        if _is_by_other_dates(each)
    ]
    said = {
        "late": late,
        "not counted as late, since no time of handing in is known": unknown,
        "answers that a person has still to mark, so that the mark is not final": waiting,
        "penalties that are not those of today's dates and rule; `autograder regrade --dates --diff` lists what "
        "changes": other,
    }
    return [f"{what}: {'; '.join(names)}" for what, names in said.items() if names]


def left_to_mark(course: Course, marks: Iterable[Mark]) -> list[tuple[str, str, str, str]]:
    """Graders, section, assignment and number of answers of what waits for a person; a group's work counts once.

    Args:
        course: The course, whose sections have graders.
        marks: The gradebook's marks.
    """
    in_sections_last = sorted(marks, key=lambda each: bool(each.section))  # of a group partly in none, who is in one
    waiting = {(each.assignment, each.group): each for each in in_sections_last if each.waiting}
    answers = Counter[tuple[str, str, str]]()
    for each in waiting.values():
        graders = course.sections[each.section].graders if each.section else ()
        answers[", ".join(graders), each.section, each.assignment] += each.waiting
    return [(*where, str(count)) for where, count in sorted(answers.items())]


def _is_by_other_dates(mark: Mark) -> bool:
    return abs(mark.penalty - mark.penalty_now) > 1e-9


def _place(mark: Mark) -> str:
    return f"{mark.student} ({mark.assignment})"
