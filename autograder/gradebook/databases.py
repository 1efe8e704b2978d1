"""A gradebook moved to another database, kept before each grading run, and brought back.

nbgrader keeps its rows in SQLite, or in any other database that SQLAlchemy speaks to. Every key is a text that nbgrader
made, so rows are copied as they are, table by table, each after those that it refers to. What was copied is read again
and compared before it takes the place of anything.

A gradebook in SQLite takes its place by renaming its file; on a server everything happens in one transaction. So
whatever is killed in between leaves the old gradebook or the new one.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from nbgrader.api import Base
from sqlalchemy import URL, Connection, Table, create_engine, func, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from autograder.common.atomic import Aside
from autograder.course import Course, CourseError
from autograder.gradebook.diagnosing import diagnosed, diagnosis, refuse_an_unusable_gradebook
from autograder.gradebook.settings import gradebook_url
from autograder.gradebook.turns import Turn

BACKUPS = Path(".grades", "backups")
"""The folder of backups in a course's directory."""

KEPT = 20
"""Newest backups that are kept."""

_ROWS = 2000
"""Rows that are in memory at a time."""

_VERSION = "alembic_version"
"""The table in which nbgrader keeps the version of its tables."""

Rows = Mapping[str, int]
"""The number of rows by table."""


def address(given: str) -> URL:
    """Read a database's address.

    Raises:
        CourseError: If it is none, or its driver is not installed.
    """
    try:
        url = make_url(given)
        create_engine(url, poolclass=NullPool)
    except (ArgumentError, NoSuchModuleError) as error:
        raise CourseError(
            f"{given!r} is no address of a database; examples are sqlite:////srv/course/gradebook.db and "
            "postgresql://user:password@host/name"
        ) from error
    except ModuleNotFoundError as error:
        raise CourseError(
            f"{shown(make_url(given))}: the package {error.name} is missing; for PostgreSQL, "
            "`pip install 'psycopg[binary]'` installs it"
        ) from error
    if url.get_backend_name() == "sqlite" and not url.database:
        raise CourseError(f"{given!r} names no file; an example is sqlite:////srv/course/gradebook.db")
    return url


def shown(url: URL) -> str:
    """An address without its password."""
    return url.render_as_string(hide_password=True)


def move(
    source: URL, target: URL, *, replace: bool = False, done: Callable[[str, int], None] = lambda *_: None
) -> Rows:
    """Copy a gradebook into another database; the old one stays as it is.

    Args:
        source: The gradebook.
        target: A database without a gradebook.
        replace: Whether a gradebook that is there is replaced by this one.
        done: Called with a table's name and how many of its rows were copied.

    Returns:
        How many rows of each table were copied.

    Raises:
        CourseError: If there is no gradebook, or one in the target already, or a database cannot be used.
    """
    if source == target:
        raise CourseError(f"{shown(target)} is where the gradebook is; name another database")
    _refuse_what_is_none(source)
    if target.get_backend_name() != "sqlite":
        return _copied(source, target, replace, done)
    path = Path(str(target.database))
    if not replace and path.exists() and path.stat().st_size:
        raise CourseError(f"{path} is there already; move it away, or name another file")
    with Aside(path.parent) as folder:
        made = folder / path.name
        if source.get_backend_name() == "sqlite":
            rows = _copied_file(Path(str(source.database)), made)
        else:
            rows = _copied(source, target.set(database=str(made)), False, done)
        made.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o600)
        made.replace(path)
    return rows


def _refuse_what_is_none(source: URL) -> None:
    if source.get_backend_name() == "sqlite":
        path = Path(str(source.database))
        if not path.exists() or not path.stat().st_size:
            raise CourseError(f"{path}: there is no gradebook yet")
    refuse_an_unusable_gradebook(_whole(source))


def _copied(source: URL, target: URL, replace: bool, done: Callable[[str, int], None]) -> Rows:
    """Copy row by row, in one transaction of each database."""
    with _connected(source) as given, _connected(target) as taken:
        Base.metadata.create_all(taken)
        tables = Base.metadata.sorted_tables
        if any(taken.execute(select(table).limit(1)).first() for table in tables):
            if not replace:
                raise CourseError(f"{shown(target)} holds a gradebook already; name an empty database")
            for table in reversed(tables):
                taken.execute(table.delete())
        rows = {table.name: _copy_table(given, taken, table, done) for table in tables}
        _copy_version(given, taken)
        for table in tables:
            if _digest(given, table) != _digest(taken, table):
                raise CourseError(f"{shown(target)} does not give back what was written into {table.name}")
        return rows


def _copy_table(given: Connection, taken: Connection, table: Table, done: Callable[[str, int], None]) -> int:
    count = 0
    for some in given.execute(select(table)).mappings().partitions(_ROWS):
        taken.execute(table.insert(), [dict(row) for row in some])
        count += len(some)
        done(table.name, count)
    return count


def _copy_version(given: Connection, taken: Connection) -> None:
    """Let nbgrader know which version the tables have, as it does itself in a new database."""
    if not inspect(given).has_table(_VERSION):
        return
    if not inspect(taken).has_table(_VERSION):
        taken.execute(text(f"CREATE TABLE {_VERSION} (version_num VARCHAR(32) NOT NULL)"))
    taken.execute(text(f"DELETE FROM {_VERSION}"))
    for (version,) in given.execute(text(f"SELECT version_num FROM {_VERSION}")).all():
        taken.execute(text(f"INSERT INTO {_VERSION} VALUES (:version)"), {"version": version})


def _digest(connection: Connection, table: Table) -> str:
    """A hash of all rows, in whichever order they come."""
    lines = sorted(hashlib.sha256(repr(tuple(row)).encode()).digest() for row in connection.execute(select(table)))
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _copied_file(source: Path, target: Path) -> Rows:
    """Copy SQLite's file by SQLite's own means, also while others write to it."""
    with _told(URL.create("sqlite", database=str(source))):
        with closing(sqlite3.connect(source)) as given, closing(sqlite3.connect(target)) as taken:
            given.backup(taken)
            if taken.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("database disk image is malformed")
        with _connected(URL.create("sqlite", database=str(target))) as made:
            return {
                table.name: made.execute(select(func.count()).select_from(table)).scalar_one()
                for table in Base.metadata.sorted_tables
            }


@contextmanager
def _connected(url: URL) -> Iterator[Connection]:
    """One transaction of a database: what is read is of one moment, and what is written stands at the end or not."""
    settings: dict[str, Any] = {} if url.get_backend_name() == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    engine = create_engine(url, poolclass=NullPool, **settings)
    with _told(url), engine.begin() as connection:
        if not settings:
            connection.exec_driver_sql("BEGIN")  # Python's own driver begins with the first change only
        yield connection


@contextmanager
def _told(url: URL) -> Iterator[None]:
    """Say in a sentence what is wrong with a database."""
    with diagnosed(_whole(url)):
        try:
            yield
        except sqlite3.Error as error:
            raise diagnosis(error, _whole(url)) from error


def _whole(url: URL) -> str:
    return url.render_as_string(hide_password=False)


# Backups -------------------------------------------------------------------------------------------------------------


def backups(course: Course) -> list[Path]:
    """The backups of a course's gradebook, newest first."""
    return sorted((course.directory / BACKUPS).glob("gradebook-*.db"), reverse=True)


def back_up(course: Course, spare: Path | None = None) -> Path | None:
    """Keep a copy of the gradebook as it is now, an SQLite file whichever database it is of; the oldest go.

    Args:
        course: The course.
        spare: A backup that stays, however old it is.

    Returns:
        The copy; None if there is no gradebook yet.

    Raises:
        CourseError: If it cannot be read.
    """
    source = of_course(course)
    if source.get_backend_name() == "sqlite":
        path = Path(str(source.database))
        if not path.exists() or not path.stat().st_size:
            return None
    kept = course.directory / BACKUPS / f"gradebook-{dt.datetime.now(dt.UTC):%Y-%m-%dT%H%M%S}.db"
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    move(source, URL.create("sqlite", database=str(kept)), replace=True)
    for old in backups(course)[KEPT:]:
        if spare is None or old.resolve() != spare.resolve():
            old.unlink(missing_ok=True)
    return kept


def restore(course: Course, kept: Path) -> Rows:
    """Put a backup into the place of a course's gradebook, while no run of the grader writes into it.

    Raises:
        CourseError: If the file is no gradebook, or the database cannot be used.
    """
    with Turn(course.directory):
        return move(URL.create("sqlite", database=str(kept.resolve())), of_course(course), replace=True)


def of_course(course: Course) -> URL:
    """The address of a course's gradebook; a relative file is one in the course's directory, as for nbgrader."""
    url = address(gradebook_url(course))
    if url.get_backend_name() == "sqlite":
        return url.set(database=str(course.directory / str(url.database)))
    return url
