"""Limits for hand-ins that are marked at once, and what their pages show before the due date.

A try is a submission that was taken in. Its time is that of the folder under `originals/`, which this machine's clock
gave it: a student can choose the time in a hand-in's name, and can remove a hand-in from the exchange.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, replace

from autograder.course import SHOWS, Serving
from autograder.gradebook.dates import Dates
from autograder.results import Submission
from autograder.results.shortening import outlined, unquoted_notes, when_all


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


@dataclass(frozen=True)
class Shown:
    """The part of an assignment's reports that pages show.

    Attributes:
        kind: One of `SHOWS`.
        rest: The sentence that says when the rest is shown; empty where nothing is held back.
    """

    kind: str = SHOWS[-1]
    rest: str = ""


def shown(dates: Dates, assignment: str, now: dt.datetime | None = None) -> Shown:
    """Return what pages show of an assignment: all of it once nobody has time left to hand in, or its answers are open.

    Args:
        dates: The course's dates.
        assignment: The assignment's name.
        now: The time, in the zone of this machine's days; by default this moment.

    Raises:
        CourseError: If the gradebook cannot be used.
    """
    now = now or dt.datetime.now().astimezone()
    serving, opens = dates.course.serving, dates.course.assignments[assignment].answers_open
    if serving is None or serving.shows == SHOWS[-1] or (opens is not None and opens <= now.date()):
        return Shown()
    ends = dates.ends(assignment)
    if ends is not None and ends[-1] <= now:
        return Shown()
    return Shown(serving.shows, when_all(opens, is_dated=ends is not None))


def as_shown(submission: Submission, shown: Shown) -> Submission:
    """The report as far as it is shown, where hand-ins are marked at once.

    Args:
        submission: The report.
        shown: What is shown.
    """
    if not shown.rest:
        return submission
    groups = shown.kind == "groups"
    exercises = tuple(outlined(each, shown.rest, groups=groups) for each in submission.exercises)
    return replace(submission, exercises=exercises, notes=unquoted_notes(submission.notes))
