"""Due dates, extensions and lateness: one judgement for the gradebook, reports, feedback and tables.

`due` of course.toml and the extensions of `autograder extend` are copied into nbgrader's rows, so that Formgrader
knows them; `nbgrader collect --before-duedate` knows the due date alone. A section's date counts in its place for the
section's students, and is not copied: nbgrader has one date for an assignment. Where course.toml says no `due`, a date
that was set in Formgrader counts. nbgrader keeps times in UTC without a zone, and so does this module.

A time of handing in that nobody recorded is unknown, and unknown is not late.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc
from traitlets.utils.importstring import import_item

from autograder.course import Course, CourseError
from autograder.course.classlist import read_class_list
from autograder.course.extensions import Extension, read_extensions
from autograder.gradebook.archive_times import marked_late
from autograder.gradebook.diagnosing import opened
from autograder.gradebook.settings import has_gradebook
from autograder.library.speaking import Told, told
from autograder.results.changes import LATE, Change

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
    return f"{when:%Y-%m-%d %H:%M} UTC" if when else ""


def duration(seconds: float) -> str:
    """A length of time in its two largest units."""
    whole = math.ceil(seconds)
    counts = (whole // 86400, whole // 3600 % 24, whole // 60 % 60, whole % 60)
    first = next(number for number, count in enumerate(counts) if count or number == len(counts) - 1)
    units = list(zip(counts, _UNITS, strict=True))[first : first + 2]
    return " ".join(told((one if count == 1 else many).format(count)) for count, (one, many) in units if count)


class Dates:
    """The dates of a course as they are now.

    Attributes:
        classmates: Its groups and sections.

    Raises:
        CourseError: If the file of extensions, groups or sections cannot be read.
    """

    def __init__(self, course: Course) -> None:
        self._course = course
        self._extensions = read_extensions(course.directory)
        self.classmates = read_class_list(course)
        self._marked: dict[str, frozenset[str]] = {}

    def due(self, assignment: Any) -> dt.datetime | None:
        """When an assignment is due.

        Args:
            assignment: nbgrader's row.
        """
        own = self._course.assignments.get(assignment.name)
        said: dt.datetime | None = parse_utc(own.due) if own is not None and own.due else assignment.duedate
        return said

    def of(self, submission: Any) -> Lateness:
        """Judge a submission.

        Args:
            submission: nbgrader's row.
        """
        assignment, student = submission.assignment, submission.student_id
        section = self.classmates.due(assignment.name, student)
        due, submitted = parse_utc(section) if section else self.due(assignment), submission.timestamp
        extension = self._extensions.get(assignment.name, {}).get(student)
        if extension is None and submission.extension and due:  # granted by nbgrader's own `grant_extension`
            extension = Extension(days=submission.extension / dt.timedelta(days=1))
        deadline = due
        if extension and due:
            deadline = extension.deadline(due.replace(tzinfo=dt.UTC)).astimezone(dt.UTC).replace(tzinfo=None)
        marked = submitted is None and student in self._late(assignment.name)
        return Lateness(submitted, due, extension, deadline, marked)

    def _late(self, assignment: str) -> frozenset[str]:
        if assignment not in self._marked:
            self._marked[assignment] = marked_late(self._course.directory, assignment)
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
        due = self.due(row)
        if row.duedate != due:
            row.duedate = due
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
