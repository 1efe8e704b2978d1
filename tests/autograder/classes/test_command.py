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
import weakref
from dataclasses import replace

import pytest
from class_runs import generate, rows, times, write
from nbgrader.converters import Autograde, GenerateFeedback
from places import ROOT
from processes import descendants, is_running, left_aside, until
from rich.console import Console
from rich.text import Text
from sqlalchemy.exc import OperationalError
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.building.build import build
from autograder.classes import Progress, Work
from autograder.classes.work import grade_notebook
from autograder.cli import app
from autograder.commands.autograde import _bar, _coloured
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.gradebook import recording
from autograder.gradebook.recording import Recorder
from autograder.gradebook.settings import load_app
from autograder.judging.judge import Judge
from autograder.results.ledger import WAITING, read_entry, write_entry

in_turn = pytest.mark.full("a class is graded by the command", share=48)

ADDED = """
[[exercise]]
id = "operators.elementary"
lesson = "00_numbers"
objects = ["operators.relu"]
points = 2
groups = { all = 2 }
"""
RELU = '''

@pytest.mark.exercise("operators.elementary", group="all", because="lesson 00: relu")
def test_relu(student):
    """relu cuts."""
    def observe(mg, x):
        return mg.operators.relu(x)
    expect(student(observe, -2.0), 0.0)
'''
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


@in_turn
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


@in_turn
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


@in_turn
def test_nothing_is_recorded_unless_wanted(course):
    """`--no-record` grades into the ledger, and touches neither the gradebook nor `autograded`."""
    before = rows(course)
    done = command(course, "--no-record", "--student", "ada")
    assert done.exit_code == 0, done.output
    assert len(times(course)) == 2
    assert rows(course) == before and not (course / "autograded").exists()


@pytest.mark.full("a class is graded by the command", share=16)
@in_turn
def test_an_exercise_that_was_added_lowers_no_other_mark(course):
    """What a lesson gets after it was graded is graded alone: recorded marks of the others stand without --fresh."""
    assert command(course).exit_code == 0
    toml, hidden = course / "course.toml", course.parent / "hidden" / "test_operators.py"
    toml.write_text(toml.read_text() + ADDED)
    lesson = course / "lessons" / "00_numbers.md"
    lesson.write_text(f"{lesson.read_text()}\n```{{code-cell}} ipython3\n# exercise: operators.elementary\n```\n")
    hidden.write_text(hidden.read_text().replace("-2.0)", "-3.0)") + RELU)
    build(course)
    with Judge(load_course(course, tree=False), hidden=hidden.parent) as judge:
        work = Work("ada", "week0")
        entry, kept = grade_notebook(judge, work, "00_numbers", keep=True, write=True)
        assert not kept and {each.exercise: each.earned for each in entry.submission.exercises} == {
            "operators.arithmetic": 3,
            "operators.elementary": 0,
        }
        assert entry.state != judge.fingerprint.state("00_numbers"), (
            "a mark that today's tests do not give is not today's"
        )
        entry, _ = grade_notebook(judge, Work("bea", "week0"), "00_numbers", keep=True, write=False)
        assert entry.submission.earned == 1
        afresh, _ = grade_notebook(judge, work, "00_numbers", keep=False, write=False)
        assert afresh.submission.earned == 2


@in_turn
def test_results_that_are_the_same_today_are_todays(course):
    """Where today's tests give an exercise the mark that is recorded, what was added makes no mark an old one."""
    assert command(course, "--student", "ada").exit_code == 0
    with Judge(load_course(course, tree=False), hidden=course.parent / "hidden") as judge:
        recorded = read_entry(course, "ada", "week0", "00_numbers")
        other = replace(recorded.submission.exercises[0], exercise="operators.gone", notes=("recorded",))
        results = (replace(recorded.submission.exercises[0], notes=("recorded",)), other)
        old = replace(recorded, submission=replace(recorded.submission, exercises=results), state="old")
        write_entry(course, old)
        entry, kept = grade_notebook(judge, Work("ada", "week0"), "00_numbers", keep=True, write=True)
        assert not kept and entry.submission.exercises == results[:1] and entry.state == recorded.state
        assert grade_notebook(judge, Work("ada", "week0"), "00_numbers", keep=True, write=True) == (entry, True)


def pages(course, student):
    """A student's feedback pages, as nbgrader makes them today."""
    app = load_app(course, "week0")
    app.coursedir.student_id = student
    converter = GenerateFeedback(coursedir=app.coursedir, parent=app)
    converter.force = True
    converter.start()
    return {path.stem: path.read_text() for path in (course / "feedback" / student / "week0").glob("*.html")}


@in_turn
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


@in_turn
def test_nbgrader_records_what_waits(course, monkeypatch):
    """`nbgrader autograde` after `--no-record` runs nothing again, and what it recorded is in the ledger."""
    assert command(course, "--student", "ada", "--no-record").exit_code == 0
    monkeypatch.setattr(Judge, "_run", None)
    app = load_app(course, "week0")
    app.coursedir.student_id = "ada"
    Autograde(coursedir=app.coursedir, parent=app).start()
    assert read_entry(course, "ada", "week0", "00_numbers").submission.earned == 3
    assert not list((course / WAITING).rglob("*.json"))


@pytest.mark.full("a class is graded by the command", share=16)
def test_a_score_that_was_changed_in_the_database_is_recorded_again(course):
    """What a gradebook says of a student must be what was found; where another program changed it, it is put right."""
    assert command(course, "--student", "ada").exit_code == 0
    before = rows(course)
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as database, database:
        database.execute("update grade set auto_score = 0.5 where auto_score > 1")
    assert rows(course) != before
    assert command(course, "--student", "ada").exit_code == 0
    assert rows(course) == before


@in_turn
def test_a_gradebook_that_someone_else_writes_to(course, monkeypatch):
    """A locked gradebook is one sentence and exit code 1; what was found waits, and the next run records it."""
    monkeypatch.setattr(recording, "ATTEMPTS", 1)
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as other:
        other.execute("begin immediate")
        done = command(course, "--student", "ada")
    assert done.exit_code == 1, done.output
    assert "gradebook.db: someone else is writing to the gradebook; give the same command again" in done.output
    assert not rows(course)["submission"] and len(times(course)) == 2
    assert not list(course.glob("autograded/*/*")) and not left_aside(course)
    done = command(course, "--student", "ada")
    assert done.exit_code == 0 and "2 notebooks had been graded before" in done.output
    assert [student for student, *_ in rows(course)["submission"]] == ["ada"]


@pytest.mark.full("a class is graded by the command", share=16)
@in_turn
def test_one_record_that_cannot_be_read_does_not_stop_the_class(course, monkeypatch):
    """Asking whether a student is recorded may fail, by a damaged file or a locked gradebook: the others go on."""
    assert command(course).exit_code == 0

    def is_in_gradebook(recorder, student, entries):
        if student == "ada":
            raise CourseError("a master is damaged")
        if student == "bea":
            raise OperationalError("select", {}, sqlite3.OperationalError("database is locked"))
        asked.append(student)
        return True

    asked = []
    monkeypatch.setattr(Recorder, "_is_in_gradebook", is_in_gradebook)
    done = command(course)
    assert done.exit_code == 1 and asked == ["cem"], done.output
    assert "not graded: ada: a master is damaged" in done.output
    assert re.search(r"not graded: bea: \S+: someone else is writing to the gradebook", done.output)


@in_turn
def test_a_fault_says_in_whose_work_it_was_seen(course):
    """A hidden test that is at fault ends the run with 3, and the sentence names student and lesson."""
    hidden = course.parent / "hidden" / "test_operators.py"
    line = "    expect(student(observe, 2.0, 41414.25)"
    text = hidden.read_text().replace(line, f"    student(observe, 1.0, 2.0) > 0 or expct()\n{line}")
    hidden.write_text(text)
    done = command(course, "--jobs", "1", "--hidden", str(hidden.parent))
    assert done.exit_code == 3, done.output
    said = " ".join(done.output.split())
    assert "a hidden test is at fault: test_operators.py: test_add: raised NameError" in said
    assert "(seen in 00_numbers of bea)" in said


def ended(judge, lesson):
    os.kill(os.getpid(), signal.SIGKILL)


def refused(judge, lesson):
    raise OSError("the disk says no")


@in_turn
@pytest.mark.parametrize(
    ("release", "why"), [(ended, "the process that graded it ended (-9)"), (refused, "OSError: the disk says no")]
)
def test_a_problem_names_its_notebook(course, monkeypatch, release, why):
    """Whatever keeps a notebook from being graded, the list says which it was; the process does not end of an error."""
    monkeypatch.setattr(
        Judge, "release", lambda judge, lesson: release(judge, lesson) if lesson == "01_order" else None
    )
    done = command(course, "--student", "ada", "--jobs", "1")
    assert done.exit_code == 1 and f"not graded: ada: 01_order: {why}" in " ".join(done.output.split()), done.output


@pytest.mark.full("a class is graded by the command", share=48)
@pytest.mark.parametrize(("keep", "again"), [("--keep", "goes on"), ("--fresh", "begins anew, because of --fresh")])
def test_what_the_same_command_does_after_ctrl_c(course, monkeypatch, keep, again):
    """It goes on where it was, but for --fresh, which reads nothing that was found before; and it says so."""

    def stopped(*_, progress, **__):
        progress.total, progress.done = 6, 2
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.classes.grade_class", stopped)
    done = command(course, keep)
    assert done.exit_code == 130
    assert f"stopped; 2 of 6 notebooks are graded and kept. The same command {again}." in done.output


@in_turn
def test_ctrl_c_that_python_drops(course, monkeypatch):
    """What a signal's handler raises inside a weak reference's callback is dropped: the run stops all the same."""

    class Referent:
        pass

    def add(self, done):
        referent = Referent()
        reference = weakref.ref(referent, lambda _: signal.raise_signal(signal.SIGINT))
        del referent
        assert reference() is None

    dropped = []
    monkeypatch.setattr(sys, "unraisablehook", lambda each: dropped.append(each.exc_type))
    monkeypatch.setattr(Progress, "add", add)
    before = signal.getsignal(signal.SIGINT)
    done = command(course, "--jobs", "1")
    assert set(dropped) == {KeyboardInterrupt}
    assert done.exit_code == 130 and "of 6 notebooks are graded and kept" in done.output, done.output
    assert signal.getsignal(signal.SIGINT) is before and not rows(course)["submission"]


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


@pytest.mark.full("a class is graded by the command", share=48)
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
    said = re.search(r"stopped; (\d) of 6 notebooks (is|are) graded and kept. The same command goes on.", error)
    assert said is not None, error
    assert until(lambda: not any(map(is_running, below)))
    graded = times(course)
    assert int(said[1]) <= len(graded)  # word of the last ones may have been under way
    assert command(course).exit_code == 0
    assert graded.items() <= times(course).items() and len(times(course)) == 6


@in_turn
def test_two_commands_share_a_class(course):
    """Given twice at once, the command grades each notebook once, and both end with the whole class recorded."""
    program = [sys.executable, "-c", "from autograder.cli import main; main()", "autograde", "week0", "--jobs", "1"]
    both = [subprocess.Popen(program, cwd=course, stdout=-1, stderr=-1, text=True) for _ in range(2)]
    said = [(*process.communicate(), process.returncode) for process in both]
    assert [code for *_, code in said] == [0, 0], said
    assert not any("Traceback" in error for _, error, _ in said)
    taken = [sum(map(int, re.findall(r"(\d) notebooks? (?:had been|graded by)", output))) for output, *_ in said]
    assert sum(taken) == 6, said
    assert all("3 submissions, 6 notebooks" in output for output, *_ in said)
    assert sorted(student for student, *_ in rows(course)["submission"]) == ["ada", "bea", "cem"]
    assert len(times(course)) == 6 and not list(course.rglob("*.lock"))


STANDS_STILL = """
    import multiprocessing, pathlib, time
    if multiprocessing.parent_process() is not None:  # the reference is graded before any process is started
        pathlib.Path(SIGN).touch()
        time.sleep(3600)
"""


@in_turn
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
        error = process.communicate(timeout=120)[1]
    assert process.returncode == code, error
    assert "Traceback" not in error
    assert until(lambda: not any(map(is_running, below)))
    assert [path.name for path in times(course)] == ["00_numbers.json"] and not rows(course)["submission"]
    test.write_text(text)
    done = command(course, "--hidden", str(hidden), "--student", "ada")
    assert done.exit_code == 0 and "2 with full points" in done.output
    assert not left_aside(course)
