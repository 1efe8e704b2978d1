"""Commands about the course itself: build it, cut an edition, show a term with an invented class."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.commands.common import CourseOption, HiddenOption, IsolationOption, cache_of, honest, short
from autograder.commands.showing import console_of, number, steps
from autograder.course import CourseError, Exercise
from autograder.course.loading import find_course, load_course
from autograder.library import MINIGRAD
from autograder.results import Graded


@honest
def build(
    course: CourseOption = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not run hidden tests on each exercise's stub and reference.")
    ] = False,
    isolation: IsolationOption = "auto",
    hidden: HiddenOption = None,
) -> None:
    """Build the notebooks from the lessons and the library; refuse every inconsistency.

    A stub that earns a point, or a reference that loses one, is refused too, unless --quick is given.
    A second build changes nothing.

    Example: autograder build
    """
    from autograder.building.build import build as build_course
    from autograder.building.released import changes_after_release
    from autograder.judging.judge import Judge

    # It is written to: the repository's course is not meant by someone who is elsewhere.
    place = course or find_course(anywhere=False)
    loaded = load_course(place)
    hidden = hidden or loaded.hidden
    if quick:
        report = build_course(place, hidden=hidden)
    else:
        with (
            Judge(loaded, hidden=hidden, isolation=isolation, cache=cache_of(loaded), shrink_seconds=0) as judge,
            steps("stubs and references", 2 * len(loaded.exercises)) as step,
        ):

            def points(exercise: Exercise, text: str) -> Graded:
                step.at(exercise.id)
                graded = judge.grade_text(exercise, text, points_only=True)
                step.advance()
                return graded

            report = build_course(place, verify_points=points, hidden=hidden)
    _put_dates(place)
    console = Console(soft_wrap=True, highlight=False)
    for path in report.written:
        console.print(f"[green]written[/green]  {escape(short(path))}")
    for path in report.kept:
        console.print(f"[yellow]kept[/yellow]     {escape(short(path))}: someone had worked in it")
    for path in report.removed:
        console.print(f"[yellow]removed[/yellow]  {escape(short(path))}")
    for path in report.strange:
        console.print(
            f"[yellow]note[/yellow]     {escape(short(path))}: is released, and graded code does not find it; "
            f"move it to data/{path.relative_to(report.course.parent).parts[1]}/, or delete it"
        )
    for said in changes_after_release(loaded):
        console.print(f"[yellow]note[/yellow]     {escape(said)}")
    for lesson, worth in report.totals.items():
        by_hand = report.by_hand[lesson]
        console.print(f"{lesson}: {worth:g} points" + (f", and {by_hand:g} that a person gives" if by_hand else ""))
    for assignment, worth in report.drafts.items():
        console.print(f"{assignment}: {worth:g} points, a draft: no notebooks, nothing to release")
    written = number(len(report.written), "file")
    console.print(f"{escape(short(report.course))}: {written} written, {len(report.unchanged)} unchanged")


def _put_dates(place: Path) -> None:
    """Copy the due dates into a gradebook that knows the assignments already; before that there is nothing to copy."""
    course = load_course(place, tree=False)
    if (course.directory / "gradebook.db").is_file():
        from autograder.gradebook.dates import put_dates
        from autograder.gradebook.settings import gradebook_url

        put_dates(course, gradebook_url(course))


@honest
def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder for everything that it makes; emptied first.")
    ] = Path("build/demo"),
    students: Annotated[
        int | None,
        typer.Option(
            "--class",
            min=1,
            metavar="N",
            help="Let a class of N hand in, and leave the grading to you.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same one makes the same class.")] = 1,
    course: CourseOption = None,
) -> None:
    """Grade an invented class from end to end with nbgrader, and print the table of points.

    The first two assignments are built and released in a copy of the course; students who are right, wrong, careless
    and hostile hand in; their work is collected, graded in the sandbox and fed back, by the commands that an instructor
    types.

    With --class a rehearsal: as many students as are wanted hand in every assignment, and you are told which commands
    come next, to be tried out where nothing can be spoiled.

    Examples:
      autograder demo

      autograder demo --class 30
    """
    from autograder.proof.demo import run_demo, run_rehearsal

    place = course or find_course()
    loaded = load_course(place, tree=False)
    if loaded.library != MINIGRAD:
        raise CourseError(
            f"{loaded.path.name}: the invented class answers minigrad's exercises; there is none for this one"
        )
    if students is None:
        raise typer.Exit(run_demo(out, console_of(), place))
    raise typer.Exit(run_rehearsal(out, console_of(), place, students, seed))


@honest
def edition(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write `minigrad`.", show_default=False)],
    date: Annotated[
        dt.datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The day that the class gets it; today otherwise.")
    ] = None,
    course: CourseOption = None,
) -> None:
    """Write the library that a class may have on a day: answers that are not open yet are cut out.

    Example: autograder edition --out class-library --date 2027-02-01
    """
    from autograder.building.editions import class_edition, closed_exercises

    loaded = load_course(course or find_course())
    day = date.date() if date else dt.date.today()
    class_edition(out, loaded, day)
    closed = closed_exercises(loaded, day)
    typer.echo(f"{out / 'minigrad'}: the library of {day}; {len(closed)} of {len(loaded.exercises)} exercises cut")
