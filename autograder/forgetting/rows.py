"""A student's rows in nbgrader's gradebook."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from nbgrader.api import MissingEntry
from sqlalchemy import text

from autograder.course import Course
from autograder.gradebook.diagnosing import opened
from autograder.gradebook.settings import has_gradebook

_SQLITE = "sqlite:///"


class Student(NamedTuple):
    """A row of nbgrader's table of students; an empty text where it has nothing."""

    id: str
    first_name: str
    last_name: str
    email: str
    lms_id: str


class Rows:
    """The rows of students in a gradebook.

    Args:
        course: The course.
        url: The gradebook's address.
        name: nbgrader's name of the course.
    """

    def __init__(self, course: Course, url: str, name: str) -> None:
        self._url, self._name = url, name
        self._is_there = has_gradebook(course, url)
        self.path = Path(url.removeprefix(_SQLITE)) if url.startswith(_SQLITE) else Path(url.rpartition("@")[2])

    def _opened(self) -> AbstractContextManager[Any]:
        return opened(self._url, self._name)

    def students(self) -> list[Student]:
        """Every student whom the gradebook has."""
        if not self._is_there:
            return []
        with self._opened() as gradebook:
            found = [
                (each.id, each.first_name, each.last_name, each.email, each.lms_user_id) for each in gradebook.students
            ]
        return [Student(*(str(field or "") for field in each)) for each in found]

    def count(self, student: str) -> int:
        """The number of a student's rows: submissions, notebooks, grades and comments are rows too."""
        if not self._is_there:
            return 0
        with self._opened() as gradebook:
            try:
                submissions = gradebook.find_student(student).submissions
            except MissingEntry:
                return 0
            notebooks = [notebook for submission in submissions for notebook in submission.notebooks]
            inner = sum(len(notebook.grades) + len(notebook.comments) for notebook in notebooks)
            return 1 + len(submissions) + len(notebooks) + inner

    def delete(self, student: str) -> None:
        """Delete a student's rows.

        SQLite overwrites them as it deletes them, and is then asked for a file without free pages: in those stands what
        was deleted earlier, as by `nbgrader db student remove`. Of a server's database its backups are not touched.
        """
        if not self._is_there:
            return
        with self._opened() as gradebook:
            is_sqlite = self._url.startswith(_SQLITE)
            if is_sqlite:
                gradebook.db.execute(text("PRAGMA secure_delete = ON"))
            with suppress(MissingEntry):
                gradebook.remove_student(student)
            gradebook.db.remove()
            if is_sqlite:
                with gradebook.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.execute(text("VACUUM"))
                    connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
