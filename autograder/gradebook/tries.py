"""Limits for hand-ins that are marked at once, and what their pages show before the due date.

A try is a submission that was taken in. Its time is that of the folder under `originals/`, which this machine's clock
gave it: a student can choose the time in a hand-in's name, and can remove a hand-in from the exchange.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace

from autograder.course import SHOWS, Course, Serving
from autograder.course.classlist import read_class_list
from autograder.course.extensions import read_extensions
from autograder.gradebook.settings import gradebook_url, has_gradebook
from autograder.results import Submission
from autograder.results.shortening import outlined, unquoted_notes


def earliest(
    now: dt.datetime,
    arrived: dt.datetime,
    tries: Iterable[dt.datetime],
    serving: Serving,
    deadline: dt.datetime | None = None,
) -> dt.datetime:
    """When a hand-in may be graded; a time that is not after `now` means at once.

    Args:
        now: The time, in the zone whose midnight begins a day.
        arrived: When it was handed in, by this machine's clock.
        tries: When earlier submissions of this student and assignment were taken in.
        serving: The limits.
        deadline: The student's due date: what came before it is graded then at the latest.
    """
    # A kill may have left this very hand-in among the originals: it is no try before itself.
    before = sorted(each for each in tries if each < arrived)
    midnight = dt.datetime.combine(now.date(), dt.time(), now.tzinfo)
    at = now
    if sum(each >= midnight for each in before) >= serving.tries_per_day:
        at = midnight + dt.timedelta(days=1)
    if before:
        at = max(at, before[-1] + dt.timedelta(minutes=serving.wait))
    return min(at, deadline) if deadline is not None and arrived <= deadline else at


def deadline_of(course: Course, assignment: str, student: str) -> dt.datetime | None:
    """A student's due date, with the extension; None where course.toml has none."""
    due = read_class_list(course).due(assignment, student)
    extension = read_extensions(course.directory).get(assignment, {}).get(student)
    return extension.deadline(due) if extension is not None and due is not None else due


def shown(course: Course, assignment: str, now: dt.datetime | None = None) -> str:
    """What pages show of an assignment, one of `SHOWS`: all of it once nobody has time left to hand in.

    Where an assignment has no due date, those of sections count if every student has one; else the day counts from
    which its answers are shown.

    Args:
        course: The course.
        assignment: The assignment's name.
        now: The time, in the zone of this machine's days; by default this moment.

    Raises:
        CourseError: If extensions, sections or the gradebook cannot be read.
    """
    now = now or dt.datetime.now().astimezone()
    own = course.assignments[assignment]
    if course.serving is None or (own.answers_open is not None and own.answers_open <= now.date()):
        return SHOWS[-1]
    sections = [each.due[assignment] for each in course.sections.values() if assignment in each.due]
    students = read_extensions(course.directory).get(assignment, {})
    dates = [own.due, *sections, *(deadline_of(course, assignment, each) for each in students)]
    is_over = all(each is None or each <= now for each in dates)
    if is_over and (own.due is not None or (sections and _is_dated_for_all(course, assignment))):
        return SHOWS[-1]
    return course.serving.shows


def _is_dated_for_all(course: Course, assignment: str) -> bool:
    """True if each student of the gradebook has a due date; False where it does not say who is in the class."""
    url = gradebook_url(course)
    if not has_gradebook(course, url):
        return False
    from autograder.gradebook.diagnosing import opened  # loads the database library, which few calls need

    classmates = read_class_list(course)
    with opened(url, course.name) as gradebook:
        dates = [classmates.due(assignment, each.id) for each in gradebook.students]
    return bool(dates) and None not in dates


def as_shown(submission: Submission, kind: str) -> Submission:
    """The report as far as it is shown, where hand-ins are marked at once.

    Args:
        submission: The report.
        kind: One of `SHOWS`.
    """
    if kind == SHOWS[-1]:
        return submission
    exercises = tuple(outlined(each, groups=kind == "groups") for each in submission.exercises)
    return replace(submission, exercises=exercises, notes=unquoted_notes(submission.notes))
