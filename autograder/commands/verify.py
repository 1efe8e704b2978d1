"""The command that proves that the hidden tests grade well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from autograder.commands.common import (
    REJECTED,
    AnswersOption,
    CourseOption,
    HiddenOption,
    IsolationOption,
    JobsOption,
    KeepOption,
    cache_of,
    check_exercises,
    honest,
)
from autograder.commands.mutants import verify_mutants
from autograder.commands.showing import Cell, console_of, is_narrow, number, print_list, steps
from autograder.course.loading import find_course, load_course
from autograder.results.causes import NO_WORK

if TYPE_CHECKING:
    from autograder.proof.verify import Checked


@honest
def verify(
    exercises: Annotated[
        list[str] | None, typer.Argument(metavar="[EXERCISE]...", help="Ids; all exercises if none is given.")
    ] = None,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    hidden: HiddenOption = None,
    answers: AnswersOption = None,
    record: Annotated[
        bool, typer.Option("--record", help="Write what tests see of wrong answers, by which reports name causes.")
    ] = False,
    mutants: Annotated[
        bool,
        typer.Option("--mutants", help="Try instead whether tests notice small mistakes in references."),
    ] = False,
    jobs: JobsOption = 0,
    keep: KeepOption = True,
) -> None:
    """Prove that the hidden tests grade well, and print the table.

    References and variants earn every point; answers without work, such as a constant, an exception or one line of
    the reference, none; each known-wrong answer is rejected by the test that names its misconception, and costs one
    group, a quarter at most if it is about something small; no test could be deleted unnoticed; and what these tests
    saw is what is recorded, so that a report names a cause only where it fits.

    With --mutants, one small mistake after the other is made in what students write: each must cost a point, or be
    listed, with a proof, as one that no test can see. `--record` then writes the table of counts.

    Examples:
      autograder verify

      autograder verify autodiff.backpropagate

      autograder verify --record

      autograder verify --mutants tensor_data.to_index
    """
    from autograder.classes.pool import cores
    from autograder.proof import record as recording
    from autograder.proof import verify as verifying

    loaded = load_course(course or find_course(), tree=False)
    check_exercises(loaded, exercises or ())
    hidden, answers = hidden or loaded.hidden, answers or loaded.directory
    if mutants:
        verify_mutants(loaded, exercises or [], hidden, isolation, record, jobs or cores(), keep)
        return
    cache = cache_of(loaded) if keep else None
    with steps("verifying", len(exercises or loaded.exercises)) as step:
        checked = verifying.verify(
            loaded,
            exercises or (),
            hidden=hidden,
            answers=answers,
            isolation=isolation,
            cache=cache,
            jobs=jobs or cores(),
            done=lambda _: step.advance(),
        )
    if record:
        recording.record(loaded, checked, answers)
    others = recording.stale_record(checked, answers)
    others += [] if exercises else verifying.stray_answers(loaded, answers)
    _show(checked, [f"{each.exercise}: {problem}" for each in checked for problem in each.problems] + others)


def _show(checked: list[Checked], problems: list[str]) -> None:
    """Print the table, the problems and the counts; end with an error if there is a problem."""
    console = console_of()
    if is_narrow(console):
        _print_list(console, checked)
    else:
        console.print(verify_table(checked))
    for problem in problems:
        console.print(f"[red]✗[/red] {escape(problem)}", soft_wrap=True)
    of_all = {
        "exercise": len(checked),
        "hidden test": sum(len(each.tests) for each in checked),
        "wrong answer": sum(len(each.wrong) for each in checked),
        "variant": sum(len(each.variants) for each in checked),
    }
    counts = ", ".join(number(count, noun) for noun, count in of_all.items())
    said = number(len(problems), "problem") if problems else "all is well"
    for line in _measured(checked):
        console.print(line, soft_wrap=True)
    console.print(f"{counts}: {said}", soft_wrap=True)
    if problems:
        raise typer.Exit(REJECTED)


def _measured(checked: list[Checked]) -> Iterator[str]:
    """Say what a small mistake costs at most, and how many groups one mistake costs at most."""
    costs = [(answer.cost, each.exercise, answer.misconception) for each in checked for answer in each.wrong]
    known = [(cost, f"{exercise}: {name}") for cost, exercise, name in costs if cost is not None]
    small = max(((cost.share, name) for cost, name in known if cost.is_small), default=None)
    if small is not None:
        yield f"a mistake about something small costs {small[0]:.0%} of its exercise at most ({small[1]})"
    groups = max(((len(cost.groups), name) for cost, name in known if cost.kind != NO_WORK), default=None)
    if groups is not None:
        yield f"one mistake costs {number(groups[0], 'group')} of points at most ({groups[1]})"


def _print_list(console: Console, checked: list[Checked]) -> None:
    """Print the table's content as a list, without the variants, where the table would be too wide."""
    for each in checked:
        mark = (number(len(each.problems), "problem"), "red") if each.problems else ("no problem", "green")
        head = Text.assemble((each.exercise, "bold"), f": {number(len(each.tests), 'hidden test')}, ", mark)
        items = (
            f"{answer.misconception}: {', '.join(answer.rejected_by) or 'nothing'}"
            + (f"; costs {answer.cost}" if answer.cost else "")
            for answer in each.wrong
        )
        print_list(console, head, items)


def _most(checked: Checked) -> float:
    """The most points that an answer without work earns."""
    return max((earned for _, earned in checked.hollow), default=0.0)


def verify_table(checked: list[Checked]) -> Table:
    """The table of `verify`."""
    headings = ("exercise", "tests", "no work", "wrong answer", "rejected by", "costs", "variants", "problems")
    table = Table(*headings, title="Hidden tests")
    for each in checked:
        mark = f"[red]{len(each.problems)}[/red]" if each.problems else "[green]none[/green]"
        empty = Cell(f"{_most(each):g} by {len(each.hollow)}", "red" if _most(each) else "")
        first = (Cell(each.exercise), str(len(each.tests)), empty)
        last = (Cell(", ".join(each.variants)), mark)
        for row, answer in enumerate(each.wrong):
            rejected = Cell(", ".join(answer.rejected_by) or "nothing", "" if answer.rejected_by else "red")
            head, tail = (first, last) if row == 0 else (("", "", ""), ("", ""))
            cost = Cell(str(answer.cost or ""))
            end = row == len(each.wrong) - 1
            table.add_row(*head, Cell(answer.misconception), rejected, cost, *tail, end_section=end)
        if not each.wrong:
            table.add_row(*first, "", "", "", *last, end_section=True)
    return table
