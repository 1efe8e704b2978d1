"""The command that frees what a course keeps and needs no longer."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from autograder.commands.common import CourseOption, HiddenOption, honest
from autograder.commands.showing import steps
from autograder.course.loading import find_course, load_course

if TYPE_CHECKING:
    from autograder.regrading.pruning import Unneeded


@honest
def tidy(
    yes: Annotated[bool, typer.Option("--yes", help="Remove it; else it is only listed.")] = False,
    course: CourseOption = None,
    hidden: HiddenOption = None,
) -> None:
    """List what a course keeps and needs no longer, and remove it with --yes.

    That is: submissions as they came, but for each student's newest two of an assignment; copies of the library and
    kept results that follow from other tests or another library than today's; and releases of closed assignments that
    nobody has handed in. Marks, the ledger, submitted/ and the gradebook are never touched. Run it while nothing is
    being graded.

    Examples:
      autograder tidy

      autograder tidy --yes
    """
    from autograder.grafting.tidying import clear_up
    from autograder.judging.judge import Judge
    from autograder.regrading import hidden_tests
    from autograder.regrading.pruning import discard, unneeded

    loaded = load_course(course or find_course(), tree=False)
    with steps("looking") as step:
        found = []
        for each in unneeded(Judge(loaded, hidden=hidden or hidden_tests(loaded)), dt.date.today()):
            found.append(each)
            step.advance()
        if yes:
            clear_up(loaded.directory)
            for each in found:
                discard(each)
                step.at("removing")
    _tell(found, yes)


def _tell(found: list[Unneeded], removed: bool) -> None:
    from autograder.regrading.pruning import KINDS

    console = Console(soft_wrap=True, highlight=False)
    if not found:
        console.print("nothing is kept that is needed no longer")
        return
    table = Table("what", "", "files and folders", "MB")
    for kind, what in KINDS.items():
        some = [each.size for each in found if each.kind == kind]
        table.add_row(kind, what, str(len(some)), f"{sum(some) / 1e6:.1f}")
    console.print(table)
    total = f"{sum(each.size for each in found) / 1e6:.1f} MB"
    console.print(f"[green]freed[/green]  {total}" if removed else f"{total} can be freed; add --yes to do it")
