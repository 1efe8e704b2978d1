"""What nobody foresaw in a text costs the part that it is about, is told, and ends neither notebook nor run."""

import json
import shutil

import nbformat
import pytest
from class_runs import autograde, generate, rows, write
from places import ROOT
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.cli import app
from autograder.common.unforeseen import UNGRADED, unforeseen
from autograder.course.loading import load_course
from autograder.gradebook.recording import Recorder
from autograder.grafting import graft as grafting
from autograder.grafting.graft import graft
from autograder.judging.judge import Judge
from autograder.judging.plugin import HiddenTestError
from autograder.reading import Unreadable, read_notebook
from autograder.results.ledger import entries
from autograder.sandbox import SandboxError
from autograder.telling import report
from autograder.telling.classreport.gather import gather
from autograder.telling.classreport.page import class_page

POISON = "poison = 1\n"


def poisoned(function):
    """The same function, which raises where a text has the poison in it."""

    def checked(text, *more, **others):
        if POISON.strip() in text:
            raise KeyError("a text that nobody foresaw\n\x1b[31m" + "x" * 500)
        return function(text, *more, **others)

    return checked


@pytest.fixture(scope="module")
def handed(tmp_path_factory):
    """Two submissions of two notebooks each; one answer of ada's holds what the grader cannot bear."""
    course = make_course(tmp_path_factory.mktemp("unforeseen"), ROOT)
    generate(course)
    write(course, "ada", {"00_numbers": ARITHMETIC + POISON, "01_order": COMPARISON})
    write(course, "bea", {"00_numbers": ARITHMETIC, "01_order": COMPARISON})
    return course


@pytest.fixture
def course(handed, tmp_path):
    """The same again."""
    shutil.copytree(handed.parent, tmp_path / "copy")
    return tmp_path / "copy" / "course"


def scores(course):
    return {(student, cell): score for student, cell, score, *_ in rows(course)["grade"]}


def run(course):
    """`autograder autograde`, in this process; what it judges runs in processes that are forked from it."""
    done = CliRunner().invoke(app, ["autograde", "week0", "--course", str(course)], env={"COLUMNS": "400"})
    assert not isinstance(done.exception, Exception), done.output
    return done.exit_code, done.output


def fail_at(monkeypatch):
    """Let a step of judging raise where a cell has the poison in it."""
    from autograder.judging import judge

    real = judge.cell_notes

    def failing(exercise, cells, *more):
        poisoned(lambda text: None)("".join(cell.source for cell in cells))
        return real(exercise, cells, *more)

    monkeypatch.setattr(judge, "cell_notes", failing)


def test_an_exercise_is_lost_and_told_and_graded_again(course, monkeypatch):
    """The others of the class and of the notebook keep their points; the next run grades it, and only it, again."""
    with monkeypatch.context() as patched:
        fail_at(patched)
        code, output = run(course)
    assert code == 1, output
    assert f"not graded: ada: operators.arithmetic: {UNGRADED} this exercise (KeyError" in output
    assert sorted(scores(course).values()) == [0, 3, 4, 4]
    found = {entry.student: entry for entry in entries(course) if entry.lesson == "00_numbers"}
    assert found["ada"].submission.exercises[0].is_ungraded and not found["bea"].submission.ungraded
    page = class_page(gather(load_course(course, tree=False)))
    assert "Where the grader itself failed" in page and "\x1b" not in page
    code, output = run(course)
    assert code == 0 and "3 notebooks had been graded before" in output, output
    assert sorted(scores(course).values()) == [3, 3, 4, 4]
    assert "Where the grader itself failed" not in class_page(gather(load_course(course, tree=False)))


@pytest.mark.full("a class is graded and recorded", share=16)
def test_nbgrader_goes_on_and_logs_it(course, monkeypatch, capfd):
    """`nbgrader autograde` records the other exercises, and says in its log what was not graded."""
    fail_at(monkeypatch)
    autograde(course)
    assert sorted(scores(course).values()) == [0, 3, 4, 4]
    assert f"ada: operators.arithmetic: {UNGRADED} this exercise" in capfd.readouterr().err


@pytest.mark.full("a class is graded and recorded", share=16)
def test_a_submission_that_cannot_be_recorded_ends_no_run(course, monkeypatch):
    """The others are recorded; the next run records it."""
    real = Recorder.add

    def failing(self, student, *more):
        if student == "ada":
            raise ValueError("nobody foresaw it")
        return real(self, student, *more)

    with monkeypatch.context() as patched:
        patched.setattr(Recorder, "add", failing)
        code, output = run(course)
    assert code == 1 and f"not graded: ada: {UNGRADED} recording it (ValueError: nobody foresaw it" in output, output
    assert {student for student, _ in scores(course)} == {"bea"}
    code, output = run(course)
    assert code == 0 and sorted(scores(course).values()) == [3, 3, 4, 4], output


@pytest.mark.parametrize("step", ["defined_names", "helper_names", "exercise_of", "alike", "parses"])
def test_a_cell_that_cannot_be_grafted_costs_its_exercise(course, monkeypatch, step):
    """The other answers and the student's own cells are taken, and the report names the error."""
    real = getattr(grafting, step)
    monkeypatch.setattr(grafting, step, poisoned(real))
    master = nbformat.read(course / "source" / "week0" / "00_numbers.ipynb", as_version=4)
    other = nbformat.read(course / "source" / "week0" / "01_order.ipynb", as_version=4)
    master.cells += [cell for cell in other.cells if cell.source.startswith("# exercise")]
    student = nbformat.from_dict(json.loads(json.dumps(master)))
    texts = {"operators.arithmetic": ARITHMETIC + POISON, "operators.comparison": COMPARISON}
    for cell in student.cells:
        for exercise, text in texts.items():
            cell.source = text if cell.source.startswith(f"# exercise: {exercise}") else cell.source
    student.cells += [nbformat.v4.new_code_cell("mine = 1", id="mine"), nbformat.v4.new_code_cell(POISON, id="other")]
    grafted = graft(nbformat.writes(student).encode(), master)
    assert grafted.unreadable == ""
    said = {
        cell.metadata["minigrad"]["exercise"]: cell for cell in grafted.notebook.cells if "minigrad" in cell.metadata
    }
    assert said["operators.comparison"].source == COMPARISON
    assert "mine = 1" in [cell.source for cell in grafted.notebook.cells]
    if said["operators.arithmetic"].source != ARITHMETIC + POISON:  # a step may never look at this cell
        assert said["operators.arithmetic"].metadata["minigrad"]["reason"].startswith(UNGRADED)
        assert any(UNGRADED in note.text for note in grafted.notes)


def test_a_notebook_that_cannot_be_grafted_at_all_is_stubs_and_a_reason(course, monkeypatch):
    """An error of which no single cell is the cause."""
    monkeypatch.setattr(grafting, "slots_of", lambda master: 1 / 0)
    monkeypatch.setattr(grafting, "stubs", lambda master, reason: reason)
    notebook = course / "source" / "week0" / "00_numbers.ipynb"
    said = graft(notebook.read_bytes(), nbformat.read(notebook, as_version=4))
    assert said.startswith(f"{UNGRADED} this notebook (ZeroDivisionError: division by zero, grafting/graft.py:")


def test_a_file_that_cannot_be_read_is_unreadable(monkeypatch):
    """Whatever reading it raises, there is a sentence for its author."""
    monkeypatch.setattr("autograder.reading.decode", lambda data: 1 / 0)
    with pytest.raises(Unreadable, match=f"{UNGRADED} this file"):
        read_notebook(b"{}")


@pytest.mark.parametrize("error", [HiddenTestError, SandboxError, OSError])
def test_what_concerns_everyone_ends_the_run(course, monkeypatch, error):
    """A hidden test, the sandbox and the disk are no student's fault, and no exercise's."""
    loaded = load_course(course, tree=False)
    with Judge(loaded, hidden=course.parent / "hidden") as judge:

        def failing(*args, **others):
            raise error("for everyone")

        monkeypatch.setattr(judge, "grade_exercise", failing)
        text = (course / "submitted" / "bea" / "week0" / "00_numbers.ipynb").read_bytes()
        with pytest.raises(error, match="for everyone"):
            judge.grade(graft(text, judge.master("00_numbers")), "00_numbers")


@pytest.mark.full("a class is graded and recorded", share=16)
def test_a_report_that_cannot_be_made_leaves_the_others(course, monkeypatch):
    """Each form of it says so at its place."""
    run(course)
    submission = next(entry.submission for entry in entries(course) if entry.lesson == "00_numbers")
    monkeypatch.setattr(report, "_html_body", lambda *args: 1 / 0)
    monkeypatch.setattr(report, "_rich_lines", lambda *args: 1 / 0)
    for text in (report.as_text(submission), report.page(submission)):
        assert "operators.arithmetic: 3 of 3 points" in text and f"{UNGRADED} this report (ZeroDivisionError" in text
    monkeypatch.setattr("autograder.telling.classreport.page._mistakes", lambda data: 1 / 0)
    page = class_page(gather(load_course(course, tree=False)))
    assert f"{UNGRADED} this section (ZeroDivisionError" in page and "Who may be stuck" in page


def test_the_sentence_is_short_and_steers_no_terminal():
    """It names the error and the grader's own line, and nothing of it is longer than a line."""
    try:
        poisoned(len)(POISON)
    except KeyError as error:
        said = unforeseen("this exercise", error)
    assert said.startswith(f"{UNGRADED} this exercise (KeyError: ") and said.endswith("the instructor is told")
    assert len(said) < 240 and said.isprintable()
    with pytest.raises(Unreadable) as caught:
        read_notebook(b"{")
    assert "reading/__init__.py:" in unforeseen("it", caught.value)
