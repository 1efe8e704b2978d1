"""A gradebook moved to another database, kept, and brought back: the same rows everywhere, and nothing half."""

import datetime as dt
import os
import shutil
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbgrader.api import Base, Gradebook
from postgres import postgres
from sqlalchemy import create_engine, inspect, select, text
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import CourseError
from autograder.gradebook import databases
from autograder.gradebook.databases import KEPT, address, back_up, backups, move, restore
from autograder.gradebook.dates import Watched, read_rows
from autograder.gradebook.indexes import INDEXES, add_indexes
from autograder.gradebook.turns import Turn

# SQLAlchemy remarks on the order in which nbgrader makes its own rows; they are made all the same.
pytestmark = [
    pytest.mark.full("a class is graded, and its gradebook moved", share=12, group="databases"),
    pytest.mark.filterwarnings("ignore:Object of type <Submitted:sqlalchemy.exc.SAWarning"),
]


def fill(url, students):
    """Write a small gradebook: a due date, scores, a comment, a mark by hand, a name in Chinese."""
    with Gradebook(url, "course") as book:
        book.add_assignment("week0", duedate="2027-02-01 00:00:00")
        book.add_assignment("week1")
        book.add_notebook("numbers", "week0")
        book.add_grade_cell("add", "numbers", "week0", max_score=2, cell_type="code")
        book.add_solution_cell("add", "numbers", "week0")
        book.add_source_cell("add", "numbers", "week0", cell_type="code", locked=True, source="x = 'é'\n")
        for number, name in enumerate(students):
            book.add_student(name, first_name="李")
            book.add_submission("week0", name, timestamp=dt.datetime(2027, 1, 31, 10, 0, 0, 123456))
            grade = book.find_grade("add", "numbers", "week0", name)
            grade.auto_score, grade.manual_score = 1 / 3, None if number else 2.0
            book.find_comment("add", "numbers", "week0", name).manual_comment = "% 'well' \\ done"
        book.db.commit()


def rows(url):
    """All rows of a gradebook by table, in an order of their own."""
    engine = create_engine(url)
    with engine.connect() as connection:
        found = {t.name: sorted(map(repr, connection.execute(select(t)).all())) for t in Base.metadata.sorted_tables}
        found["version"] = connection.execute(text("SELECT version_num FROM alembic_version")).all()
    engine.dispose()
    return found


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Two gradebooks in SQLite, made once: one of ada and bea, one of cleo."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        # nbgrader starts `alembic` by its bare name, which is beside this Python.
        patch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        fill(f"sqlite:///{folder}/gradebook.db", ("ada", "bea"))
        fill(f"sqlite:///{folder}/other.db", ("cleo",))
    return folder


@pytest.fixture
def course(tmp_path, monkeypatch, filled):
    """A folder that takes the place of a course, with a gradebook in SQLite and another one beside it."""
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(databases, "gradebook_url", lambda course: course.url)
    file = tmp_path / "gradebook.db"
    return SimpleNamespace(directory=tmp_path, url=f"sqlite:///{file}", file=file)


@pytest.fixture(scope="module")
def server():
    with postgres() as url:
        yield url


@pytest.fixture
def empty(server):
    """An empty database of a server."""
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS empty"))
        connection.execute(text("CREATE DATABASE empty"))
    engine.dispose()
    return server.replace("/postgres?", "/empty?")


def test_a_gradebook_moves_to_postgresql_and_back(course, empty, tmp_path):
    """Every row is the same in both, nbgrader works with it there, and the way back gives the rows of the beginning."""
    before = rows(course.url)
    counts = move(address(course.url), address(empty))
    assert rows(empty) == before and counts["student"] == 2 and counts["grade"] == 2
    with Gradebook(empty, "course") as book:
        assert book.find_submission("week0", "ada").score == 2.0
    with pytest.raises(CourseError, match="holds a gradebook already"):
        move(address(course.url), address(empty))
    move(address(empty), address(f"sqlite:///{tmp_path}/back.db"))
    assert rows(f"sqlite:///{tmp_path}/back.db") == before


def test_the_dates_of_a_server(course, empty, tmp_path):
    """They are read as those of a file are; a server that is away tells nothing, and what was read last counts."""
    with Gradebook(course.url, "course") as book:
        book.grant_extension("week0", "ada", days=2, hours=1)
    move(address(course.url), address(empty))
    found = read_rows(course, course.url)
    assert found.due == {"week0": dt.datetime(2027, 2, 1)} and found.students == {"ada", "bea"}
    assert found.extensions == {"week0": {"ada": dt.timedelta(days=2, hours=1)}}
    assert read_rows(course, empty) == found
    course.url = empty
    watched, there = Watched(course), empty.replace("/empty?", "/postgres?")
    assert watched() == found
    engine = create_engine(there, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP DATABASE empty WITH (FORCE)"))
    engine.dispose()
    watched._again = 0.0
    assert watched() == found
    with pytest.raises(CourseError, match="refuses the connection"):
        read_rows(course, empty)


def test_a_server_gets_the_indexes_that_it_lacks(empty):
    """PostgreSQL takes the same ones, once."""
    engine = create_engine(empty)
    Base.metadata.create_all(engine)
    for index in INDEXES:
        index.drop(engine)
    for _ in range(2):
        add_indexes(engine)
        assert all(
            index.name in [each["name"] for each in inspect(engine).get_indexes(index.table.name)] for index in INDEXES
        )
    engine.dispose()


def test_a_backup_of_a_server_is_a_file(course, empty):
    """It is kept and restored like one of SQLite; rows that came in between are gone."""
    move(address(course.url), address(empty))
    course.url, before = empty, rows(empty)
    kept = back_up(course)
    assert rows(f"sqlite:///{kept}") == before
    with Gradebook(empty, "course") as book:
        book.add_student("cleo")
    restore(course, kept)
    assert rows(empty) == before


@pytest.mark.parametrize("broken", ["a row is lost", "the server stops"])
def test_what_is_cut_off_leaves_a_server_as_it_was(course, empty, monkeypatch, broken):
    """Neither a copy that differs nor an error in the middle leaves anything there."""
    move(address(course.url), address(empty))
    before = rows(empty)

    def copy(given, taken, table, done, whole=databases._copy_table):
        if broken == "the server stops" and table.name == "grade":
            raise sqlite3.OperationalError("gone")
        return 0 if table.name == "grade" else whole(given, taken, table, done)

    monkeypatch.setattr(databases, "_copy_table", copy)
    with pytest.raises(CourseError, match=r"cannot be used \(OperationalError: gone\)|does not give back"):
        move(address(f"sqlite:///{course.directory}/other.db"), address(empty), replace=True)
    assert rows(empty) == before


def test_a_backup_is_restored(course):
    """The gradebook of yesterday is back, whatever was written since; file permissions stay."""
    before, mode = rows(course.url), course.file.stat().st_mode
    kept = back_up(course)
    assert backups(course) == [kept] and kept.parent.stat().st_mode & 0o077 == 0
    with Gradebook(course.url, "course") as book:
        book.remove_student("ada")
    assert rows(course.url) != before
    assert restore(course, kept)["student"] == 2
    assert rows(course.url) == before and course.file.stat().st_mode == mode


def test_nothing_is_restored_while_a_run_records(course, monkeypatch):
    """A run that writes has its turn until it ends; its gradebook is not replaced beneath it."""
    kept = back_up(course)
    monkeypatch.setattr("autograder.gradebook.turns.PATIENCE", 0.1)
    with Turn(course.directory), pytest.raises(CourseError, match="another run has been recording"):
        restore(course, kept)


def test_a_gradebook_that_is_written_to_is_kept_whole(course):
    """A backup is of one moment: what another program has not finished is not in it."""
    with sqlite3.connect(course.file, isolation_level=None) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO student (id) VALUES ('half')")
        kept = back_up(course)
        writer.execute("ROLLBACK")
    writer.close()
    assert len(rows(f"sqlite:///{kept}")["student"]) == 2


def test_the_oldest_backups_go(course):
    """The newest twenty stay."""
    folder = course.directory / databases.BACKUPS
    folder.mkdir(parents=True)
    for day in range(KEPT + 5):
        shutil.copy(course.file, folder / f"gradebook-2020-01-{day + 1:02}T000000.db")
    kept = back_up(course)
    assert len(backups(course)) == KEPT and backups(course)[0] == kept
    assert backups(course)[-1].name == "gradebook-2020-01-07T000000.db"


def test_the_oldest_backup_is_restored(course, monkeypatch):
    """The copy that is kept before a restoration does not push out the one that is restored."""
    monkeypatch.setattr("autograder.commands.database._loaded", lambda _: course)
    folder = course.directory / databases.BACKUPS
    folder.mkdir(parents=True)
    for day in range(KEPT):
        shutil.copy(course.directory / "other.db", folder / f"gradebook-2020-01-{day + 1:02}T000000.db")
    oldest = backups(course)[-1]
    done = CliRunner().invoke(app, ["database", "restore", str(oldest), "--yes"])
    assert done.exit_code == 0, done.output
    assert rows(course.url) == rows(f"sqlite:///{course.directory}/other.db") and oldest in backups(course)


def test_nothing_is_kept_of_nothing(course):
    """Before the first grading there is no gradebook, and no backup."""
    course.file.unlink()
    assert back_up(course) is None and backups(course) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "no address of a database"),
        ("gradebook.db", "no address of a database"),
        ("nosuch://host/name", "no address of a database"),
        ("sqlite://", "names no file"),
        ("oracle://scott:tiger@host/name", r"oracle://scott:\*\*\*@host/name: the package \w+ is missing"),
    ],
)
def test_what_is_no_address_is_said(given, said):
    """In one sentence, without the password."""
    with pytest.raises(CourseError, match=said):
        address(given)


def test_what_cannot_be_moved_is_said(course, tmp_path):
    """No gradebook, the same one, one that is there, a damaged one, a server that does not answer."""

    def refused(source, target, said):
        with pytest.raises(CourseError, match=said):
            move(address(source), address(target))

    refused(f"sqlite:///{tmp_path}/none.db", f"sqlite:///{tmp_path}/new.db", "there is no gradebook yet")
    refused(course.url, course.url, "is where the gradebook is")
    refused(course.url, f"sqlite:///{tmp_path}/other.db", "is there already")
    refused(
        course.url,
        "postgresql://ada:secret@localhost:1/none",
        r"ada:\*\*\*@localhost:1/none: its server does not answer",
    )
    course.file.write_bytes(course.file.read_bytes()[:4096] + b"\xff" * 8192)
    refused(course.url, f"sqlite:///{tmp_path}/new.db", "is damaged")
    assert not (tmp_path / "new.db").exists()


def test_the_commands_say_what_is_next(course, monkeypatch):
    """`backup`, `restore` and `move` print one thing to do."""
    monkeypatch.setattr("autograder.commands.database._loaded", lambda _: course)

    def run(*words, code=0):
        done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["database", *words])
        assert done.exit_code == code, (done.output, done.exception)
        return " ".join(done.output.split())

    assert "no backups yet" in run("restore")
    assert "kept: " in run("backup")
    kept = backups(course)[0]
    assert kept.name in run("restore")
    said = run("restore", str(kept), "--yes")
    assert "2 students, 2 submissions" in said and "Restart each Jupyter server" in said
    assert "no such file" in run("restore", "nowhere.db", code=2)
    said = run("move", f"sqlite:///{course.directory}/moved.db")
    assert "nbgrader_config.py" in said and f'db_url = "sqlite:///{course.directory}/moved.db"' in said
    assert "no address" in run("move", "x", code=2)
