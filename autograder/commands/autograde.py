"""The command that grades a class."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from autograder.commands.common import (
    REJECTED,
    CourseOption,
    HiddenOption,
    IsolationOption,
    JobsOption,
    SchedulerOption,
    StudentsOption,
    cache_of,
    check_scheduler,
    honest,
    stopped,
)
from autograder.commands.showing import Lines, console_of, is_narrow, number, print_problems
from autograder.course import Course, CourseError
from autograder.course.loading import find_course, load_course

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from autograder.classes import Outcome, Progress
    from autograder.gradebook.recording import Recorder

STILL = 5.0
"""Seconds without a finished notebook after which it is said whose is waited for."""


@honest
def autograde(
    assignment: Annotated[str, typer.Argument(help="The assignment, such as module1.", show_default=False)],
    student: StudentsOption = None,
    jobs: JobsOption = 0,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    hidden: HiddenOption = None,
    keep: Annotated[
        bool, typer.Option("--keep/--fresh", help="Keep recorded marks, or grade again; what changes is logged.")
    ] = True,
    record: Annotated[
        bool, typer.Option("--record/--no-record", help="Write the marks into nbgrader's gradebook.")
    ] = True,
    scheduler: SchedulerOption = "",
) -> None:
    """Grade all submissions of an assignment, in parallel, and record them where `nbgrader autograde` would.

    Whatever is stopped, by Ctrl-C or worse, goes on where it was when the same command is given again; with --fresh it
    begins anew. Two such commands at once on one course share the work: each notebook is graded by one of them.
    Afterwards Formgrader, `autograder feedback` and `nbgrader export` find everything in place.

    A recorded mark stands while the student hands in nothing new, also where hidden tests or points are others now:
    `autograder regrade` lists what that changes, and changes it. With --fresh everything is graded by today's tests.

    Examples:
      autograder autograde module1

      autograder autograde module1 --student ada --student bea

      autograder autograde module1 --fresh --jobs 4

      autograder autograde module1 --scheduler tcp://10.0.0.5:8786
    """
    from autograder.classes import Progress, grade_class, handed_in
    from autograder.classes.claims import Claims
    from autograder.classes.work import refuse_lost_references
    from autograder.course.classlist import read_class_list
    from autograder.course.opening import refuse_a_read_only_course
    from autograder.gradebook.exporting import read_marks, remarks
    from autograder.gradebook.recording import hidden_of
    from autograder.judging.judge import Judge
    from autograder.reading.student_files import one_line
    from autograder.sandbox import choose

    loaded = load_course(course or find_course(), tree=False)
    loaded.assignment(assignment)
    choose(isolation)  # raises where there is none, before anything is begun
    refuse_a_read_only_course(loaded.directory)
    check_scheduler(scheduler)
    works = handed_in(loaded.directory, assignment, tuple(student or ()))
    if not works:
        raise CourseError(
            f"nothing is in submitted/ for {assignment}; collect first, with `nbgrader collect {assignment}` or "
            f"`nbgrader zip_collect {assignment}`"
        )
    progress, claims, begun = Progress(), Claims(loaded, works), time.monotonic()
    with _until_stopped(progress, keep), _recorder(loaded, assignment, record) as recorder:
        works = [work for work in works if recorder is None or work.student not in recorder.excluded]
        tests = hidden or hidden_of(loaded.directory, assignment)
        with Judge(loaded, hidden=tests, isolation=isolation, cache=cache_of(loaded) if keep else None) as judge:
            refuse_lost_references(judge, loaded.assignments[assignment].lessons)
            outcomes = grade_class(
                judge,
                works,
                jobs=jobs,
                keep=keep,
                write=True,
                progress=progress,
                claims=claims,
                scheduler=scheduler,
            )
            problems = [problem for problem in _watched(outcomes, recorder, progress) if problem]
    _tell(progress, len(works), problems, time.monotonic() - begun)
    if record:
        classmates = read_class_list(loaded)
        graded = {student for work in works for student in classmates.members(assignment, work.student)}
        for sentence in remarks([each for each in read_marks(loaded, [assignment]) if each.student in graded]):
            console_of().print(escape(one_line(sentence)), soft_wrap=True)
    if problems:
        raise typer.Exit(REJECTED)


@contextmanager
def _recorder(course: Course, assignment: str, record: bool) -> Iterator[Recorder | None]:
    """The recorder of marks, once the gradebook as it is was kept; None where they are not to be recorded."""
    if not record:
        yield None
        return
    from autograder.gradebook.databases import back_up
    from autograder.gradebook.recording import Recorder

    back_up(course)
    with Recorder(course.directory, assignment) as recorder:
        yield recorder


@contextmanager
def _until_stopped(progress: Progress, keep: bool) -> Iterator[None]:
    """Say after Ctrl-C how much is done.

    Python drops what a handler raises inside a weak reference's callback, of which SQLAlchemy has many: so the handler
    also notes that it was called.
    """

    def stop(*_: object) -> None:
        progress.stopped = True
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    try:
        if before is signal.default_int_handler:  # else whoever started this has decided otherwise
            signal.signal(signal.SIGINT, stop)
        yield
    except KeyboardInterrupt:
        done, total = progress.done, number(progress.total, "notebook")
        said = f"{done} of {total} {'is' if done == 1 else 'are'} graded and kept. " if progress.total else ""
        stopped(f"{said}The same command {'goes on' if keep else 'begins anew, because of --fresh'}.")
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)


def _watched(outcomes: Iterator[Outcome | None], recorder: Recorder | None, progress: Progress) -> Iterator[str]:
    """Record what comes, show how far it is, and yield what went wrong with each submission, and in it."""
    with _shown(progress) as show:
        for outcome in outcomes:
            if outcome is not None:
                problem = outcome.problem
                if recorder is not None and not problem:
                    problem = recorder.take(outcome.work.student, outcome.entries, outcome.kept)
                yield f"{outcome.work.student}: {problem}" if problem else ""
                for entry in outcome.entries:
                    yield from (f"{entry.student}: {said}" for said in entry.submission.ungraded)
            show()


@contextmanager
def _shown(progress: Progress) -> Iterator[Callable[[], None]]:
    """Notebooks done, time left and live counts: a bar on a terminal, else a line every ten seconds.

    The bar has no thread, since processes are forked beside it.
    """
    console, lines, still = Console(stderr=True), Lines(), _Still(progress)
    if not console.is_terminal:
        yield lambda: lines.say(f"grading: {progress.done} of {progress.total} notebooks; {_counts(progress)}{still()}")
        return
    with _bar(console) as bar:
        task = bar.add_task("", total=None, counts="")

        def show() -> None:
            counts = _coloured(progress, short=is_narrow(console)) + still()
            bar.update(task, total=progress.total, completed=progress.done, counts=counts)
            bar.refresh()

        yield show


class _Still:
    """Says whose work is waited for, once nothing has moved for some seconds."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._done, self._since = -1, 0.0

    def __call__(self) -> str:
        if self._done != self._progress.done:
            self._done, self._since = self._progress.done, time.monotonic()
        if time.monotonic() - self._since < STILL or not self._progress.at:
            return ""
        return f"; waiting for {', '.join(self._progress.at[:2])}"


def _bar(console: Console) -> Bar:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    elapsed = () if is_narrow(console) else (TextColumn("[dim]elapsed"), TimeElapsedColumn())
    return RichProgress(
        TextColumn("grading"),
        BarColumn(bar_width=10 if is_narrow(console) else 24),
        MofNCompleteColumn(),
        *elapsed,
        TextColumn("[dim]left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[counts]}"),
        console=console,
        auto_refresh=False,
        transient=True,
    )


COUNTED = {"full": "green", "partial": "yellow", "zero": "red", "contained": "magenta"}
"""The outcomes that are counted while a class is graded, each with its colour."""


def _counts(progress: Progress) -> str:
    said = {name: progress.counts[name] for name in COUNTED}
    return " ".join(f"{count} {name}" for name, count in said.items() if count or name != "contained")


def _coloured(progress: Progress, *, short: bool) -> str:
    names = {"partial": "part", "contained": "held"} if short else {}
    said = {name: progress.counts[name] for name in COUNTED if progress.counts[name] or name != "contained"}
    return " ".join(f"[{COUNTED[name]}]{count} {names.get(name, name)}[/]" for name, count in said.items())


def _tell(progress: Progress, submissions: int, problems: Sequence[str], seconds: float) -> None:
    """Say what was graded, and what could not be."""
    counts, console = progress.counts, Console(soft_wrap=True, highlight=False)
    notebooks = counts["full"] + counts["partial"] + counts["zero"]
    each = f", {seconds / submissions:.2f} s each" if submissions > 1 else ""
    what = f"{number(submissions, 'submission')}, {number(notebooks, 'notebook')}"
    console.print(f"{what} in {seconds:.1f} s{each}")
    console.print(
        f"notebooks, by the tests: {counts['full']} with full points, {counts['partial']} with some, "
        f"{counts['zero']} with none"
    )
    if counts["kept"]:
        console.print(f"{number(counts['kept'], 'notebook')} had been graded before")
    if counts["shared"]:
        console.print(f"{number(counts['shared'], 'notebook')} graded by another run")
    if counts["stale"]:
        console.print(
            f"[yellow]{number(counts['stale'], 'notebook')} with marks by other tests, points, limits or another "
            "library:[/yellow] they stand; `autograder regrade --diff` lists what today's would change"
        )
    if counts["contained"]:
        held = number(counts["contained"], "exercise")
        console.print(f"something had to be contained in {held}; `autograder report` lists it")
    print_problems(console, "not graded", problems)
