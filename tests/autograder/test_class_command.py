"""`autograder autograde`: what it says, what it ends with, and what it leaves after Ctrl-C."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_class_killed import descendants, is_running, times, until
from test_class_recording import generate, rows, write
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.cli import app

ROOT = Path(__file__).parents[2]
ENDLESS = "while True:\n    pass\n"


@pytest.fixture(scope="module")
def handed(tmp_path_factory):
    """Three submissions, one of which cannot be read from."""
    course = make_course(tmp_path_factory.mktemp("command"), ROOT)
    generate(course)
    write(course, "ada", {"00_numbers": ARITHMETIC, "01_order": COMPARISON})
    write(course, "bea", {"00_numbers": ARITHMETIC.replace("x + y", "x - y"), "01_order": ENDLESS})
    write(course, "cem", {"00_numbers": "", "01_order": ""})
    return course


@pytest.fixture
def course(handed, tmp_path):
    """The same again."""
    shutil.copytree(handed.parent, tmp_path / "copy")
    return tmp_path / "copy" / "course"


def command(course, *arguments):
    """Run it in this process."""
    return CliRunner().invoke(app, ["autograde", "week0", "--course", str(course), *arguments])


def test_one_submission_does_not_stop_the_class(course, monkeypatch):
    """A submission that cannot be taken in is listed and makes the exit code 1; the others are graded and recorded."""

    def strange(root, directory):
        if directory.parent.name == "bea":
            raise OSError("the disk says no")
        return tidy(root, directory)

    from autograder.classes import work

    tidy = work.tidy
    monkeypatch.setattr(work, "tidy", strange)
    done = command(course)
    assert done.exit_code == 1, done.output
    assert "not graded: bea: OSError: the disk says no" in done.output
    assert "3 submissions, 4 notebooks" in done.output
    assert {student for student, *_ in rows(course)["submission"]} == {"ada", "cem"}


def test_it_says_what_it_found(course):
    """Counts by points, what was contained, and what was known before; one student alone where one is named."""
    done = command(course, "--student", "ada")
    assert done.exit_code == 0, done.output
    assert "1 submissions, 2 notebooks" in done.output and "2 with full points" in done.output
    done = command(course)
    assert done.exit_code == 0, done.output
    assert "2 with full points, 1 with some, 3 with none" in done.output
    assert "2 notebooks had been graded before" in done.output
    assert "something had to be contained in 1 exercises" in done.output


def test_nothing_is_recorded_unless_wanted(course):
    """`--no-record` grades into the ledger, and touches neither the gradebook nor `autograded`."""
    before = rows(course)
    done = command(course, "--no-record", "--student", "ada")
    assert done.exit_code == 0, done.output
    assert len(times(course)) == 2
    assert rows(course) == before and not (course / "autograded").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["week7"], "there is no assignment 'week7'; the assignments are week0"),
        (["week0", "--student", "zoe"], "nothing is in submitted/ from zoe for week0; run `nbgrader collect`"),
    ],
)
def test_mistakes_of_whoever_calls_it(handed, arguments, sentence):
    """A name that there is not is one sentence, and exit code 2."""
    done = CliRunner().invoke(app, ["autograde", *arguments, "--course", str(handed)])
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())


def test_ctrl_c(course):
    """Ctrl-C ends it with 130 and ends all of its processes; a second run goes on."""
    program = [sys.executable, "-c", "from autograder.cli import main; main()", "autograde", "week0"]
    with subprocess.Popen(program, cwd=course, stderr=subprocess.PIPE, start_new_session=True, text=True) as process:
        assert until(lambda: times(course))
        below = descendants(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        error = process.communicate(timeout=120)[1]
    assert process.returncode == 130, error
    assert "Traceback" not in error
    assert until(lambda: not any(map(is_running, below)))
    graded = times(course)
    time.sleep(0.01)
    assert command(course).exit_code == 0
    assert graded.items() <= times(course).items() and len(times(course)) == 6
