"""The commands that move a gradebook to another database, keep a copy of it, and bring one back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.commands.common import CourseOption, honest, short
from autograder.commands.showing import number, steps
from autograder.course import Course, CourseError
from autograder.course.loading import find_course, load_course

if TYPE_CHECKING:
    from autograder.gradebook.databases import Rows


@honest
def move(
    address: Annotated[str, typer.Argument(help="The new database, as SQLAlchemy writes it.", show_default=False)],
    course: CourseOption = None,
) -> None:
    """Copy the gradebook into another, empty database: from SQLite to PostgreSQL, or back.

    The old one stays as it is. The line that it prints goes into course/nbgrader_config.py; from then on every
    command of nbgrader and of the grader uses the new one.

    Examples:
      autograder database move postgresql://grader:secret@localhost/minigrad

      autograder database move sqlite:////srv/course/gradebook.db
    """
    from autograder.gradebook import databases

    loaded = _loaded(course)
    target = databases.address(address)
    with steps("copying the gradebook") as step:
        rows = databases.move(
            databases.of_course(loaded), target, done=lambda table, count: step.at(f"{table}: {count}")
        )
    console = _console()
    console.print(f"{_said(rows)} copied and compared")
    console.print(f"Next, in {short(loaded.directory / 'nbgrader_config.py')}:")
    console.print(f'    c.CourseDirectory.db_url = "{escape(databases.shown(target))}"')
    if target.password:
        console.print("with the password in the place of the stars; let nobody else read that file")


@honest
def backup(course: CourseOption = None) -> None:
    """Keep a copy of the gradebook in .grades/backups; `autograde` and `regrade` do so before they write.

    Examples:
      autograder database backup
    """
    from autograder.gradebook.databases import back_up

    kept = back_up(_loaded(course))
    if kept is None:
        raise CourseError("there is no gradebook yet")
    _console().print(f"kept: {escape(short(kept))}")


@honest
def restore(
    file: Annotated[
        Path | None, typer.Argument(help="The backup; if none is given they are listed.", show_default=False)
    ] = None,
    course: CourseOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Restore without asking.")] = False,
) -> None:
    """Put a backup into the gradebook's place; the gradebook as it is now is kept first, if it can be read.

    Nobody should be grading meanwhile. Marks that were given by hand since then are lost; those of the grader are not:
    `autograder autograde ASSIGNMENT` records again what was graded.

    Examples:
      autograder database restore

      autograder database restore .grades/backups/gradebook-2027-02-15T101500.db
    """
    from autograder.gradebook import databases

    loaded = _loaded(course)
    console = _console()
    if file is None:
        found = databases.backups(loaded)
        for each in found:
            console.print(escape(short(each)))
        if not found:
            console.print("there are no backups yet; `autograder autograde` makes one before it records")
        return
    if not file.is_file():
        raise CourseError(f"{short(file)}: there is no such file; `autograder database restore` lists the backups")
    if not yes and not typer.confirm(f"replace the gradebook by {short(file)}?"):
        console.print("nothing was changed")
        return
    try:
        kept = databases.back_up(loaded, spare=file)
    except CourseError as error:
        kept = None
        console.print(f"the gradebook as it is now could not be kept: {escape(str(error))}")
    rows = databases.restore(loaded, file)
    console.print(f"restored: {_said(rows)}" + (f"; before, it was kept: {escape(short(kept))}" if kept else ""))
    if databases.of_course(loaded).get_backend_name() == "sqlite":
        console.print(
            "Restart each Jupyter server with an open Formgrader: it shows the old gradebook, and saves nothing"
        )
    console.print("Next: `autograder autograde ASSIGNMENT` records again what was graded since")


def _loaded(course: Path | None) -> Course:
    return load_course(course or find_course(), tree=False)


def _console() -> Console:
    return Console(soft_wrap=True, highlight=False)


def _said(rows: Rows) -> str:
    return f"{number(rows['student'], 'student')}, {number(rows['submitted_assignment'], 'submission')}, " + number(
        sum(rows.values()), "row"
    )
