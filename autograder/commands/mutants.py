"""The part of `autograder verify` that tries small mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.table import Table

from autograder.commands.common import REJECTED, cache_of
from autograder.commands.showing import console_of, number, steps
from autograder.course import Course

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.proof.mutants import Tally


def verify_mutants(
    course: Course, exercises: Sequence[str], hidden: Path, isolation: str, record: bool, jobs: int, keep: bool
) -> None:
    """Grade every mutant and print the table; the exit code says whether one lives on without a proof."""
    from autograder.proof import mutants

    with steps("mutants") as step:
        tallies = mutants.run_mutants(
            course,
            exercises,
            hidden=hidden,
            isolation=isolation,
            cache=cache_of(course) if keep else None,
            jobs=jobs,
            begin=step.begin,
            done=step.advance,
        )
    if record:
        mutants.record_table(course, tallies, hidden=hidden)
    console = console_of()
    console.print(mutants_table(tallies))
    problems = mutants.problems_of(tallies, whole=not exercises)
    for problem in problems:
        console.print(f"[red]✗[/red] {escape(problem)}", soft_wrap=True)
    total = sum(len(tally.outcomes) for tally in tallies)
    share = mutants.share_of_equivalents(tallies)
    counts = f"{number(len(tallies), 'exercise')}, {number(total, 'mutant')}, {share:.1%} of them listed as equivalent"
    said = number(len(problems), "problem") if problems else "all others are noticed"
    console.print(f"{counts}: {said}", soft_wrap=True)
    if problems:
        raise typer.Exit(REJECTED)


def mutants_table(tallies: Sequence[Tally]) -> Table:
    """The table of `verify --mutants`."""
    table = Table(title="Mutants of the reference answers", show_footer=True)
    rows = [
        (
            len(tally.outcomes),
            tally.count("killed"),
            tally.count("timed out"),
            tally.equivalent,
            len(tally.survivors),
        )
        for tally in tallies
    ]
    totals = [str(sum(column)) for column in zip(*rows, strict=True)] if rows else ["0"] * 5
    table.add_column("exercise", footer="all")
    headings = ("mutants", "killed", "timed out", "equivalent", "survivors")
    for heading, total in zip(headings, totals, strict=True):
        table.add_column(heading, footer=total, justify="right")
    for tally, row in zip(tallies, rows, strict=True):
        *counts, survivors = map(str, row)
        table.add_row(tally.exercise, *counts, f"[red]{survivors}[/red]" if row[-1] else survivors)
    return table
