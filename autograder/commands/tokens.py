"""The command that gives students what they hand in with by HTTP."""

from __future__ import annotations

import sys
from typing import Annotated

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
    course: CourseOption = None,
) -> None:
    """Make a token for each student, with which `autograder serve --http` knows who hands in; print them as a table.

    A token is shown this once: the course keeps its hash. A student who is named gets a new one, and the earlier one is
    void. Send each student the own one alone.

    Examples:
      autograder tokens > tokens.csv

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
    made = kept.make(students)
    sys.stdout.write("".join(["id,token\n", *(f"{student},{token}\n" for student, token in made.items())]))
