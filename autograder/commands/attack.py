"""The command that attacks the grader."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from autograder.commands.common import (
    REJECTED,
    USAGE,
    CourseOption,
    HiddenOption,
    IsolationOption,
    check_exercises,
    fail,
    honest,
)
from autograder.commands.showing import Cell, console_of, is_narrow, number, print_list, steps
from autograder.course.loading import find_course, load_course
from autograder.library import MINIGRAD

if TYPE_CHECKING:
    from autograder.proof.attack import Attack
    from autograder.proof.attack.running import Arena, Row


@honest
def attack(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Attacks, or exercises with --borrow; all of them if none is given."),
    ] = None,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    hidden: HiddenOption = None,
    naive: Annotated[
        bool,
        typer.Option("--naive", help="Show beside each what it achieves on a grader that runs the notebook itself."),
    ] = False,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Grade them as a class too, record the marks, make the feedback pages.")
    ] = False,
    texts: Annotated[
        bool,
        typer.Option("--texts", help="Only time the steps that read a student's text, with the worst texts there are."),
    ] = False,
    borrow: Annotated[
        bool,
        typer.Option(
            "--borrow", help="Only search what the library keeps of an exercise for something that answers it."
        ),
    ] = False,
    seconds: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="Time of that search for each exercise.")
    ] = 300.0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the scratch course; emptied first.")] = Path(
        "build/attack"
    ),
) -> None:
    """Hand hostile submissions in to a copy of the course, grade them, and print what each of them won.

    Each is graded by the real grader with the real hidden tests. It wins if it gets more points than its answers are
    worth, if a report shows a line of a hidden test or of someone else's work, if a file of the course or the gradebook
    changes, if a process is left, or if the next student's right answer loses a point. Then the exit code is 1.

    A course about something else is attacked by all that needs nothing of minigrad; the last line counts the rest.

    Examples:
      autograder attack

      autograder attack forged-result fork-bomb

      autograder attack --naive

      autograder attack --texts

      autograder attack --borrow operators.elementary
    """
    if texts:
        _time_texts()
        return
    if borrow:
        _search_editions(course or find_course(), names or [], hidden, isolation, seconds)
        return
    from autograder.proof.attack import ATTACKS
    from autograder.proof.attack.running import Arena

    if isolation == "none":
        fail("attacks are real and are run in a sandbox only; `autograder doctor` says which there are", USAGE)
    chosen = [_named(name, ATTACKS) for name in names or ATTACKS]
    console = console_of()
    with Arena(out, course or find_course(), isolation, hidden) as arena:
        chosen, left = _applied(arena, chosen)
        achieved = _on_naive(arena, chosen) if naive else {}
        rows = list(_shown(arena, chosen))
        problems = [f"{row.attack.name}: {problem}" for row in rows for problem in row.problems]
        problems += [] if names else _guesses(arena)
        problems += arena.finish()
    problems += _as_class(out / "recorded", course, isolation, hidden, chosen) if recorded else []
    if is_narrow(console):
        _print_list(console, rows, achieved)
    else:
        console.print(attack_table(rows, achieved))
    for problem in problems:
        console.print(f"[red]✗[/red] {escape(problem)}", soft_wrap=True)
    won = sum(bool(row.problems) for row in rows)
    attacked = number(len(rows), "attack")
    said = f"{attacked}, {won} won; {number(len(problems), 'problem')}" if problems else f"{attacked}: none won"
    console.print(said, soft_wrap=True)
    if left:
        console.print(f"{number(left, 'attack')} left out, which need minigrad or an exercise of its course")
    if problems:
        raise typer.Exit(REJECTED)


def _time_texts() -> None:
    """Print how long each trusted step takes at most, and exit with 1 if one takes too long."""
    from autograder.proof.attack.texts import MOST, STEPS, worst_of

    table = Table("step", "characters", "longest", "with")
    late = 0
    with steps("trying texts", len(STEPS)) as progress:
        for step in STEPS:
            worst = worst_of(step)
            late += worst.seconds > MOST
            table.add_row(step.name, f"{step.size:,}", f"{worst.seconds:.2f} s", escape(worst.text))
            progress.advance()
    console_of().print(table)
    if late:
        print(f"{number(late, 'step')} took more than {MOST:g} s of processor time")
        raise typer.Exit(REJECTED)


def _search_editions(course: Path, names: list[str], hidden: Path | None, isolation: str, seconds: float) -> None:
    """Print what earns points with the functions that stay in each exercise's edition; exit with 1 if one is new."""
    from autograder.judging.judge import Judge
    from autograder.proof.borrow.searching import LEAKS, search, stale

    loaded = load_course(course, tree=False)
    if loaded.library != MINIGRAD:
        fail(f"{loaded.path.name}: --borrow searches the functions of minigrad, which this course does not have", USAGE)
    check_exercises(loaded, names)
    hidden = hidden or loaded.hidden
    chosen = [loaded.exercise(each) for each in names] or [each for each in loaded.exercises.values() if each.points]
    found = []
    with steps("searching editions", len(chosen)) as step:
        for exercise in chosen:
            step.at(exercise.id)
            with Judge(loaded, hidden=hidden, isolation=isolation, shrink_seconds=0) as judge:
                found.append(search(judge, exercise, seconds))
            step.advance()
    table = Table("exercise", "functions", "programs", "not tried", "leaks", "listed", title="What the editions keep")
    for each in found:
        counts = (each.functions, each.programs, each.left, len(each.leaks), len(each.leaks) - len(each.open))
        table.add_row(each.exercise, *(f"{count:,}" for count in counts))
    console = console_of()
    console.print(table)
    leaks = [leak for each in found for leak in each.open]
    problems = [f"{leak.slot}: {leak.source} earns {leak.points:g} points: {leak.pattern}" for leak in leaks]
    problems += [] if names or any(each.left for each in found) else stale(found, loaded.directory / LEAKS)
    for problem in problems:
        console.print(f"[red]✗[/red] {escape(problem)}", soft_wrap=True)
    if problems:
        print(f"{number(len(problems), 'problem')}; cut what leaks (`hides` in course.toml), or list it in {LEAKS}")
        raise typer.Exit(REJECTED)


def _named(name: str, attacks: dict[str, Attack]) -> Attack:
    if name not in attacks:
        near = difflib.get_close_matches(name, attacks, n=5, cutoff=0.3) or list(attacks)[:5]
        fail(f"there is no attack {name!r} among {len(attacks)}; did you mean {', '.join(near)}?", USAGE)
    return attacks[name]


def _applied(arena: Arena, attacks: list[Attack]) -> tuple[list[Attack], int]:
    """The attacks that apply to the course, and the number of those that do not."""
    from autograder.proof.attack.elsewhere import applied

    found = list(applied(attacks, arena.target, arena.released))
    return found, len(attacks) - len(found)


def _shown(arena: Arena, attacks: list[Attack]) -> Iterable[Row]:
    """Run attacks, and show which one runs."""
    with steps("attacking", len(attacks)) as step:
        for each in attacks:
            step.at(each.name)
            yield arena.run(each)
            step.advance()


def _on_naive(arena: Arena, attacks: list[Attack]) -> dict[str, list[str]]:
    from autograder.proof.attack.naive import achieved_on_naive

    with Console(stderr=True).status("a naive grader is attacked"):
        return achieved_on_naive(attacks, arena.released)


def _as_class(out: Path, course: Path | None, isolation: str, hidden: Path | None, attacks: list[Attack]) -> list[str]:
    """The winnings of attacks where a class is graded and recorded."""
    from autograder.proof.attack.recorded import record_attacks
    from autograder.proof.attack.running import Arena

    with (
        Console(stderr=True).status("a class of attacks is graded, recorded and fed back"),
        Arena(out, course or find_course(), isolation, hidden) as arena,
    ):
        return record_attacks(arena, attacks)[1]


def _guesses(arena: Arena) -> list[str]:
    """The points that a forger could earn who answers without calling anything."""
    from autograder.proof.attack.guessing import won_by_guessing

    problems: list[str] = []
    with steps("guessing", len(arena.course.exercises)) as step:
        for _, won in won_by_guessing(arena.course, arena.judge.hidden):
            problems += won
            step.advance()
    return problems


def _print_list(console: Console, rows: Iterable[Row], achieved: dict[str, list[str]]) -> None:
    """Print the table's content as a list, where the table would be too wide."""
    for row in rows:
        points = f": {row.earned:g} points, worth {row.attack.honest:g}"
        head = Text.assemble((row.attack.name, "red" if row.problems else "green"), points)
        naive = [f"on a naive grader: {', '.join(achieved.get(row.attack.name, ['-']))}"] if achieved else []
        print_list(console, head, [row.attack.tries, "; ".join(row.problems) or row.happened, *naive])


def attack_table(rows: Iterable[Row], achieved: dict[str, list[str]]) -> Table:
    """The table of `attack`.

    Args:
        rows: The outcome of each attack.
        achieved: The success of each on a naive grader, by name.
    """
    table = Table("attack", "what it tries", "what happened", title="Hostile submissions")
    table.add_column("points", justify="right")
    table.add_column("worth", justify="right")
    if achieved:
        table.add_column("on a naive grader")
    for row in rows:
        name = Cell(row.attack.name, "red" if row.problems else "green")
        happened = "; ".join(row.problems) or row.happened
        words = [", ".join(achieved.get(row.attack.name, ["-"]))] if achieved else []
        cells: tuple[Cell | str, ...] = (
            Cell(row.attack.tries),
            Cell(happened),
            f"{row.earned:g}",
            f"{row.attack.honest:g}",
            *map(Cell, words),
        )
        table.add_row(name, *cells)
    return table
