"""Due dates, extensions and lateness: one judgement for the gradebook, reports, feedback and tables.

`due` of course.toml and the extensions of `autograder extend` are copied into nbgrader's rows, so that Formgrader
knows them; `nbgrader collect --before-duedate` knows the due date alone. A section's date counts in its place for the
section's students, and is not copied: nbgrader has one date for an assignment. Where course.toml says no `due`, a date
that was set in Formgrader counts, and where extensions.json has no extension, one that nbgrader granted. nbgrader's
rows have times in UTC without a zone; here each time has one.

A time of handing in that nobody recorded is unknown, and unknown is not late.
"""

from __future__ import annotations

import datetime as dt
import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from nbgrader.api import Assignment, MissingEntry, Student, SubmittedAssignment
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc
from sqlalchemy import select
from traitlets.utils.importstring import import_item

from autograder.course import Course, CourseError
from autograder.course.classlist import read_class_list
from autograder.course.extensions import Extension, read_extensions
from autograder.gradebook.archive_times import marked_late
from autograder.gradebook.databases import of_course
from autograder.gradebook.diagnosing import GradebookError, connected, opened
from autograder.gradebook.settings import has_gradebook
from autograder.library.speaking import Told, told
from autograder.results.changes import LATE, Change

AGE = 5.0
"""Seconds for which a process that stays takes the gradebook's dates for current."""

WAIT = 2
"""Seconds that it waits for a gradebook that is locked or away."""

_UNITS: tuple[tuple[Told, Told], ...] = (
    ("{} day", "{} days"),
    ("{} hour", "{} hours"),
    ("{} minute", "{} minutes"),
    ("{} second", "{} seconds"),
)


@dataclass(frozen=True)
class Lateness:
    """The dates of one submission: when it came, and when it was due.

    Attributes:
        submitted: When it was handed in; None if nobody recorded that.
        due: The assignment's due date; None if it has none.
        extension: More time for this student.
        deadline: The due date with the extension.
        marked: Whether the platform called it late and gave no time.
    """

    submitted: dt.datetime | None
    due: dt.datetime | None
    extension: Extension | None = None
    deadline: dt.datetime | None = None
    marked: bool = False

    @property
    def seconds(self) -> float:
        """The seconds after the deadline; 1 where the platform only says "late", 0 if it came in time."""
        if self.submitted is None:
            return 1.0 if self.marked and self.extension is None else 0.0
        return max(0.0, (self.submitted - self.deadline).total_seconds()) if self.deadline else 0.0

    @property
    def is_unknown(self) -> bool:
        """True if there is a due date, and nothing tells whether it was kept."""
        return self.submitted is None and self.due is not None and not self.seconds

    def __str__(self) -> str:
        if self.submitted is None and self.seconds:
            return "late, as the learning platform marked it; by how much is not known"
        if self.due is None:
            return "not late: there is no due date"
        extended = f" with the extension ({self.extension})" if self.extension else ""
        if self.submitted is None:
            return (
                f"not counted as late: when it was handed in is not known; it was due {_said(self.deadline)}{extended}"
            )
        state = f"late by {duration(self.seconds)}" if self.seconds else "in time"
        return f"{state}: handed in {_said(self.submitted)}, due {_said(self.deadline)}{extended}"


def _said(when: dt.datetime | None) -> str:
    return f"{when.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC" if when else ""


def _aware(when: dt.datetime | None) -> dt.datetime | None:
    """A time of nbgrader's, with its zone."""
    return when.replace(tzinfo=dt.UTC) if when else None


def duration(seconds: float) -> str:
    """A length of time in its two largest units."""
    whole = math.ceil(seconds)
    counts = (whole // 86400, whole // 3600 % 24, whole // 60 % 60, whole % 60)
    first = next(number for number, count in enumerate(counts) if count or number == len(counts) - 1)
    units = list(zip(counts, _UNITS, strict=True))[first : first + 2]
    return " ".join(told((one if count == 1 else many).format(count)) for count, (one, many) in units if count)


@dataclass(frozen=True)
class Rows:
    """The dates in nbgrader's database.

    Attributes:
        due: When an assignment is due, by name; without a zone.
        extensions: More time, by assignment and student.
        students: Everybody whom it knows.
    """

    due: Mapping[str, dt.datetime] = field(default_factory=dict)
    extensions: Mapping[str, Mapping[str, dt.timedelta]] = field(default_factory=dict)
    students: frozenset[str] = frozenset()


def read_rows(course: Course, url: str, wait: int | None = None) -> Rows:
    """Read the dates in a course's gradebook; none where there is no gradebook.

    Args:
        course: The course.
        url: The gradebook's address.
        wait: Seconds to wait for one that is locked or away.

    Raises:
        GradebookError: If the gradebook cannot be used.
    """
    if not has_gradebook(course, url):
        return Rows()
    more: dict[str, dict[str, dt.timedelta]] = {}
    own = select(Assignment.name, SubmittedAssignment.student_id, SubmittedAssignment.extension)
    extended = own.join(SubmittedAssignment).where(SubmittedAssignment.extension.is_not(None))
    with connected(url, wait) as connection:
        due = connection.execute(select(Assignment.name, Assignment.duedate))
        dated = {name: when for name, when in due if when is not None}
        for name, student, extension in connection.execute(extended):
            more.setdefault(name, {})[student] = extension
        return Rows(dated, more, frozenset(connection.scalars(select(Student.id))))


def _address(course: Course) -> str:
    return of_course(course).render_as_string(hide_password=False)


class Watched:
    """The dates in a gradebook, for a process that stays: they are read anew where they are older than `AGE`.

    A gradebook that cannot be used at this moment shuts nobody out: what was read last counts.

    Raises:
        CourseError: If nbgrader's configuration names no database.
    """

    def __init__(self, course: Course) -> None:
        self._read = partial(read_rows, course, _address(course), WAIT)
        self._rows, self._again = Rows(), -math.inf

    def __call__(self) -> Rows:
        """Return the dates."""
        if time.monotonic() >= self._again:
            with suppress(GradebookError):
                self._rows = self._read()
            self._again = time.monotonic() + AGE
        return self._rows


class Dates:
    """The dates of a course as they are now.

    Args:
        course: The course.
        rows: Returns what the gradebook says; by default it is read once, when something asks.

    Attributes:
        course: The course.
        classmates: Its groups and sections.

    Raises:
        CourseError: If the file of extensions, groups or sections cannot be read.
    """

    def __init__(self, course: Course, rows: Callable[[], Rows] | None = None) -> None:
        self.course, self.classmates = course, read_class_list(course)
        self._extensions = read_extensions(course.directory)
        self._rows = rows or cache(lambda: read_rows(course, _address(course)))
        self._marked: dict[str, frozenset[str]] = {}

    def of(self, submission: Any) -> Lateness:
        """Judge a submission.

        Args:
            submission: nbgrader's row.
        """
        row = submission.assignment
        return self._judged(row.name, submission.student_id, row.duedate, submission.extension, submission.timestamp)

    def for_student(self, assignment: str, student: str, submitted: dt.datetime | None = None) -> Lateness:
        """The same of a student who may have no row yet.

        Args:
            assignment: The assignment's name.
            student: nbgrader's student id.
            submitted: When the work was handed in, as nbgrader keeps it.

        Raises:
            CourseError: If the gradebook cannot be used.
        """
        rows = self._rows()
        extension = rows.extensions.get(assignment, {}).get(student)
        return self._judged(assignment, student, rows.due.get(assignment), extension, submitted)

    def _judged(
        self,
        assignment: str,
        student: str,
        duedate: dt.datetime | None,
        more: dt.timedelta | None,
        submitted: dt.datetime | None,
    ) -> Lateness:
        due = self.classmates.due(assignment, student) or _aware(duedate)
        extension = self._extensions.get(assignment, {}).get(student)
        if extension is None and more and due:  # granted by nbgrader's own `grant_extension`
            extension = Extension(days=more / dt.timedelta(days=1))
        deadline = extension.deadline(due) if extension and due else due
        marked = submitted is None and student in self._late(assignment)
        return Lateness(_aware(submitted), due, extension, deadline, marked)

    def extended(self, assignment: str) -> dict[str, Lateness]:
        """The dates of each student who has an extension.

        Raises:
            CourseError: If the gradebook cannot be used.
        """
        students = self._extensions.get(assignment, {}).keys() | self._rows().extensions.get(assignment, {}).keys()
        found = {student: self.for_student(assignment, student) for student in sorted(students)}
        return {student: late for student, late in found.items() if late.extension}

    def ends(self, assignment: str) -> list[dt.datetime] | None:
        """Each time at which somebody's time is over; None where somebody may have no due date.

        Raises:
            CourseError: If the gradebook cannot be used.
        """
        sections = (each.due.get(assignment) for each in self.course.sections.values())
        students = self._rows().students
        own = self.for_student(assignment, "").due  # of who is in no section
        found = {*filter(None, sections), *(each.deadline for each in self.extended(assignment).values())}
        found |= {own} if own or not students else {self.classmates.due(assignment, each) for each in students}
        return None if None in found else sorted(filter(None, found))

    def _late(self, assignment: str) -> frozenset[str]:
        if assignment not in self._marked:
            self._marked[assignment] = marked_late(self.course.directory, assignment)
        return self._marked[assignment]

    def put(self, gradebook: Any, assignment: str, students: Iterable[str] | None = None) -> None:
        """Copy the dates into nbgrader's rows; an assignment or student that it does not know yet is left out.

        An extension that nbgrader itself granted stays as it is: its row is the only place that has it.

        Args:
            gradebook: nbgrader's gradebook, opened.
            assignment: The assignment's name.
            students: Whose extensions are copied; None for all.
        """
        try:
            row = gradebook.find_assignment(assignment)
        except MissingEntry:
            return
        own = self.course.assignments.get(assignment)
        if own is not None and own.due and row.duedate != parse_utc(own.due):
            row.duedate = parse_utc(own.due)
        due = _aware(row.duedate)
        known = self._extensions.get(assignment, {})
        for student in known if students is None else known.keys() & set(students):
            try:
                submission = gradebook.find_submission(assignment, student)
            except MissingEntry:
                continue
            late = self.of(submission)
            # nbgrader adds the extension to the due date, not a section's, and stops where there is none.
            wanted = late.deadline - due if late.deadline and due else None
            if submission.extension != wanted:
                submission.extension = wanted
        gradebook.db.commit()


def put_dates(course: Course, url: str, assignments: Iterable[str] = ()) -> None:
    """Copy a course's dates into a gradebook that exists.

    Args:
        course: The course.
        url: The gradebook's address.
        assignments: Only these; all, if none is named.

    Raises:
        CourseError: If the file of extensions cannot be read, or the gradebook cannot be used.
    """
    if not has_gradebook(course, url):
        return
    names, extended = tuple(assignments) or tuple(course.assignments), read_extensions(course.directory)
    dated = [
        name for name in names if name in extended or (name in course.assignments and course.assignments[name].due)
    ]
    if not dated:
        return
    dates = Dates(course)
    with opened(url, course.name) as gradebook:
        for name in dated:
            dates.put(gradebook, name)


def put_extension(course: Course, url: str, assignment: str, student: str) -> bool:
    """Copy one student's extension into the gradebook, or its absence.

    Args:
        course: The course.
        url: The gradebook's address.
        assignment: The assignment's name.
        student: nbgrader's student id.

    Returns:
        Whether the gradebook has a submission of that student.

    Raises:
        CourseError: If the gradebook cannot be used.
    """
    if not has_gradebook(course, url):
        return False
    with opened(url, course.name) as gradebook:
        try:
            submission = gradebook.find_submission(assignment, student)
        except MissingEntry:
            return False
        submission.extension = None  # of an earlier one nothing is left
        Dates(course).put(gradebook, assignment, [student])
    return True


class Penalties:
    """The course's own rule for late work: nbgrader's plugin, as nbgrader_config.py sets it.

    Args:
        autograde: nbgrader's converter `Autograde` with the course's configuration.
    """

    def __init__(self, autograde: Any) -> None:
        steps = (import_item(each) if isinstance(each, str) else each for each in autograde.autograde_preprocessors)
        self.wanted = any(issubclass(each, AssignLatePenalties) for each in steps if isinstance(each, type))
        self._step: Any = AssignLatePenalties(parent=autograde)
        self._step.init_plugin()

    def of(self, student: str, score: float, late: Lateness) -> float | None:
        """The points that a notebook loses; None where the rule says nothing.

        Args:
            student: nbgrader's student id.
            score: The notebook's points.
            late: How late it is.

        Raises:
            CourseError: If the course's own rule fails.
        """
        return penalty_of(self._step.plugin_inst, student, score, late.seconds) if self.wanted else None


def penalty_of(plugin: Any, student: str, score: float, seconds: float) -> float | None:
    """The penalty that a plugin asks for, between nothing and the whole score, as nbgrader bounds it.

    Raises:
        CourseError: If the plugin fails.
    """
    if seconds <= 0:
        return None
    try:
        asked = plugin.late_submission_penalty(student, score, seconds)
        if asked is None:
            return None
        if not math.isfinite(asked):
            raise ValueError(f"it returned {asked}")
    except Exception as error:  # the course's own code
        raise CourseError(
            f"the rule for late work, {type(plugin).__name__}, failed for {student} ({type(error).__name__}: {error}); "
            "correct it in nbgrader_config.py"
        ) from error
    return min(max(0.0, float(asked)), score)


def penalty_change(
    notebook: Any, late: Lateness, asked: float | None, *, score: float | None = None, points: float | None = None
) -> Change | None:
    """The change of a notebook's whole mark by another penalty than the recorded one; None if it is the same.

    Args:
        notebook: nbgrader's row of the submitted notebook, with the recorded penalty.
        late: How late it is.
        asked: The penalty now.
        score: Its points without a penalty, where they are about to change.
        points: What it is worth, where that is about to change.
    """
    old, new = notebook.late_submission_penalty or 0.0, asked or 0.0
    if math.isclose(old, new, abs_tol=1e-9):
        return None
    submission = notebook.assignment
    place = (submission.student_id, submission.assignment.name, notebook.name, LATE)
    now = notebook.score if score is None else score
    worth = notebook.max_score if points is None else points
    marks = (notebook.score - old, notebook.max_score, now - new, worth)
    return Change(*place, *marks, why=f"penalty {old:g} before, {new:g} now: {late}")
