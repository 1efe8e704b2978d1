"""`autograder regrade` changes the marks that it lists, lowers none unasked, and leaves nothing half done."""

import contextlib
import getpass
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, NbGraderException
from nbgrader.preprocessors import SaveAutoGrades
from sqlalchemy.exc import OperationalError
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder import regrading
from autograder.building.build import build
from autograder.building.masters import find_master
from autograder.classes import work
from autograder.cli import app
from autograder.commands.regrade import _question
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.gradebook import recording
from autograder.gradebook.nbgrader_hooks import STEPS
from autograder.grafting.collecting import take_in
from autograder.judging.judge import Judge
from autograder.regrading import Change, Plan, plan
from autograder.results import Graded, GroupScore, Submission, Verdict
from autograder.results.ledger import Entry, entry_path, read_entry
from autograder.results.regrade_log import LOG, begin, end

pytestmark = pytest.mark.full("a class is graded, and again", share=48, group="regrade")

CHECK = work.refuse_lost_references


def graded(exercise, groups, passed, reason=""):
    """An exercise of some groups: {name: (points, earned)}, and tests: {name: passed}."""
    scores = tuple(GroupScore(name, points, earned) for name, (points, earned) in groups.items())
    verdicts = tuple(
        Verdict(test, test.title(), "values", "lesson 00", ok, reason="" if ok else f"{test} saw 7.0")
        for test, ok in passed.items()
    )
    return Graded(exercise, sum(points for points, _ in groups.values()), scores, verdicts, reason)


def entry(student, *exercises, sha="a", lesson="00_numbers"):
    return Entry(student, "week0", lesson, sha * 64, "2027-01-01T00:00:00Z", Submission(lesson, exercises))


def add(earned, points=2, **passed):
    return graded("m.add", {"values": (points, earned)}, passed or {"test_add": earned == points})


def neg(earned, points=1):
    return graded("m.neg", {"values": (points, earned)}, {"test_neg": earned == points})


def test_every_changed_mark_is_listed_with_its_tests():
    """A mended test raises marks; each is listed with the test that decides otherwise, and the others stay."""
    before = [entry("ada", add(0), neg(1)), entry("bob", add(2), neg(0))]
    after = [entry("ada", add(2), neg(1)), entry("bob", add(2), neg(0))]
    found = plan(before, after)
    assert found.changes == (Change("ada", "week0", "00_numbers", "m.add", 0, 2, 2, 2, ("+test_add",)),)
    assert found.entries == (after[0],)
    assert (found.same, found.kept, found.problems, found.weights) == (1, (), (), {})
    assert not found.changes[0].reweighted


def test_no_mark_falls_unasked():
    """Where one mark of a notebook rises and another falls, the first is taken; the second stays, with its report."""
    before = [entry("ada", add(0), neg(1))]
    after = [entry("ada", add(2), neg(0))]
    found = plan(before, after)
    assert [change.exercise for change in found.changes] == ["m.add"]
    (kept,) = found.kept
    assert (kept.exercise, kept.tests, kept.why, kept.falls) == ("m.neg", ("-test_neg",), "test_neg saw 7.0", True)
    assert found.entries[0].submission.exercises == (add(2), neg(1))
    lowered = plan(before, after, lower=True)
    assert [change.exercise for change in lowered.changes] == ["m.add", "m.neg"]
    assert lowered.entries == tuple(after)


def test_only_what_is_named_is_taken():
    """With exercises named, the marks of others stay as they are."""
    before = [entry("ada", add(0), neg(0))]
    after = [entry("ada", add(2), neg(1))]
    found = plan(before, after, exercises=["m.neg"])
    assert [change.exercise for change in found.changes] == ["m.neg"]
    assert found.entries[0].submission.exercises == (add(0), neg(1))


def test_a_submission_that_came_later_is_left_out():
    """A notebook that is not the one which was graded is graded first, not regraded."""
    found = plan([entry("ada", add(0))], [entry("ada", add(2), sha="b")])
    assert found.changes == () and found.entries == ()
    assert found.problems == (
        "ada, 00_numbers: was handed in anew after it was graded; grade it by `autograder autograde week0`",
    )


def test_other_points_are_for_everyone():
    """An exercise that is worth more changes the marks of all, also of those who keep full or no marks."""
    before = [entry("ada", add(2)), entry("bob", add(0))]
    found = plan(before, [entry("ada", add(5, 5)), entry("bob", add(0, 5))])
    assert [(each.student, each.new, each.points) for each in found.changes] == [("ada", 5, 5), ("bob", 0, 5)]
    assert found.weights == {"m.add": 5}


def test_a_dropped_exercise_takes_nothing_from_anyone():
    """An exercise of 0 points is listed for all, and counts as lowered for no one."""
    found = plan([entry("ada", add(2)), entry("bob", add(0))], [entry("ada", add(0, 0)), entry("bob", add(0, 0))])
    assert len(found.changes) == 2 and not any(change.falls for change in found.changes)


def test_other_points_that_lower_a_share_must_be_asked_for():
    """Where new points of groups lower someone's share, nothing is recorded unless it is asked for."""

    def both(values, special):
        return graded("m.both", {"values": values, "special": special}, {"test_it": False})

    before = [entry("ada", both((2, 2), (1, 0)))]
    after = [entry("ada", both((1, 1), (4, 0)))]
    with pytest.raises(
        CourseError, match=r"other points are asked of m.both now, .* share of ada falls \(from 2 of 3 to"
    ):
        plan(before, after)
    assert plan(before, after, lower=True).changes[0].new == 1


def test_other_weights_of_groups_are_for_everyone():
    """Where groups are worth something else, also those whose mark is the same are recorded anew, and not listed."""

    def both(values, special):
        return graded("m.both", {"values": values, "special": special}, {})

    before = [entry("ada", both((2, 2), (1, 1))), entry("bob", both((2, 0), (1, 1)))]
    after = [entry("ada", both((1, 1), (2, 2))), entry("bob", both((1, 0), (2, 2)))]
    found = plan(before, after)
    assert [(change.student, change.new) for change in found.changes] == [("bob", 2)]
    assert found.entries == tuple(after)
    assert (found.weights, found.same) == ({"m.both": 3}, 1)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ((add(2), neg(1)), (add(2),), "m.neg was graded and is no longer in course.toml"),
        ((add(2),), (add(2), neg(0)), "m.neg is new in course.toml"),
    ],
)
def test_exercises_do_not_come_and_go(before, after, message):
    """An exercise that was added or taken away is refused with what to do instead: nbgrader keeps its cells."""
    with pytest.raises(CourseError, match=f"{message}.*groups of 0"):
        plan([entry("ada", *before)], [entry("ada", *after)])


def test_a_reason_above_all_tests_is_told():
    """A mark that falls because nothing could be tested any more says so."""
    broken = graded("m.add", {"values": (2, 0)}, {}, reason="nothing could be tested: no cell defines add")
    (kept,) = plan([entry("ada", add(2))], [entry("ada", broken)]).kept
    assert kept.why == "nothing could be tested: no cell defines add"


def test_the_log_is_only_added_to(tmp_path):
    """Each run writes a line before and one after; what a crash cut off stays as it is, on a line of its own."""
    path = tmp_path / LOG
    path.parent.mkdir()
    path.write_text('{"run": "cut o')
    found = plan([entry("ada", add(0))], [entry("ada", add(2))])
    run = begin(tmp_path, found.changes, "test_add was too strict \ud800", lower=False)
    end(tmp_path, run)
    first, *others = path.read_text().splitlines()
    assert first == '{"run": "cut o'
    begun, done = map(json.loads, others)
    assert (begun["run"], begun["state"], begun["who"]) == (run, "begun", getpass.getuser())
    assert begun["changes"][0]["student"] == "ada" and begun["changes"][0]["old"] == 0
    assert (done["run"], done["state"]) == (run, "done")
    assert begun["changes"][0]["tests"] == ["+test_add"] and begun["why"].startswith("test_add was too strict")


# The real thing: a course of two lessons, nbgrader's gradebook, hidden tests that are mended.

WRONG = ARITHMETIC.replace("x + y", "x - y")
CLASS = {"ada": ARITHMETIC, "bob": WRONG, "eve": None}


def nbgrader(course, *words):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words], cwd=course, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]


def hand_in(course, folder):
    for student, text in CLASS.items():
        place = folder / "in" / student
        place.mkdir(parents=True)
        for lesson, answer in (("00_numbers", text), ("01_order", COMPARISON)):
            notebook = nbformat.from_dict(find_master(course, lesson))
            if answer is not None:
                next(cell for cell in notebook.cells if cell.source.startswith("# exercise")).source = answer
            (place / f"{lesson}.ipynb").write_text(json.dumps(notebook))
        clean = course.directory / "submitted" / student / "week0"
        take_in(course, "week0", place, clean, course.directory / "originals" / student / "week0")


@pytest.fixture(scope="module")
def term(tmp_path_factory, root):
    """A course that was released, handed in and graded: the folder that tests copy."""
    folder = tmp_path_factory.mktemp("regrade")
    course = load_course(make_course(folder, root), tree=False)
    nbgrader(course.directory, "generate_assignment", "week0")
    hand_in(course, folder)
    done = run(folder, "autograde", "week0", "--jobs", "1")
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(autouse=True)
def unchecked(monkeypatch):
    """Let tests be turned round, which their own references fail; that commands then stop is a test of its own."""
    monkeypatch.setattr(work, "refuse_lost_references", lambda judge, lessons: None)


@pytest.fixture
def folder(term, tmp_path):
    """A copy of the graded course, to be changed."""
    return shutil.copytree(term, tmp_path / "term", symlinks=True)


def run(folder, command, *arguments, **options):
    place = ["--course", str(folder / "course"), "--hidden", str(folder / "hidden")]
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, [command, *arguments, *place], **options)


def regrade(folder, *arguments, **options):
    return run(folder, "regrade", "--jobs", "1", *arguments, **options)


def mend(folder, old, new):
    path = folder / "hidden" / "test_operators.py"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


def marks(folder):
    """Points of the first exercise: of gradebook, autograded notebook and ledger, which agree, and what it is worth."""
    found = {}
    with Gradebook(f"sqlite:///{folder / 'course' / 'gradebook.db'}", "minigrad") as book:
        for student in CLASS:
            grade = book.find_grade("operators-arithmetic-check", "00_numbers", "week0", student)
            path = folder / "course" / "autograded" / student / "week0" / "00_numbers.ipynb"
            cells = nbformat.read(path, as_version=4).cells
            cell = next(c for c in cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade.name)
            shown = float(cell.outputs[1].data["text/plain"])
            ledger = read_entry(folder / "course", student, "week0", "00_numbers").submission.exercises[0]
            assert (grade.auto_score, grade.max_score) == (shown, cell.metadata.nbgrader.points)
            assert (grade.auto_score, grade.max_score) == (ledger.earned, ledger.points)
            found[student] = (grade.score, grade.max_score)
    return found


def everything(folder):
    """Every file of the course, but what grading keeps to be quick."""
    course = folder / "course"
    files = (path.relative_to(course) for path in course.rglob("*") if path.is_file())
    return {
        path: (course / path).read_bytes()
        for path in files
        if path.parts[0] != ".grades" or "submissions" in path.parts
    }


def logged(folder):
    path = folder / "course" / LOG
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def test_nothing_changes_where_nothing_was_mended(folder):
    """A second grading of the same by the same lists nothing, and asks nothing."""
    before = everything(folder)
    done = regrade(folder, "--reason", "curious", "--yes")
    assert done.exit_code == 0, done.output
    assert "no mark changes; 6 notebooks with the marks they had" in done.output
    assert everything(folder) == before and logged(folder) == []


def test_the_question_says_what_will_be_written():
    """Before anything is recorded the question says how many marks change, whether any falls, and which stay."""
    up = Change("ada", "week0", "00_numbers", "operators.arithmetic", 1, 3, 3, 3)
    down = replace(up, student="bob", old=3, new=1)
    wanted = "Write 1 new mark of 1 student, none of them lower than before, into gradebook,"
    assert _question(Plan((up,), (), (), (), 0)) == f"{wanted} autograded notebooks and ledger?"
    both = _question(Plan((up, down), (down,), (), (), 0))
    assert "2 new marks of 2 students, 1 of them LOWER than before" in both
    assert both.endswith("(1 mark would be lower by today's tests; that does not happen.)")
    none = _question(Plan((), (down, down), (), (), 0))
    assert none.startswith("No mark changes: 2 marks would be lower") and "does not lower it" in none


def test_a_mended_test_raises_marks_and_lowers_none(folder):
    """What a mended test changes is listed; recorded is what rises, in gradebook, notebooks, ledger and log alike."""
    assert marks(folder) == {"ada": (3, 3), "bob": (1, 3), "eve": (0, 3)}
    mend(folder, "41416.25", "-41412.25")
    before = everything(folder)
    done = regrade(folder, "--diff")
    assert done.exit_code == 0, done.output
    assert everything(folder) == before and logged(folder) == []
    text = " ".join(done.output.split())
    assert "bob │ operators.arithmetic │ 1 of 3 │ 3 of 3 │ +test_add" in text
    assert "ada │ operators.arithmetic │ 3 of 3 │ 1 of 3 │ -test_add, got 41416.25" in text
    done = regrade(folder, "--reason", "the test had it the wrong way round", "--yes")
    assert done.exit_code == 0, done.output
    assert marks(folder) == {"ada": (3, 3), "bob": (3, 3), "eve": (0, 3)}
    begun, ended = logged(folder)
    assert (begun["why"], begun["who"], begun["lower"]) == (
        "the test had it the wrong way round",
        getpass.getuser(),
        False,
    )
    assert [(each["student"], each["old"], each["new"], each["tests"]) for each in begun["changes"]] == [
        ("bob", 1, 3, ["+test_add"])
    ]
    assert ended["state"] == "done"
    done = regrade(folder, "--reason", "it is wrong indeed", "--lower", "--yes")
    assert done.exit_code == 0, done.output
    assert marks(folder) == {"ada": (1, 3), "bob": (3, 3), "eve": (0, 3)}


def test_a_test_that_its_reference_fails_changes_no_mark(folder, monkeypatch, caplog):
    """Regrading stops before anything is planned, and names the test; so does nbgrader where it would grade."""
    monkeypatch.setattr(work, "refuse_lost_references", CHECK)
    mend(folder, "41416.25", "-41412.25")
    done = regrade(folder, "--diff")
    said = " ".join(done.output.split())
    assert done.exit_code == 2 and "the reference answer to operators.arithmetic gets 1 of 3" in said, said
    assert "test_add (got 41416.25" in said
    with pytest.raises(NbGraderException):
        autograde_one(folder, "ada", caplog, fresh=True)
    assert "a hidden test is wrong: test_add" in caplog.text
    assert read_entry(folder / "course", "ada", "week0", "00_numbers").submission.exercises[0].earned == 3


def test_a_mark_that_was_left_is_not_lowered_by_the_next_run(folder):
    """What regrading left where it was is a decision: grading the class again by the mended tests does not undo it."""
    mend(folder, "41416.25", "-41412.25")
    assert regrade(folder, "--reason", "the wrong way round", "--yes").exit_code == 0
    after = {"ada": (3, 3), "bob": (3, 3), "eve": (0, 3)}
    assert marks(folder) == after
    done = run(folder, "autograde", "week0", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert marks(folder) == after


STAND = "with marks by other tests, points, limits or another library: they stand"


@pytest.mark.full("a class is graded again", share=48)
def test_only_regrading_changes_recorded_marks(folder):
    """After a test was changed, grading the class again leaves each mark, and says so; --fresh changes and logs it."""
    before = marks(folder)
    mend(folder, "41416.25", "-41412.25")
    done = run(folder, "autograde", "week0", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert f"6 notebooks {STAND}; `autograder regrade --diff`" in done.output
    assert marks(folder) == before and logged(folder) == []
    done = run(folder, "autograde", "week0", "--jobs", "1", "--no-record", "--fresh")
    assert done.exit_code == 0, done.output
    assert run(folder, "autograde", "week0", "--jobs", "1").exit_code == 0
    assert marks(folder) == before and logged(folder) == []
    done = run(folder, "autograde", "week0", "--jobs", "1", "--fresh")
    assert done.exit_code == 0 and STAND not in done.output, done.output
    assert marks(folder) == {"ada": (1, 3), "bob": (3, 3), "eve": (0, 3)}
    begun = [line for line in logged(folder) if line["state"] == "begun"]
    assert {line["why"] for line in begun} == {"graded afresh"}
    assert [(each["student"], each["old"], each["new"]) for line in begun for each in line["changes"]] == [
        ("ada", 3, 1),
        ("bob", 1, 3),
    ]
    assert [line["state"] for line in logged(folder)] == ["begun", "done"] * 2


def autograde_one(folder, student, caplog, **settings):
    """Grade one student by nbgrader, by force; what it says."""
    caplog.clear()
    app = recording.load_app(folder / "course", "week0")
    app.log.propagate = True
    app.coursedir.student_id = student
    app.config.JudgePreprocessor.hidden = str(folder / "hidden")
    app.config.JudgePreprocessor.update(settings)
    converter = Autograde(coursedir=app.coursedir, parent=app)
    converter.force = True
    converter.start()
    return caplog.text


def test_nbgrader_changes_no_recorded_mark_either(folder, caplog):
    """`nbgrader autograde --force` keeps recorded marks, and says so; told to grade afresh, it says what runs."""
    caplog.set_level("INFO")
    before = marks(folder)
    assert "keeps its mark" not in autograde_one(folder, "ada", caplog)
    mend(folder, "41416.25", "-41412.25")
    said = autograde_one(folder, "ada", caplog)
    assert "ada: 00_numbers keeps its mark: it was given by other tests" in said and "run in" not in said
    assert marks(folder) == before and logged(folder) == []
    assert "ada: 00_numbers: 1 exercise, in the sandbox" in autograde_one(folder, "ada", caplog, fresh=True)
    assert marks(folder) == {**before, "ada": (1, 3)}
    assert [line["why"] for line in logged(folder) if line["state"] == "begun"] == ["graded afresh"]


def refuse_rows(monkeypatch):
    """Let the gradebook be someone else's when nbgrader stores a score."""

    def locked(*_arguments):
        raise OperationalError("update", {}, sqlite3.OperationalError("database is locked"))

    monkeypatch.setattr(SaveAutoGrades, "_add_score", locked)


def test_the_ledger_is_not_ahead_of_nbgraders_gradebook(folder, caplog, monkeypatch):
    """Where `nbgrader autograde` cannot store a mark, neither ledger nor log say that it did; a second run ends it."""
    before = marks(folder)
    mend(folder, "41416.25", "-41412.25")
    with monkeypatch.context() as patch:
        refuse_rows(patch)
        with pytest.raises(NbGraderException, match="error accessing the nbgrader database"):
            autograde_one(folder, "ada", caplog, fresh=True)
    assert read_entry(folder / "course", "ada", "week0", "00_numbers").submission.exercises[0].earned == 3
    assert [line["state"] for line in logged(folder)] == ["begun"]
    autograde_one(folder, "ada", caplog, fresh=True)
    assert marks(folder) == {**before, "ada": (1, 3)}
    assert [line["state"] for line in logged(folder)] == ["begun", "begun", "done"]


def test_a_course_that_stores_grades_by_itself_has_a_ledger(folder, caplog):
    """Where the grader's own step does not store the grades, the ledger has the marks all the same."""
    before = marks(folder)
    mend(folder, "41416.25", "-41412.25")
    stock = "nbgrader.preprocessors.SaveAutoGrades"
    steps = [stock if step.endswith(".SaveGrades") else step for step in STEPS]
    assert stock in steps
    config = folder / "course" / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}\nc.Autograde.autograde_preprocessors = {steps}\n")
    autograde_one(folder, "ada", caplog, fresh=True)
    assert marks(folder) == {**before, "ada": (1, 3)}
    assert [line["state"] for line in logged(folder)] == ["begun", "done"]


@pytest.mark.full("a class is graded again", share=48)
def test_a_mark_that_todays_tests_confirm_is_todays(folder):
    """Where another test gives the same mark, regrading notes it, and grading the class says no more about it."""
    mend(folder, '"""add adds."""', '"""add adds, whatever."""')
    before = marks(folder)
    assert "6 notebooks" in regrade(folder, "--diff").output
    assert STAND in run(folder, "autograde", "week0", "--jobs", "1").output
    assert "no mark changes" in regrade(folder, "--reason", "reworded", "--yes").output
    assert STAND not in run(folder, "autograde", "week0", "--jobs", "1").output
    assert marks(folder) == before and logged(folder) == []


OWN_STEPS = """
from autograder.gradebook.nbgrader_hooks import STEPS
c.Autograde.autograde_preprocessors = [*STEPS, "nbgrader.preprocessors.LockCells"]
"""


def test_steps_of_ones_own_are_taken_before_the_ledger(folder, monkeypatch):
    """Where nbgrader takes steps of the course's own, gradebook and notebooks come first too; a second run ends it."""
    config = folder / "course" / "nbgrader_config.py"
    config.write_text(config.read_text() + OWN_STEPS)
    mend(folder, "41416.25", "-41412.25")
    before = marks(folder)
    with monkeypatch.context() as patch:
        patch.setattr(recording.Autograde, "start", refuse)
        done = regrade(folder, "--reason", "mended", "--yes")
    assert done.exit_code == 2 and "nbgrader could not record ada" in " ".join(done.stderr.split())
    assert marks(folder) == before
    seen, keep = [], recording.write_recorded

    def spy(course, entry):
        with Gradebook(f"sqlite:///{folder / 'course' / 'gradebook.db'}", "minigrad") as book:
            grade = book.find_grade("operators-arithmetic-check", "00_numbers", "week0", "bob")
            seen.append((entry.student, entry.lesson, grade.auto_score))
        keep(course, entry)

    monkeypatch.setattr(recording, "write_recorded", spy)
    assert regrade(folder, "bob", "--reason", "mended", "--yes").exit_code == 0
    assert ("bob", "00_numbers", 3) in seen
    assert marks(folder) == {**before, "bob": (3, 3)}
    notebook = nbformat.read(folder / "course" / "autograded" / "bob" / "week0" / "00_numbers.ipynb", as_version=4)
    assert any(cell.metadata.get("deletable") is False for cell in notebook.cells), "the course's own step was left out"


def refuse(*_arguments, **_options):
    raise NbGraderException("no")


def test_it_asks_before_it_records(folder, monkeypatch):
    """Without --yes nothing is graded where nobody can be asked, without --reason nothing at all."""
    mend(folder, "41416.25", "-41412.25")
    before = everything(folder)
    monkeypatch.setattr("autograder.commands.regrade._planned", None)
    done = regrade(folder, "--reason", "mended")
    assert done.exit_code == 2 and "add --yes" in done.stderr
    done = regrade(folder)
    assert done.exit_code == 2 and "a reason is needed" in done.stderr
    assert everything(folder) == before and logged(folder) == []


def test_only_lessons_of_what_is_named_are_judged(folder, monkeypatch):
    """With an exercise named, the notebooks of other lessons are not judged."""
    original, judged = Judge.grade, folder / "judged"

    def grade(judge, grafted, lesson):
        with judged.open("a") as file:  # by a process of the pool
            file.write(f"{lesson}\n")
        return original(judge, grafted, lesson)

    monkeypatch.setattr(Judge, "grade", grade)
    done = regrade(folder, "--diff", "--exercise", "operators.comparison")
    assert done.exit_code == 0, done.output
    assert judged.read_text().split() == ["01_order"] * 3
    assert "no mark changes; 3 notebooks with the marks they had" in done.output


def test_a_mark_that_was_given_by_hand_stays(folder):
    """A mark that a person gave counts still, and is to be looked at again, as nbgrader has it."""
    url = f"sqlite:///{folder / 'course' / 'gradebook.db'}"
    place = ("operators-arithmetic-check", "00_numbers", "week0", "bob")
    with Gradebook(url, "minigrad") as book:
        book.find_grade(*place).manual_score = 2.5
        book.db.commit()
    mend(folder, "41416.25", "-41412.25")
    assert regrade(folder, "bob", "--reason", "mended", "--yes").exit_code == 0
    with Gradebook(url, "minigrad") as book:
        grade = book.find_grade(*place)
        assert (grade.auto_score, grade.score, grade.needs_manual_grade) == (3, 2.5, True)


def reweigh(folder, points, values, special):
    path = folder / "course" / "course.toml"
    old = "points = 3\ngroups = { values = 2, special = 1 }"
    assert path.read_text().count(old) == 1
    path.write_text(
        path.read_text().replace(old, f"points = {points}\ngroups = {{ values = {values}, special = {special} }}")
    )


@pytest.fixture(scope="module")
def reweighed(term, tmp_path_factory):
    """The graded course after an exercise was made worth more, and its notebooks were built anew."""
    folder = shutil.copytree(term, tmp_path_factory.mktemp("reweighed") / "term", symlinks=True)
    reweigh(folder, 6, 4, 2)
    done = regrade(folder, "--reason", "worth more", "--yes")
    assert done.exit_code == 2 and "run `autograder build` first" in done.stderr
    build(folder / "course")
    return folder


@pytest.mark.full("a class is graded again", share=48)
def test_other_points_reach_everyone_and_everything(reweighed, tmp_path):
    """An exercise that is worth more changes gradebook, notebooks and ledger of all; nbgrader goes on with them."""
    folder = shutil.copytree(reweighed, tmp_path / "term", symlinks=True)
    done = regrade(folder, "bob", "--reason", "worth more", "--yes")
    assert done.exit_code == 2 and "which concerns everyone" in done.stderr
    done = regrade(folder, "--reason", "worth more", "--yes")
    assert done.exit_code == 0, done.output
    assert marks(folder) == {"ada": (6, 6), "bob": (2, 6), "eve": (0, 6)}
    nbgrader(folder / "course", "generate_feedback", "week0")
    page = (folder / "course" / "feedback" / "bob" / "week0" / "00_numbers.html").read_text()
    assert "2 of 6 points" in page and "not a sum" in page


def test_other_points_run_nothing(reweighed, tmp_path, monkeypatch):
    """What kept results are worth by new points is found without running a submission."""
    folder = shutil.copytree(reweighed, tmp_path / "term", symlinks=True)
    monkeypatch.setattr(Judge, "_run", None)
    done = regrade(folder, "--diff")
    assert done.exit_code == 0, done.output
    assert "bob │ operators.arithmetic │ 1 of 3 │ 2 of 6 │ other points" in " ".join(done.output.split())
    assert "left out" not in done.output


def test_a_list_where_a_table_is_too_wide(folder):
    """On a narrow terminal each changed mark is an item of a list, with every test's name whole."""
    mend(folder, "41416.25", "-41412.25")
    place = ["--course", str(folder / "course"), "--hidden", str(folder / "hidden")]
    done = CliRunner(env={"COLUMNS": "60"}).invoke(app, ["regrade", "--diff", "--jobs", "1", *place])
    assert "bob  operators.arithmetic  1 of 3 -> 3 of 3\n  +test_add\n" in done.output, done.output


def test_a_dropped_exercise_counts_for_nobody(folder):
    """An exercise of 0 points stays in the notebooks, and is worth nothing in the gradebook."""
    reweigh(folder, 0, 0, 0)
    build(folder / "course")
    done = regrade(folder, "--reason", "the text was wrong", "--yes")
    assert done.exit_code == 0, done.output
    assert marks(folder) == dict.fromkeys(CLASS, (0, 0))
    with Gradebook(f"sqlite:///{folder / 'course' / 'gradebook.db'}", "minigrad") as book:
        assert book.find_assignment("week0").max_score == 4
    assert run(folder, "autograde", "week0", "--jobs", "1").exit_code == 0
    assert marks(folder) == dict.fromkeys(CLASS, (0, 0))


def leave(folder, student, *places):
    """Take away what a course has of a student who left."""
    for place in places:
        shutil.rmtree(folder / "course" / place / student if place != "ledger" else ledger_of(folder, student))


def ledger_of(folder, student):
    return entry_path(folder / "course", student, "week0", "00_numbers").parent


def grade_row(folder, student):
    """Points in the gradebook, and what they are of."""
    with Gradebook(f"sqlite:///{folder / 'course' / 'gradebook.db'}", "minigrad") as book:
        grade = book.find_grade("operators-arithmetic-check", "00_numbers", "week0", student)
        return grade.auto_score, grade.max_score


@pytest.mark.full("a class is graded again", share=48)
def test_whoever_left_is_counted_by_what_was_found(reweighed, tmp_path):
    """Other points reach also who is no longer in submitted/, by recorded verdicts; feedback is made still."""
    folder = shutil.copytree(reweighed, tmp_path / "term", symlinks=True)
    leave(folder, "bob", "submitted")
    done = regrade(folder, "--reason", "worth more", "--yes")
    assert done.exit_code == 0, done.output
    said = "left out bob: submitted/ has nothing of week0 any more; marks change by other points alone"
    assert said in " ".join(done.output.split())
    assert marks(folder) == {"ada": (6, 6), "bob": (2, 6), "eve": (0, 6)}
    assert {each["student"] for each in logged(folder)[0]["changes"]} == {"ada", "bob", "eve"}
    notebook = nbformat.read(folder / "course" / "autograded" / "bob" / "week0" / "00_numbers.ipynb", as_version=4)
    assert any("x - y" in cell.source for cell in notebook.cells), "the graded code was lost"
    nbgrader(folder / "course", "generate_feedback", "week0")
    assert "2 of 6 points" in (folder / "course" / "feedback" / "bob" / "week0" / "00_numbers.html").read_text()
    assert "no mark changes" in regrade(folder, "--diff").output


def test_whoever_left_no_file_is_counted_too(reweighed, tmp_path):
    """Without any file of a student, gradebook and ledger get the points, and no notebook is made up."""
    folder = shutil.copytree(reweighed, tmp_path / "term", symlinks=True)
    leave(folder, "bob", "submitted", "autograded")
    done = regrade(folder, "--reason", "worth more", "--yes")
    assert done.exit_code == 0, done.output
    assert [grade_row(folder, student) for student in CLASS] == [(6, 6), (2, 6), (0, 6)]
    assert read_entry(folder / "course", "bob", "week0", "00_numbers").submission.exercises[0].earned == 2
    assert not (folder / "course" / "autograded" / "bob").exists()


def test_whoever_left_nothing_at_all_keeps_points(reweighed, tmp_path):
    """Points of which nothing tells how they came about stay, and that is said; nobody else waits for them."""
    folder = shutil.copytree(reweighed, tmp_path / "term", symlinks=True)
    leave(folder, "bob", "submitted", "autograded", "ledger")
    done = regrade(folder, "--reason", "worth more", "--yes")
    assert done.exit_code == 0, done.output
    assert "left bob keeps 1 of 6 points of operators.arithmetic: neither" in " ".join(done.output.split())
    assert [grade_row(folder, student) for student in CLASS] == [(6, 6), (1, 6), (0, 6)]
    assert {each["student"] for each in logged(folder)[0]["changes"]} == {"ada", "eve"}


def test_nothing_is_logged_that_is_refused(reweighed, tmp_path):
    """Where a grade of someone who is there cannot be counted anew, that is said before anything is written."""
    folder = shutil.copytree(reweighed, tmp_path / "term", symlinks=True)
    leave(folder, "bob", "ledger")
    before = everything(folder)
    done = regrade(folder, "--reason", "worth more", "--yes")
    assert done.exit_code == 2
    said = "the ledger has nothing by which bob's grade of it could be counted; restore course.toml, run `autograder"
    assert said in " ".join(done.stderr.split())
    assert everything(folder) == before and logged(folder) == []


def test_whoever_handed_in_anew_is_counted_by_what_was_graded(reweighed, tmp_path):
    """Other points do not wait for who handed in another notebook: the recorded one is counted, and stays on show."""
    folder = shutil.copytree(reweighed, tmp_path / "term", symlinks=True)
    path = folder / "course" / "submitted" / "bob" / "week0" / "00_numbers.ipynb"
    path.write_text(path.read_text().replace("x - y", "x + y"))
    done = regrade(folder, "--reason", "worth more", "--yes")
    assert done.exit_code == 0, done.output
    assert "bob, 00_numbers: was handed in anew" in " ".join(done.output.split())
    assert marks(folder) == {"ada": (6, 6), "bob": (2, 6), "eve": (0, 6)}
    notebook = nbformat.read(folder / "course" / "autograded" / "bob" / "week0" / "00_numbers.ipynb", as_version=4)
    assert any("x - y" in cell.source for cell in notebook.cells), "a report stands beside code that it is not of"
    assert run(folder, "autograde", "week0", "--jobs", "1").exit_code == 0
    assert marks(folder) == {"ada": (6, 6), "bob": (6, 6), "eve": (0, 6)}


def test_what_is_recorded_of_a_student_stands(reweighed, tmp_path, monkeypatch):
    """Stopped at the second student the first one's marks stand, and nobody's gradebook is locked; the rest follows."""
    folder = shutil.copytree(reweighed, tmp_path / "term", symlinks=True)
    original, begun = recording.Recorder.add, []

    def stop(recorder, student, whole, penalties):
        begun.append(student)
        if len(begun) == 2:
            with contextlib.closing(sqlite3.connect(folder / "course" / "gradebook.db", timeout=0)) as other:
                other.execute("begin immediate")
            raise KeyboardInterrupt
        original(recorder, student, whole)

    with monkeypatch.context() as patch:
        patch.setattr(recording.Recorder, "add", stop)
        done = regrade(folder, "--reason", "worth more", "--yes")
    assert done.exit_code == 130, done.output
    assert "The same command goes on." in done.stderr and begun == ["ada", "bob"]
    points = {who: read_entry(folder / "course", who, "week0", "00_numbers").submission.points for who in CLASS}
    assert points == {"ada": 6, "bob": 3, "eve": 3}
    done = regrade(folder, "--reason", "worth more", "--yes")
    assert done.exit_code == 0, done.output
    assert marks(folder) == {"ada": (6, 6), "bob": (2, 6), "eve": (0, 6)}
    assert [{each["student"] for each in line.get("changes", ())} for line in logged(folder)] == [
        {"ada", "bob", "eve"}, {"bob", "eve"}, set(),
    ]  # fmt: skip


@pytest.mark.full("a class is graded again", share=48)
@pytest.mark.parametrize("place", ["commit", "write_recorded", "end"])
def test_what_is_interrupted_is_finished(reweighed, tmp_path, place, monkeypatch):
    """Stopped at any step, the gradebook is whole; a second run ends where an undisturbed one does."""
    folder = shutil.copytree(reweighed, tmp_path / "term", symlinks=True)
    owner = {"commit": recording.Recorder, "write_recorded": recording, "end": regrading}[place]
    original, calls = getattr(owner, place), []

    def stop(*arguments, **options):
        calls.append(arguments)
        if place != "write_recorded" or len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(owner, place, stop)
        assert regrade(folder, "--reason", "worth more", "--yes").exit_code == 130
    after = {"ada": (6, 6), "bob": (2, 6), "eve": (0, 6)}
    with Gradebook(f"sqlite:///{folder / 'course' / 'gradebook.db'}", "minigrad") as book:
        grades = {who: book.find_grade("operators-arithmetic-check", "00_numbers", "week0", who) for who in CLASS}
        assert {who: (grade.auto_score, grade.max_score) for who, grade in grades.items()} == after
    done = regrade(folder, "--reason", "once more", "--yes")
    assert done.exit_code == 0, done.output
    assert marks(folder) == after
    states = [line["state"] for line in logged(folder)]
    assert states == (["begun"] if place == "end" else ["begun", "begun", "done"])


def test_the_report_reads_what_grading_wrote(term, tmp_path):
    """The page about a class that was really graded names mistakes, who has not begun, and isolation."""
    out = tmp_path / "class.html"
    done = run_report(term, out)
    assert done.exit_code == 0, done.output
    page = out.read_text()
    for said in ("3 students, 7 points", "not a sum", "1 · 1 · 0 · 1", "Every notebook was graded in a sandbox"):
        assert said in page


def run_report(folder, out):
    return CliRunner().invoke(app, ["report", "--out", str(out), "--course", str(folder / "course")])
