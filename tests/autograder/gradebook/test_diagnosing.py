"""Why a gradebook cannot be used: one true sentence for each reason, from real databases where that can be."""

import contextlib
import logging
import shutil
import sqlite3
from pathlib import Path

import pytest
from nbgrader.api import Base, Gradebook
from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError

from autograder.gradebook.diagnosing import (
    BusyGradebookError,
    GradebookError,
    diagnosis,
    opened,
    refuse_an_unwritable_gradebook,
)

DAMAGED = "is damaged"
NONE = "is no gradebook"
SERVER = "postgresql://ada:secret@db:5432/grades"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A gradebook with a student."""
    path = tmp_path_factory.mktemp("made") / "gradebook.db"
    engine = create_engine(f"sqlite:///{path}")
    Base.metadata.create_all(engine)  # without it nbgrader starts alembic
    engine.dispose()
    with Gradebook(f"sqlite:///{path}", "minigrad") as gradebook:
        gradebook.add_student("ada")
    return path


@pytest.fixture
def path(made, tmp_path):
    """The same again."""
    return Path(shutil.copy(made, tmp_path))


def read(path):
    """Open a gradebook as every command does."""
    with opened(f"sqlite:///{path}?timeout=0.05", "minigrad") as gradebook:
        return [student.id for student in gradebook.students]


def change(path, work):
    """Do something with an opened gradebook."""
    with opened(f"sqlite:///{path}", "minigrad") as gradebook:
        work(gradebook)


def spoil(path, table):
    """Overwrite the page on which a table begins."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        (size,) = database.execute("pragma page_size").fetchone()
        (page,) = database.execute("select rootpage from sqlite_master where name = ?", [table]).fetchone()
    text = bytearray(path.read_bytes())
    text[(page - 1) * size : page * size] = b"\xff" * size
    path.write_bytes(text)


def halve(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def make_another(path):
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("create table recipe (name)")


def make_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("ruin", "said"),
    [
        (lambda path: spoil(path, "student"), DAMAGED),
        (lambda path: spoil(path, "comment"), DAMAGED),  # which the commands that look at penalties never read
        (halve, DAMAGED),
        (lambda path: path.write_text("marks\n" * 100), NONE),
        (lambda path: path.write_text(""), NONE),
        (make_another, NONE),
        (make_folder, NONE),
    ],
    ids=["a page", "a page that is not asked for", "half a file", "text", "empty", "another program's", "a folder"],
)
def test_a_file_that_is_no_whole_gradebook(path, ruin, said):
    """The sentence names the file and what is wrong, and the file stays as it is."""
    assert read(path) == ["ada"]
    ruin(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(GradebookError, match=said) as found:
        read(path)
    assert str(path) in str(found.value) and not isinstance(found.value, BusyGradebookError)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_gradebook_that_another_program_writes_to(path):
    """It is busy, which is all that is said: the same command may succeed now."""
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("begin exclusive")
        with pytest.raises(BusyGradebookError, match="someone else is writing to the gradebook"):
            read(path)
    assert read(path) == ["ada"]


@pytest.mark.parametrize(
    ("pragma", "said"),
    [
        ("query_only = on", "attempt to write a readonly database.*make the file and its folder writable"),
        ("max_page_count = 1", "database or disk is full.*make room on the disk"),
    ],
)
def test_a_gradebook_that_cannot_be_written_to(path, pragma, said, caplog):
    """The reason is the disk's; nbgrader's traceback of it is not logged."""

    def add_student(gradebook):
        gradebook.db().connection().exec_driver_sql(f"pragma {pragma}")
        gradebook.add_student("bea", first_name="b" * 100_000)

    with pytest.raises(GradebookError, match=said):
        change(path, add_student)
    assert not caplog.records


def test_whether_a_gradebook_can_be_written_to(path):
    """A row is written and taken back; what the database says against it is the reason."""
    refuse_an_unwritable_gradebook(f"sqlite:///{path}")
    with contextlib.closing(sqlite3.connect(path)) as database:
        assert database.execute("select id from course").fetchall() == [("minigrad",)]
        closed = "select raise(abort, 'attempt to write a readonly database')"
        database.execute(f"create trigger closed before insert on course begin {closed}; end")
    with pytest.raises(GradebookError, match="cannot be written to"):
        refuse_an_unwritable_gradebook(f"sqlite:///{path}")


def test_a_row_that_another_program_adds_at_the_same_moment(path, caplog):
    """Two programs that add a student at once: one of them tries again, and no traceback is logged."""
    with pytest.raises(BusyGradebookError, match="at this moment"):
        change(path, lambda gradebook: gradebook.add_student("ada"))
    assert not caplog.records
    logging.getLogger("tornado.application").error("Rolling back session due to database error, outside of the block")
    assert caplog.records


def test_a_file_in_a_folder_that_is_not_there(tmp_path):
    """The database cannot be opened, and the sentence says where it is named."""
    with pytest.raises(GradebookError, match=r"cannot be opened.*db_url"):
        read(tmp_path / "none" / "gradebook.db")


class DriverError(Exception):
    """An error as drivers of PostgreSQL raise it."""

    def __init__(self, text, pgcode=None):
        super().__init__(text)
        self.pgcode = pgcode


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ('connection to server at "db", port 5432 failed: Connection refused\n\tIs it running?', None, "not answer"),
        ('could not translate host name "db" to address', None, "does not answer"),
        ("der Server hat die Verbindung geschlossen", None, "does not answer"),
        ("Server wird heruntergefahren", "57P01", "does not answer"),
        ('connection to server failed: FATAL:  password authentication failed for user "ada"', None, "refuses"),
        ('FATAL:  database "grades" does not exist', None, "refuses"),
        ("keine Berechtigung für Tabelle grade", "42501", "refuses"),
        ("Verklemmung", "40P01", "someone else is writing"),
        ('relation "grade" does not exist', "42P01", NONE),
        ("column grade.extra does not exist", "42703", "another version of nbgrader"),
        ("kein Platz", "53100", "make room on the disk"),
        ("cannot execute UPDATE in a read-only transaction", "25006", "cannot be written to"),
    ],
)
def test_what_a_server_says(text, code, said):
    """A server's SQLSTATE counts, in whatever language it speaks; before one is connected, the text does."""
    found = diagnosis(OperationalError("select", {}, DriverError(text, code)), SERVER)
    assert said in str(found) and "secret" not in str(found) and "\n" not in str(found)
    assert isinstance(found, BusyGradebookError) is (code == "40P01")
