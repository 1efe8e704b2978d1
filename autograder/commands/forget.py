"""The command that deletes a student's data."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from autograder.commands.common import REJECTED, USAGE, CourseOption, fail, honest, short
from autograder.commands.showing import Cell, console_of, is_narrow, number, print_list, steps
from autograder.course.loading import find_course, load_course

if TYPE_CHECKING:
    from autograder.forgetting import Kept, KeptData, Person

SHOWN = 20
"""Most files that are listed as naming a student still."""


@honest
def forget(
    students: Annotated[list[str], typer.Argument(metavar="STUDENT...", help="Student ids.", show_default=False)],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what is kept, and delete nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    course: CourseOption = None,
) -> None:
    """Delete for good what the course's folder and the exchange keep of a student.

    That is: submissions and originals, graded notebooks, feedback, rows of the gradebook, results and answers in
    .grades, changes in the log of regradings, extensions, lines of exported tables, and class reports that name the
    student. All of it is listed first. Then the command asks, deletes, and names the files that it cannot change, such
    as backups.

    Kept results go for the whole class, since nothing tells whose they are; marks stay, and a later `regrade` takes
    longer. After a run that was stopped, the same command goes on. Run it while nothing is being graded.

    Examples:
      autograder forget ada --dry-run

      autograder forget ada bea
    """
    from autograder.course.opening import refuse_a_read_only_course
    from autograder.forgetting import KeptData

    if not (dry_run or yes or sys.stdin.isatty()):
        fail("nobody can be asked here: add --yes to delete what is found, or --dry-run to look only", USAGE)
    console = console_of()
    loaded = load_course(course or find_course(), tree=False)
    refuse_a_read_only_course(loaded.directory)
    data = KeptData(loaded)
    people = [_person(data, student) for student in dict.fromkeys(students)]
    _show(console, data, {each.id: data.of(each) for each in people})
    if dry_run:
        _name_others(console, data, people, "not deleted")
        return
    if not yes and not typer.confirm(f"Delete all of it for good, of {number(len(people), 'student')}?"):
        console.print("nothing was deleted")
        return
    with steps("deleting", len(people)) as step:
        for person in people:
            data.delete(person)
            step.advance()
    _tell(console, data, people)


def _person(data: KeptData, student: str) -> Person:
    """The student of an id; else say which may be meant."""
    if student in data.people:
        return data.people[student]
    known = {name.casefold(): each.id for each in data.people.values() for name in each.names}
    near = dict.fromkeys(known[name] for name in difflib.get_close_matches(student.casefold(), known, n=3))
    meant = f"did you mean {' or '.join(near)}?" if near else "`nbgrader db student list` lists those that there are"
    fail(f"nothing is kept of a student {student!r}; {meant}", USAGE)


def _show(console: Console, data: KeptData, kept: dict[str, list[Kept]]) -> None:
    """Print the places as a table, or as a list where a table is too wide."""
    from autograder.telling.report import clean

    shared = data.results()
    rows = [(student, each) for student, found in kept.items() for each in found]
    rows += [("(class)", shared)] if shared.count else []
    cells = [(clean(student), str(each.count), each.what, clean(_where(data, each))) for student, each in rows]
    if is_narrow(console):
        for student, count, what, where in cells:
            print_list(console, Text(f"{student}  {count} {what}"), [where])
        return
    table = Table(title="Kept data", title_justify="left")
    for name in ("student", "number", "what", "where"):
        table.add_column(name, justify="right" if name == "number" else "left")
    for each in cells:
        table.add_row(*map(Cell, each))
    console.print(table)


def _where(data: KeptData, kept: Kept) -> str:
    return str(kept.where.relative_to(data.root)) if kept.where.is_relative_to(data.root) else str(kept.where)


def _tell(console: Console, data: KeptData, people: Sequence[Person]) -> None:
    """Say what is gone, and what is not."""
    left = [(person.id, each) for person in people for each in data.of(person)]
    for student, each in left:
        said = f"{student}: {each.what} in {_where(data, each)}; delete it with the rights of its owner"
        console.print(f"[bold red]not deleted[/bold red]  {escape(said)}", soft_wrap=True)
    gone = [person.id for person in people if person.id not in {student for student, _ in left}]
    if gone:
        console.print(f"[green]deleted[/green]  {escape(', '.join(gone))}", soft_wrap=True)
    _name_others(console, data, people, "still there")
    console.print(
        "Backups elsewhere, the learning platform and the student's own computer keep what they have; see "
        "docs/instructor/privacy.md. A class report is made again by `autograder report`.",
        soft_wrap=True,
    )
    if left:
        raise typer.Exit(REJECTED)


def _name_others(console: Console, data: KeptData, people: Iterable[Person], said: str) -> None:
    """Name the files that this command does not change and that name a student."""
    from autograder.forgetting.mentions import tells
    from autograder.telling.report import clean

    for person in people:
        found = data.naming(person)
        for path in found[:SHOWN]:
            what = f"names {clean(person.id)}; {_way_out(data, path)}"
            console.print(f"[yellow]{said}[/yellow]  {escape(f'{clean(short(path))}: {what}')}", soft_wrap=True)
        if len(found) > SHOWN:
            console.print(f"[yellow]{said}[/yellow]  {number(len(found) - SHOWN, 'more file')} of that kind")
        if not tells(person.id):
            note = f"{person.id} is too short to be searched for: look into backups and archives yourself"
            console.print(f"[yellow]note[/yellow]  {escape(note)}", soft_wrap=True)


def _way_out(data: KeptData, path: Path) -> str:
    """How a file ceases to name a student. A backup is no file in which a line can be deleted."""
    from autograder.gradebook.databases import BACKUPS

    if path.is_relative_to(data.root / BACKUPS):
        return "delete this backup; `autograder database backup` makes one without the student"
    return "look at it, and delete what is about the student"
