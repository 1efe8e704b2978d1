"""The commands that take a roster from a learning platform and send it marks, by LTI 1.3."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder.commands.common import REJECTED, CourseOption, honest, need, short
from autograder.commands.showing import number, remark
from autograder.common.claims import Claim
from autograder.course import Course, CourseError
from autograder.course.loading import find_course, load_course
from autograder.lti import PlatformError
from autograder.lti.keeping import (
    KEY,
    LINK,
    LOCK,
    Link,
    read_link,
    read_members,
    write_link,
    write_members,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.course.platform import Platform
    from autograder.lti.asking import Services

_PORT = 8770


@honest
def keys(course: CourseOption = None) -> None:
    """Make the grader's key pair, if there is none yet, and print what the platform asks of a tool.

    The secret half stays in .grades/lti/key.pem, which its owner alone can read. To replace the pair, remove that file,
    give this command again, and enter the new public half at the platform.

    Examples:
      autograder lti keys
    """
    loaded, platform = _loaded(course)
    from autograder.lti.keys import make_key, read_key
    from autograder.lti.launching import LAUNCH, LOGIN

    path = loaded.directory / KEY
    if not path.exists():
        make_key(path)
        _say(f"made: {short(path)}")
    key = read_key(path)
    for what, value in (
        ("login initiation URL", platform.tool_url + LOGIN),
        ("redirect URI, target link URI", platform.tool_url + LAUNCH),
        ("services", "Names and Roles; Assignment and Grade Services with columns and scores"),
        ("privacy", "share names and addresses"),
        ("opens in", "a new window"),
        ("public key (JWK)", key.public_jwk),
        ("public key (PEM)", f"\n{key.public_pem}"),
    ):
        typer.echo(f"{what}: {value}")


@honest
def listen(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port of 127.0.0.1 that the proxy forwards to.")
    ] = _PORT,
    relink: Annotated[bool, typer.Option("--relink", help="Accept another course than the one linked now.")] = False,
    course: CourseOption = None,
) -> None:
    """Wait for one launch by an instructor, verify it, and keep where the platform's services are.

    It ends when a launch is accepted; one that is refused is told and changes nothing. It listens on this machine's own
    address alone: a web server with a certificate forwards /lti/login and /lti/launch of `tool_url` to it.

    Examples:
      autograder lti listen

      autograder lti listen --port 9000
    """
    loaded, platform = _loaded(course)
    from autograder.lti.asking import Wire
    from autograder.lti.launching import Launches
    from autograder.lti.listening import listen

    before = read_link(loaded.directory)

    def accept(link: Link) -> None:
        if before is not None and before.context != link.context and not relink:
            raise PlatformError(
                f"the launch was refused: it is of {link.title!r}, and this course is linked to {before.title!r}; "
                "`autograder lti listen --relink` links it to another"
            )
        write_link(loaded.directory, link)

    def ready(port: int) -> None:
        _say(f"waiting for a launch at http://127.0.0.1:{port}, as {platform.tool_url}; Ctrl-C ends it")

    with Wire(platform) as wire:
        link = asyncio.run(listen(Launches(platform, wire), port, accept, ready=ready, say=_say))
    _say(f"linked to {link.title!r} ({link.context}) of {link.issuer}: {short(loaded.directory / LINK)}")


@honest
def roster(course: CourseOption = None) -> None:
    """Take the platform's list of students into the gradebook, as `nbgrader db student import` takes a file.

    New students are added, and names and addresses follow the platform's. Who is not listed any more is named and not
    deleted: marks stay, and `autograder forget` deletes. No mark changes.

    Examples:
      autograder lti roster
    """
    loaded, platform = _loaded(course)
    from autograder.lti.roster import SCOPE, compare, put_rows, read_list, students_in

    with _services(loaded, platform, (SCOPE,)) as (link, services):
        listed = read_list(services, link)
    found = compare(listed, read_members(loaded.directory), students_in(loaded), platform.student_id)
    put_rows(loaded, found.rows)
    write_members(loaded.directory, found.members)
    changed = len(found.rows) - len(found.new)
    _say(
        f"{link.title}: {number(sum(each.active for each in listed), 'student')} listed, {len(found.new)} new, "
        f"{changed} changed"
    )
    if found.gone:
        remark(
            [f"not listed any more, and not deleted: {', '.join(found.gone)}; `autograder forget ID` deletes a student"]
        )
    remark(found.notes)


@honest
def marks(
    assignment: Annotated[str, typer.Argument(help="The assignment, such as module1.", show_default=False)],
    course: CourseOption = None,
) -> None:
    """Send the gradebook's marks of an assignment to the platform: each once, and again when it has changed.

    The marks are those of `autograder report --csv`, with penalties. The platform's column is made if it is not there.
    Whoever handed in nothing gets no mark, rather than a zero. A run that was stopped goes on when it is given again.
    Exit code 1 says that the platform refused a mark.

    Examples:
      autograder lti marks module1
    """
    loaded, platform = _loaded(course)
    from autograder.gradebook.exporting import read_marks, remarks
    from autograder.lti.marks import SCOPES, Outcome, State, column_of, send

    title = loaded.assignment(assignment).title
    own = read_marks(loaded, [assignment])
    members = read_members(loaded.directory)
    if not members or not own:
        first = "" if read_link(loaded.directory) else "`autograder lti listen`, then "
        raise PlatformError(f"no student of the platform is known yet; give {first}`autograder lti roster` first")
    claim = Claim(loaded.directory / LOCK)
    if not claim.take():
        raise PlatformError("another `autograder lti marks` is at this course; wait for its end")
    outcomes: list[Outcome] = []
    try:
        with _services(loaded, platform, SCOPES) as (link, services):
            column = column_of(services, link, loaded.name, assignment, title, own[0].max_score)
            for each in send(services, loaded.directory, column, own, members):
                outcomes.append(each)
    finally:
        claim.give_back()
        count = Counter(each.state for each in outcomes)
        told = ", ".join(f"{count[state]} {state.value}" for state in State if count[state])
        _say(f"{assignment}: {told or 'no mark was sent'}")
    named = defaultdict[str, list[str]](list)
    for each in outcomes:
        if each.state in (State.UNKNOWN, State.CLEARED, State.REFUSED):
            named[each.state.value + (f" ({each.said})" if each.said else "")].append(each.student)
    remark([f"{what}: {', '.join(students)}" for what, students in named.items()] + remarks(own))
    if count[State.REFUSED]:
        raise typer.Exit(REJECTED)


def _loaded(course: Path | None) -> tuple[Course, Platform]:
    """The course and its platform."""
    need("jwt", "lti", "LTI")
    loaded = load_course(course or find_course(), tree=False)
    if loaded.platform is None:
        raise CourseError(
            f"{loaded.path.name}: has no table [lti], which names the platform; add it as docs/instructor/lms.md says"
        )
    return loaded, loaded.platform


@contextmanager
def _services(course: Course, platform: Platform, scopes: tuple[str, ...]) -> Iterator[tuple[Link, Services]]:
    """The course on the platform, and a way to its services."""
    from autograder.lti.asking import Services, Wire
    from autograder.lti.keys import read_key

    link = read_link(course.directory)
    if link is None or not link.is_of(platform):
        raise PlatformError(
            f"this course is linked to no course of {platform.issuer} yet; give `autograder lti listen`, then open "
            "the tool in the platform"
        )
    with Wire(platform) as wire:
        yield link, Services(platform, read_key(course.directory / KEY), wire, scopes)


def _say(sentence: str) -> None:
    Console(soft_wrap=True, highlight=False).print(sentence, markup=False)
