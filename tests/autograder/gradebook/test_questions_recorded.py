"""An answer in words goes through nbgrader's whole pipeline: handed in, shown, marked by a person, fed back."""

import json
import re
import shutil

import nbformat
import pytest
from class_runs import WHEN, autograde, files, generate, grade, rows
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from places import ROOT
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.building.build import build
from autograder.building.questions import heading
from autograder.cli import app
from autograder.gradebook.recording import Recorder
from autograder.gradebook.settings import load_app
from autograder.results.ledger import entries

QUESTION = "\n:::{question} why-add\n:points: 2\nWhy is adding enough?\n:::\n"
ANSWER = 'Because <script>alert("owned")</script> it **is**.'


def hand_in(course, student, answer):
    """Put a submission with an answer in words where it is graded."""
    folder = course / "submitted" / student / "week0"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "timestamp.txt").write_text(WHEN)
    (folder / "submission_secret.txt").write_text("5" * 64)
    for lesson, text in (("00_numbers", ARITHMETIC), ("01_order", COMPARISON)):
        notebook = nbformat.read(course / "release" / "week0" / f"{lesson}.ipynb", as_version=4)
        next(cell for cell in notebook.cells if cell.source.startswith("# exercise")).source = text
        for cell in notebook.cells:
            if answer and cell.source.startswith(heading("why-add")):
                cell.source = f"{heading('why-add')}\n\n{answer}"
        (folder / f"{lesson}.ipynb").write_text(json.dumps(notebook))


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A course whose first lesson asks a question; one student answered it, one did not."""
    course = make_course(tmp_path_factory.mktemp("questions"), ROOT)
    lesson = course / "lessons" / "00_numbers.md"
    lesson.write_text(lesson.read_text() + QUESTION)
    build(course)
    generate(course)
    hand_in(course, "ada", ANSWER)
    hand_in(course, "bea", "")
    return course


@pytest.fixture(scope="module", params=["class", "nbgrader"])
def graded(released, request, tmp_path_factory):
    """The course graded, marked by a person, and graded again: by the class command and by nbgrader."""
    course = tmp_path_factory.mktemp(request.param) / "copy" / "course"
    shutil.copytree(released.parent, course.parent)
    run = {"class": grade, "nbgrader": lambda course: autograde(course, force=True)}[request.param]
    run(course)
    return course, run


def row(course, student):
    """Score and state of the question of a student."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        found = gradebook.find_grade("question-why-add", "00_numbers", "week0", student)
        return found.auto_score, found.manual_score, found.needs_manual_grade, found.max_score


def mark(course, student, score):
    """Give a mark as Formgrader does."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        found = gradebook.find_grade("question-why-add", "00_numbers", "week0", student)
        found.manual_score, found.needs_manual_grade = score, False
        gradebook.db.commit()


def shown(course, student):
    """The answer in the graded notebook, which Formgrader shows."""
    path = course / "autograded" / student / "week0" / "00_numbers.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    return next(
        cell.source for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "question-why-add"
    )


@pytest.mark.full("a class answers, by both ways of recording", share=48)
def test_an_answer_waits_for_a_person_and_none_does_not(graded):
    """Formgrader shows the answer and asks for a mark; a question left alone scores 0 and asks for nothing."""
    course, _ = graded
    assert row(course, "ada") == (None, None, True, 2.0)
    assert row(course, "bea") == (0.0, None, False, 2.0)
    assert shown(course, "ada").endswith(ANSWER)
    assert shown(course, "bea").endswith("Write your answer here.")


@pytest.mark.full("a class answers written questions, recorded in both ways", share=8, group="recorded")
def test_automatic_points_are_what_they_were(graded):
    """The ledger, from which reports are made, knows the exercises and their points only."""
    course, _ = graded
    found = {(entry.student, entry.lesson): entry.submission for entry in entries(course, "week0")}
    assert [found["ada", lesson].points for lesson in ("00_numbers", "01_order")] == [3, 4]
    assert found["ada", "00_numbers"].earned == found["bea", "00_numbers"].earned == 3


@pytest.mark.full("a class answers written questions, recorded in both ways", share=8, group="recorded")
def test_the_answer_on_the_feedback_page_does_nothing(graded):
    """The page shows what was written, as text; formulas of a person's comment are drawn, and code is left alone."""
    course, _ = graded
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        comment = gradebook.find_comment("question-why-add", "00_numbers", "week0", "ada")
        comment.manual_comment = "As in $x^2$, and not `$y$`."
        gradebook.db.commit()
    converter = load_app(course, "week0")
    GenerateFeedback(coursedir=converter.coursedir, parent=converter).start()
    page = (course / "feedback" / "ada" / "week0" / "00_numbers.html").read_text()
    assert "it <strong>is</strong>." in page
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in page and "<code>$y$</code>" in page and "$x^2$" not in page
    assert '<script>alert("owned")' not in page and "&lt;script&gt;alert" in page


@pytest.mark.full("a class answers, by both ways of recording", share=48)
def test_an_answer_that_nobody_marked_is_told_everywhere(graded, tmp_path):
    """A table's columns are fixed: the command names the student. Page, explanation and feedback tell it too."""
    course, _ = graded
    place = ["--course", str(course)]

    def run(*arguments):
        done = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*arguments, *place])
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    for kind in ("canvas", "moodle", "nbgrader"):
        said = run("report", "--csv", kind, "--out", str(tmp_path / f"{kind}.csv"))
        assert "a person has still to mark, so that the mark is not final: ada (week0): 1" in said, said
    run("report", "--out", str(tmp_path / "class.html"))
    page = re.sub(r"<[^>]+>", "|", (tmp_path / "class.html").read_text())
    assert re.search(r"\|ada\|+week0\|+not late: there is no due date\|+[\d.]+ of 9\|+0\|+[\d.]+\|+1\|", page)
    assert not re.search(r"\|bea\|+week0\|", page)
    said = run("explain", "ada", "operators.arithmetic", "--json")
    assert "answers that a person has still to mark: 1" in json.loads(said)["standing"]
    converter = load_app(course, "week0")
    feedback = GenerateFeedback(coursedir=converter.coursedir, parent=converter)
    feedback.force = True
    feedback.start()
    pages = [(course / "feedback" / who / "week0" / "00_numbers.html").read_text() for who in ("ada", "bea")]
    assert ["still to be marked by a person" in page for page in pages] == [True, False]


@pytest.mark.full("a class answers, by both ways of recording", share=48)
def test_a_persons_mark_outlives_grading(graded):
    """Graded again, an answer that is the same keeps its mark in peace; a changed one keeps it and asks for a look."""
    course, run = graded
    mark(course, "ada", 1.5)
    run(course)
    assert row(course, "ada") == (None, 1.5, False, 2.0)
    hand_in(course, "ada", "Something better.")
    run(course)
    assert row(course, "ada") == (None, 1.5, True, 2.0)
    assert shown(course, "ada").endswith("Something better.")
    run(course)
    assert row(course, "ada") == (None, 1.5, True, 2.0)
    hand_in(course, "ada", ANSWER)
    run(course)
    mark(course, "ada", None)


@pytest.mark.full("a class answers, by both ways of recording", share=48)
def test_a_changed_answer_is_recorded_though_the_code_is_the_same(released, tmp_path):
    """A submission whose code is the same is not taken for recorded when its answer in words is new."""
    course = tmp_path / "copy" / "course"
    shutil.copytree(released.parent, course.parent)
    outcome = next(each for each in grade(course) if each.work.student == "ada")
    with Recorder(course, "week0") as recorder:
        assert recorder.is_recorded("ada", outcome.entries)
    hand_in(course, "ada", "Something new.")
    with Recorder(course, "week0") as recorder:
        assert not recorder.is_recorded("ada", outcome.entries)


@pytest.mark.full("a class answers, by both ways of recording", share=48)
def test_a_graded_notebook_that_is_cut_off_is_written_again(released, tmp_path):
    """What a full disk has left of it is no record, though the mark can still be read."""
    shutil.copytree(released.parent, tmp_path / "copy")
    course = tmp_path / "copy" / "course"
    grade(course)
    path = course / "autograded" / "ada" / "week0" / "00_numbers.ipynb"
    whole = path.read_text()
    path.write_text(whole[:-20])
    with Recorder(course, "week0") as recorder:
        assert not recorder.is_recorded("ada", [e for e in entries(course, "week0") if e.student == "ada"])
    grade(course)
    assert nbformat.reads(path.read_text(), as_version=4) == nbformat.reads(whole, as_version=4)


@pytest.mark.full("a class answers, by both ways of recording", share=48)
def test_both_ways_record_the_same(released, tmp_path):
    """A class graded in one command leaves the rows and files of `nbgrader autograde`, answers in words included."""
    for name, run in (("one", grade), ("other", autograde)):
        shutil.copytree(released.parent, tmp_path / name)
        run(tmp_path / name / "course")
    one, other = tmp_path / "one" / "course", tmp_path / "other" / "course"
    assert rows(one) == rows(other)
    assert files(one) == files(other)
