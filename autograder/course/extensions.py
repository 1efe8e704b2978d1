"""More time for one student and one assignment: `extensions.json` in a course's folder, written by `autograder extend`.

The file is the one place of extensions. nbgrader's gradebook gets a copy, so that Formgrader shows the same dates.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.common.files import write
from autograder.course.tables import CourseError

FILE = Path("extensions.json")
"""The file, in a course's directory."""


@dataclass(frozen=True)
class Extension:
    """More time. It has days, which follow a due date that moves, or a time, which does not.

    Attributes:
        days: Days after the due date.
        until: The new time, in UTC.
    """

    days: float = 0.0
    until: dt.datetime | None = None

    def deadline(self, due: dt.datetime) -> dt.datetime:
        """The time until which work is not late; never before the due date itself."""
        return max(due, self.until) if self.until else due + dt.timedelta(days=self.days)

    def as_json(self) -> dict[str, Any]:
        """The extension as plain JSON."""
        return {"until": self.until.isoformat()} if self.until else {"days": self.days}

    def __str__(self) -> str:
        if self.until:
            return f"until {self.until:%Y-%m-%d %H:%M} UTC"
        return f"{self.days:g} day{'s' * (self.days != 1)} more"


def read_extensions(course: Path) -> dict[str, dict[str, Extension]]:
    """Return the extensions by assignment and student.

    Args:
        course: The course's directory.

    Raises:
        CourseError: If the file cannot be read: to take it for empty would make students late.
    """
    path = course / FILE
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return {
            assignment: {student: _extension(each) for student, each in sorted(students.items())}
            for assignment, students in sorted(data.items())
        }
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
        raise CourseError(
            f"{FILE}: cannot be read ({type(error).__name__}: {error}); restore it from a copy, or delete it and grant "
            "the extensions again by `autograder extend`"
        ) from error


def _extension(data: Mapping[str, Any]) -> Extension:
    if "until" not in data:
        days = float(data["days"])
        dt.timedelta(days=days)  # raises where no calendar goes so far
        return Extension(days=days)
    until = dt.datetime.fromisoformat(data["until"])
    if until.tzinfo is None:
        raise ValueError(f"{data['until']} is of no time zone")
    return Extension(until=until.astimezone(dt.UTC))


def write_extension(course: Path, assignment: str, student: str, extension: Extension | None) -> None:
    """Grant an extension in the place of an earlier one, or take it back.

    Args:
        course: The course's directory.
        assignment: The assignment's name.
        student: nbgrader's student id.
        extension: The extension; None takes it back.
    """
    found = read_extensions(course)
    own = found.setdefault(assignment, {})
    own.pop(student, None)
    if extension is not None:
        own[student] = extension
    data = {
        name: {student: each.as_json() for student, each in sorted(students.items())}
        for name, students in sorted(found.items())
        if students
    }
    write(course / FILE, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
