"""The command that takes an assignment through a term: each step is nbgrader's and the grader's commands, in order."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.common import CourseOption, fail, honest
from autograder.course import CourseError
from autograder.course.loading import find_course, load_course

if TYPE_CHECKING:
    from autograder.gradebook.class_server import Server

NEXT = "next"

STEPS = {
    "release": ("nbgrader generate_assignment {} --force", "nbgrader release_assignment {}"),
    "collect": ("nbgrader collect {} --update",),
    "grade": ("autograder autograde {}",),
    "feedback": ("autograder feedback {}", "nbgrader release_feedback {}"),
}
"""The commands of each step, in order. All but the first may be given again at any time."""


@honest
def term(
    step: Annotated[str, typer.Argument(metavar="STEP", help="One of release, collect, grade, feedback and next.")],
    assignment: Annotated[str, typer.Argument(help="The assignment, such as module1.", show_default=False)],
    course: CourseOption = None,
) -> None:
    """Release, collect, grade or feed back an assignment, where students and instructor share an exchange.

    Every command is printed before it runs. A step that was stopped goes on when it is given again: what is released,
    collected, graded or fed back already is left as it is. `next` takes the first step that is not done for everybody.

    Examples:
      autograder term release module0

      autograder term next module0
    """
    from autograder.gradebook.class_server import Server

    loaded = load_course(course or find_course(), tree=False)
    loaded.assignment(assignment)
    if step not in (*STEPS, NEXT):
        raise CourseError(f"there is no step {step!r}; the steps are {', '.join((*STEPS, NEXT))}")
    server = Server.of(loaded)
    if step == NEXT:
        step = next((each for each in STEPS if not is_done(server, each, assignment)), "")
    if not step:
        typer.echo(f"{assignment}: nothing is left; `autograder term collect {assignment}` takes in what came later")
    elif step == "release" and is_done(server, step, assignment):
        typer.echo(f"{assignment} is released already; `nbgrader release_assignment {assignment} --force` replaces it")
    else:
        _run([each.format(assignment) for each in STEPS[step]], loaded.directory)


def is_done(server: Server, step: str, assignment: str) -> bool:
    """Return whether a step is done for everybody, as the folders of the course and of the exchange show it."""
    if step == "release":
        return (server.exchange / server.course_id / "outbound" / assignment).is_dir()
    submitted, graded, fed_back = (
        {
            path.parent.name: _handed_in(path) for path in (server.course.directory / name).glob(f"*/{assignment}")
        }.items()
        for name in ("submitted", "autograded", "feedback")
    )
    return {"collect": bool(submitted), "grade": submitted <= graded, "feedback": graded <= fed_back}[step]


def _handed_in(folder: Path) -> str:
    """The time of handing in that nbgrader copies from step to step; nothing where none is known."""
    try:
        return (folder / "timestamp.txt").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _run(commands: list[str], folder: Path) -> None:
    """Run commands in a course's folder, until one fails."""
    for command in commands:
        typer.echo(f"$ {command}")
        sys.stdout.flush()
        done = subprocess.run([sys.executable, "-m", *shlex.split(command)], cwd=folder, check=False)
        if done.returncode:
            fail(f"`{command}` failed; when what it says above is mended, the same step goes on", done.returncode)
