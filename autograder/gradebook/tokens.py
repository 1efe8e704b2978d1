"""The tokens by which `autograder serve --http` knows a student.

A token is 32 random bytes. The course keeps its SHA-256 alone, in a file that only its owner reads: no slower hash is
needed, since nobody guesses so many bytes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from autograder.common.files import rewrite
from autograder.course import CourseError
from autograder.reading.student_files import is_id

FILE = Path(".grades", "tokens.json")
"""The file, in a course's directory: the hash of each student's token."""


class Tokens:
    """The tokens of a course.

    Args:
        course: The course's directory.
    """

    def __init__(self, course: Path) -> None:
        self._path = course / FILE
        self._known: dict[str, str] = {}
        self._state: tuple[int, int] | None = None

    def student_of(self, token: str) -> str | None:
        """Return the student's id; None for a token of nobody.

        Raises:
            CourseError: If the file cannot be read.
        """
        self._refresh()
        asked, found = _hash(token), None
        for student, known in self._known.items():  # all of them, so that the time tells nothing
            if hmac.compare_digest(asked, known):
                found = student
        return found

    def students(self) -> list[str]:
        """The students who have a token.

        Raises:
            CourseError: If the file cannot be read.
        """
        self._refresh()
        return sorted(self._known)

    def make(self, students: Iterable[str]) -> dict[str, str]:
        """Make new tokens, which replace earlier ones; they are returned and nowhere kept.

        Raises:
            CourseError: If the file cannot be read, or a name cannot be a student's id.
        """
        students = list(students)
        wrong = [student for student in students if not is_id(student)]
        if wrong:
            raise CourseError(f"{wrong[0]!r} cannot be a student's id; write it as in the gradebook")
        made = {student: secrets.token_urlsafe(32) for student in students}
        self._refresh()
        self._write(self._known | {student: _hash(token) for student, token in made.items()})
        return made

    def remove(self, student: str) -> None:
        """Forget a student's token.

        Raises:
            CourseError: If the file cannot be read.
        """
        self._refresh()
        self._write({each: known for each, known in self._known.items() if each != student})

    def _refresh(self) -> None:
        try:
            status = self._path.stat()
            if (status.st_mtime_ns, status.st_ino) == self._state:
                return
            if status.st_mode & 0o077:
                raise CourseError(f"{self._path} can be read by others; `chmod 600 {self._path}`")
            self._known = {str(name): str(known) for name, known in json.loads(self._path.read_text()).items()}
            self._state = status.st_mtime_ns, status.st_ino
        except FileNotFoundError:
            self._known, self._state = {}, None
        except (OSError, ValueError, AttributeError) as error:
            how = "remove it, and make the tokens again by `autograder tokens`"
            raise CourseError(f"{self._path} cannot be read ({error}); {how}") from error

    def _write(self, known: dict[str, str]) -> None:
        if not self._path.exists():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600))  # closed to others before it says anything
        rewrite(self._path, (json.dumps(known, indent=1) + "\n").encode())
        self._state = None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
