"""Six commands grade a class at once and one of them is killed; then a backup is restored: on each database."""

import re
import subprocess
import sys

import pytest
from class_runs import again, files, grade, hand_in, rows, times
from places import ROOT
from postgres import postgres
from processes import left_aside
from sqlalchemy import create_engine, text
from two_lessons import ARITHMETIC, COMPARISON, make_course

from autograder.results.regrade_log import LOG

pytestmark = pytest.mark.full("six commands grade a class on each database", share=64, group="six")

RUNS = 6
ANSWERS = (
    (ARITHMETIC, COMPARISON),
    (ARITHMETIC.replace("x + y", "x - y"), COMPARISON),
    (ARITHMETIC, COMPARISON.replace("x < y", "x > y")),
    ("", COMPARISON + "# another\n"),
)
CLASS = {f"student{number:02}": ANSWERS[number % len(ANSWERS)] for number in range(12)}

ONE_DIES = """
import os, pathlib, signal
from autograder.cli import main
from autograder.gradebook import recording

def die():
    if len(list(pathlib.Path("autograded").glob("student*"))) < 3:
        return
    try:
        pathlib.Path("../killed").touch(exist_ok=False)
    except FileExistsError:  # one of the others was
        return
    os.kill(os.getpid(), signal.SIGKILL)

def finish(self, whole=recording._Batch.finish):
    if MOMENT == "before rows stand":
        die()
    whole(self)
    if MOMENT == "before files":
        die()

recording._Batch.finish = finish
main()
"""
"""The command, of which the first run to record a fourth submission is killed in the midst of that."""


@pytest.fixture(scope="module")
def handed(tmp_path_factory):
    """A class of right and wrong submissions, and a gradebook without marks."""
    return hand_in(make_course(tmp_path_factory.mktemp("six"), ROOT), CLASS)


@pytest.fixture(scope="module")
def undisturbed(handed, tmp_path_factory):
    """The class graded in peace."""
    course = again(handed, tmp_path_factory.mktemp("undisturbed") / "copy")
    grade(course)
    return course


@pytest.fixture(scope="module")
def server():
    with postgres() as url:
        yield url


def command(course, *words, program="from autograder.cli import main; main()"):
    """Start `autograder` in a course."""
    return subprocess.Popen([sys.executable, "-c", program, *words], cwd=course, stdout=-1, stderr=-1, text=True)


def said(process, code=0):
    """What a command printed until it ended with a code; no traceback."""
    output, error = process.communicate()
    assert process.returncode == code and "Traceback" not in output + error, (process.returncode, output, error)
    return " ".join(output.split())


def to_postgresql(course, server):
    """Move a course's gradebook to a new database, as docs/instructor/database.md says."""
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP DATABASE IF EXISTS six"))
        connection.execute(text("CREATE DATABASE six"))
    engine.dispose()
    printed = said(command(course, "database", "move", server.replace("/postgres?", "/six?")))
    line = re.search(r'c\.CourseDirectory\.db_url = "[^"]+"', printed)
    assert line is not None, printed
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f"\n{line[0]}\n")
    (course / "gradebook.db").unlink()


def marks(course, place):
    """Everything in the course's gradebook, whichever database that is."""
    if (course / "gradebook.db").exists():
        return rows(course)
    said(command(course, "database", "move", f"sqlite:///{place}"))
    return rows(course, place)


@pytest.mark.parametrize("moment", ["before rows stand", "before files"])
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_six_runs_one_of_which_is_killed(handed, undisturbed, tmp_path, request, database, moment):
    """Nothing is lost and nothing recorded twice; a backup of before and the same command give the same marks."""
    course = again(handed, tmp_path / "copy")
    if database == "postgresql":
        to_postgresql(course, request.getfixturevalue("server"))
    program = ONE_DIES.replace("MOMENT", repr(moment))
    runs = [command(course, "autograde", "week0", "--jobs", "1", program=program) for _ in range(RUNS)]
    printed = [(*run.communicate(), run.returncode) for run in runs]
    assert sorted(code for *_, code in printed) == [-9, *[0] * (RUNS - 1)], printed
    assert not any("Traceback" in output + error for output, error, _ in printed), printed
    whole = f"{len(CLASS)} submissions, {2 * len(CLASS)} notebooks"
    assert all(whole in output for output, _, code in printed if not code), printed
    graded = times(course)
    assert len(graded) == 2 * len(CLASS)

    once_more = said(command(course, "autograde", "week0"))
    assert f"{2 * len(CLASS)} notebooks had been graded before" in once_more
    assert times(course) == graded and not (course / LOG).exists()
    assert marks(course, tmp_path / "after.db") == rows(undisturbed)
    assert files(course) == files(undisturbed) and left_aside(course) == []

    before = min((course / ".grades" / "backups").glob("*.db"))
    assert rows(course, before)["submission"] == []
    assert "restored: 0 students, 0 submissions" in said(command(course, "database", "restore", str(before), "--yes"))
    assert marks(course, tmp_path / "restored.db")["grade"] == []
    said(command(course, "autograde", "week0"))
    assert times(course) == graded
    assert marks(course, tmp_path / "again.db") == rows(undisturbed)
