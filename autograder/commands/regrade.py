"""The command that grades again what was graded before, and changes no mark that it has not listed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from autograder.commands.common import USAGE, CourseOption, IsolationOption, cache_of, fail, honest
from autograder.course import Course, find_course, load_course
from autograder.results import format_points

if TYPE_CHECKING:
    from autograder.judge import Judge
    from autograder.ledger import Entry
    from autograder.regrading import Change, Plan

__all__ = ["regrade"]


@honest
def regrade(
    students: Annotated[
        list[str] | None, typer.Argument(metavar="[STUDENT]...", help="Student ids; everyone if none is given.")
    ] = None,
    exercises: Annotated[
        list[str] | None, typer.Option("--exercise", metavar="ID", help="Only this exercise; may be given repeatedly.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; it is logged, and needed to record anything.")] = "",
    diff: Annotated[bool, typer.Option("--diff", help="List the marks that would change, and record nothing.")] = False,
    lower: Annotated[bool, typer.Option("--lower", help="Let marks fall as well; else those stay.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Record without asking.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; one for each core if 0.")] = 0,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    hidden: Annotated[
        Path | None,
        typer.Option(
            "--hidden",
            metavar="DIR",
            help="The directory of hidden tests; the course's, if none is named.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Grade again after a hidden test was mended, or an exercise dropped or reweighted in course.toml.

    Every mark that changes is listed first: whose, of what, from what to what, and by which tests. Then it asks, and
    records gradebook, autograded notebooks and ledger. No mark falls unless --lower is given. Who did it, when and why
    is added to .grades/regrades.jsonl.

    An exercise is dropped by points and groups of 0, since nbgrader takes no cell away once something was handed in;
    `autograder build` comes first where points have changed.

    Examples:
      autograder regrade --diff

      autograder regrade --reason "test_empty wanted a list, the lesson allows a tuple"

      autograder regrade ada --exercise autodiff.backpropagate --reason "appeal" --lower
    """
    if not (diff or reason.strip()):
        fail("a reason is needed to record anything; add --reason, or --diff to look only", USAGE)
    loaded = load_course(course or find_course(), tree=False)
    for exercise in exercises or ():
        loaded.exercise(exercise)
    found = _planned(loaded, students or [], exercises or [], lower, isolation, hidden, jobs)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    _show(found, console)
    if diff or not found.entries:
        return
    if not yes and not sys.stdin.isatty():
        fail("nothing was recorded: nobody can be asked here; add --yes", USAGE)
    if not yes and not typer.confirm(f"Record {_count(found)}?"):
        console.print("nothing was recorded")
        return
    _record(loaded, found, reason.strip(), lower, console)


def _planned(
    course: Course,
    students: list[str],
    exercises: list[str],
    lower: bool,
    isolation: str,
    hidden: Path | None,
    jobs: int,
) -> Plan:
    """What grading again would change."""
    from autograder.judge import Judge
    from autograder.regrading import check_weights, hidden_tests, plan, recorded

    everything, chosen = recorded(course, students, exercises)
    check_weights(course, everything, students, exercises)
    tests = hidden or hidden_tests(course)
    with Judge(course, hidden=tests, isolation=isolation, cache=cache_of(course)) as judge:
        graded, problems = _graded_again(judge, chosen, jobs)
    return plan(chosen, graded, exercises=exercises, lower=lower, problems=problems)


def _graded_again(judge: Judge, chosen: list[Entry], jobs: int) -> tuple[list[Entry], list[str]]:
    """The same notebooks, judged by today's tests; nothing is written but kept results."""
    from autograder.classes import Work, grade_class

    wanted = {(entry.student, entry.assignment, entry.lesson) for entry in chosen}
    works = sorted({Work(entry.student, entry.assignment) for entry in chosen})
    present = [work for work in works if work.folder(judge.course.directory).is_dir()]
    problems = [f"{work.student}: submitted/ has nothing of {work.assignment} any more" for work in works]
    problems = [said for said, work in zip(problems, works, strict=True) if work not in present]
    graded: list[Entry] = []
    # No thread of the display's own: processes are forked beside it.
    with Progress(transient=True, console=Console(stderr=True), auto_refresh=False) as progress:
        task = progress.add_task("grading again", total=len(present))
        for outcome in grade_class(judge, present, jobs=jobs, keep=False):
            progress.update(task, advance=outcome is not None, refresh=True)
            if outcome is None:
                continue
            if outcome.problem:
                problems.append(f"{outcome.work.student}: could not be graded: {outcome.problem}")
            graded += (entry for entry in outcome.entries if (entry.student, entry.assignment, entry.lesson) in wanted)
    return graded, sorted(problems)


def _show(found: Plan, console: Console) -> None:
    """The changes as a table, and what stays."""
    from autograder.report import clean

    if found.changes:
        console.print(_table("Marks that change", found.changes))
    if found.kept:
        console.print(_table("Marks that would fall, and stay; --lower lets them fall", found.kept))
    for problem in found.problems:
        console.print(f"[yellow]left out[/yellow]  {escape(clean(problem))}", soft_wrap=True)
    console.print(f"{_count(found)}; {found.same} notebooks keep their marks", soft_wrap=True)


def _count(found: Plan) -> str:
    marks, students = len(found.changes), len({change.student for change in found.changes})
    falling = sum(change.falls for change in found.changes)
    said = f"{marks} mark{'s' * (marks != 1)} of {students} student{'s' * (students != 1)}"
    said += f", {falling} of them falling" if falling else ""
    return said + (f"; {len(found.kept)} that would fall stay" if found.kept else "")


def _table(title: str, changes: tuple[Change, ...]) -> Table:
    from rich.text import Text

    from autograder.report import clean

    table = Table(title=title, title_justify="left")
    for name in ("student", "exercise", "old", "new"):
        table.add_column(name, justify="right" if name in ("old", "new") else "left", no_wrap=name != "exercise")
    table.add_column("by")
    for change in changes:
        old = f"{format_points(change.old)} of {format_points(change.old_points)}"
        new = f"{format_points(change.new)} of {format_points(change.points)}"
        style = "red" if change.falls else ""
        cells = (change.student, change.exercise, old, new, _by(change))
        table.add_row(*(Text(clean(cell), style=style) for cell in cells))
    return table


def _by(change: Change) -> str:
    """What decides otherwise."""
    said = ["other points"] if change.reweighted else []
    said += change.tests
    if change.falls and change.why:
        said.append(change.why)
    return ", ".join(said)


def _record(course: Course, found: Plan, reason: str, lower: bool, console: Console) -> None:
    from autograder.regrading import carry_out

    with Progress(transient=True, console=Console(stderr=True)) as progress:
        submissions = {(entry.student, entry.assignment) for entry in found.entries}
        task = progress.add_task("recording", total=len(submissions))
        carry_out(course, found, reason, lower=lower, done=lambda: progress.advance(task))
    console.print(f"[green]recorded[/green]  {_count(found)}; .grades/regrades.jsonl says so", soft_wrap=True)
