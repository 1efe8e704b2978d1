"""Commands that grade, and say how students' code is isolated."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.commands.common import (
    BROKEN,
    REJECTED,
    USAGE,
    CourseOption,
    HiddenOption,
    IsolationOption,
    KeepOption,
    cache_of,
    fail,
    honest,
)
from autograder.commands.showing import steps
from autograder.course import CourseError
from autograder.course.loading import find_course, load_course

if TYPE_CHECKING:
    from autograder.judging.judge import Judge
    from autograder.results import Submission


@honest
def grade(
    notebooks: Annotated[
        list[Path], typer.Argument(metavar="NOTEBOOK...", help="Notebooks of a student.", show_default=False)
    ],
    lesson: Annotated[
        str | None, typer.Option(help="Its lesson, such as 03_backprop; found by its name or its cells otherwise.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON; a list for several.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as an HTML page.")] = None,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    hidden: HiddenOption = None,
    keep: KeepOption = True,
    examples: Annotated[
        bool, typer.Option("--all-examples", help="Show the inputs that failed also where they wait for a date.")
    ] = False,
    since: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Say what has changed since the reports in this folder; keep these there."),
    ] = None,
    own: Annotated[
        bool,
        typer.Option("--own", help="They are your own: where there is no sandbox, grade in a process, and say so."),
    ] = False,
    asked: Annotated[
        str | None,
        typer.Option(metavar="ID,...", help="With --own: the exercises of a path, of which the next one is named."),
    ] = None,
) -> None:
    """Grade notebooks, without nbgrader, and print the report.

    The notebooks themselves are never executed here: only the text of solutions and added cells is taken, and runs
    in the sandbox.

    Examples:
      autograder grade 03_backprop.ipynb

      autograder grade answer.ipynb --lesson 03_backprop --json

      autograder grade answer.ipynb --html report.html
    """
    from autograder.judging.examples import released
    from autograder.judging.judge import Judge
    from autograder.telling import report
    from autograder.telling.tongue import language_of, speaking_of

    if lesson is not None and len(notebooks) > 1:
        fail("--lesson names the lesson of one notebook; grade one at a time, or leave it out", USAGE)
    isolation = _isolation_of_own(isolation) if own else isolation
    loaded = load_course(course or find_course(told=not own), tree=False)
    tests = hidden or loaded.hidden
    with Judge(loaded, hidden=tests, isolation=isolation, cache=cache_of(loaded) if keep else None) as judge:
        submissions = _grade_all(judge, notebooks, lesson)
    if not examples:
        submissions = [released(each, loaded, dt.date.today()) for each in submissions]
    with speaking_of(submissions, loaded):
        changes = [_changes(since, each) for each in submissions]
        if html is not None:
            page = report.page(*submissions, changes=changes, language=language_of(submissions, loaded))
            html.write_text(page, encoding="utf-8")
        if json:
            typer.echo(report.as_json(*submissions))
        else:
            _print(submissions, changes)
        if own and not json:
            total = report.together(submissions, asked.split(",") if asked else None)
            Console(soft_wrap=True, highlight=False).print(f"\n{escape(total)}")
    if any(each.ungraded for each in submissions):
        raise typer.Exit(BROKEN)
    if any(each.unreadable for each in submissions):
        raise typer.Exit(USAGE)


def _print(submissions: Sequence[Submission], changes: Sequence[Sequence[str]]) -> None:
    """Print the reports, and below each what has changed."""
    from autograder.telling import report

    console = Console(soft_wrap=True, highlight=False)
    for number, (each, changed) in enumerate(zip(submissions, changes, strict=True)):
        console.print("\n" if number else "", end="")
        console.print(report.as_rich(each))
        for line in changed:
            console.print(escape(line))


def _grade_all(judge: Judge, notebooks: Sequence[Path], lesson: str | None) -> list[Submission]:
    from autograder.judging.grading import grade_file

    submissions = []
    with steps("grading", len(notebooks)) as step:
        for path in notebooks:
            step.at(f"grading {path.name}")
            submissions.append(grade_file(judge, path, lesson))
            step.advance()
    return submissions


def _changes(folder: Path | None, submission: Submission) -> list[str]:
    """Return what has changed since the last report, and keep this one; an unreadable notebook has no report."""
    from autograder.telling import report_diff

    if folder is None or submission.unreadable:
        return []
    changed = report_diff.sentences(report_diff.read_kept(folder, submission.lesson), submission)
    report_diff.keep(folder, submission, dt.datetime.now(dt.UTC))
    return changed


def _isolation_of_own(wanted: str) -> str:
    """Return the isolation for one's own code: that of the machine, or none where there is none."""
    from autograder.sandbox import SandboxUnavailable, choose

    if wanted != "auto":
        return wanted
    try:
        choose()
    except SandboxUnavailable as error:
        console = Console(stderr=True, soft_wrap=True, highlight=False)
        console.print(f"[yellow]note[/yellow]  not isolated: {escape(str(error))}")
        return "none"
    return wanted


@honest
def doctor(
    for_class: Annotated[
        bool, typer.Option("--class", help="Look also at what a class on this server needs, and at who may read what.")
    ] = False,
    environment: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The environment that students start, else /opt/minigrad-hub; for --class."),
    ] = None,
    course: CourseOption = None,
) -> None:
    """Say how students' code is isolated on this machine, and why; with --class, whether a class can use this server.

    Each thing that is wrong comes with its fix; then the exit code is 1. Run it as the user who grades, or as root.

    Examples:
      autograder doctor

      autograder doctor --class
    """
    if for_class:
        return _doctor_of_class(course, environment)
    from autograder.sandbox import choose, describe

    typer.echo(f"Python {sys.version.split()[0]}")
    typer.echo(describe())
    _tell_packages(course)
    choose("auto")  # raises where there is none
    _refuse_another_grader()


def _tell_packages(course: Path | None) -> None:
    """Say which packages a sandbox shows: those of every course, and what the course at hand requires."""
    from autograder.sandbox.packages import SHOWN

    typer.echo(f"packages in a sandbox: {', '.join(SHOWN)}, and what these need")
    with suppress(CourseError):  # a machine is looked at also where there is no course
        course = course or find_course(anywhere=False)
    if course is not None and (required := load_course(course, tree=False).versions()):
        said = ", ".join(f"{name} {version}" for name, version in required.items())
        typer.echo(f"  and, for {course / 'course.toml'}: {said}")


def _refuse_another_grader() -> None:
    """Say it if the package of PyPI that is called autograder too was installed over this one."""
    with suppress(metadata.PackageNotFoundError):
        found = (
            f"autograder {metadata.version('autograder')} of PyPI is another grader, and its files lie over this one's"
        )
        python = f"{sys.executable} -m pip"
        mend = f"{python} uninstall autograder, then {python} install --force-reinstall --no-deps minigrad-course"
        fail(f"{found}; {mend}; give the other one an environment of its own", REJECTED)


def _doctor_of_class(course: Path | None, environment: Path | None) -> None:
    from autograder.gradebook.class_server import ENVIRONMENT, examine

    console, wrong = Console(soft_wrap=True, highlight=False), 0
    for each in examine(load_course(course or find_course(), tree=False), environment or ENVIRONMENT):
        wrong += bool(each.fix)
        console.print(f"{'[bold red]wrong[/]' if each.fix else '[green]ok[/]   '} {escape(str(each))}")
    if wrong:
        raise typer.Exit(REJECTED)
