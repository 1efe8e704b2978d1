"""The instructor's command line: its commands, a file for each kind in `commands/`."""

from __future__ import annotations

import sys

import typer

from autograder.commands.attack import attack
from autograder.commands.autograde import autograde
from autograder.commands.common import STOPPED
from autograder.commands.course import build, demo, edition
from autograder.commands.explain import explain
from autograder.commands.grade import doctor, grade
from autograder.commands.regrade import regrade
from autograder.commands.report import report
from autograder.commands.verify import verify

__all__ = ["app", "main"]

app = typer.Typer(
    name="autograder",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Build the course, grade notebooks in a sandbox, and prove that the hidden tests grade well.

    [bold]A term, from the start:[/bold]

    autograder doctor                     is there a sandbox on this machine?
    autograder build                      lessons and library become notebooks
    cd course; nbgrader generate_assignment module0; nbgrader release_assignment module0
    nbgrader collect module0; nbgrader autograde module0; nbgrader generate_feedback module0

    [bold]Without nbgrader:[/bold]  autograder grade 03_backprop.ipynb

    Exit codes: 0 all well; 1 `verify` or `attack` found a problem; 2 wrong usage or an unreadable file; 3 no
    sandbox, or the grader itself is broken; 130 stopped by Ctrl-C.""",
)


for command in (build, grade, autograde, verify, demo, edition, doctor, explain, regrade, report, attack):
    app.command()(command)


def main() -> None:
    """Run the command line."""
    try:
        app()
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(STOPPED)
