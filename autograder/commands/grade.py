"""Commands that grade, and say how students' code is isolated."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from autograder.commands.common import (
    HERE,
    USAGE,
    CourseOption,
    HiddenOption,
    IsolationOption,
    KeepOption,
    cache_of,
    honest,
)
from autograder.course.loading import find_course, load_course

__all__ = ["doctor", "grade"]


@honest
def grade(
    notebook: Annotated[Path, typer.Argument(help="A student's notebook.", show_default=False)],
    lesson: Annotated[
        str | None, typer.Option(help="Its lesson, such as 03_backprop; found by its name or its cells otherwise.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as an HTML page.")] = None,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    hidden: HiddenOption = HERE / "hidden",
    keep: KeepOption = True,
    examples: Annotated[
        bool, typer.Option("--all-examples", help="Show the inputs that failed also where they wait for a date.")
    ] = False,
) -> None:
    """Grade one notebook, without nbgrader, and print the report.

    The notebook itself is never executed here: only the text of its solutions and added cells is taken, and runs
    in the sandbox.

    Examples:
      autograder grade 03_backprop.ipynb

      autograder grade answer.ipynb --lesson 03_backprop --json

      autograder grade answer.ipynb --html report.html
    """
    from autograder.judging.examples import released
    from autograder.judging.grading import grade_file
    from autograder.judging.judge import Judge
    from autograder.telling import report

    loaded = load_course(course or find_course(), tree=False)
    with Judge(loaded, hidden=hidden, isolation=isolation, cache=cache_of(loaded) if keep else None) as judge:
        submission = grade_file(judge, notebook, lesson)
    if not examples:
        submission = released(submission, loaded, dt.date.today())
    if html is not None:
        html.write_text(report.page(submission), encoding="utf-8")
    if json:
        typer.echo(report.as_json(submission))
    else:
        Console(soft_wrap=True, highlight=False).print(report.as_rich(submission))
    if submission.unreadable:
        raise typer.Exit(USAGE)


@honest
def doctor() -> None:
    """Say how students' code is isolated on this machine, and why.

    Example: autograder doctor
    """
    from autograder.sandbox import choose, describe

    typer.echo(f"Python {sys.version.split()[0]}")
    typer.echo(describe())
    choose("auto")  # raises where there is none
