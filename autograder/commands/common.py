"""Parts that every command shares: options, exit codes, and errors in one sentence."""

from __future__ import annotations

import difflib
import functools
import importlib.util
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, NoReturn, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.markup import escape

from autograder.common.errors import GraderError
from autograder.course import Course, CourseError
from autograder.course.loading import DEFAULT_COURSE

REJECTED, USAGE, BROKEN, STOPPED = 1, 2, 3, 130

P = ParamSpec("P")
R = TypeVar("R")


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
    Path | None,
    typer.Option(
        "--hidden", metavar="DIR", help="Another directory of hidden tests than the course's own.", show_default=False
    ),
]
AnswersOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Another directory of `wrong` and `variants` than the course's own.", show_default=False
    ),
]
JobsOption = Annotated[int, typer.Option(min=0, help="Processes; one a core if 0.")]
SchedulerOption = Annotated[
    str,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Grade on the workers of this Dask scheduler, such as tcp://10.0.0.5:8786, instead of on this machine.",
        show_default=False,
    ),
]
StudentsOption = Annotated[
    list[str] | None, typer.Option("--student", metavar="ID", help="Only this student; may be given again.")
]
SectionOption = Annotated[
    list[str] | None, typer.Option("--section", metavar="NAME", help="Only this section; may be given again.")
]
GraderOption = Annotated[
    str | None, typer.Option("--grader", metavar="NAME", help="Only the sections that this person marks.")
]
KeepOption = Annotated[bool, typer.Option("--keep/--fresh", help="Use kept results where nothing has changed.")]


def fail(message: str, code: int) -> NoReturn:
    """End with one sentence and an exit code."""
    Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/bold red] {escape(message)}", highlight=False)
    raise typer.Exit(code)


def honest(command: Callable[P, R]) -> Callable[P, R]:
    """Turn what a user can put right into one sentence and an exit code, without a traceback."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return _explained(lambda: command(*args, **kwargs))
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] in ("", "autograder", "minigrad"):
                raise
            what = "-e '.[course]'" if DEFAULT_COURSE.is_dir() else "'minigrad-course[course]'"
            fail(f"the package {error.name} is missing: `pip install {what}` installs what the grader needs", USAGE)
        except KeyboardInterrupt:
            stopped("the same command can be given again")

    return wrapper


def _explained(command: Callable[[], R]) -> R:
    """Call a command, and say what it complains about."""
    from autograder.judging.plugin import HiddenTestError
    from autograder.sandbox import SandboxError

    try:
        return command()
    except GraderError as error:
        fail(str(error), USAGE)
    except HiddenTestError as error:
        fail(f"a hidden test is at fault: {error}", BROKEN)
    except SandboxError as error:
        fail(f"the sandbox: {error}; `autograder doctor` says what this machine offers", BROKEN)
    except OSError as error:
        fail(f"{error.filename or 'a file'}: {error.strerror or error}", USAGE)


def stopped(what: str) -> NoReturn:
    """End after Ctrl-C; results that are kept lie in the course's folder already.

    Args:
        what: The work that is done by now, and how it goes on.
    """
    Console(stderr=True, soft_wrap=True, highlight=False).print(f"stopped; {what}")
    raise typer.Exit(STOPPED)


def check_exercises(course: Course, names: Iterable[str]) -> None:
    """Refuse an exercise that there is not, and say which one may be meant."""
    for name in names:
        if name not in course.exercises:
            near = difflib.get_close_matches(name, course.exercises, n=1)
            meant = f"did you mean {near[0]}?" if near else f"{short(course.path)} lists those that there are"
            fail(f"there is no exercise {name!r}; {meant}", USAGE)


def check_scheduler(address: str) -> None:
    """Refuse a Dask scheduler that does not answer, before anything is begun; without an address nothing is asked.

    Raises:
        GraderError: If that is so.
    """
    if not address:
        return
    need("distributed", "cluster", "--scheduler")
    from autograder.classes.cluster import connected

    connected(address).close()


def need(package: str, extra: str, what: str) -> None:
    """End with one sentence if a package is missing that only some need.

    Args:
        package: The package, by the name that is imported.
        extra: The extra of this project that brings it.
        what: What needs it.
    """
    if importlib.util.find_spec(package) is None:
        named = f"-e '.[course,{extra}]'" if DEFAULT_COURSE.is_dir() else f"'minigrad-course[course,{extra}]'"
        fail(f"{what} needs the package {package}: `pip install {named}` installs it", USAGE)


def cache_of(course: Course) -> Path:
    """Return the folder where a course caches results."""
    return course.directory / ".grades"


def short(path: Path) -> str:
    """A path as a message shows it: from the current directory, where it lies below it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def students_of(course: Course, sections: list[str], grader: str | None) -> frozenset[str] | None:
    """The students of some sections, or of a grader's; None if none is named.

    Args:
        course: The course.
        sections: Names of sections.
        grader: The name of a grader, as a section has it.

    Raises:
        CourseError: If course.toml has no such section or grader.
    """
    from autograder.course.classlist import read_class_list

    if not sections and grader is None:
        return None
    known = [("section", each, [*course.sections]) for each in sections]
    if grader is not None:
        known.append(("grader", grader, [name for each in course.sections.values() for name in each.graders]))
    for what, name, names in known:
        if name not in names:
            there = ", ".join(dict.fromkeys(names)) or "none"
            raise CourseError(f"{course.path.name} has no {what} {name!r}; it has {there}: add a [[section]] there")
    graded = [name for name, each in course.sections.items() if grader in each.graders]
    return read_class_list(course).in_sections({*sections, *graded})
