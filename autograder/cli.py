"""The instructor's command line: its commands, a file for each kind in `commands/`."""

from __future__ import annotations

import inspect
import io
import sys

import typer

from autograder.commands.attack import attack
from autograder.commands.autograde import autograde
from autograder.commands.board import board
from autograder.commands.common import STOPPED
from autograder.commands.course import build, demo, edition
from autograder.commands.database import backup, move, restore
from autograder.commands.explain import explain
from autograder.commands.extend import extend
from autograder.commands.feedback import feedback
from autograder.commands.forget import forget
from autograder.commands.grade import doctor, grade
from autograder.commands.gradescope import gradescope
from autograder.commands.lti import keys, listen, marks, roster
from autograder.commands.marking import marking
from autograder.commands.new import new_course, new_exercise
from autograder.commands.regrade import regrade
from autograder.commands.report import report
from autograder.commands.serve import serve
from autograder.commands.solution import solution
from autograder.commands.term import term
from autograder.commands.tidy import tidy
from autograder.commands.tokens import tokens
from autograder.commands.verify import verify


def _joined(text: str) -> str:
    """A help text whose paragraphs are one line each, so that they are wrapped once: as wide as the terminal is."""
    lines: list[str] = []
    for line in inspect.cleandoc(text).splitlines():
        if lines and lines[-1] and line and not line.startswith(" ") and not lines[-1].startswith(" "):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return "\n".join(lines)


app = typer.Typer(
    name="autograder",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help=_joined("""Build the course, grade notebooks in a sandbox, and prove that the hidden tests grade well.

    [bold]A term, from the start[/bold] (those of nbgrader in the course's folder):

      autograder doctor                     is there a sandbox on this machine?
      autograder build                      lessons and library become notebooks
      autograder edition --out library      what the class installs
      nbgrader generate_assignment module0
      nbgrader release_assignment module0
      nbgrader collect module0
      autograder autograde module0          the whole class, and recorded
      autograder report module0             the class at a glance
      autograder marking module0            what a person has still to mark
      autograder feedback module0           a page for each notebook
      autograder serve                      or all of it at once: marks on submit
      autograder lti marks module0          to Canvas, Moodle or another platform
      autograder board                      who needs fewest transactions, among those who want to be ranked
      autograder extend ada module0 --days 3
      autograder regrade --diff             after a hidden test was mended, or a date changed
      autograder forget ada                 delete a student's data for good

    [bold]Without nbgrader:[/bold]  autograder grade 03_backprop.ipynb

    [bold]A new exercise:[/bold]  autograder new exercise MODULE.NAME

    [bold]A course of your own:[/bold]  autograder new course DIR

    Exit codes: 0 all well; 1 `verify`, `attack` or `doctor --class` found a problem, or `new` something missing;
    2 wrong usage or an unreadable file; 3 no sandbox, or the grader itself is broken; 130 stopped by Ctrl-C."""),
)


for command in (
    build, grade, autograde, verify, demo, edition, doctor, explain, extend, feedback, regrade, report, solution,
    attack, term, tidy, forget, board, serve, gradescope, marking, tokens,
):  # fmt: skip
    app.command(help=_joined(command.__doc__ or ""))(command)
new = typer.Typer(no_args_is_help=True, help="Lay out the files of a new exercise, or of a new course.")
new.command("exercise", help=_joined(new_exercise.__doc__ or ""))(new_exercise)
new.command("course", help=_joined(new_course.__doc__ or ""))(new_course)
app.add_typer(new, name="new")
database = typer.Typer(no_args_is_help=True, help="Move the gradebook to another database, or keep a copy.")
for change in (move, backup, restore):
    database.command(help=_joined(change.__doc__ or ""))(change)
app.add_typer(database, name="database")
lti = typer.Typer(no_args_is_help=True, help="Take a roster from a learning platform and send it marks, by LTI 1.3.")
for step in (keys, listen, roster, marks):
    lti.command(help=_joined(step.__doc__ or ""))(step)
app.add_typer(lti, name="lti")


def main() -> None:
    """Run the command line. Files and pipes get UTF-8; a terminal shows "?" for signs that it does not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
    try:
        app()
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(STOPPED)
