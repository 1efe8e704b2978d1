"""The command that gives a student more time."""

from __future__ import annotations

import datetime as dt
import difflib
import shlex
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.commands.common import USAGE, CourseOption, fail, honest
from autograder.commands.showing import console_of
from autograder.course import Course, CourseError
from autograder.course.extensions import FILE, Extension, write_extension
from autograder.course.loading import find_course, load_course
from autograder.results import format_points

if TYPE_CHECKING:
    from autograder.gradebook.dates import Dates, Lateness


@honest
def extend(
    student: Annotated[
        str | None, typer.Argument(metavar="[STUDENT]", help="nbgrader's student id; without it, all are listed.")
    ] = None,
    assignment: Annotated[str | None, typer.Argument(metavar="[ASSIGNMENT]", help="Such as module1.")] = None,
    days: Annotated[float | None, typer.Option(help="Days after the due date; they follow it if it moves.")] = None,
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="The new time, in the zone of `due`; a day alone is its end.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the extension back.")] = False,
    course: CourseOption = None,
) -> None:
    """Give one student more time for one assignment, before or after it was graded; or list all extensions.

    A new extension replaces an earlier one of the same student and assignment. It is kept in extensions.json, in the
    course's folder. Recorded marks do not change by themselves: the command lists which would, and
    `autograder regrade --dates` records them, without grading again.

    Examples:
      autograder extend ada module1 --days 3

      autograder extend ada module1 --until 2027-02-08T12:00+01:00

      autograder extend ada module1 --remove

      autograder extend
    """
    from autograder.gradebook.dates import Dates  # loads the database library, which `--help` does not need

    loaded = load_course(course or find_course(), tree=False)
    console = console_of()
    if student is None:
        if days is not None or until is not None or remove:
            fail("name a student and an assignment, such as `autograder extend ada module1 --days 3`", USAGE)
        _list(Dates(loaded), console)
        return
    if assignment is None or (days is not None) + (until is not None) + remove != 1:
        fail("name a student and an assignment, and one of --days, --until and --remove", USAGE)
    loaded.assignment(assignment)
    if not student.strip() or not student.isprintable() or "/" in student:
        fail(f"{student!r} cannot be a student's id; write it as in submitted/", USAGE)
    before = Dates(loaded).for_student(assignment, student)
    extension = None if remove else _wanted(before.due, assignment, days, until)
    write_extension(loaded.directory, assignment, student, extension)
    _tell(loaded, console, student, assignment, before, extension)


def _list(dates: Dates, console: Console) -> None:
    found = {name: dates.extended(name) for name in dates.course.assignments}
    for assignment, students in found.items():
        for student, late in students.items():
            new = f", due {_said(late.deadline)}" if late.deadline else ""
            console.print(escape(f"{assignment}  {student}: {late.extension}{new}"), soft_wrap=True)
    if not any(found.values()):
        console.print("no extension was granted")


def _wanted(due: dt.datetime | None, assignment: str, days: float | None, until: str | None) -> Extension:
    """The extension that was asked for.

    Raises:
        CourseError: If it gives no more time.
    """
    if due is None:
        raise CourseError(f"{assignment} has no due date, so that nobody is late; add `due` to it in course.toml first")
    if days is not None:
        if not 0 < days <= 3650:
            raise CourseError(f"--days is {days:g}; write how many days more, such as 3, or --remove")
        return Extension(days=days)
    assert until is not None
    try:
        when = dt.datetime.fromisoformat(until)
    except ValueError as error:
        raise CourseError(f"--until is {until!r}; write a date such as 2027-02-08 or 2027-02-08T12:00+01:00") from error
    if len(until) <= len("2027-02-08"):
        when = when.replace(hour=23, minute=59, second=59)
    when = (when if when.tzinfo else when.replace(tzinfo=due.tzinfo)).astimezone(dt.UTC)
    if when <= due:
        raise CourseError(f"--until is {_said(when)}, and {assignment} is due {_said(due)}; write a later time")
    return Extension(until=when)


def _tell(
    course: Course,
    console: Console,
    student: str,
    assignment: str,
    before: Lateness,
    now: Extension | None,
) -> None:
    """Say what changed, copy it into the gradebook, and list the marks that follow."""
    from autograder.gradebook.dates import put_extension
    from autograder.gradebook.settings import gradebook_url

    had = before.extension
    was = f" (before: {had})" if had else ""
    if now is not None and before.due is not None:
        said = f"{student}: {assignment} is due {_said(now.deadline(before.due))}, {now}{was}"
    else:
        said = f"{student}: no extension of {assignment} any more{was}" if had else f"{student}: had no extension"
    console.print(escape(f"{said}; written to {FILE}"), soft_wrap=True)
    url = gradebook_url(course)
    if put_extension(course, url, assignment, student):
        _list_marks(course, console, student, assignment)
    elif now is not None:
        nothing = f"the gradebook has nothing of {student} in {assignment} yet"
        said = f"{nothing}; the extension counts when something is graded{_unknown(course, url, assignment, student)}"
        console.print(f"[yellow]note[/yellow]  {escape(said)}", soft_wrap=True)


def _unknown(course: Course, url: str, assignment: str, student: str) -> str:
    """Say that the gradebook has students but not this one, and how a slip is taken back; else nothing."""
    from autograder.gradebook.diagnosing import opened
    from autograder.gradebook.settings import has_gradebook

    if not has_gradebook(course, url):
        return ""
    with opened(url, course.name) as gradebook:
        known = [each.id for each in gradebook.students]
    if student in known or not known:
        return ""
    near = difflib.get_close_matches(student, known, n=1)
    meant = f"; did you mean {near[0]}?" if near else ","
    back = f"`autograder extend {shlex.quote(student)} {assignment} --remove` takes a mistake back"
    return f". It has no student of that id{meant} {back}"


def _list_marks(course: Course, console: Console, student: str, assignment: str) -> None:
    from autograder.regrading import Plan
    from autograder.regrading.penalties import with_penalties

    empty = Plan((), (), (), (), 0, looked_at=False)
    lessons = course.assignments[assignment].lessons
    found = with_penalties(course, empty, students=[student], lessons=lessons, lower=True)
    for change in found.changes:
        old, new = format_points(change.old), f"{format_points(change.new)} of {format_points(change.points)}"
        console.print(escape(f"  {change.lesson}: {old} -> {new} ({change.why})"), soft_wrap=True)
    if not found.changes:
        console.print("no recorded mark changes by that")
        return
    lower = " --lower" if any(change.falls for change in found.changes) else ""
    console.print(
        escape(f'these marks follow: record them by `autograder regrade {student} --dates{lower} --reason "..."`'),
        soft_wrap=True,
    )


def _said(when: dt.datetime) -> str:
    return f"{when.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"
