"""The command line for students and readers: `minigrad --help`."""

from __future__ import annotations

import io
import itertools
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress
from typer.core import TyperGroup

import minigrad
from minigrad import exercises
from minigrad.commands import checking, grading, lessons, machine, reviewing
from minigrad.commands.common import console, table_of
from minigrad.errors import MinigradError
from minigrad.exercises.telling import ENGLISH, language, speak_in, told
from minigrad.machine import packages
from minigrad.tutor import hints


class _Commands(TyperGroup):
    """The commands, with their help in the language of the folder."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command."""
        found = super().get_command(ctx, cmd_name)
        if found is not None and language() != ENGLISH:
            _explain(found)
        return found

    def get_help(self, ctx: Any) -> str:
        """Return the help of all commands."""
        if language() != ENGLISH:
            _explain(self)
        return str(super().get_help(ctx))


def _explain(command: Any) -> None:
    """Put the help of a command, and of its options, into the language of the folder."""
    for each in (command, *command.params):
        if getattr(each, "help", None):
            each.help = "\n\n".join(told(" ".join(part.split())) for part in each.help.split("\n\n"))


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    rich_markup_mode="markdown",
    help="Rebuild the heart of PyTorch: see the exercises, check your notebooks, train the network you own.\n\n"
    "Begin with `minigrad start`, then `minigrad lab`: every exercise in a notebook has its own check. The commands "
    "here do the same from a terminal.",
)


@app.callback(invoke_without_command=True)
def _alone(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    speak_in(None)
    if version:
        console.print(f"minigrad {minigrad.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        lessons.what_next()


@app.command("exercises")
def list_exercises() -> None:
    """List every exercise with its lesson, points, minutes, difficulty from 1 to 5, and rank."""
    table = table_of("exercise", "points", "min", "1-5", "rank")
    listed = [each for each in exercises.catalogue().values() if not each.draft]
    for lesson, of_lesson in itertools.groupby(listed, key=lambda each: each.lesson):
        table.add_section()
        table.add_row(lesson, style="bold")
        for exercise in of_lesson:
            header = (str(exercise.minutes), str(exercise.difficulty), exercise.rank) if exercise.rank else ()
            table.add_row(f"  {exercise.id}", f"{exercise.points:g}", *header)
    console.print(table)


@app.command()
def use(
    paths: Annotated[list[Path] | None, typer.Argument(help="Folders with notebooks, or notebooks.")] = None,
) -> None:
    """Show what `minigrad.use()` would install: for each exercise your own answer, the reference, or nothing.

    Without arguments it looks into the current folder, and for lessons in the folders beside it.
    """
    from minigrad.working_folder.finding import located

    exercises.use(*(located(path, "use") for path in paths or ()), verbose=True)


@app.command()
def train(
    dataset: Annotated[str, typer.Argument(help="simple, diag, split, xor, circle or spiral")] = "xor",
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the data.")] = 200,
    points: Annotated[int, typer.Option(min=1, help="Number of points.")] = 50,
    hidden: Annotated[int, typer.Option(min=1, help="Units in each of the two hidden layers.")] = 8,
    lr: Annotated[float, typer.Option(help="Learning rate.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Of the points and the starting weights.")] = 0,
    answers: Annotated[
        Path | None, typer.Option(help="Train on your own library: the folder with your notebooks.")
    ] = None,
) -> None:
    """Train the network of scalars on one of the 2-D sets, and print loss and accuracy.

    Example: `minigrad train circle --epochs 300 --answers .`
    """
    from minigrad import datasets, mlp

    try:
        data = datasets.load(dataset, points, seed)
    except ValueError as error:
        raise MinigradError(str(error)) from None
    if answers is not None:
        exercises.use(answers)
    model = mlp.MLP((2, hidden, hidden), seed)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("training", total=epochs)
        for epoch in mlp.fit(model, data, epochs, lr):
            progress.update(task, advance=1, description=f"loss {epoch.loss:.4f}")
            if epoch.number % max(1, epochs // 10) == 0 or epoch.number == epochs:
                progress.print(f"epoch {epoch.number:5}   loss {epoch.loss:.4f}   correct {epoch.correct}/{points}")


for command in (
    lessons.start,
    lessons.lab,
    checking.check,
    grading.grade,
    grading.solution,
    lessons.hint,
    lessons.progress,
    reviewing.review,
    lessons.submit,
    lessons.export,
    machine.doctor,
):
    # The library of a class has no grader: its help does not offer what cannot work there.
    app.command(hidden=command in (grading.grade, grading.solution) and not packages.has_grader())(command)


def take_any_text() -> None:
    """Let any text be printed: files and pipes get UTF-8, a terminal shows "?" for signs that it does not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")


def main() -> None:
    """Run the command line; a user's mistake is one sentence and exit code 2."""
    take_any_text()
    hints.speak_to_a_terminal()
    try:
        app()
    except (MinigradError, OSError) as error:
        said = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
        print(f"minigrad: {told(said)}", file=sys.stderr)
        sys.exit(2)
