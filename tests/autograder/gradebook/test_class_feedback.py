"""`autograder feedback`: the pages of nbgrader, in parallel, made again only where something has changed."""

import hashlib
import os
import shutil

import pytest
from class_runs import generate, write
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from places import ROOT
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import CourseError
from autograder.gradebook.class_feedback import ClassFeedback
from autograder.gradebook.recording import Recorder
from autograder.gradebook.settings import load_app
from autograder.grafting.tidying import tidy
from autograder.results import Graded, GroupScore, Submission
from autograder.results.ledger import Entry

EXERCISES = {
    "00_numbers": ("operators.arithmetic", {"values": 2, "special": 1}),
    "01_order": ("operators.comparison", {"order": 4}),
}


pytestmark = pytest.mark.full("a class is graded, and gets its pages", share=12, group="pages")


def record(course, student, share):
    """Record marks that nobody gave: a share of the points of each group."""
    folder = course / "submitted" / student / "week0"
    entries = []
    for lesson, (exercise, groups) in EXERCISES.items():
        scores = tuple(GroupScore(name, points, points * share) for name, points in groups.items())
        graded = Graded(exercise, sum(groups.values()), scores, reason=f"as {student} did it")
        digest = hashlib.sha256((folder / f"{lesson}.ipynb").read_bytes()).hexdigest()
        entries.append(Entry(student, "week0", lesson, digest, "2027-01-01", Submission(lesson, (graded,))))
    with Recorder(course, "week0") as recorder:
        recorder.add(student, entries)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course with two recorded submissions."""
    course = make_course(tmp_path_factory.mktemp("pages"), ROOT)
    generate(course)
    for student, share in (("ada", 1.0), ("bea", 0.5)):
        write(course, student, {"00_numbers": ARITHMETIC, "01_order": COMPARISON})
        tidy(course, course / "submitted" / student / "week0")
        record(course, student, share)
    return course


@pytest.fixture
def course(graded, tmp_path):
    """The same again."""
    shutil.copytree(graded.parent, tmp_path / "copy")
    return tmp_path / "copy" / "course"


def command(course, *arguments):
    """Run it."""
    return CliRunner().invoke(app, ["feedback", "week0", "--course", str(course), *arguments])


def pages(course):
    """Every page and file of `feedback`, by name."""
    found = sorted(path for path in (course / "feedback").rglob("*") if path.is_file())
    return {str(path.relative_to(course / "feedback")): path.read_bytes() for path in found}


def times(course):
    """When each page was written, by student."""
    return {path.parts[-3]: path.stat().st_mtime_ns for path in (course / "feedback").glob("*/*/00_numbers.html")}


def test_the_pages_are_nbgraders(course, graded):
    """The files are those that `nbgrader generate_feedback` writes, byte for byte, and nothing lies beside them."""
    done = command(course)
    assert done.exit_code == 0, done.output
    assert "4 pages for 2 students, in" in done.output
    app = load_app(graded, "week0")
    GenerateFeedback(coursedir=app.coursedir, parent=app).start()
    assert pages(course) == pages(graded)
    assert {"ada/week0/00_numbers.html", "bea/week0/01_order.html", "ada/week0/timestamp.txt"} <= set(pages(course))


def test_only_what_has_changed_is_made_again(course):
    """Pages stay as long as nothing changes; a comment, a mark or a lost page makes that student's anew."""
    command(course)
    first = times(course)
    done = command(course)
    assert "4 pages for 2 students, 2 of them up to date already" in done.output and times(course) == first
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "minigrad") as gradebook:
        notebook = gradebook.find_submission_notebook("01_order", "week0", "ada")
        notebook.grades[0].manual_score = 1.0
        gradebook.db.commit()
    command(course)
    second = times(course)
    assert second["ada"] > first["ada"] and second["bea"] == first["bea"]
    assert (
        b"(Score: 4.0 / 7.0)" in b"".join(pages(course).values())
        or b"1.0 / 4.0" in pages(course)["ada/week0/01_order.html"]
    )
    (course / "feedback" / "bea" / "week0" / "01_order.html").unlink()
    assert "1 of them up to date already" in command(course).output
    assert command(course, "--force", "--student", "bea").output.startswith("2 pages for 1 student, in")


def test_one_damaged_notebook_costs_its_own_pages(course):
    """The student is named with the reason, the old pages stay, and everybody else gets theirs."""
    command(course, "--student", "bea")
    before = pages(course)
    home = course / "autograded" / "bea" / "week0" / "00_numbers.ipynb"
    home.chmod(0o644)
    home.write_text("{")
    done = command(course)
    assert done.exit_code == 1
    assert "2 pages for 1 student" in done.output and "no pages: bea: NotJSONError" in done.output
    assert "Traceback" not in done.output
    assert before.items() <= pages(course).items() and "ada/week0/00_numbers.html" in pages(course)
    assert not [path for path in (course / "feedback").iterdir() if path.name.startswith(".")]


def test_a_process_that_is_ended_is_said(course, monkeypatch):
    """The pages of whoever it was at are missing: no command takes them for made, and none waits for ever."""
    pages = ClassFeedback(course, "week0")
    monkeypatch.setattr(ClassFeedback, "one", lambda *_: os._exit(9))
    with pytest.raises(CourseError, match=r"was ended, .*; the same command goes on"):
        list(pages.make(pages.students(), 1))


def test_mistakes_are_one_sentence(course):
    """An unknown assignment, an unknown student, and an assignment that nobody graded."""
    shutil.rmtree(course / "autograded")
    for arguments, said in (
        (["week9"], "there is no assignment 'week9'; the assignments are week0"),
        (["week0", "--student", "eve"], "nothing of eve is graded in week0"),
        (["week0"], "nothing of week0 is graded; run `autograder autograde week0` first"),
    ):
        done = CliRunner().invoke(app, ["feedback", *arguments, "--course", str(course)])
        assert done.exit_code == 2 and said in done.output, done.output
