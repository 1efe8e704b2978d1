"""The reason why a gradebook cannot be used, in one sentence, and the way in which every command opens it.

A database's error comes wrapped by SQLAlchemy, and then by nbgrader, which also logs a traceback. The innermost error
says what is wrong: SQLite by its text, a server by its SQLSTATE, and a server that does not answer by the text alone.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Base, Gradebook, InvalidEntry
from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from autograder.course import CourseError

REBUILD = (
    "restore it from a copy; without one, move it away, then run `nbgrader generate_assignment ASSIGNMENT --force` and "
    "`autograder autograde ASSIGNMENT` for each assignment, which record the marks of the ledger again"
)
NAMED = "c.CourseDirectory.db_url in nbgrader_config.py"


class GradebookError(CourseError):
    """The gradebook cannot be used; the message says why, and what to do."""


class BusyGradebookError(GradebookError):
    """Another program uses the gradebook at this moment; the same command may succeed now."""


@dataclass(frozen=True)
class _Reason:
    """A reason, and the errors that it explains.

    Attributes:
        text: A pattern of the innermost error's text.
        states: Beginnings of a server's SQLSTATE.
        said: The sentence after the gradebook's name; `{cause}` is the error's first line.
        busy: Whether the same command may succeed a moment later.
    """

    text: str
    states: tuple[str, ...]
    said: str
    busy: bool = False


_AWAY = _Reason(
    r"refused|could not connect|connection to server|translate host|server closed|terminat|timed? ?out|"
    r"starting up|shutting down|unreachable|name or service",
    ("08", "57P"),
    f"its server does not answer ({{cause}}); start the server, or correct {NAMED}",
)
_REASONS = (
    _Reason(r"file is not a database|is encrypted", (), f"is no gradebook; {REBUILD}"),
    _Reason(r"malformed", (), f"is damaged ({{cause}}); {REBUILD}"),
    _Reason(
        r"is locked|too many clients|deadlock|could not serialize|lock timeout",
        ("40", "55P03", "53300"),
        "someone else is writing to the gradebook; give the same command again",
        busy=True,
    ),
    _Reason(
        r"UNIQUE constraint|duplicate key",
        ("23",),
        "another program wrote the same marks at this moment; give the same command again",
        busy=True,
    ),
    _Reason(r"readonly|read-only", ("25006",), "cannot be written to ({cause}); make the file and its folder writable"),
    _Reason(
        r"disk is full|no space left|quota",
        ("53100",),
        "cannot be written to ({cause}); make room on the disk, then give the same command again",
    ),
    _Reason(r"disk i/o error", ("58",), "the disk refuses to read or write it ({cause}); check the disk"),
    _Reason(
        r"unable to open",
        (),
        "cannot be opened ({cause}); check the permissions of the file and of its folder, and " + NAMED,
    ),
    _Reason(
        r"authentication|no password|permission denied|pg_hba|(role|database) .* does not exist",
        ("28", "3D", "42501"),
        f"its server refuses the connection ({{cause}}); correct user, password or database in {NAMED}",
    ),
    _Reason(
        r"no such column|no column named|column .* does not exist",
        ("42703",),
        "belongs to another version of nbgrader ({cause}); make a copy, then run `nbgrader db upgrade`",
    ),
    _Reason(
        r"no such table|relation .* does not exist",
        ("42P01",),
        f"is no gradebook ({{cause}}); correct {NAMED}, or run `nbgrader generate_assignment ASSIGNMENT`",
    ),
    _AWAY,
)


def diagnosis(error: BaseException, url: str) -> GradebookError:
    """Return the reason for a database's error, to be raised in its place.

    Args:
        error: What SQLAlchemy or nbgrader raised.
        url: The gradebook's address.
    """
    cause = _innermost(error)
    first = (str(cause).strip().splitlines() or [""])[0]
    state = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None) or ""
    reason = next((each for each in _REASONS if _explains(each, str(cause), state)), None)
    if reason is None and isinstance(error, OperationalError) and not _is_sqlite(url):
        reason = _AWAY  # a server's own language
    if reason is None:
        return GradebookError(f"{_place(url)}: cannot be used ({type(cause).__name__}: {first})")
    kind = BusyGradebookError if reason.busy else GradebookError
    return kind(f"{_place(url)}: {reason.said.format(cause=first)}")


def _innermost(error: BaseException) -> BaseException:
    """The driver's own error."""
    if isinstance(error, InvalidEntry):  # nbgrader raises it while it handles another one
        error = error.__context__ or error
    return getattr(error, "orig", None) or error


def _explains(reason: _Reason, text: str, state: str) -> bool:
    return state.startswith(reason.states) if state and reason.states else bool(re.search(reason.text, text, re.I))


def _is_sqlite(url: str) -> bool:
    return url.startswith("sqlite")


def _place(url: str) -> str:
    """The gradebook's file, or its address without the password."""
    return _file(url) or make_url(url).render_as_string(hide_password=True)


def _file(url: str) -> str:
    return (make_url(url).database or "") if _is_sqlite(url) else ""


@contextmanager
def diagnosed(url: str) -> Iterator[None]:
    """Raise the reason in place of a database's errors; the traceback that nbgrader logs of them is left out.

    Args:
        url: The gradebook's address.

    Raises:
        GradebookError: If the gradebook cannot be used.
    """
    log = logging.getLogger("tornado.application")
    log.addFilter(_is_no_traceback)
    try:
        yield
    except (SQLAlchemyError, InvalidEntry) as error:
        raise diagnosis(error, url) from error
    finally:
        log.removeFilter(_is_no_traceback)


def _is_no_traceback(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith("Rolling back session due to database error")


@contextmanager
def opened(url: str, course_id: str) -> Iterator[Any]:
    """Open nbgrader's gradebook for a block.

    Args:
        url: The gradebook's address.
        course_id: The course's name in it.

    Raises:
        GradebookError: If the gradebook cannot be used, in this block too.
    """
    refuse_an_unusable_gradebook(url)
    with diagnosed(url), Gradebook(url, course_id) as gradebook:
        yield gradebook


def refuse_an_unusable_gradebook(url: str) -> None:
    """Look whether an address leads to a whole gradebook; nbgrader would make one of whatever it opens.

    A file that is not there yet is left to nbgrader.

    Raises:
        GradebookError: If the gradebook cannot be used.
    """
    file = Path(_file(url))
    if _is_sqlite(url) and not file.is_file():
        if file.is_dir():
            raise GradebookError(f"{file}: is no gradebook (it is a folder); {REBUILD}")
        return
    with connected(url) as connection:
        if _is_sqlite(url) and connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() != "ok":
            raise diagnosis(ValueError("database disk image is malformed"), url)
        if "assignment" not in inspect(connection).get_table_names():
            raise diagnosis(ValueError("no such table: assignment"), url)


def refuse_an_unwritable_gradebook(url: str) -> None:
    """Look also whether rows can be written, by one that is taken back.

    Raises:
        GradebookError: If the gradebook cannot be used or written to.
    """
    refuse_an_unusable_gradebook(url)
    file = Path(_file(url))
    if _is_sqlite(url) and not file.is_file():
        if not os.access(file.parent, os.W_OK):
            raise GradebookError(f"{file}: cannot be made; make its folder writable")
        return
    with connected(url) as connection:
        connection.execute(Base.metadata.tables["course"].insert().values(id="autograder doctor"))
        connection.rollback()


@contextmanager
def connected(url: str, seconds: int | None = None) -> Iterator[Connection]:
    """Connect to a gradebook's database; a failure, in the block too, is diagnosed.

    Args:
        url: The gradebook's address.
        seconds: How long to wait for a lock of SQLite, or for PostgreSQL's server; None for the driver's own time.

    Raises:
        GradebookError: If the gradebook cannot be used.
    """
    waits = {"sqlite": "timeout", "postgresql": "connect_timeout"}.get(make_url(url).get_backend_name())
    with diagnosed(url):
        engine = _engine(url, {waits: seconds} if waits and seconds else {})
        try:
            with engine.connect() as connection:
                yield connection
        finally:
            engine.dispose()


def _engine(url: str, settings: dict[str, Any]) -> Engine:
    try:
        return create_engine(url, connect_args=settings)
    except ModuleNotFoundError as error:
        raise GradebookError(
            f"{_place(url)}: needs the package {error.name}, which is not installed; install it beside nbgrader"
        ) from error
