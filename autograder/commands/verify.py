"""The command that proves that the hidden tests grade well."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from autograder.commands.common import HERE, REJECTED, CourseOption, HiddenOption, IsolationOption, cache_of, honest
from autograder.commands.mutants import verify_mutants
from autograder.course import find_course, load_course

if TYPE_CHECKING:
    from autograder.verify import Checked

__all__ = ["verify", "verify_table"]


@honest
def verify(
    exercises: Annotated[
        list[str] | None, typer.Argument(metavar="[EXERCISE]...", help="Ids; all exercises if none is given.")
    ] = None,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    hidden: HiddenOption = HERE / "hidden",
    answers: Annotated[
        Path, typer.Option(metavar="DIR", help="The directory of `wrong` and `variants`.", show_default=False)
    ] = HERE,
    record: Annotated[
        bool, typer.Option("--record", help="Write what tests see of wrong answers, by which reports name causes.")
    ] = False,
    mutants: Annotated[
        bool,
        typer.Option("--mutants", help="Try instead whether tests notice small mistakes in references."),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    keep: Annotated[bool, typer.Option("--keep/--fresh", help="Use kept results where nothing has changed.")] = True,
) -> None:
    """Prove that the hidden tests grade well, and print the table.

    References and variants earn every point; stubs, constants and returned arguments none; each known-wrong answer
    is rejected by the test that names its misconception; no test could be deleted unnoticed; and what these tests
    saw is what is recorded, so that a report names a cause only where it fits.

    With --mutants, one small mistake after the other is made in what students write: each must cost a point, or be
    listed, with a proof, as one that no test can see. `--record` then writes the table of counts.

    Examples:
      autograder verify

      autograder verify autodiff.backpropagate

      autograder verify --record

      autograder verify --mutants tensor_data.to_index
    """
    from autograder import verify as verifying

    loaded = load_course(course or find_course(), tree=False)
    if mutants:
        verify_mutants(loaded, exercises or [], hidden, isolation, record, jobs, keep)
        return
    total = len(exercises or loaded.exercises)
    cache = cache_of(loaded) if keep else None
    with Progress(transient=True, console=Console(stderr=True)) as progress:
        task = progress.add_task("verifying", total=total)
        checked = verifying.verify(
            loaded,
            exercises or (),
            hidden=hidden,
            answers=answers,
            isolation=isolation,
            cache=cache,
            jobs=jobs,
            done=lambda _: progress.advance(task),
        )
    if record:
        verifying.record(loaded, checked, answers)
    others = verifying.stale_record(checked, answers)
    others += [] if exercises else verifying.stray_answers(loaded, answers)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    console.print(verify_table(checked))
    problems = [f"{each.exercise}: {problem}" for each in checked for problem in each.problems] + others
    for problem in problems:
        console.print(f"[red]✗[/red] {escape(problem)}", soft_wrap=True)
    counts = f"{len(checked)} exercises, {sum(len(c.tests) for c in checked)} hidden tests, "
    counts += f"{sum(len(c.wrong) for c in checked)} wrong answers, {sum(len(c.variants) for c in checked)} variants"
    console.print(f"{counts}: {len(problems)} problems" if problems else f"{counts}: all is well")
    if problems:
        raise typer.Exit(REJECTED)


def verify_table(checked: list[Checked]) -> Table:
    """The table of `verify`."""
    table = Table(title="Hidden tests")
    for heading in ("exercise", "tests", "wrong answer", "rejected by", "variants", "problems"):
        table.add_column(heading, overflow="fold")
    for each in checked:
        mark = f"[red]{len(each.problems)}[/red]" if each.problems else "[green]none[/green]"
        first = (each.exercise, str(len(each.tests)))
        last = (", ".join(each.variants), mark)
        for row, answer in enumerate(each.wrong):
            rejected = ", ".join(answer.rejected_by) or "[red]nothing[/red]"
            head, tail = (first, last) if row == 0 else (("", ""), ("", ""))
            table.add_row(*head, answer.misconception, rejected, *tail, end_section=row == len(each.wrong) - 1)
        if not each.wrong:
            table.add_row(*first, "", "", *last, end_section=True)
    return table
