"""Stock nbgrader commands grade any submission by hidden tests, and record what the work deserves."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from traitlets.config import Config, PyFileConfigLoader
from two_lessons import ARITHMETIC, COMPARISON, make_course

from autograder.building.masters import find_master
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.gradebook.exchange import GraftingCollect
from autograder.gradebook.nbgrader_hooks import fill
from autograder.grafting.collecting import is_clean, take_in
from autograder.grafting.tidying import tidy
from autograder.results import Graded, GroupScore, Submission

by_nbgrader = pytest.mark.full("nbgrader grades a class by its own commands", share=48, group="nbgrader")

MODIFIED = 1_800_000_000  # 2027-01-15 08:00:00
WHEN = "2027-01-01 10:00:00.000000 UTC"


def nbgrader(course, *arguments, code=0):
    command = [sys.executable, "-m", "nbgrader", *arguments]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=course, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == code, done.stdout[-4000:]
    return done.stdout


class Student:
    """One student's directory in the exchange."""

    def __init__(self, course, name):
        self.course = course
        self.folder = course / "exchange" / "minigrad" / "inbound" / f"{name}+week0+{WHEN}+x1"
        self.folder.mkdir(parents=True)
        (self.folder / "timestamp.txt").write_text(WHEN)
        (self.folder / "submission_secret.txt").write_text("5" * 64)

    def released(self, lesson):
        return nbformat.read(self.course / "release" / "week0" / f"{lesson}.ipynb", as_version=4)

    def write(self, lesson, text=None, name=None, change=None):
        notebook = self.released(lesson)
        if text is not None:
            next(c for c in notebook.cells if c.source.startswith("# exercise")).source = text
        if change is not None:
            change(notebook)
        (self.folder / f"{name or lesson}.ipynb").write_text(json.dumps(notebook))
        return self


def forge(notebook):
    """Every trick of a notebook's metadata and outputs that stock nbgrader falls for."""
    check = next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade"))
    check.metadata.nbgrader.points = 1000
    check.metadata.tags = ["skip-execution"]
    check.outputs = [nbformat.v4.new_output("execute_result", data={"text/plain": "3.0"})]
    check.source = "3.0"
    notebook.metadata.kernelspec = {"name": "evil", "display_name": "evil", "language": "python"}
    notebook.metadata.minigrad = {"notes": [{"text": "GIVE FULL MARKS", "exercise": ""}], "stamp": "../../x"}
    notebook.cells.append(check.copy())


def spy(notebook):
    source = (
        "import glob, os, sys\n"
        "for path in glob.glob('/**/test_operators.py', recursive=True) + glob.glob('*'):\n"
        "    print(path, open(path).read() if os.path.isfile(path) else '')\n"
        "print(os.environ, file=sys.stderr)\n"
    )
    notebook.cells.append(nbformat.v4.new_code_cell(source))


def loop(notebook):
    notebook.cells.insert(1, nbformat.v4.new_code_cell("while True: pass"))


SUBMISSIONS = {
    # name: (points, what the feedback of lesson 00 says)
    "ada": (7, "3 of 3 points"),
    "bea": (5, "not a sum"),
    "cut": (4, "cut off"),
    "dup": (7, "2 cells hold this exercise"),
    "evil": (0, "not started"),
    "hand": (7, "it was recognised by its cells"),
    "loop": (7, "3 of 3 points"),
    "none": (0, "no notebook 00_numbers.ipynb was handed in"),
    "name": (7, "it was recognised by its cells"),
    "spy": (5, "got -41412.25"),
    "syn": (4, "SyntaxError"),
    "time": (0, "not started"),
}


def hand_in(course):
    wrong = ARITHMETIC.replace("x + y", "x - y")
    Student(course, "ada").write("00_numbers", ARITHMETIC).write("01_order", COMPARISON)
    Student(course, "bea").write("00_numbers", wrong).write("01_order", COMPARISON)
    cut = Student(course, "cut").write("00_numbers", ARITHMETIC).write("01_order", COMPARISON)
    whole = (cut.folder / "00_numbers.ipynb").read_bytes()
    (cut.folder / "00_numbers.ipynb").write_bytes(whole[: len(whole) // 2])

    def duplicate(notebook):
        cell = next(c for c in notebook.cells if c.source.startswith("# exercise"))
        notebook.cells.insert(0, nbformat.from_dict({**cell, "source": wrong}))

    Student(course, "dup").write("00_numbers", ARITHMETIC, change=duplicate).write("01_order", COMPARISON)
    evil = Student(course, "evil").write("00_numbers", change=forge).write("01_order", change=forge)
    (evil.folder / "ipykernel_launcher.py").write_text("print('owned')")
    (evil.folder / "link.txt").symlink_to(course / "gradebook.db")
    (evil.folder / "linked.ipynb").symlink_to(course / "gradebook.db")
    Student(course, "loop").write("00_numbers", ARITHMETIC, change=loop).write("01_order", COMPARISON)
    Student(course, "none")
    Student(course, "name").write("00_numbers", ARITHMETIC, name="my work").write("01_order", COMPARISON)
    Student(course, "spy").write("00_numbers", wrong, change=spy).write("01_order", COMPARISON)
    syntax = "# exercise: operators.arithmetic\ndef add(x,\n"
    (Student(course, "time").write("00_numbers").folder / "timestamp.txt").write_text("yesterday")
    Student(course, "syn").write("00_numbers", syntax).write("01_order", COMPARISON)


def put_by_hand(course):
    """Put a submission into submitted/ without `collect`, as from a learning management system."""
    inbound = course / "exchange" / "minigrad" / "inbound"
    shutil.copytree(inbound / f"name+week0+{WHEN}+x1", course / "submitted" / "hand" / "week0")
    (course / "submitted" / "hand" / "week0" / "link.txt").symlink_to(course / "gradebook.db")
    for name in ("timestamp.txt", "submission_secret.txt"):
        (course / "submitted" / "hand" / "week0" / name).unlink()
    for path in (course / "submitted" / "hand" / "week0").glob("*.ipynb"):
        os.utime(path, (MODIFIED, MODIFIED))


@pytest.fixture(scope="module")
def graded(tmp_path_factory, root):
    """A course after a whole term: released, handed in, collected, graded, fed back and exported."""
    course = make_course(tmp_path_factory.mktemp("term"), root)
    for command in ("generate_assignment", "release_assignment"):
        nbgrader(course, command, "week0")
    hand_in(course)
    logs = nbgrader(course, "collect", "week0")
    put_by_hand(course)
    logs += nbgrader(course, "autograde", "week0")
    for command in ("generate_feedback", "release_feedback"):
        nbgrader(course, command, "week0")
    nbgrader(course, "export")
    return course, logs


def feedback(course, student, lesson="00_numbers"):
    return (course / "feedback" / student / "week0" / f"{lesson}.html").read_text()


@by_nbgrader
def test_everyone_gets_the_points_they_deserve(graded):
    """The gradebook holds each submission's points, and none needs grading by hand."""
    course, _ = graded
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        scores = {s.student.id: s.score for s in gradebook.find_assignment("week0").submissions}
        manual = [s.student.id for s in gradebook.find_assignment("week0").submissions if s.needs_manual_grade]
    assert scores == {name: points for name, (points, _) in SUBMISSIONS.items()}
    assert manual == []


@by_nbgrader
def test_the_export_has_everyone(graded):
    """`nbgrader export` lists every student."""
    course, _ = graded
    text = (course / "grades.csv").read_text()
    assert all(f",{name}," in text for name in SUBMISSIONS)


@by_nbgrader
@pytest.mark.parametrize("name", SUBMISSIONS)
def test_feedback_says_why(graded, name):
    """Every student's feedback page gives the reason, and never a test's source or a wanted value."""
    course, _ = graded
    text = feedback(course, name)
    assert SUBMISSIONS[name][1] in text
    for secret in ("the-hidden-tests-were-read", "41416", "test_add", "GIVE FULL MARKS", "evil"):
        assert secret not in text


@by_nbgrader
def test_feedback_is_released_to_everyone(graded):
    """A submission that came by hand, without nbgrader's two text files, does not keep feedback from anyone."""
    course, _ = graded
    released = list((course / "exchange" / "minigrad" / "feedback").glob("*.html"))
    # Submissions of one student here have one secret, and so one feedback, but for the one that had none.
    assert len(released) == 2 * 2
    assert len((course / "submitted" / "hand" / "week0" / "submission_secret.txt").read_text()) == 64


@by_nbgrader
def test_tables_on_a_feedback_page_have_room(graded):
    """The cells of a table in Markdown do not touch; without this rule two columns read as one word."""
    course, _ = graded
    assert ".rendered_html td, .rendered_html th { padding:" in feedback(course, "ada")


@by_nbgrader
def test_each_graded_cell_has_one_number(graded):
    """A graded cell has the report and exactly one numeric result; all other cells have no output."""
    course, _ = graded
    for path in (course / "autograded").rglob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            outputs = cell.get("outputs", [])
            if not cell.metadata.get("nbgrader", {}).get("grade"):
                assert outputs == []
                continue
            assert [each.output_type for each in outputs] == ["display_data", "execute_result"]
            float(outputs[1].data["text/plain"])


@by_nbgrader
def test_the_submitted_tree_is_clean(graded):
    """The submitted tree holds regular notebooks of the course's names, and originals are kept beside it."""
    course, _ = graded
    submitted = course / "submitted" / "evil" / "week0"
    names = {"00_numbers.ipynb", "01_order.ipynb", "timestamp.txt", "submission_secret.txt"}
    assert {path.name for path in submitted.iterdir()} == names
    assert not any(path.is_symlink() for path in (course / "submitted").rglob("*"))
    assert not list((course / "autograded").rglob("*.py"))
    originals = list((course / "originals" / "evil" / "week0").rglob("*"))
    assert any(path.name == "ipykernel_launcher.py" for path in originals)
    assert not any(path.name.startswith("link") for path in originals)


@by_nbgrader
def test_repairs_are_logged(graded):
    """The instructor's log names the student and what was repaired."""
    _, logs = graded
    assert "name: 00_numbers: the notebook was handed in as 'my work.ipynb'" in logs
    assert "cut: 00_numbers" in logs and "other notebooks" in logs


@by_nbgrader
def test_a_second_collect_changes_nothing(graded):
    """What was collected is left alone."""
    course, _ = graded
    before = {path: path.stat().st_ino for path in (course / "submitted").rglob("*")}
    nbgrader(course, "collect", "week0")
    assert {path: path.stat().st_ino for path in (course / "submitted").rglob("*")} == before


@by_nbgrader
def test_grading_again_gives_the_same(graded):
    """Grading again by force gives the same points, from kept results."""
    course, _ = graded
    before = {path: path.stat().st_ino for path in (course / ".grades").rglob("*.json")}
    nbgrader(course, "autograde", "week0", "--student=bea", "--force")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission("week0", "bea").score == SUBMISSIONS["bea"][0]
    assert {path: path.stat().st_ino for path in (course / ".grades").rglob("*.json")} == before


@by_nbgrader
def test_submissions_that_came_another_way(graded):
    """A directory put into submitted/ by hand is made clean before it is graded."""
    course, _ = graded
    assert {path.name for path in (course / "submitted" / "hand" / "week0").glob("*.ipynb")} == {
        "00_numbers.ipynb", "01_order.ipynb",
    }  # fmt: skip
    assert not list((course / "autograded" / "hand").rglob("link.txt"))
    assert list((course / "originals" / "hand").rglob("my work.ipynb"))


@by_nbgrader
def test_times_are_kept(graded):
    """The time of a submission is kept; of one that says no time it stays unknown, whatever its files' times are."""
    course, _ = graded
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        times = {s.student.id: s.timestamp for s in gradebook.find_assignment("week0").submissions}
    assert str(times["ada"]) == str(times["time"]) == "2027-01-01 10:00:00"
    assert times["hand"] is None


@by_nbgrader
def test_formgrader_grades_the_same_way(graded):
    """The button of Formgrader, which works inside a server, grades through the same parts."""
    course, _ = graded
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    result = NbGraderAPI(config=config).autograde("week0", "bea", force=True)
    assert result["success"], result["error"]
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission("week0", "bea").score == SUBMISSIONS["bea"][0]


@by_nbgrader
def test_no_sandbox_is_no_zero(graded):
    """Where there is no sandbox nothing is graded, the command fails, and no score is recorded."""
    course, _ = graded
    shutil.copytree(course / "submitted" / "ada", course / "submitted" / "later")
    option = "--JudgePreprocessor.isolation=no-such-thing"
    log = nbgrader(course, "autograde", "week0", "--student=later", option, code=1)
    assert "no-such-thing" in log
    assert not (course / "autograded" / "later" / "week0" / "00_numbers.ipynb").exists()


@by_nbgrader
def test_a_disk_that_refuses_one_submission(graded, monkeypatch):
    """A submission that cannot be taken in is named at the end, and the others are collected."""
    course, _ = graded
    config = Config()
    config.CourseDirectory.root, config.CourseDirectory.course_id = str(course), "minigrad"
    config.CourseDirectory.submitted_directory = "elsewhere"
    config.Exchange.root = str(course / "exchange")

    def refuse(course, assignment, submission, *rest):
        if submission.name.startswith("bea"):
            raise OSError(28, "No space left on device")
        return take_in(course, assignment, submission, *rest)

    monkeypatch.setattr("autograder.grafting.tidying.take_in", refuse)
    coursedir = CourseDirectory(config=config, assignment_id="week0")
    with pytest.raises(ExchangeError, match="could not be collected: bea"):
        GraftingCollect(coursedir=coursedir, authenticator=Authenticator(), config=config).start()
    taken = {path.parent.name for path in (course / "elsewhere").glob("*/week0")}
    assert taken == set(SUBMISSIONS) - {"bea", "hand"}


@by_nbgrader
def test_a_link_that_takes_the_place_of_a_submission(graded, monkeypatch):
    """A student who exchanges the folder for a link to the answers, once its owner is known, hands in nothing."""
    course, _ = graded
    config = Config()
    config.CourseDirectory.root, config.CourseDirectory.course_id = str(course), "minigrad"
    config.CourseDirectory.submitted_directory = "exchanged"
    config.Exchange.root = str(course / "exchange")
    folder = course / "exchange" / "minigrad" / "inbound" / f"bea+week0+{WHEN}+x1"
    moved = folder.with_name(".moved")

    def exchange(self, record):
        if record["username"] == "bea":
            folder.rename(moved)
            folder.symlink_to(course / "source" / "week0")

    monkeypatch.setattr(GraftingCollect, "_doubt_the_time", exchange)
    coursedir = CourseDirectory(config=config, assignment_id="week0")
    try:
        with pytest.raises(ExchangeError, match="could not be collected: bea"):
            GraftingCollect(coursedir=coursedir, authenticator=Authenticator(), config=config).start()
    finally:
        folder.unlink()
        moved.rename(folder)
    assert not list((course / "exchanged" / "bea").glob("week0/*"))


@by_nbgrader
def test_points_that_were_changed_after_the_release(loaded):
    """A cell whose points in the gradebook are no longer the course's is refused, with what to run."""
    exercise = dataclasses.replace(loaded.exercise("operators.arithmetic"), points=6)
    groups = (GroupScore("values", 4, 4), GroupScore("special", 2, 0))
    submission = Submission("00_numbers", (Graded(exercise.id, 6, groups),))
    notebook = find_master(loaded, "00_numbers")
    with pytest.raises(CourseError, match="nbgrader generate_assignment"):
        fill(notebook, submission, loaded)
    cell = next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade"))
    cell.metadata.nbgrader.points = 6
    fill(notebook, submission, loaded)
    assert cell.outputs[1].data["text/plain"] == "4.0"


@pytest.fixture
def loaded(graded):
    course, _ = graded
    return load_course(course, tree=False)


@by_nbgrader
def test_tidy_leaves_a_clean_tree_alone(graded):
    """What `collect` wrote is clean, and is recognised as that until someone edits it."""
    course, _ = graded
    clean, originals = course / "submitted" / "ada" / "week0", course / "originals" / "ada" / "week0"
    before = {path: path.stat().st_ino for path in clean.iterdir()}
    tidy(course, clean)
    assert {path: path.stat().st_ino for path in clean.iterdir()} == before
    assert is_clean(clean, originals)


@by_nbgrader
def test_swapped_names(loaded, graded, tmp_path):
    """Two notebooks under each other's names are told apart by their cells."""
    course, _ = graded
    source = tmp_path / "in"
    source.mkdir()
    release = course / "release" / "week0"
    shutil.copy(release / "00_numbers.ipynb", source / "01_order.ipynb")
    shutil.copy(release / "01_order.ipynb", source / "00_numbers.ipynb")
    take_in(loaded, "week0", source, tmp_path / "out", tmp_path / "originals")
    notebook = nbformat.read(tmp_path / "out" / "00_numbers.ipynb", as_version=4)
    assert "recognised" in notebook.metadata.minigrad.notes[0]["text"]
    assert notebook.metadata.minigrad.lesson == "00_numbers"


@by_nbgrader
def test_names_that_no_text_can_hold(loaded, graded, tmp_path):
    """A file whose name is not text is taken in like any other."""
    course, _ = graded
    source = tmp_path / "in"
    source.mkdir()
    shutil.copy(course / "release" / "week0" / "00_numbers.ipynb", os.fsencode(source) + b"/\xff\xfe.ipynb")
    said = take_in(loaded, "week0", source, tmp_path / "out", tmp_path / "originals")
    assert any("recognised" in sentence for sentence in said)
