"""The command that grades again what was graded before, and changes no mark that it has not listed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from autograder.commands.common import (
    USAGE,
    CourseOption,
    HiddenOption,
    IsolationOption,
    JobsOption,
    SchedulerOption,
    cache_of,
    check_exercises,
    check_scheduler,
    fail,
    honest,
    stopped,
)
from autograder.commands.showing import Cell, console_of, is_narrow, number, print_list, steps
from autograder.course import Course
from autograder.course.loading import find_course, load_course
from autograder.results import format_points
from autograder.results.changes import LATE

if TYPE_CHECKING:
    from autograder.judging.judge import Judge
    from autograder.regrading import Change, Plan
    from autograder.results.ledger import Entry


@honest
def regrade(
    students: Annotated[
        list[str] | None, typer.Argument(metavar="[STUDENT]...", help="Student ids; everyone if none is given.")
    ] = None,
    exercises: Annotated[
        list[str] | None, typer.Option("--exercise", metavar="ID", help="Only this exercise; may be given repeatedly.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; it is logged, and needed to record anything.")] = "",
    diff: Annotated[bool, typer.Option("--diff", help="List the marks that would change, and record nothing.")] = False,
    lower: Annotated[bool, typer.Option("--lower", help="Let marks fall as well; else those stay.")] = False,
    dates: Annotated[
        bool, typer.Option("--dates", help="Only penalties for lateness, by today's dates; no notebook is run.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Record without asking.")] = False,
    jobs: JobsOption = 0,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    hidden: HiddenOption = None,
    scheduler: SchedulerOption = "",
) -> None:
    """Grade again after a hidden test was mended, an exercise dropped or reweighted, or a date or extension changed.

    Every mark that changes is listed first: whose, of what, from what to what, and by which tests. Then it asks, and
    records gradebook, autograded notebooks and ledger. No mark falls unless --lower is given. Who did it, when and why
    is added to .grades/regrades.jsonl.

    An exercise is dropped by points and groups of 0, since nbgrader takes no cell away once something was handed in;
    `autograder build` comes first where points have changed. Where tests and library are the same as before, nothing
    is run: kept results are counted by the new points.

    Penalties for lateness follow the due dates of course.toml, the extensions of `autograder extend` and the rule in
    nbgrader_config.py, as they are now.

    Examples:
      autograder regrade --diff

      autograder regrade ada --dates --reason "was ill"

      autograder regrade --reason "test_empty was stricter than the lesson"

      autograder regrade ada --exercise operators.folds --reason appeal --lower
    """
    from autograder.grafting.tidying import clear_up  # loads nbformat
    from autograder.regrading import confirm

    if not (diff or reason.strip()):
        fail("a reason is needed to record anything; add --reason, or --diff to look only", USAGE)
    if not (diff or yes or sys.stdin.isatty()):
        fail("nobody can be asked here: add --yes to record what is found, or --diff to look only", USAGE)
    loaded = load_course(course or find_course(), tree=False)
    check_exercises(loaded, exercises or ())
    check_scheduler(scheduler)
    clear_up(loaded.directory)
    if dates:
        found = _of_dates(loaded, students or [])
    else:
        found = _planned(loaded, students or [], exercises or [], lower, isolation, hidden, jobs, scheduler)
    found = _with_penalties(loaded, found, students or [], exercises or [], lower)
    console = console_of()
    _show(found, console)
    if diff:
        return
    if found.is_empty:
        confirm(loaded, found)
        return
    if not yes and not typer.confirm(_question(found)):
        console.print("nothing was recorded")
        return
    _record(loaded, found, reason.strip(), lower, console)


def _of_dates(course: Course, students: list[str]) -> Plan:
    """A plan of no changes but those of penalties, which are still to be added."""
    from autograder.regrading import Plan, recorded

    recorded(course, students, ())  # refuses a student of whom nothing was graded
    return Plan((), (), (), (), 0, looked_at=False)


def _with_penalties(course: Course, found: Plan, students: list[str], exercises: list[str], lower: bool) -> Plan:
    """The plan, and what follows for penalties from its marks and from today's dates."""
    from autograder.regrading.penalties import with_penalties

    lessons = {course.exercise(each).lesson for each in exercises}
    return with_penalties(course, found, students=students, lessons=lessons, lower=lower)


def _planned(
    course: Course,
    students: list[str],
    exercises: list[str],
    lower: bool,
    isolation: str,
    hidden: Path | None,
    jobs: int,
    scheduler: str,
) -> Plan:
    """Return the changes that grading again would make."""
    from autograder.classes.work import refuse_lost_references
    from autograder.judging.judge import Judge
    from autograder.regrading import check_weights, counted, hidden_tests, plan, recorded

    everything, chosen = recorded(course, students, exercises)
    check_weights(course, everything, students, exercises)
    tests = hidden or hidden_tests(course)
    with Judge(course, hidden=tests, isolation=isolation, cache=cache_of(course)) as judge:
        refuse_lost_references(judge, sorted({entry.lesson for entry in chosen}))
        graded, problems = _graded_again(judge, chosen, jobs, scheduler)
    both = [*graded, *counted(course, chosen, graded)]
    return plan(chosen, both, exercises=exercises, lower=lower, problems=problems)


def _graded_again(judge: Judge, chosen: list[Entry], jobs: int, scheduler: str) -> tuple[list[Entry], list[str]]:
    """The same notebooks, judged by today's tests; nothing is written but kept results."""
    from autograder.classes import Work, grade_class

    lessons = {entry.lesson for entry in chosen}
    wanted = {(entry.student, entry.assignment, entry.lesson) for entry in chosen}
    works = sorted({Work(entry.student, entry.assignment) for entry in chosen})
    present = [work for work in works if work.folder(judge.course.directory).is_dir()]
    gone = [work for work in works if work not in present]
    problems = [
        f"{work.student}: submitted/ has nothing of {work.assignment} any more; marks change by other points alone"
        for work in gone
    ]
    graded: list[Entry] = []
    # No thread of the display's own: processes are forked beside it.
    with steps("grading again", len(present), forks=True) as step:
        for outcome in grade_class(judge, present, jobs=jobs, keep=False, lessons=lessons, scheduler=scheduler):
            step.advance(outcome is not None)
            if outcome is None:
                continue
            if outcome.problem:
                problems.append(f"{outcome.work.student}: could not be graded: {outcome.problem}")
            graded += (entry for entry in outcome.entries if (entry.student, entry.assignment, entry.lesson) in wanted)
    return graded, sorted(problems)


def _show(found: Plan, console: Console) -> None:
    """The changes as a table, and what stays."""
    from autograder.telling.report import clean

    for title, changes in (
        ("Marks that change", found.changes),
        ("Marks that would fall, and stay; --lower lets them fall", found.kept),
    ):
        if changes and is_narrow(console):
            console.print(title, style="italic")
            for change in changes:
                _print_item(console, change)
        elif changes:
            console.print(_table(title, changes))
    for problem in found.problems:
        console.print(f"[yellow]left out[/yellow]  {escape(clean(problem))}", soft_wrap=True)
    console.print(f"{_count(found)}; {number(found.same, 'notebook')} with the marks they had", soft_wrap=True)


def _question(found: Plan) -> str:
    """The question before anything is written: new marks, marks that stay, and students whom it lowers."""
    kept = f"{number(len(found.kept), 'mark')} would be lower by today's tests"
    if not found.changes:
        return f"No mark changes: {kept}. Write down what stays, so that grading the class again does not lower it?"
    falling = sum(change.falls for change in found.changes)
    lower = f", {falling} of them LOWER than before" if falling else ", none of them lower than before"
    stays = f" ({kept}; that does not happen.)" if found.kept else ""
    return f"Write {_marks(found)}{lower}, into gradebook, autograded notebooks and ledger?{stays}"


def _count(found: Plan) -> str:
    falling = sum(change.falls for change in found.changes)
    said = _marks(found) if found.changes else "no mark changes"
    said += f", {falling} of them lower than before" if falling else ""
    stay = "stays as it is" if len(found.kept) == 1 else "stay as they are"
    return said + (f"; {number(len(found.kept), 'mark')} that would fall {stay}" if found.kept else "")


def _marks(found: Plan) -> str:
    students = len({change.student for change in found.changes})
    return f"{number(len(found.changes), 'new mark')} of {number(students, 'student')}"


def _table(title: str, changes: tuple[Change, ...]) -> Table:
    from autograder.telling.report import clean

    table = Table(title=title, title_justify="left")
    for name in ("student", "exercise", "old", "new"):
        table.add_column(name, justify="right" if name in ("old", "new") else "left", no_wrap=name != "exercise")
    table.add_column("by")
    for change in changes:
        old, new = _old_and_new(change)
        style = "red" if change.falls else ""
        cells = (change.student, _what(change), old, new, _by(change))
        table.add_row(*(Cell(clean(cell), style) for cell in cells))
    return table


def _print_item(console: Console, change: Change) -> None:
    """A changed mark as an item of a list, where a table would be too wide."""
    from autograder.telling.report import clean

    old, new = _old_and_new(change)
    head = f"{clean(change.student)}  {_what(change)}  {old} -> {new}"
    print_list(console, Text(head, style="red" if change.falls else ""), [clean(_by(change))])


def _what(change: Change) -> str:
    """The exercise; or the notebook, where its penalty for lateness is another one."""
    return f"{change.lesson} {LATE}" if change.exercise == LATE else change.exercise


def _old_and_new(change: Change) -> tuple[str, str]:
    old = f"{format_points(change.old)} of {format_points(change.old_points)}"
    return old, f"{format_points(change.new)} of {format_points(change.points)}"


def _by(change: Change) -> str:
    """The tests, weights or reason that make a mark another one."""
    said = ["other points"] if change.reweighted else []
    said += change.tests
    if change.why and (change.falls or change.exercise == LATE):
        said.append(change.why)
    return ", ".join(said)


def _record(course: Course, found: Plan, reason: str, lower: bool, console: Console) -> None:
    from autograder.gradebook.databases import back_up
    from autograder.regrading import carry_out
    from autograder.telling.report import clean

    back_up(course)
    submissions = {(entry.student, entry.assignment) for entry in found.entries} | set(found.penalties)
    with steps("recording", len(submissions)) as step:
        try:
            stays = carry_out(course, found, reason, lower=lower, done=step.advance)
        except KeyboardInterrupt:
            stopped("what was recorded stands. The same command goes on.")
    for said in stays:
        console.print(f"[yellow]left[/yellow]  {escape(clean(said))}", soft_wrap=True)
    console.print(
        f"[green]recorded[/green]  {_count(found)}; who, when and why: .grades/regrades.jsonl", soft_wrap=True
    )
