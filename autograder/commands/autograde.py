"""The command that grades a class."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.commands.common import REJECTED, CourseOption, IsolationOption, cache_of, honest
from autograder.course import CourseError, find_course, load_course

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from autograder.classes import Outcome, Progress
    from autograder.recording import Recorder

__all__ = ["autograde"]

SHOWN = 10
"""Most problems that are listed at the end."""


@honest
def autograde(
    assignment: Annotated[str, typer.Argument(help="The assignment, such as module1.", show_default=False)],
    student: Annotated[
        list[str] | None, typer.Option("--student", metavar="ID", help="Only this student; may be given again.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Processes that grade; 0 for one a core.")] = 0,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    hidden: Annotated[
        Path | None, typer.Option("--hidden", metavar="DIR", help="The directory of hidden tests.", show_default=False)
    ] = None,
    keep: Annotated[bool, typer.Option("--keep/--fresh", help="Use kept results where nothing has changed.")] = True,
    record: Annotated[
        bool, typer.Option("--record/--no-record", help="Write the marks into nbgrader's gradebook.")
    ] = True,
) -> None:
    """Grade all submissions of an assignment, in parallel, and record them where `nbgrader autograde` would.

    Whatever is stopped, by Ctrl-C or worse, goes on where it was when the same command is given again. Afterwards
    Formgrader, `nbgrader generate_feedback` and `nbgrader export` find everything in its place.

    Examples:
      autograder autograde module1

      autograder autograde module1 --student ada --student bea

      autograder autograde module1 --fresh --jobs 4
    """
    from autograder.classes import Progress, grade_class, handed_in
    from autograder.judge import Judge
    from autograder.recording import hidden_of
    from autograder.sandbox import choose

    loaded = load_course(course or find_course(), tree=False)
    if assignment not in loaded.assignments:
        known = ", ".join(loaded.assignments)
        raise CourseError(f"there is no assignment {assignment!r}; the assignments are {known}")
    choose(isolation)  # raises where there is none, before anything is begun
    works = handed_in(loaded.directory, assignment, tuple(student or ()))
    if not works:
        raise CourseError(f"nothing is in submitted/ for {assignment}; run `nbgrader collect {assignment}` first")
    progress, begun = Progress(), time.monotonic()
    with _recorder(loaded.directory, assignment, record) as recorder:
        works = [work for work in works if recorder is None or work.student not in recorder.excluded]
        tests = hidden or hidden_of(loaded.directory, assignment)
        with Judge(loaded, hidden=tests, isolation=isolation, cache=cache_of(loaded) if keep else None) as judge:
            outcomes = grade_class(judge, works, jobs=jobs, keep=keep, write=True, progress=progress)
            problems = [problem for problem in _watched(outcomes, recorder, progress) if problem]
    _tell(len(works), progress, problems, time.monotonic() - begun)
    if problems:
        raise typer.Exit(REJECTED)


@contextmanager
def _recorder(root: Path, assignment: str, record: bool) -> Iterator[Recorder | None]:
    """Where marks are recorded; None where they are not to be."""
    if not record:
        yield None
        return
    from autograder.recording import Recorder

    with Recorder(root, assignment) as recorder:
        yield recorder


def _watched(outcomes: Iterator[Outcome | None], recorder: Recorder | None, progress: Progress) -> Iterator[str]:
    """Record what comes, show how far it is, and yield what went wrong with each submission."""
    with _bar() as bar:
        task = bar.add_task("", total=None, counts="")
        for outcome in outcomes:
            if outcome is not None:
                problem = outcome.problem or _recorded(recorder, outcome)
                yield f"{outcome.work.student}: {problem}" if problem else ""
            bar.update(task, total=progress.total, completed=progress.done, counts=_counts(progress))
            bar.refresh()


def _recorded(recorder: Recorder | None, outcome: Outcome) -> str:
    """Record a submission, unless it is; say what kept it from being recorded."""
    student = outcome.work.student
    if recorder is None or (outcome.kept and recorder.is_recorded(student, outcome.entries)):
        return ""
    if not recorder.is_stock:
        return "" if recorder.hand_over(student) else "nbgrader could not record it; see what it said above"
    from sqlalchemy.exc import SQLAlchemyError

    try:
        recorder.add(student, outcome.entries)
        recorder.commit()
    except (CourseError, OSError) as error:
        return str(error)
    except SQLAlchemyError as error:  # someone else may be writing for longer than the database waits
        return f"the gradebook refused it ({type(error).__name__}); the same command records it when that is over"
    return ""


def _bar() -> Bar:
    """Pieces of work done, time left and live counts; without a thread, since processes are forked beside it."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("grading"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("[dim]elapsed"),
        TimeElapsedColumn(),
        TextColumn("[dim]left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[counts]}"),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
    )


def _counts(progress: Progress) -> str:
    counts = progress.counts
    text = f"[green]{counts['full']} full[/] [yellow]{counts['partial']} partial[/] [red]{counts['zero']} zero[/]"
    return text + (f" [magenta]{counts['contained']} contained[/]" if counts["contained"] else "")


def _tell(submissions: int, progress: Progress, problems: Sequence[str], seconds: float) -> None:
    """Say what was graded, and what could not be."""
    counts, console = progress.counts, Console(soft_wrap=True, highlight=False)
    notebooks = counts["full"] + counts["partial"] + counts["zero"]
    each = f", {seconds / submissions:.2f} s each" if submissions else ""
    console.print(f"{submissions} submissions, {notebooks} notebooks in {seconds:.1f} s{each}")
    console.print(
        f"notebooks: {counts['full']} with full points, {counts['partial']} with some, {counts['zero']} with none"
    )
    if counts["kept"]:
        console.print(f"{counts['kept']} notebooks had been graded before")
    if counts["contained"]:
        console.print(f"something had to be contained in {counts['contained']} exercises; `autograder report` lists it")
    for problem in problems[:SHOWN]:
        console.print(f"[bold red]not graded:[/bold red] {escape(problem)}")
    if len(problems) > SHOWN:
        console.print(f"[bold red]not graded:[/bold red] {len(problems) - SHOWN} more")
