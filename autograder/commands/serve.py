"""The command that marks each hand-in when it comes."""

from __future__ import annotations

import datetime as dt
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder.commands.common import CourseOption, IsolationOption, JobsOption, honest
from autograder.commands.showing import number
from autograder.course import Course, CourseError
from autograder.course.loading import find_course, load_course

if TYPE_CHECKING:
    from autograder.serving.status import Status
    from autograder.serving.web import Web

PAUSE = 5.0
"""Seconds from one reading of a course.toml that contradicts itself, or look for a first release, to the next."""

NOTHING = "nothing until an assignment is released (`autograder term release ASSIGNMENT`)"


@honest
def serve(
    assignments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ASSIGNMENT]...", help="The assignments; all that are released, if none is given."),
    ] = None,
    jobs: JobsOption = 0,
    course: CourseOption = None,
    isolation: IsolationOption = "auto",
    warm: Annotated[
        int,
        typer.Option(
            min=0,
            help="Exercises whose sandboxes each process keeps ready, of several lessons; one takes about 60 MB.",
        ),
    ] = 20,
    http: Annotated[
        bool, typer.Option("--http", help="Take hand-ins by HTTP too, on this machine, from who has a token.")
    ] = False,
    hub: Annotated[
        bool, typer.Option("--hub", help="The same, where tokens are those of the JupyterHub that starts the command.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port that --http and --hub listen at.")] = 8765,
) -> None:
    """Mark each hand-in when it comes: watch nbgrader's exchange, grade, record and release the feedback at once.

    Of several hand-ins of a student the newest is graded. The table [serve] of course.toml says how often a student's
    work is graded on a day, and what the pages show before the due date. What is over the limit is graded later, and
    the student's page says when. `reports/serve.html` and `reports/serve.json` show what the command is at.

    Ctrl-C and SIGTERM end it when what it has begun is finished. Whatever else ends it, the same command goes on.

    Examples:
      autograder serve

      autograder serve module1 module2 --jobs 4

      autograder serve --http --port 8765
    """
    from autograder.classes.pool import cores
    from autograder.course.opening import refuse_a_read_only_course
    from autograder.gradebook.class_server import Server
    from autograder.sandbox import choose
    from autograder.serving import Only, released
    from autograder.serving.status import Status

    loaded = _servable(load_course(course or find_course(), tree=False))
    choose(isolation)  # raises where there is none, before anything is begun
    refuse_a_read_only_course(loaded.directory)
    server = Server.of(loaded)
    which = partial(released, server.exchange / server.course_id, assignments or [])
    which(loaded)  # raises where one is named that is not released
    status = Status(loaded.directory / "reports", jobs or cores(), dt.datetime.now(dt.UTC))
    web = _web(loaded, which, port, hub=hub) if http or hub else None
    with Only(loaded), chdir(loaded.directory), _until_stopped() as stopping, web or nullcontext():
        if web is not None:
            _say(f"http://127.0.0.1:{web.port} takes hand-ins")
            stopping = _keeping_up(web, stopping)
        _serve(loaded, which, status, stopping, isolation=isolation, warm=warm)
    _say(f"stopped; {number(status.graded, 'hand-in')} graded. What waits is graded when the same command is given")


def _web(course: Course, which: Callable[[Course], list[str]], port: int, *, hub: bool) -> Web:
    try:
        from autograder.serving.web import Web
    except ImportError as error:
        how = "`pip install 'minigrad-course[serve]'`"
        raise CourseError(f"hand-ins by HTTP need a package that is not here ({error.name}); {how}") from error
    from autograder.gradebook.tokens import Tokens
    from autograder.serving.hub import Hub

    if hub:
        return Web(course.directory, which, Hub(), port)
    tokens = Tokens(course.directory)
    if not tokens.students():
        raise CourseError("no student has a token, so that nobody could hand in by HTTP; run `autograder tokens` first")
    return Web(course.directory, which, tokens, port)


def _keeping_up(web: Web, stopping: Callable[[], bool]) -> Callable[[], bool]:
    """The same question, at which the process that answers by HTTP is started again if it has ended."""

    def asked() -> bool:
        if stopping():
            return True
        web.keep_up()
        return False

    return asked


def _serve(
    loaded: Course,
    which: Callable[[Course], list[str]],
    status: Status,
    stopping: Callable[[], bool],
    *,
    isolation: str,
    warm: int,
) -> None:
    """Serve, in one session after another: a file of the course that changes, or a new release, makes a new one."""
    from autograder.serving import Session

    said, serving, has_begun = "", "", False
    while not stopping():
        try:
            loaded = _servable(load_course(loaded.directory, tree=False))
            names = ", ".join(which(loaded))
            if serving != (serving := names or "nothing"):
                _say(f"serving {names or NOTHING}; Ctrl-C ends it when what has begun is finished")
            if not names:
                _pause(stopping)
                continue
            with Session(loaded, which, status, _say, isolation=isolation, warm=warm) as session:
                said, has_begun = "", True
                session.run(stopping)
        except CourseError as error:
            if not has_begun:
                raise
            if said != str(error):
                said = str(error)
                _say(f"nothing is graded until this is mended: {said}")
            _pause(stopping)


def _pause(stopping: Callable[[], bool]) -> None:
    end = time.monotonic() + PAUSE
    while time.monotonic() < end and not stopping():
        time.sleep(0.1)


def _servable(course: Course) -> Course:
    if course.serving is None:
        raise CourseError(
            f"{course.path.name}: has no table [serve], which says how often a student's work is graded and what pages "
            'show before the due date; add one, such as [serve] with tries_per_day = 10, wait = 1, shows = "groups"'
        )
    return course


@contextmanager
def _until_stopped() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C or SIGTERM has come; a second one ends the process as it usually does."""
    came: list[int] = []

    def stop(which: int, _: object) -> None:
        if os.getpid() == own:
            came.append(which)
            for each, usual in before.items():
                signal.signal(each, usual)

    own = os.getpid()
    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(came)
    finally:
        for each, usual in before.items():
            signal.signal(each, usual)


def _say(sentence: str) -> None:
    from autograder.reading.student_files import one_line

    Console(soft_wrap=True, highlight=False).print(f"{dt.datetime.now():%H:%M:%S}  {one_line(sentence)}", markup=False)
