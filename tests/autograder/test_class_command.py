"""`autograder autograde`: what it says, what it ends with, and what it leaves after Ctrl-C."""

import contextlib
import io
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.converters import Autograde, GenerateFeedback
from rich.console import Console
from rich.text import Text
from test_class_killed import descendants, is_running, left_aside, times, until
from test_class_recording import generate, rows, write
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.classes import Progress
from autograder.cli import app
from autograder.commands.autograde import _bar, _coloured
from autograder.judge import Judge
from autograder.ledger import WAITING, read_entry
from autograder.recording import load_app

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
    assert "1 submission, 2 notebooks" in done.output and "2 with full points" in done.output
    done = command(course)
    assert done.exit_code == 0, done.output
    assert "2 with full points, 1 with some, 3 with none" in done.output
    assert "2 notebooks had been graded before" in done.output
    assert "something had to be contained in 1 exercise;" in done.output


def test_how_far_it_is_without_a_terminal(course, monkeypatch):
    """Where there is no terminal a line says now and then how many notebooks are graded, and whom it waits for."""
    monkeypatch.setattr("autograder.commands.showing.EVERY", 0)
    monkeypatch.setattr("autograder.commands.autograde.STILL", 0)
    lines = [line for line in command(course, "--jobs", "1").stderr.splitlines() if line.startswith("grading: ")]
    done = [int(re.match(r"grading: (\d) of 6 notebooks; \d full \d partial \d zero", line)[1]) for line in lines]
    assert done == sorted(done)
    assert any(re.search(r"; waiting for (ada|bea|cal)", line) for line in lines)
    assert lines[-1] == "grading: 6 of 6 notebooks; 2 full 1 partial 3 zero 1 contained"


@pytest.mark.parametrize(("columns", "counts"), [(79, "17 full 11 part 1 zero"), (140, "17 full 11 partial 1 zero")])
def test_the_bar_fits_the_terminal(columns, counts):
    """Every part of the bar's line is whole, on a narrow terminal too."""
    progress = Progress(30, 29)
    progress.counts.update(full=17, partial=11, zero=1)
    console = Console(file=io.StringIO(), width=columns, force_terminal=True, color_system=None)
    with _bar(console) as bar:
        words = Text.from_markup(_coloured(progress, short=columns < 100)).plain
        bar.add_task("", total=progress.total, completed=progress.done, counts=words + "; waiting for s13")
        bar.refresh()
    assert f"{counts}; waiting for s13" in console.file.getvalue()
    assert "29/30" in console.file.getvalue() and "…" not in console.file.getvalue()


def test_nothing_is_recorded_unless_wanted(course):
    """`--no-record` grades into the ledger, and touches neither the gradebook nor `autograded`."""
    before = rows(course)
    done = command(course, "--no-record", "--student", "ada")
    assert done.exit_code == 0, done.output
    assert len(times(course)) == 2
    assert rows(course) == before and not (course / "autograded").exists()


def pages(course, student):
    """A student's feedback pages, as nbgrader makes them today."""
    app = load_app(course, "week0")
    app.coursedir.student_id = student
    converter = GenerateFeedback(coursedir=app.coursedir, parent=app)
    converter.force = True
    converter.start()
    return {path.stem: path.read_text() for path in (course / "feedback" / student / "week0").glob("*.html")}


def test_feedback_stands_beside_its_own_score(course):
    """What is graded and not recorded changes no page; once it is recorded, without being graded again, it does."""
    assert command(course, "--student", "bea").exit_code == 0
    before = pages(course, "bea")["00_numbers"]
    assert "1 of 3 points" in before and "not a sum" in before
    shutil.rmtree(course / "submitted" / "bea")
    write(course, "bea", {"00_numbers": ARITHMETIC, "01_order": COMPARISON})
    assert "2 with full points" in command(course, "--student", "bea", "--no-record").output
    assert pages(course, "bea")["00_numbers"] == before
    assert read_entry(course, "bea", "week0", "00_numbers").submission.earned == 1
    assert read_entry(course, "bea", "week0", "00_numbers", WAITING).submission.earned == 3
    waiting = {path.name: path.stat().st_mtime_ns for path in (course / WAITING).rglob("*.json")}
    done = command(course, "--student", "bea")
    assert "2 notebooks had been graded before" in done.output, done.output
    assert "3 of 3 points" in pages(course, "bea")["00_numbers"]
    assert read_entry(course, "bea", "week0", "00_numbers").submission.earned == 3
    assert {path.name: when for path, when in times(course).items()} == waiting
    assert not list((course / WAITING).rglob("*.json"))


def test_nbgrader_records_what_waits(course, monkeypatch):
    """`nbgrader autograde` after `--no-record` runs nothing again, and what it recorded is in the ledger."""
    assert command(course, "--student", "ada", "--no-record").exit_code == 0
    monkeypatch.setattr(Judge, "_run", None)
    app = load_app(course, "week0")
    app.coursedir.student_id = "ada"
    Autograde(coursedir=app.coursedir, parent=app).start()
    assert read_entry(course, "ada", "week0", "00_numbers").submission.earned == 3
    assert not list((course / WAITING).rglob("*.json"))


def test_a_gradebook_that_someone_else_writes_to(course):
    """A locked gradebook is one sentence and exit code 1; what was found waits, and the next run records it."""
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as other:
        other.execute("begin immediate")
        done = command(course, "--student", "ada")
    assert done.exit_code == 1, done.output
    assert "not graded: ada: the gradebook refused it (OperationalError); someone else may be writing" in done.output
    assert not rows(course)["submission"] and len(times(course)) == 2
    assert not list(course.glob("autograded/*/*")) and not left_aside(course)
    done = command(course, "--student", "ada")
    assert done.exit_code == 0 and "2 notebooks had been graded before" in done.output
    assert [student for student, *_ in rows(course)["submission"]] == ["ada"]


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
        error = process.communicate()[1]
    assert process.returncode == 130, error
    assert "Traceback" not in error
    said = re.search(r"stopped; (\d) of 6 notebooks (is|are) graded and kept. The same command goes on.", error)
    assert said is not None, error
    assert until(lambda: not any(map(is_running, below)))
    graded = times(course)
    assert int(said[1]) <= len(graded)  # word of the last ones may have been under way
    assert command(course).exit_code == 0
    assert graded.items() <= times(course).items() and len(times(course)) == 6


STANDS_STILL = """
    import pathlib, time
    pathlib.Path(SIGN).touch()
    time.sleep(3600)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_run_that_is_told_to_end_in_the_middle_of_a_test(course, tmp_path, number, code):
    """Stopped while a hidden test is at work, it ends at once and says so; nothing of that test is kept for a mark."""
    hidden, sign = course.parent / "hidden", tmp_path / "it stands"
    test = hidden / "test_operators.py"
    text = test.read_text()
    begins = '    """lt says whether x is less."""\n'
    assert text.count(begins) == 1
    test.write_text(text.replace(begins, begins + STANDS_STILL.replace("SIGN", repr(str(sign)))))
    program = [sys.executable, "-c", "from autograder.cli import main; main()", "autograde", "week0"]
    program += ["--hidden", str(hidden), "--student", "ada", "--jobs", "1"]
    with subprocess.Popen(program, cwd=course, stderr=subprocess.PIPE, start_new_session=True, text=True) as process:
        assert until(sign.exists)
        below = descendants(process.pid)
        os.killpg(process.pid, number)
        error = process.communicate()[1]
    assert process.returncode == code, error
    assert "Traceback" not in error
    assert until(lambda: not any(map(is_running, below)))
    assert [path.name for path in times(course)] == ["00_numbers.json"] and not rows(course)["submission"]
    test.write_text(text)
    done = command(course, "--hidden", str(hidden), "--student", "ada")
    assert done.exit_code == 0 and "2 with full points" in done.output
    assert not left_aside(course)
