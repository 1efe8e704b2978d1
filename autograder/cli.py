"""The instructor's command line."""

from __future__ import annotations

import datetime as dt
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from autograder.course import DEFAULT_COURSE, Course, find_course, load_course
from minigrad.errors import MinigradError

if TYPE_CHECKING:
    from autograder.verify import Checked

__all__ = ["app", "main", "verify_table"]

OK, REJECTED, USAGE, BROKEN, STOPPED = 0, 1, 2, 3, 130

P = ParamSpec("P")
R = TypeVar("R")

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

    Exit codes: 0 all well; 1 `verify` found a problem; 2 wrong usage or an unreadable file; 3 no sandbox, or
    the grader itself is broken; 130 stopped by Ctrl-C.""",
)


def _known_isolation(name: str) -> str:
    try:
        from autograder.sandbox.backends import BACKENDS  # every other option is read without it
    except ModuleNotFoundError:  # the command itself says what is missing
        return name
    known = ("auto", *(backend.name for backend in BACKENDS))
    if name not in known:
        raise typer.BadParameter(f"there is no {name!r}; known are {', '.join(known)}")
    return name


CourseOption = Annotated[
    Path | None,
    typer.Option(
        "--course",
        metavar="DIR",
        help="The directory of course.toml; the current one, else the repository's course, if none is given.",
        show_default=False,
    ),
]
IsolationOption = Annotated[
    str,
    typer.Option(
        callback=_known_isolation,
        help="'auto' takes the best sandbox there is; 'none' runs code unprotected and is never chosen.",
    ),
]

HiddenOption = Annotated[
    Path, typer.Option("--hidden", metavar="DIR", help="The directory of hidden tests.", show_default=False)
]
HERE = Path(__file__).parent


def _fail(message: str, code: int) -> NoReturn:
    Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/bold red] {escape(message)}", highlight=False)
    raise typer.Exit(code)


def _honest(command: Callable[P, R]) -> Callable[P, R]:
    """Turn what a user can put right into one sentence and an exit code, without a traceback."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return _explained(lambda: command(*args, **kwargs))
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] in ("", "autograder", "minigrad"):
                raise
            what = "-e '.[course]'" if DEFAULT_COURSE.is_dir() else "'minigrad[course]'"
            _fail(f"the package {error.name} is missing: `pip install {what}` installs what the grader needs", USAGE)
        except KeyboardInterrupt:
            _stopped()

    return wrapper


def _explained(command: Callable[[], R]) -> R:
    """Call a command, and say what it complains about."""
    from autograder.plugin import HiddenTestError
    from autograder.sandbox import SandboxError

    try:
        return command()
    except MinigradError as error:
        _fail(str(error), USAGE)
    except HiddenTestError as error:
        _fail(f"a hidden test is at fault: {error}", BROKEN)
    except SandboxError as error:
        _fail(f"the sandbox: {error}; `autograder doctor` says what this machine offers", BROKEN)
    except OSError as error:
        _fail(f"{error.filename or 'a file'}: {error.strerror or error}", USAGE)


def _stopped() -> NoReturn:
    """End after Ctrl-C; results that are kept lie in the course's folder already."""
    Console(stderr=True).print("stopped")
    raise typer.Exit(STOPPED)


@app.command()
@_honest
def build(
    course: CourseOption = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not run hidden tests on each exercise's stub and reference.")
    ] = False,
    isolation: IsolationOption = "auto",
    hidden: HiddenOption = HERE / "hidden",
) -> None:
    """Build the notebooks from the lessons and the library; refuse every inconsistency.

    A stub that earns a point, or a reference that loses one, is refused too, unless --quick is given.
    A second build changes nothing.

    Example: autograder build
    """
    from autograder.build import build as build_course
    from autograder.judge import Judge

    # It is written to: the repository's course is not meant by someone who is elsewhere.
    place = course or find_course(anywhere=False)
    if quick:
        report = build_course(place)
    else:
        loaded = load_course(place)
        with Judge(loaded, hidden=hidden, isolation=isolation, cache=_cache(loaded), shrink_seconds=0) as judge:
            report = build_course(place, verify_points=judge.points)
    console = Console(soft_wrap=True, highlight=False)
    for path in report.written:
        console.print(f"[green]written[/green]  {escape(_short(path))}")
    for path in report.kept:
        console.print(f"[yellow]kept[/yellow]     {escape(_short(path))}: someone had worked in it")
    for path in report.removed:
        console.print(f"[yellow]removed[/yellow]  {escape(_short(path))}")
    for lesson, points in report.totals.items():
        console.print(f"{lesson}: {points:g} points")
    for assignment, points in report.drafts.items():
        console.print(f"{assignment}: {points:g} points, a draft: no notebooks, nothing to release")
    console.print(
        f"{escape(_short(report.course))}: {len(report.written)} files written, {len(report.unchanged)} unchanged"
    )


@app.command()
@_honest
def grade(
    notebook: Annotated[Path, typer.Argument(help="A student's notebook.", show_default=False)],
    lesson: Annotated[
        str | None, typer.Option(help="Its lesson, such as 03_backprop; found by its name or its cells otherwise.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as an HTML page.")] = None,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    hidden: HiddenOption = HERE / "hidden",
    keep: Annotated[bool, typer.Option("--keep/--fresh", help="Use kept results where nothing has changed.")] = True,
) -> None:
    """Grade one notebook, without nbgrader, and print the report.

    The notebook itself is never executed here: only the text of its solutions and added cells is taken, and runs
    in the sandbox.

    Examples:
      autograder grade 03_backprop.ipynb

      autograder grade answer.ipynb --lesson 03_backprop --json

      autograder grade answer.ipynb --html report.html
    """
    from autograder import report
    from autograder.grading import grade_file
    from autograder.judge import Judge

    loaded = load_course(course or find_course(), tree=False)
    with Judge(loaded, hidden=hidden, isolation=isolation, cache=_cache(loaded) if keep else None) as judge:
        submission = grade_file(judge, notebook, lesson)
    if html is not None:
        html.write_text(report.page(submission), encoding="utf-8")
    if json:
        typer.echo(report.as_json(submission))
    else:
        Console(soft_wrap=True, highlight=False).print(report.as_rich(submission))
    if submission.unreadable:
        raise typer.Exit(USAGE)


@app.command()
@_honest
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
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    keep: Annotated[bool, typer.Option("--keep/--fresh", help="Use kept results where nothing has changed.")] = True,
) -> None:
    """Prove that the hidden tests grade well, and print the table.

    References and variants earn every point; stubs, constants and returned arguments none; each known-wrong answer
    is rejected by the test that names its misconception; no test could be deleted unnoticed; and what these tests
    saw is what is recorded, so that a report names a cause only where it fits.

    Examples:
      autograder verify

      autograder verify autodiff.backpropagate

      autograder verify --record
    """
    from autograder import verify as verifying

    loaded = load_course(course or find_course(), tree=False)
    total = len(exercises or loaded.exercises)
    cache = _cache(loaded) if keep else None
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


@app.command()
@_honest
def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder for everything that it makes; emptied first.")
    ] = Path("build/demo"),
    course: CourseOption = None,
) -> None:
    """Grade an invented class from end to end with nbgrader, and print the table of points.

    A copy of the course is built and released; students who are right, wrong, careless and hostile hand in; their
    work is collected, graded in the sandbox and fed back, by the commands that an instructor types.

    Example: autograder demo
    """
    from autograder.demo import run_demo

    console = Console()
    if not console.is_terminal:  # a log has no width of its own
        console = Console(width=110)
    raise typer.Exit(run_demo(out, console, course or find_course()))


@app.command()
@_honest
def edition(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write `minigrad`.", show_default=False)],
    date: Annotated[
        dt.datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The day that the class gets it; today otherwise.")
    ] = None,
    course: CourseOption = None,
) -> None:
    """Write the library that a class may have on a day: answers that are not open yet are cut out.

    Example: autograder edition --out class-library --date 2027-02-01
    """
    from autograder.editions import class_edition, closed_exercises

    loaded = load_course(course or find_course())
    day = date.date() if date else dt.date.today()
    class_edition(out, loaded, day)
    closed = closed_exercises(loaded, day)
    typer.echo(f"{out / 'minigrad'}: the library of {day}; {len(closed)} of {len(loaded.exercises)} exercises cut")


@app.command()
@_honest
def doctor() -> None:
    """Say how students' code is isolated on this machine, and why.

    Example: autograder doctor
    """
    from autograder.sandbox import choose, describe

    typer.echo(f"Python {sys.version.split()[0]}")
    typer.echo(describe())
    choose("auto")  # raises where there is none


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


def _cache(course: Course) -> Path:
    return course.directory / ".grades"


def _short(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def main() -> None:
    """Run the command line."""
    try:
        app()
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(STOPPED)
