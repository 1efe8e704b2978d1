"""Counts the entries of each event, and puts them in order."""

from __future__ import annotations

import datetime as dt
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.board.entries import Candidate, candidates
from autograder.board.events import Asks, Counted, Event
from autograder.board.memory import Refused
from autograder.common.errors import GraderError
from autograder.common.unforeseen import unforeseen
from autograder.course import Course, CourseError
from autograder.judging.student import HiddenTestError, StudentFailure, StudentStopped
from autograder.sandbox import SandboxError

EVENTS = "board.py"
"""The file beside course.toml that lists a course's events, as `EVENTS`."""


@dataclass(frozen=True)
class Line:
    """An entry on the board.

    Attributes:
        name: The name that the student chose.
        counted: Its numbers.
        when: When it was handed in; None if nobody recorded that.
    """

    name: str
    counted: Counted
    when: dt.datetime | None


@dataclass(frozen=True)
class Left:
    """An entry that is not on the board, for the instructor.

    Attributes:
        student: nbgrader's student id.
        name: The name that the student chose.
        why: Why it is not counted.
    """

    student: str
    name: str
    why: str


@dataclass(frozen=True)
class Ranked:
    """An event with its entries, the best first."""

    event: Event
    lines: Sequence[Line]
    left: Sequence[Left]


def events_of(course: Course) -> list[Event]:
    """Return the events that a course lists in its `board.py`, which runs here as its hidden tests do.

    Raises:
        CourseError: If there are none.
    """
    path: Path = course.directory / EVENTS
    spec = importlib.util.spec_from_file_location("events_of_the_course", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise CourseError(f"{path}: there is no such file; it lists what the board counts, as EVENTS")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        events = list(module.EVENTS)
    except Exception as error:
        raise CourseError(f"{path}: {type(error).__name__}: {error}") from error
    for each in events:
        course.exercise(each.exercise)
    return events


def ranked(course: Course, event: Event, draw: int, ask: Asks, told: Callable[[str], object] = str) -> Ranked:
    """Count the entries of an event, and order them by their numbers, then by the date of handing in.

    Args:
        course: The course.
        event: The event.
        draw: The number from which its inputs are drawn, the same for all entries.
        ask: Asks the sandbox.
        told: Hears the name of each entry before it is counted.
    """
    found: list[tuple[Candidate, Counted]] = []
    left: list[Left] = []
    for each in candidates(course, event):
        told(each.name)
        try:
            if each.refusal:
                raise Refused(each.refusal)
            found.append((each, event.count(each.handed_in, draw, ask)))
        except (Refused, StudentFailure, StudentStopped) as error:
            left.append(Left(each.student, each.name, str(error)))
        except (GraderError, HiddenTestError, SandboxError, OSError):  # they concern everyone
            raise
        except Exception as error:  # a text that nobody foresaw costs its own entry alone
            left.append(Left(each.student, each.name, unforeseen("this entry", error)))
    found.sort(key=lambda pair: (pair[1].order, pair[0].turn))
    return Ranked(event, [Line(each.name, counted, each.when) for each, counted in found], left)
