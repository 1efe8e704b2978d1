"""The command that packs an assignment for Gradescope."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.commands.common import CourseOption, HiddenOption, honest, short
from autograder.commands.report import REPORTS
from autograder.course import CourseError
from autograder.course.loading import find_course, load_course


@honest
def gradescope(
    assignment: Annotated[str, typer.Argument(help="The assignment, such as module1.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The archive to write; if none is named, one in the course's folder `reports`."
        ),
    ] = None,
    course: CourseOption = None,
    hidden: HiddenOption = None,
) -> None:
    """Pack an archive with which Gradescope grades an assignment by the same hidden tests.

    The archive holds hidden tests and answers: upload it to Gradescope, and give it to nobody else. The command prints
    which promises of the grader do not hold in Gradescope's container.

    Examples:
      autograder gradescope module0
    """
    from autograder.common.files import write
    from autograder.gradescope import LOST
    from autograder.gradescope.packing import built_wheel, pack

    loaded = load_course(course or find_course(), tree=False)
    named = loaded.assignment(assignment)
    for lesson in named.lessons:
        if not (loaded.directory / "source" / assignment / f"{lesson}.ipynb").is_file():
            raise CourseError(f"{assignment}: {lesson} is not built yet; give `autograder build`")
    target = out or loaded.directory / REPORTS / f"{assignment}-gradescope.zip"
    with Console(stderr=True).status("building the grader's wheel"), built_wheel() as wheel:
        write(target, pack(loaded, assignment, hidden or loaded.hidden, wheel), mode=0o600)
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"{escape(short(target))}: holds hidden tests and answers; upload it as the assignment's autograder")
    console.print("What the grader promises elsewhere and cannot promise there:")
    for each in LOST:
        console.print(f"  - {escape(each)}")
