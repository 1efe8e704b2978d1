"""A course and its submissions as bytes, on their way to another machine and back.

A course travels as a zip archive of the files that grading reads: lessons, source notebooks, masters, hidden tests,
and the library's sources. So workers need no folder in common with the machine that gives the command; such a folder
would have to be mounted on each of them, and would hold the hidden tests after the run. A notebook travels without its
student's name. A result comes back as JSON.
"""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from autograder.course import Course
from autograder.judging.hidden_tests import files_of_hunts
from autograder.library import CATALOGUE
from autograder.results.causes import SEEN
from autograder.results.ledger import Entry

COURSE, HIDDEN = "course", "hidden"
"""The folders of a course and of its hidden tests, where a parcel is unpacked."""

NOBODY = "student"
"""The student of every submission, as a worker sees it."""


def pack_course(course: Course, hidden: Path, *more: str) -> bytes:
    """Return the files that grading reads, as a zip archive.

    Args:
        course: The course.
        hidden: The directory of hidden tests.
        more: Folders of the course's directory that are packed as well.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, path in _files(course, hidden, more).items():
            archive.write(path, name.as_posix())
    return buffer.getvalue()


def _files(course: Course, hidden: Path, more: Iterable[str]) -> dict[Path, Path]:
    """The files to pack, by their places in the parcel."""
    found = {Path(COURSE, course.path.name): course.path, SEEN: hidden.parent / SEEN}
    folders = {Path(COURSE, name): course.directory / name for name in ("lessons", "data", "source", "masters", *more)}
    library = Path(COURSE)
    if not course.library.in_lessons:
        library = Path("src", course.library.package)
        folders[library] = course.source
    for place, folder in {**folders, Path(HIDDEN): hidden}.items():
        paths = (path for path in sorted(folder.rglob("*")) if "__pycache__" not in path.parts)
        found.update((place / path.relative_to(folder), path) for path in paths)
    hunted = files_of_hunts(sorted(hidden.glob("test_*.py")))
    found.update((path.relative_to(hidden.parent), path) for path in hunted)
    found[library / CATALOGUE] = course.catalogue  # the course's own, where the library is only borrowed
    return {place: path for place, path in found.items() if path.is_file()}


def unpack_course(parcel: bytes, folder: Path) -> None:
    """Write a parcel's files into a folder."""
    with zipfile.ZipFile(io.BytesIO(parcel)) as archive:
        archive.extractall(folder)


@dataclass(frozen=True)
class Question:
    """A notebook to be graded.

    Attributes:
        assignment: The assignment's name.
        lesson: The notebook's lesson.
        notebook: The notebook, byte for byte.
        record: What was said of it when it was taken in; None if nothing was.
    """

    assignment: str
    lesson: str
    notebook: bytes
    record: dict[str, Any] | None

    def pack(self) -> bytes:
        """The question as bytes."""
        text = base64.b64encode(self.notebook).decode()
        return json.dumps({**vars(self), "notebook": text}).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """The inverse of `pack`."""
        content = json.loads(data)
        return cls(**{**content, "notebook": base64.b64decode(content["notebook"])})


@dataclass(frozen=True)
class Answer:
    """The outcome of a question; one of its fields is set.

    Attributes:
        entry: The result, of `NOBODY`.
        problem: Why the notebook could not be graded.
        fault: What is wrong with a hidden test.
        ended: How the process ended that graded it.
        refusal: Name of the worker's machine, and why it cannot grade anything.
    """

    entry: Entry | None = None
    problem: str = ""
    fault: str = ""
    ended: str = ""
    refusal: str = ""

    def pack(self) -> bytes:
        """The answer as bytes."""
        return json.dumps({**vars(self), "entry": self.entry and self.entry.as_json()}).encode()

    @classmethod
    def unpack(cls, data: bytes, student: str) -> Self:
        """The inverse of `pack`, with the student's name.

        Raises:
            ValueError: If it is no answer.
        """
        try:
            content = json.loads(data)
            entry = content.pop("entry")
            found = None if entry is None else replace(Entry.from_json(entry), student=student)
            return cls(found, **{name: str(value) for name, value in content.items()})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no answer: {type(error).__name__}") from error
