"""Handing in by HTTP on this machine: a process of its own that writes into the exchange, and reads what came of it.

It keeps nothing. A hand-in becomes a folder in nbgrader's exchange, as `nbgrader submit` makes one, and the state of a
student follows from the exchange, the ledger, the pages, and the sentences that `reports/serve.json` has of what waits.
So there is one inbox, whichever way work comes in, and this process may end at any moment.

A student is who the token says, and nothing in a request names another one. Times are this machine's.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import multiprocessing
import os
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol, Self

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from autograder.classes.work import Work
from autograder.classes.worker import die_with
from autograder.course import Course, CourseError
from autograder.course.classlist import read_class_list
from autograder.gradebook.dates import Dates, Watched
from autograder.gradebook.inbox import HandIn, Inbox, hand_in, listed
from autograder.grafting.tidying import course_of
from autograder.reading.student_files import MAX_BYTES, Unreadable, read_bytes
from autograder.results.ledger import read_entry
from autograder.serving.status import in_utc

HOST = "127.0.0.1"
"""The address that is listened at: nothing outside this machine reaches it."""

REQUESTS = 60
"""Requests of a student in a minute."""

HAND_INS = 50
"""Hand-ins of a student on one day, for each assignment, graded or not: each of them takes place in the exchange."""

BODY = 40_000_000
"""Bytes of a request."""

BODY_SECONDS = 60.0
"""Seconds in which a request has to arrive."""

HEAD_SECONDS = 5.0
"""Seconds in which the head of a request has to arrive, so that silent connections do not take all places."""

LONGEST = 500
"""Characters of a token; a longer text is none."""

CONNECTIONS = 200
"""Most connections at a time; what comes above is told to come again."""

_PAGE = {
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Identity(Protocol):
    """Says whose a token is."""

    def student_of(self, token: str) -> str | None:
        """Return the student's id; None for a token of nobody.

        Raises:
            CourseError: If that cannot be found out.
        """
        ...


class Desk:
    """What may be asked, as functions of a student.

    Args:
        root: The course's directory.
        which: Returns the assignments that are served, as they are now.
    """

    def __init__(self, root: Path, which: Callable[[Course], Sequence[str]]) -> None:
        self._root, self._which = root, which
        self._inboxes: dict[str, Inbox] = {}
        self._rows: Watched
        self._of: object = None
        self._lock = threading.Lock()  # nbgrader's objects are for one thread

    def state(self, student: str, assignment: str) -> dict[str, Any]:
        """What is known of a student's newest hand-in, or of the group's."""
        with self._lock:
            return self._state(student, self._inbox(assignment), assignment)

    def hand_in(self, student: str, assignment: str, files: Any) -> dict[str, Any]:
        """Put notebooks into the exchange, unless the newest hand-in is the student's and the same; return the state.

        The very notebooks of another member are a hand-in all the same, with a time and pages of its own.

        Raises:
            HTTPException: If they are not the assignment's notebooks, there were too many on this day, or the disk
                refuses.
        """
        with self._lock:
            inbox = self._inbox(assignment)
            contents = self._checked(assignment, files)
            newest = _newest(inbox, assignment, read_class_list(course_of(self._root)).members(assignment, student))
            is_own = newest is not None and newest.work.student == student
            if newest is None or not is_own or not _holds(inbox.folder / newest.name, contents):
                today = f"{student}+{assignment}+{dt.datetime.now(dt.UTC):%Y-%m-%d}"
                names = [name for name in listed(inbox.folder) if name.startswith(today)]
                if sum(inbox.is_own(student, name) for name in names) >= HAND_INS:
                    raise HTTPException(429, f"{HAND_INS} hand-ins have come today; the next one is taken tomorrow")
                try:
                    hand_in(inbox.folder, student, assignment, contents)
                except OSError as error:
                    raise HTTPException(507, f"the hand-in could not be kept: {error.strerror}; try again") from error
            return self._state(student, inbox, assignment)

    def page(self, student: str, assignment: str, lesson: str) -> bytes:
        """A student's feedback page.

        Raises:
            HTTPException: If there is none.
        """
        with self._lock:
            inbox = self._inbox(assignment)
            if lesson not in self._lessons(assignment) or not inbox.is_out(student):
                raise HTTPException(404, "there is no page yet")
            try:
                return read_bytes(self._root / "feedback" / student / assignment / f"{lesson}.html")
            except Unreadable as error:
                raise HTTPException(404, "there is no page yet") from error

    def _inbox(self, assignment: str) -> Inbox:
        course = course_of(self._root)
        served = self._which(course)
        if assignment not in served:
            raise HTTPException(404, f"{assignment} is not handed in here; {', '.join(served) or 'nothing'} is")
        if course is not self._of:  # course.toml was changed
            self._inboxes, self._rows, self._of = {}, Watched(course), course
        if assignment not in self._inboxes:
            self._inboxes[assignment] = Inbox(course, assignment)
        return self._inboxes[assignment]

    def _lessons(self, assignment: str) -> tuple[str, ...]:
        return tuple(course_of(self._root).assignment(assignment).lessons)

    def _checked(self, assignment: str, files: Any) -> dict[str, bytes]:
        """The notebooks of a request, by name."""
        wanted = [f"{lesson}.ipynb" for lesson in self._lessons(assignment)]
        if not isinstance(files, dict) or not files or not all(isinstance(each, str) for each in files.values()):
            raise HTTPException(422, 'the body is {"files": {NAME: TEXT}} with the text of each notebook')
        if set(files) - set(wanted):
            raise HTTPException(422, f"the notebooks of {assignment} are {', '.join(wanted)}, and no other file")
        contents = {name: text.encode(errors="replace") for name, text in files.items()}
        large = [name for name, content in contents.items() if len(content) > MAX_BYTES]
        if large:
            raise HTTPException(413, f"{large[0]} has more than {MAX_BYTES:,} bytes; clear its outputs")
        return contents

    def _state(self, student: str, inbox: Inbox, assignment: str) -> dict[str, Any]:
        dates = Dates(course_of(self._root), self._rows)
        newest = _newest(inbox, assignment, dates.classmates.members(assignment, student))
        newest = newest and inbox.superseding(newest)
        late = dates.for_student(assignment, student, newest.when if newest else None)
        found: dict[str, Any] = {
            "student": student,
            "assignment": assignment,
            "due": _iso(late.due),
            "deadline": _iso(late.deadline),
            "handed_in": _iso(late.submitted),
            "state": "none",
            "said": "",
        }
        if newest is None:
            return found
        found["late"] = late.seconds
        if inbox.is_graded_for(newest, student) and (inbox.is_out(student) or newest.work.student != student):
            return found | {"state": "graded"} | self._mark(student, assignment)
        earlier = self._mark(student, assignment) if inbox.is_out(student) else {}
        return found | self._said(newest) | earlier

    def _mark(self, student: str, assignment: str) -> dict[str, Any]:
        entries = [read_entry(self._root, student, assignment, lesson) for lesson in self._lessons(assignment)]
        marks = [each.submission for each in entries if each is not None]
        lessons = [{"lesson": each.lesson, "earned": each.earned, "points": each.points} for each in marks]
        earned, points = sum(each.earned for each in marks), sum(each.points for each in marks)
        return {"earned": earned, "points": points, "lessons": lessons}

    def _said(self, hand_in: HandIn) -> dict[str, str]:
        """The state of what is not graded, as `autograder serve` last wrote it, perhaps of an earlier hand-in."""
        try:
            lines = json.loads((self._root / "reports" / "serve.json").read_text(encoding="utf-8"))["hand_ins"]
        except (OSError, ValueError):  # it has not begun
            lines = []
        work, arrived = hand_in.work, in_utc(hand_in.arrived)
        mine = (work.student, work.assignment, arrived)
        found = (line for line in lines if (line["student"], line["assignment"], line["handed_in"]) == mine)
        line = next(found, {"state": "queued", "said": ""})
        return {"state": line["state"], "said": line["said"]}


def _newest(inbox: Inbox, assignment: str, students: Sequence[str]) -> HandIn | None:
    """The newest hand-in of any of some students."""
    works = {Work(student, assignment) for student in students}
    beginnings = tuple(f"{student}+{assignment}+" for student in students)
    found = inbox.newest(name for name in listed(inbox.folder) if name.startswith(beginnings))
    return max((each for each in found if each.work in works), key=lambda each: each.when, default=None)


def _holds(folder: Path, contents: dict[str, bytes]) -> bool:
    """Return whether a hand-in has these notebooks, and no others."""
    try:
        there = {path.name for path in folder.glob("*.ipynb")}
        return there == set(contents) and all(read_bytes(folder / name) == each for name, each in contents.items())
    except (OSError, Unreadable):  # whoever made the folder may have put anything into it
        return False


def _iso(when: dt.datetime | None) -> str | None:
    return when.astimezone(dt.UTC).isoformat(timespec="seconds") if when else None


def application(desk: Desk, identity: Identity) -> Starlette:
    """The application: its routes, and the bounds of each request.

    Args:
        desk: What may be asked.
        identity: Says whose a token is.
    """
    asked: defaultdict[str, deque[float]] = defaultdict(deque)
    checking = threading.Lock()

    def known(token: str) -> str | None:
        with checking:
            return identity.student_of(token)

    async def student_of(request: Request) -> str:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        is_token = kind.lower() in ("bearer", "token") and 0 < len(token) <= LONGEST
        student = await run_in_threadpool(known, token) if is_token else None
        if student is None:
            raise HTTPException(
                401, "no token of this course; the instructor has yours", {"WWW-Authenticate": "Bearer"}
            )
        times, now = asked[student], time.monotonic()
        while times and times[0] < now - 60:
            times.popleft()
        if len(times) >= REQUESTS:
            raise HTTPException(429, f"more than {REQUESTS} requests in a minute", {"Retry-After": "60"})
        times.append(now)
        return student

    async def state(request: Request) -> Response:
        student = await student_of(request)
        return JSONResponse(await run_in_threadpool(desk.state, student, request.path_params["assignment"]))

    async def take(request: Request) -> Response:
        student = await student_of(request)
        files = await _files(request)
        found = await run_in_threadpool(desk.hand_in, student, request.path_params["assignment"], files)
        return JSONResponse(found, 202)

    async def page(request: Request) -> Response:
        student = await student_of(request)
        where = request.path_params
        content = await run_in_threadpool(desk.page, student, where["assignment"], where["lesson"])
        return Response(content, media_type="text/html; charset=utf-8", headers=_PAGE)

    routes = [
        Route("/{assignment}", state, methods=["GET"]),
        Route("/{assignment}", take, methods=["POST"]),
        Route("/{assignment}/{lesson}.html", page, methods=["GET"]),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _refused, CourseError: _unready})


async def _files(request: Request) -> Any:
    """The notebooks of a request, of bounded size, that arrived in bounded time."""
    import anyio

    content = bytearray()
    try:
        with anyio.fail_after(BODY_SECONDS):
            async for part in request.stream():
                content += part
                if len(content) > BODY:
                    raise HTTPException(413, f"more than {BODY:,} bytes; clear the outputs of the notebooks")
        asked = await run_in_threadpool(json.loads, bytes(content))
    except TimeoutError as error:
        raise HTTPException(408, f"it took more than {BODY_SECONDS:g} s to arrive") from error
    except ClientDisconnect as error:
        raise HTTPException(400, "it did not arrive") from error
    except (ValueError, RecursionError) as error:
        raise HTTPException(422, "the body is no JSON") from error
    return asked.get("files") if isinstance(asked, dict) else None


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _unready(request: Request, error: Exception) -> Response:
    """An instructor is at the course's files, or the hub is away; what is wrong is not for students."""
    return JSONResponse({"error": "the course cannot be asked at this moment; try again"}, 503, {"Retry-After": "10"})


class Web:
    """The process that answers.

    Args:
        root: The course's directory.
        which: Returns the assignments that are served, as they are now.
        identity: Says whose a token is.
        port: The port; 0 for any.

    Attributes:
        port: The port that is listened at.

    Raises:
        CourseError: If the port is not to be had.
    """

    def __init__(self, root: Path, which: Callable[[Course], Sequence[str]], identity: Identity, port: int) -> None:
        self._make: Callable[[], Starlette] = lambda: application(Desk(root, which), identity)
        try:
            self._socket = socket.create_server((HOST, port))
        except (OSError, OverflowError) as error:
            raise CourseError(
                f"port {port} of {HOST} cannot be listened at: {error}; name another by --port"
            ) from error
        self.port: int = self._socket.getsockname()[1]
        self._process: BaseProcess | None = None

    def __enter__(self) -> Self:
        self.keep_up()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.join(5)
            self._process.kill()
            self._process.join()
        self._socket.close()

    def keep_up(self) -> None:
        """Start the process, again where it has ended."""
        if self._process is None or not self._process.is_alive():
            context = multiprocessing.get_context("fork")
            self._process = context.Process(target=_answer, args=(self._make, self._socket, os.getpid()), daemon=True)
            self._process.start()


class _Prompt(H11Protocol):
    """Closes a connection whose next request does not begin in time."""

    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Give the first request its time."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Give the rest of a head its time: uvicorn's own timer ends at the first byte."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the watch."""
        super().connection_lost(exc)
        self._unwatch()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:  # type: ignore[redundant-expr]  # None at first
            self._unwatch()
        elif self._closing is None:
            self._closing = self.loop.call_later(HEAD_SECONDS, self.timeout_keep_alive_handler)

    def _unwatch(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None


def _answer(make: Callable[[], Starlette], listening: socket.socket, owner: int) -> None:
    die_with(owner)
    config = uvicorn.Config(
        make(),
        http=_Prompt,
        log_level="error",
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(config).run(sockets=[listening])
