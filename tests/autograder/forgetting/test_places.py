"""What names a student is found in tables, the log and any other file; what does not is left as it is."""

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbgrader.api import Gradebook

from autograder.forgetting.mentions import Mentions
from autograder.forgetting.rows import Rows
from autograder.forgetting.tables import without
from autograder.results import regrade_log

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,week0\r\n    Points Possible,,,,,7\r\n"
    '"Lovelace, Ada",31,,ada,,7\r\n"Byron,\r\nAnne",ada,,anne,,6\r\n'
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("assignment,student_id,score\nweek0,ada,7\nweek0,bea,5\n", "assignment,student_id,score\nweek0,bea,5\n"),
        ("student_id,score\n7,5\n5,7\n", "student_id,score\n5,7\n"),
        ("student_id,email\nAda,x\n,\n", "student_id,email\nAda,x\n,\n"),
        (CANVAS, CANVAS.replace('"Lovelace, Ada",31,,ada,,7\r\n', "")),
        ("\ufeffUsername,Email address\nx,ADA@example.invalid\n", "\ufeffUsername,Email address\n"),
        ("name,points\nada,7\n", "name,points\nada,7\n"),
        ("", ""),
    ],
)
def test_lines_of_a_table(tmp_path, text, left):
    """A line goes if a column of ids or addresses has the student; all other bytes stay."""
    path = tmp_path / "marks.csv"
    path.write_bytes(text.encode())
    student = "7" if text.startswith("student_id") else "ada"
    assert without(path, student, "ada@example.invalid") == (left.encode(), int(text != left))


def test_a_table_in_another_encoding_stays(tmp_path):
    """A file that is not UTF-8 is no table to be rewritten."""
    path = tmp_path / "marks.csv"
    path.write_bytes("student_id,name\nada,Adé\n".encode("latin-1"))
    assert without(path, "ada", "") == (path.read_bytes(), 0)


@pytest.mark.parametrize(
    ("content", "is_named"),
    [
        ("by Ada Lovelace", True),
        ("ada_123_file", True),
        ("the Canada of adam", False),
        (json.dumps("Jos\u00e9 N"), True),
        ("Jos\u00e9 N&#x27;", True),
        ("p. 31", False),
    ],
)
def test_names_in_a_file(tmp_path, content, is_named):
    """Names are found as whole words in any case, as text and as JSON; a number of two digits says nothing."""
    note = tmp_path / "folder" / "note"
    note.parent.mkdir()
    note.write_text(content)
    mentions = Mentions(["ada", "Jos\u00e9 N", "31"])
    assert list(mentions.below(tmp_path, ())) == [note] * is_named
    assert list(mentions.below(tmp_path, [note.parent])) == []


def test_a_copy_of_a_gradebook_is_asked(tmp_path):
    """In SQLite's file fields stand side by side, so that no word begins or ends there."""
    with sqlite3.connect(tmp_path / "copy.db") as database:
        database.execute("create table student (id text, first_name text)")
        database.execute("insert into student values ('ada', 'Ada')")
    assert Mentions(["ada"]).is_in(tmp_path / "copy.db")
    assert not Mentions(["bea"]).is_in(tmp_path / "copy.db")


@pytest.mark.full("nbgrader makes a gradebook", share=4)
def test_no_deleted_row_can_be_read(tmp_path, monkeypatch):
    """Rows that another program deleted earlier lie in free pages of SQLite's file: they go as well."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # nbgrader starts alembic
    path = tmp_path / "gradebook.db"
    with Gradebook(f"sqlite:///{path}", "minigrad") as gradebook:
        gradebook.add_student("zaphodq", first_name="Zaphodine")
        gradebook.add_student("bea")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("pragma secure_delete = off")
        database.execute("delete from student where id = 'zaphodq'")
    assert b"Zaphodine" in path.read_bytes()
    rows = Rows(SimpleNamespace(directory=tmp_path), f"sqlite:///{path}", "minigrad")
    assert rows.count("zaphodq") == 0 and rows.count("bea") == 1
    rows.delete("zaphodq")
    assert b"zaphod" not in path.read_bytes().lower()
    assert [student.id for student in rows.students()] == ["bea"]


def test_the_log_without_a_student(tmp_path):
    """Changes of others stay, a run of the student alone goes with its reason, and so does a line that was cut off."""

    def line(run, *students):
        return json.dumps({"run": run, "why": run, "changes": [{"student": each} for each in students]}) + "\n"

    ends = {run: json.dumps({"run": run, "state": "done"}) + "\n" for run in ("both", "own")}
    log = tmp_path / regrade_log.LOG
    log.parent.mkdir()
    log.write_text(line("both", "ada", "bea") + ends["both"] + line("own", "ada") + ends["own"] + line("x", "ada")[:-5])
    assert regrade_log.students_of(tmp_path) == {"ada", "bea"}
    assert regrade_log.without(tmp_path, "ada") == (line("both", "bea") + ends["both"], 3)
    assert regrade_log.without(tmp_path, "eve") == (log.read_text(), 0)
    assert regrade_log.without(tmp_path / "none", "ada") == ("", 0)
