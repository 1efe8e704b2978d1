"""The recorded results, in plain files: one for each student, assignment and lesson.

The gradebook holds points; the ledger holds all that led to them, for reports, explanations, feedback and regrading.
Class grading and nbgrader's preprocessor write it alike, as `.grades/submissions/<assignment>/<student>/<lesson>.json`.
Nothing in it depends on the day but `graded`: the same submissions and the same tests give the same files.

Results that are not in the gradebook yet wait under `.grades/waiting`: they need not be found again, and nobody reads
them beside another score.

The ledger holds what the gradebook has, and no more. `Recorder` moves an entry from `waiting` into the ledger after
rows and files stand; where `nbgrader autograde` itself grades, `SaveGrades` writes the entry after its rows. So
feedback, report, explain and regrade never show a report beside another score.

After SIGKILL the next run records each waiting result again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from autograder.common.files import write
from autograder.results import Submission

LEDGER = Path(".grades", "submissions")
"""The ledger's folder in a course's directory."""

WAITING = Path(".grades", "waiting")
"""The folder of results that are not recorded yet, in the same order."""


@dataclass(frozen=True)
class Entry:
    """The result of grading one notebook.

    Attributes:
        student: nbgrader's student id.
        assignment: The assignment's name.
        lesson: The notebook's lesson.
        sha256: Of the clean notebook, in the submitted tree, that was graded.
        graded: When, in UTC as ISO 8601; the only field that differs between two identical runs.
        submission: The result.
        state: A hash of the tests, library, limits and seed that it follows from.
    """

    student: str
    assignment: str
    lesson: str
    sha256: str
    graded: str
    submission: Submission
    state: str = ""

    def as_json(self) -> dict[str, Any]:
        """The entry as plain JSON."""
        return {
            "student": self.student,
            "assignment": self.assignment,
            "lesson": self.lesson,
            "sha256": self.sha256,
            "graded": self.graded,
            "state": self.state,
            "submission": self.submission.as_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Entry:
        """The inverse of `as_json`.

        Raises:
            KeyError: If a field is missing.
            TypeError: If a field is unknown.
        """
        names = {name: str(data[name]) for name in ("student", "assignment", "lesson", "sha256", "graded")}
        return cls(**names, submission=Submission.from_json(data["submission"]), state=data.get("state", ""))


def entry_path(course: Path, student: str, assignment: str, lesson: str, place: Path = LEDGER) -> Path:
    """The file of an entry; a name that is no file's name stands there quoted."""
    return course / place / _quoted(assignment) / _quoted(student) / f"{_quoted(lesson)}.json"


def write_entry(course: Path, entry: Entry, place: Path = LEDGER) -> None:
    """Keep an entry, in the place of an earlier one.

    Args:
        course: The course's directory.
        entry: The result.
        place: `LEDGER`, or `WAITING` for what is not recorded.
    """
    path = entry_path(course, entry.student, entry.assignment, entry.lesson, place)
    write(path, json.dumps(entry.as_json(), indent=1) + "\n")


def write_recorded(course: Path, entry: Entry) -> None:
    """Put an entry that the gradebook has now into the ledger; it waits no longer."""
    waiting = entry_path(course, entry.student, entry.assignment, entry.lesson, WAITING)
    if _read(waiting) == entry:
        home = entry_path(course, entry.student, entry.assignment, entry.lesson)
        home.parent.mkdir(parents=True, exist_ok=True)
        waiting.replace(home)
    else:
        write_entry(course, entry)
        waiting.unlink(missing_ok=True)


def read_entry(course: Path, student: str, assignment: str, lesson: str, place: Path = LEDGER) -> Entry | None:
    """The entry of one notebook; None if there is none or it is damaged."""
    return _read(entry_path(course, student, assignment, lesson, place))


def entries(course: Path, assignment: str | None = None, place: Path = LEDGER) -> Iterator[Entry]:
    """Every entry that can be read, sorted by assignment, student and lesson.

    Args:
        course: The course's directory.
        assignment: Take only this one's.
        place: `LEDGER`, or `WAITING` for what is not recorded.
    """
    for folder in _sorted(course / place):
        if assignment in (None, unquote(folder.name)):
            for student in _sorted(folder):
                found = (_read(path) for path in _sorted(student) if path.suffix == ".json")
                yield from (entry for entry in found if entry is not None)


def student_folders(course: Path, place: Path = LEDGER) -> Iterator[tuple[str, Path]]:
    """Each student's folder of each assignment, with the student's id.

    Args:
        course: The course's directory.
        place: The ledger's folder, or another one of the same order.
    """
    for folder in _sorted(course / place):
        yield from ((unquote(student.name), student) for student in _sorted(folder))


def _sorted(folder: Path) -> list[Path]:
    """The content of a folder, in the order of the names that are quoted there; hidden files are not finished."""
    if not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if not path.name.startswith("."))
    return sorted(found, key=lambda path: unquote(path.name.removesuffix(".json")))


def _quoted(name: str) -> str:
    quoted = quote(name, safe="")
    # quote leaves points alone: a folder must not be called "..", nor look like an unfinished file.
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted


def _read(path: Path) -> Entry | None:
    try:
        return Entry.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
