"""The commands that lay out a new course, and a new exercise, of which they say what is still missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.commands.common import REJECTED, AnswersOption, CourseOption, HiddenOption, honest, short
from autograder.commands.showing import Cell, console_of, is_narrow, number, print_list
from autograder.course import Course, CourseError
from autograder.course.loading import find_course, load_course
from autograder.course.tables import NAME
from autograder.library import MINIGRAD

if TYPE_CHECKING:
    from autograder.building.pieces import Piece

_NUMBER = re.compile(r"\d+(\.\d+)?")


@honest
def new_course(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new or empty folder; its name is the course's.", show_default=False)
    ],
) -> None:
    """Lay out a course about anything: one lesson, one exercise, a hidden test, a wrong answer, a README.

    It can be built, verified, released and graded as it is. Its answers stand in its lesson; students install nothing.

    Example: autograder new course statistics
    """
    from autograder.building.first_course import lay_out_course

    for path in lay_out_course(folder):
        typer.echo(f"written  {short(path)}")
    typer.echo(f"next: cd {short(folder)}, then autograder build; README.md has the other commands")


@honest
def new_exercise(
    exercise_id: Annotated[str, typer.Argument(metavar="EXERCISE", help="MODULE.NAME, such as operators.softplus.")],
    lesson: Annotated[
        str | None, typer.Option(help="Its lesson; not needed where the module has one lesson.", show_default=False)
    ] = None,
    points: Annotated[
        float | None, typer.Option(help="Its points; the sum of its groups if not given.", show_default=False)
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=POINTS", help="A group of hidden tests; repeat the option.", show_default=False),
    ] = None,
    objects: Annotated[
        list[str] | None,
        typer.Option("--object", metavar="MODULE.NAME", help="An object to write, if not the id; repeat the option."),
    ] = None,
    course: CourseOption = None,
    hidden: HiddenOption = None,
    answers: AnswersOption = None,
) -> None:
    """Lay out every file that an exercise needs, and list what is still missing of it.

    An exercise that course.toml does not list gets an entry there. Each other piece that is missing gets a skeleton,
    which the build and `verify` refuse until it is filled in. No line that stands in a file is changed, so that the
    command can be repeated: it exits with 1 while something is missing.

    Examples:
      autograder new exercise operators.softplus --lesson 00_fundamentals --group values=2 --group stability=1

      autograder new exercise operators.softplus
    """
    from autograder.building.pieces import lay_out
    from autograder.course.adding import add_exercise, check_entry

    loaded = load_course(course or find_course(anywhere=False), tree=False)
    if loaded.library != MINIGRAD:
        raise CourseError(
            f"{short(loaded.path)}: this command knows the files of a course about minigrad; write the exercise as "
            "those beside it, and `autograder build` says what is missing"
        )
    if not loaded.source.is_relative_to(loaded.directory.parent):
        raise CourseError(f"{short(loaded.path)}: has no src/minigrad beside it, where an exercise is written")
    listed = loaded.exercises.get(exercise_id)
    groups = _groups(group or [], points, is_new=listed is None)
    entry: str | None = None
    if listed is None:
        loaded, entry = add_exercise(loaded, exercise_id, lesson, groups, objects or ())
    else:
        check_entry(listed, lesson, groups, objects or ())
    folders = hidden or loaded.hidden, answers or loaded.directory
    found = lay_out(loaded, loaded.exercise(exercise_id), *folders, entry)
    missing = [piece for piece in found if piece.state != "there"]
    _print(console_of(), loaded, found, exercise_id)
    if missing:
        raise typer.Exit(REJECTED)


def _groups(options: Sequence[str], points: float | None, *, is_new: bool) -> dict[str, float]:
    """Points of each group of hidden tests."""
    groups: dict[str, float] = {}
    for option in options:
        name, _, worth = option.partition("=")
        if not (NAME.fullmatch(name) and _NUMBER.fullmatch(worth)):
            raise CourseError(f"--group {option}: write NAME=POINTS, such as values=2")
        groups[name] = float(worth)
    if points is not None:
        groups = groups or {"values": points}
        if abs(sum(groups.values()) - points) > 1e-9:
            raise CourseError(f"the groups sum to {sum(groups.values()):g} but --points is {points:g}; make them equal")
    if is_new and not groups:
        raise CourseError("a new exercise needs points; give --points, or --group NAME=POINTS once or several times")
    return groups


def _print(console: Console, course: Course, found: Sequence[Piece], exercise_id: str) -> None:
    if is_narrow(console):
        for piece in found:
            head = Text.assemble((short(piece.path), "bold"), f": {piece.state}")
            print_list(console, head, [f"{piece.to_do}; then {piece.command}"] if piece.to_do else [])
    else:
        title = f"Exercise {exercise_id}: {course.exercise(exercise_id).points:g} points"
        table = Table("file", "state", "to do", "then", title=title)
        for piece in found:
            style = "green" if piece.state == "there" else "red"
            table.add_row(Cell(short(piece.path)), Text(piece.state, style), piece.to_do, Cell(piece.command))
        console.print(table)
    missing = sum(piece.state != "there" for piece in found)
    said = f"{number(missing, 'piece')} still to write or make" if missing else "nothing is missing"
    console.print(f"{exercise_id}: {said}", soft_wrap=True)
