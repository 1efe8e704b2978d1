"""`autograder forget` deletes a student for good, and what it cannot delete it names."""

import datetime as dt
import json
import shutil
import zipfile

import pytest
from class_runs import autograde, generate, grade, rows, write
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from nbgrader.utils import notebook_hash
from places import ROOT
from rich.text import Text
from two_lessons import ARITHMETIC, make_course
from typer.testing import CliRunner

from autograder import forgetting
from autograder.cli import app
from autograder.course.extensions import Extension, write_extension
from autograder.course.loading import load_course
from autograder.gradebook.archive_times import keep_marked_late
from autograder.gradebook.settings import load_app
from autograder.gradebook.tokens import Tokens
from autograder.results import regrade_log
from autograder.results.changes import Change

ID, FIRST, LAST, EMAIL = "zaphodq", "Zaphodine", "Quux'Ünal", "zq@example.invalid"
OTHER = "zaphodqa"
SECRET = "5" * 64  # of every submission that `class_runs.write` makes

pytestmark = pytest.mark.full(
    "a class is graded, with every kind of file that names a student", share=24, group="forget"
)


def run(course, *arguments, code=0):
    done = CliRunner().invoke(app, [*arguments, "--course", str(course)], env={"COLUMNS": "200"})
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return Text.from_ansi(done.output).plain


def feed_back(course):
    """`nbgrader generate_feedback week0`."""
    loaded = load_app(course, "week0")
    GenerateFeedback(coursedir=loaded.coursedir, parent=loaded).start()


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class of two, graded, with every kind of file that names one of them."""
    course = make_course(tmp_path_factory.mktemp("forget"), ROOT)
    generate(course)
    own = f"# {FIRST} {LAST}, {EMAIL}\n"
    write(course, ID, {"00_numbers": own + ARITHMETIC.replace("x + y", f"'{ID}'"), "01_order": ""})
    write(course, OTHER, {"00_numbers": ARITHMETIC, "01_order": ""})
    (course / "submitted" / OTHER / "week0" / "submission_secret.txt").write_text("6" * 64)
    with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
        gradebook.update_or_create_student(ID, first_name=FIRST, last_name=LAST, email=EMAIL)
    grade(course, jobs=1)
    feed_back(course)
    _plant(course)
    run(course, "report")
    run(course, "report", "--csv", "canvas")
    return course


def _plant(course):
    """What other commands leave, beside grading."""
    write_extension(course, "week0", ID, Extension(days=2))
    write_extension(course, "week0", OTHER, Extension(until=dt.datetime(2027, 3, 1, tzinfo=dt.UTC)))
    Tokens(course).make([ID, OTHER])
    keep_marked_late(course, "week0", {ID: True, OTHER: True})
    changes = [Change(each, "week0", "00_numbers", "operators.arithmetic", 1, 3, 2, 3) for each in (ID, OTHER)]
    for some, why in ((changes, "mended"), (changes[:1], f"appeal of {ID}")):
        with regrade_log.logged(course, some, why):
            pass
    with (course / regrade_log.LOG).open("a") as log:
        log.write(json.dumps({"run": "cut", "changes": [{"student": ID}]})[:-4])
    exchange = course / "exchange" / "minigrad"
    for student in (ID, OTHER):
        folder = exchange / "inbound" / f"{student}+week0+2027-01-01 10:00:00 UTC+abc"
        folder.mkdir(parents=True)
        (folder / "00_numbers.ipynb").write_text(student)
    (exchange / "feedback").mkdir()
    for secret in (SECRET, "6" * 64):
        name = notebook_hash(secret=secret, notebook_id="00_numbers")
        (exchange / "feedback" / f"{name}.html").write_text(FIRST if secret == SECRET else OTHER)
    table = f"assignment,student_id,email\nweek0,{ID},{EMAIL}\nweek0,{OTHER},\n"
    (course / "grades.csv").write_text(table)


@pytest.fixture
def course(graded, tmp_path):
    """The same class again."""
    shutil.copytree(graded.parent / "course", tmp_path / "course")
    for name in ("src", "hidden", "wrong"):
        (tmp_path / name).symlink_to(graded.parent / name)
    return tmp_path / "course"


def naming(course, *words):
    """Every file with a name or content that has one of some words, byte by byte."""
    wanted = [word.encode() for word in words] + [json.dumps(word)[1:-1].encode() for word in words]
    found = []
    for path in sorted(each for each in course.rglob("*") if each.is_file()):
        text = str(path.relative_to(course)).encode() + b"\n" + path.read_bytes()
        text = text.replace(OTHER.encode(), b"")
        found += [str(path.relative_to(course)) for word in wanted if word in text][:1]
    return found


def of_others(course):
    """The files that are other students' own, with their content."""
    own = [path for path in course.rglob("*") if path.is_file() and OTHER in path.parts]
    return {path.relative_to(course): path.read_bytes() for path in own}


def test_nothing_of_a_student_is_left(course):
    """No byte of the course's folder names the student, and the others have what they had."""
    assert len(naming(course, ID, FIRST, EMAIL)) > 15
    before = of_others(course)
    others = {name: [row for row in some if ID not in row] for name, some in rows(course).items()}
    said = run(course, "forget", ID, "--yes")
    assert naming(course, ID, FIRST, LAST, EMAIL) == []
    assert of_others(course) == before
    assert rows(course) == others
    log = [json.loads(line) for line in (course / regrade_log.LOG).read_text().splitlines()]
    assert [len(line.get("changes", ())) for line in log] == [1, 0]
    assert (course / "grades.csv").read_text() == f"assignment,student_id,email\nweek0,{OTHER},\n"
    assert "deleted  zaphodq" in said and "still there" not in said


def test_a_student_is_not_made_again(course):
    """Both graders leave the student out afterwards, and reports and feedback are made without a word."""
    run(course, "forget", ID, "--yes")
    grade(course, jobs=1)
    autograde(course, force=True)
    feed_back(course)
    run(course, "report")
    assert naming(course, ID, FIRST, EMAIL) == []


def test_a_look_changes_nothing(course):
    """--dry-run lists every kind with its place, and deletes nothing; nor does a command that nobody can answer."""
    before = {path: path.read_bytes() for path in course.rglob("*") if path.is_file() and path.suffix != ".db"}
    said = run(course, "forget", ID, "--dry-run")
    for word in ("submitted/zaphodq", "originals/zaphodq", "autograded/zaphodq", "feedback/zaphodq", "gradebook.db",
                 ".grades/submissions", ".grades/regrades.jsonl", "exchange/minigrad/inbound", "extensions.json",
                 ".grades/tokens.json",
                 "exchange/minigrad/feedback", "late.json", "grades.csv", "reports", "marks-canvas.csv"):  # fmt: skip
        assert word in said
    assert "not deleted" not in said
    assert "add --yes" in run(course, "forget", ID, code=2)
    assert {path: path.read_bytes() for path in before} == before


def test_an_unknown_student_costs_one_sentence(course):
    """A mistyped id, or a full name, is answered by the id that may be meant; nothing is deleted, of nobody."""
    assert "did you mean zaphodqa or zaphodq?" in run(course, "forget", ID, "zapodqa", "--yes", code=2)
    assert "did you mean zaphodq?" in run(course, "forget", f"{FIRST} Quux'Unal", "--yes", code=2)
    assert "lists those that there are" in run(course, "forget", "../../x", "--yes", code=2)
    assert (course / "submitted" / ID).is_dir() and (course / "submitted" / OTHER).is_dir()


def test_a_stopped_run_goes_on(course, monkeypatch):
    """Wherever a run is killed, the student is still known, and the same command ends it."""
    everything = forgetting.KeptData._all_of
    steps = [each.what for each in forgetting.KeptData(load_course(course, tree=False)).of(forgetting.Person(ID))]
    assert steps[-1] == "results by assignment" and len(steps) > 10

    def cut_off(data, person):
        """The first thing that is left is deleted, and then the run ends."""
        for each in everything(data, person):
            yield each
            if each.count:
                raise KeyboardInterrupt

    for _ in steps:
        data = forgetting.KeptData(load_course(course, tree=False))
        with monkeypatch.context() as patch:
            patch.setattr(forgetting.KeptData, "_all_of", cut_off)
            with pytest.raises(KeyboardInterrupt):
                data.delete(data.people[ID])
    assert naming(course, ID, FIRST, LAST, EMAIL) == []


def test_a_student_who_was_removed_from_the_gradebook_alone(course, caplog):
    """After `nbgrader db student remove` the others get feedback, and a sentence says what is to be done."""
    with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
        gradebook.remove_student(ID)
    shutil.rmtree(course / "feedback")
    feed_back(course)
    said = f"{ID}: no page for week0, which the gradebook no longer has; `autograder forget {ID}`"
    assert said in caplog.text and "Traceback" not in caplog.text
    assert [path.name for path in (course / "feedback").iterdir()] == [OTHER]
    run(course, "report")
    run(course, "forget", ID, "--yes")
    assert naming(course, ID, FIRST, EMAIL) == []


def test_an_id_that_is_too_short_to_be_found(course):
    """A number of one digit stands in every page: each class report goes, and a note says what is not searched for."""
    write_extension(course, "week0", "7", Extension(days=1))
    assert "7 is too short to be searched for" in run(course, "forget", "7", "--yes")
    assert not (course / "reports" / "class.html").exists()
    assert (course / "submitted" / ID).is_dir()


def test_the_board_goes(course):
    """It shows names that students chose, so it may show this one: it is deleted whoever is forgotten."""
    board = course / "reports" / "board.html"
    board.write_text("1. Turing's owl")
    assert "reports/board.html" in run(course, "forget", ID, "--dry-run") and board.exists()
    run(course, "forget", ID, "--yes")
    assert not board.exists()


def test_files_that_stay_are_named(course):
    """A backup of the gradebook, and an archive of the class, still hold the student: the command says so."""
    shutil.copy(course / "gradebook.db", course / "gradebook.db.2027-01-01")
    run(course, "database", "backup")
    archive = course / "downloaded" / "week0" / "archive" / "class.zip"
    archive.parent.mkdir()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr(f"{FIRST} {LAST}_123_assignsubmission_file_/00_numbers.ipynb", "{}")
    said = run(course, "forget", ID, "--yes")
    assert [path for path in ("gradebook.db.2027-01-01", "class.zip") if f"{path}: names {ID}" not in said] == []
    assert said.count("still there") == 3
    assert said.count("delete this backup; `autograder database backup` makes one without the student") == 1
