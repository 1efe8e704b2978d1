"""The command that gives students what they hand in with by HTTP."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from autograder.commands.common import CourseOption, honest
from autograder.course import CourseError
from autograder.course.loading import find_course, load_course


@honest
def tokens(
    students: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STUDENT]...", help="nbgrader's student ids; by default all who have no token yet."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the table to a new file that only its owner reads, instead of here."),
    ] = None,
    course: CourseOption = None,
) -> None:
    """Make a token for each student, with which `autograder serve --http` knows who hands in; print them as a table.

    A token is shown this once: the course keeps its hash. A student who is named gets a new one, and the earlier one is
    void. Send each student the own one alone.

    Examples:
      autograder tokens --out tokens.csv

      autograder tokens ada
    """
    from autograder.gradebook.class_server import Server
    from autograder.gradebook.diagnosing import opened
    from autograder.gradebook.tokens import Tokens

    loaded = load_course(course or find_course(), tree=False)
    kept = Tokens(loaded.directory)
    if not students:
        server = Server.of(loaded)
        with opened(server.address, server.course_id) as gradebook:
            everyone = sorted(student.id for student in gradebook.students)
        if not everyone:
            raise CourseError("the gradebook lists no student; `nbgrader db student import students.csv` does")
        students = [each for each in everyone if each not in kept.students()]
    with _table(out) as table:
        made = kept.make(students)
        table.write("".join(["id,token\n", *(f"{student},{token}\n" for student, token in made.items())]))


@contextmanager
def _table(out: Path | None) -> Iterator[TextIO]:
    """Where the tokens go: no file that is there already, since they are shown this once."""
    if out is None:
        yield sys.stdout
        return
    try:
        descriptor = os.open(out, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError as error:
        raise CourseError(f"{out} is there already, and its tokens stand nowhere else; name a new file") from error
    except OSError as error:
        raise CourseError(f"{out} cannot be written ({error.strerror}); name another file") from error
    with os.fdopen(descriptor, "w") as file:
        yield file
