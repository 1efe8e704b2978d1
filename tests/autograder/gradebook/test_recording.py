"""A class graded in one command leaves what `nbgrader autograde` would have left: rows, files, marks."""

import multiprocessing
import shutil
import sqlite3

import pytest
from class_runs import autograde, files, generate, grade, rows, write
from flushing import Flushes
from nbgrader.api import Gradebook
from places import ROOT
from sqlalchemy.exc import OperationalError
from two_lessons import ARITHMETIC, COMPARISON, make_course

from autograder.classes import handed_in
from autograder.course import CourseError
from autograder.course.loading import load_course
from autograder.gradebook import recording
from autograder.gradebook.recording import Recorder, hidden_of
from autograder.judging.judge import Judge
from autograder.regrading import hidden_tests
from autograder.results.ledger import LEDGER, entries

LATE = "2027-03-01 10:00:00.000000 UTC"


pytestmark = pytest.mark.full("a class is graded, and recorded in both ways", share=12, group="recording")


@pytest.fixture(scope="module")
def handed(tmp_path_factory):
    """A course with submissions, none of them graded."""
    course = make_course(tmp_path_factory.mktemp("class"), ROOT)
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace('title = "Numbers"', 'title = "Numbers"\ndue = 2027-02-01T00:00:00Z'))
    generate(course)
    with Gradebook(f"sqlite:///{course}/gradebook.db", "minigrad") as gradebook:
        gradebook.update_or_create_assignment("week0", duedate="2027-02-01 00:00:00 UTC")
    wrong = ARITHMETIC.replace("x + y", "x - y")
    write(course, "ada", {"00_numbers": ARITHMETIC, "01_order": COMPARISON})
    write(course, "bea", {"00_numbers": wrong, "01_order": COMPARISON})
    write(course, "eve", {"00_numbers": "", "01_order": "import os\nos._exit(0)"})
    write(course, "late", {"00_numbers": ARITHMETIC, "01_order": ""}, LATE)
    write(course, "one", {"00_numbers": wrong})
    (course / "submitted" / "one" / "week0" / "timestamp.txt").unlink()
    return course


@pytest.fixture(scope="module")
def flushes():
    with pytest.MonkeyPatch.context() as patch:
        yield Flushes(patch)


@pytest.fixture(scope="module")
def both(handed, tmp_path_factory, flushes):
    """The same submissions graded by nbgrader, one by one, and as a class."""
    folder = tmp_path_factory.mktemp("both")
    # taken in once: how a submission without a time is dated depends on its files
    tidied = [work.folder(handed) for work in handed_in(handed, "week0")]
    stock, quick = folder / "stock" / "course", folder / "quick" / "course"
    for place in (stock, quick):
        shutil.copytree(handed.parent, place.parent)
    grade(quick)
    shutil.rmtree(stock / "submitted")
    shutil.copytree(quick / "submitted", stock / "submitted")
    shutil.copytree(quick / "originals", stock / "originals")
    autograde(stock)
    assert len(tidied) == 5
    return stock, quick


def test_the_rows_are_nbgraders(both):
    """Students, submissions, scores, comments and late penalties are those of `nbgrader autograde`."""
    stock, quick = map(rows, both)
    assert quick == stock
    assert len(quick["grade"]) == 10 and len({score for _, _, score, *_ in quick["grade"]}) > 2
    assert any(penalty for *_, penalty in quick["notebook"])
    assert any(comment for _, _, comment, _ in quick["comment"])


def test_the_files_are_nbgraders(both):
    """The graded notebooks and what lies beside them are byte for byte those of `nbgrader autograde`."""
    stock, quick = map(files, both)
    assert quick.keys() == stock.keys()
    assert [name for name in quick if quick[name] != stock[name]] == []
    assert "autograded/ada/week0/picture.svg" in quick


def test_files_are_on_the_disk_before_they_have_their_names(both, flushes):
    """After a crash of the machine nothing is empty of which the ledger says that it was graded."""
    _, quick = both
    assert flushes.late(quick / "autograded") == []


def test_nbgrader_afterwards_merely_records(both, monkeypatch):
    """`nbgrader autograde` after the class was graded runs nothing again, and changes nothing."""
    _, quick = both
    before = rows(quick), files(quick)
    monkeypatch.setattr(Judge, "_run", None)
    autograde(quick, force=True)
    assert (rows(quick), files(quick)) == before


def test_a_second_run_grades_nothing(both, monkeypatch):
    """What is in the ledger is not graded again, and what is recorded already is recognised."""
    _, quick = both
    monkeypatch.setattr(Judge, "_run", None)
    outcomes = grade(quick)
    assert len(outcomes) == 5 and all(each.kept and not each.problem for each in outcomes)
    with Recorder(quick, "week0") as recorder:
        assert all(recorder.is_recorded(each.work.student, each.entries) for each in outcomes)
        (quick / "autograded" / "ada" / "week0" / "01_order.ipynb").unlink()
        assert [e.work.student for e in outcomes if not recorder.is_recorded(e.work.student, e.entries)] == ["ada"]


def test_a_mark_that_a_person_gave_stays(both):
    """Recording again leaves manual marks and comments alone, and asks for a look at them, as nbgrader does."""
    _, quick = both
    with Gradebook(f"sqlite:///{quick}/gradebook.db", "minigrad") as gradebook:
        grade_row = gradebook.find_grade("operators-arithmetic-check", "00_numbers", "week0", "bea")
        grade_row.manual_score, grade_row.extra_credit = 1.5, 0.5
        gradebook.find_comment("operators-arithmetic", "00_numbers", "week0", "bea").manual_comment = "well tried"
        gradebook.db.commit()
    grade(quick)
    found = {key: value for key, *value in ((f"{s} {cell}", *rest) for s, cell, *rest in rows(quick)["grade"])}
    auto, manual, extra, needs = found["bea operators-arithmetic-check"]
    assert (auto, manual, extra, needs) == (1, 1.5, 0.5, 1)
    assert ("bea", "operators-arithmetic", None, "well tried") in rows(quick)["comment"]


def test_the_ledger_holds_what_was_found(both):
    """Every notebook has its entry, which says what the gradebook says."""
    _, quick = both
    found = {(entry.student, entry.lesson): entry for entry in entries(quick, "week0")}
    assert len(found) == 10
    assert found["bea", "00_numbers"].submission.earned == 1
    assert any("process" in event for event in found["eve", "01_order"].submission.exercises[0].events)


def test_runs_record_in_turn(both, handed, tmp_path, capfd):
    """Runs that record the same students at once add no row twice, and the rows are those of a single run."""
    shutil.copytree(both[1].parent, tmp_path / "shared")
    course = tmp_path / "shared" / "course"
    found = [*entries(course, "week0")]
    shutil.copy(handed / "gradebook.db", course)
    shutil.rmtree(course / "autograded")

    def record():
        with Recorder(course, "week0") as recorder:
            for student in dict.fromkeys(entry.student for entry in found):
                recorder.record(student, [entry for entry in found if entry.student == student])

    processes = [multiprocessing.get_context("fork").Process(target=record) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert "Error" not in capfd.readouterr().err
    wanted = rows(both[1])
    assert {name: rows(course)[name] for name in ("student", "submission", "notebook")} == {
        name: wanted[name] for name in ("student", "submission", "notebook")
    }


def test_a_gradebook_that_cannot_be_read_is_said_in_a_sentence(both, monkeypatch):
    """Where another program holds the gradebook, whether a mark is recorded cannot be told: what to do is said."""
    _, quick = both

    def locked(*_arguments):
        raise OperationalError("select", {}, sqlite3.OperationalError("database is locked"))

    with Recorder(quick, "week0") as recorder:
        monkeypatch.setattr(Gradebook, "find_submission", locked)
        with pytest.raises(CourseError, match="someone else is writing to the gradebook; give the same command again"):
            recorder.is_recorded("ada", [entry for entry in entries(quick, "week0") if entry.student == "ada"])


def test_what_the_gradebook_refuses_is_nowhere(both, monkeypatch, tmp_path):
    """Rows come before files, and files before the ledger: where the rows are refused, neither of both changes."""
    shutil.copytree(both[1].parent, tmp_path / "refused")
    course = tmp_path / "refused" / "course"
    found = [entry for entry in entries(course, "week0") if entry.student == "ada"]
    for recorded in (course / "autograded" / "ada", course / LEDGER / "week0" / "ada"):
        shutil.rmtree(recorded)
    before, kept = files(course), [*entries(course, "week0")]

    def locked(*_arguments):
        raise OperationalError("commit", {}, sqlite3.OperationalError("database is locked"))

    with Recorder(course, "week0") as recorder:
        recorder.add("ada", found)
        with monkeypatch.context() as patch:
            patch.setattr(recording._Batch, "finish", locked)
            with pytest.raises(CourseError, match="give the same command again"):
                recorder.commit()
        assert (files(course), [*entries(course, "week0")]) == (before, kept)
        finish, busy = recording._Batch.finish, [locked]
        with monkeypatch.context() as patch:
            patch.setattr(recording._Batch, "finish", lambda batch: (busy.pop() if busy else finish)(batch))
            recorder.record("ada", found)
        assert not busy, "it was recorded at the second attempt"
    assert files(course).keys() > before.keys()
    assert len([*entries(course, "week0")]) == len(kept) + len(found)


def test_a_notebook_handed_in_at_another_time_is_recorded_again(both, tmp_path):
    """The same notebook with a later timestamp is not what the gradebook holds: whether it is late is decided anew."""
    shutil.copytree(both[1].parent, tmp_path / "later")
    course = tmp_path / "later" / "course"
    found = [entry for entry in entries(course, "week0") if entry.student == "ada"]
    with Recorder(course, "week0") as recorder:
        assert recorder.is_recorded("ada", found)
        (course / "submitted" / "ada" / "week0" / "timestamp.txt").write_text(LATE)
        assert not recorder.is_recorded("ada", found)


def test_hidden_tests_lie_where_the_course_says(both, monkeypatch, tmp_path):
    """A relative path in a course's configuration starts from the course, wherever a command is given."""
    stock, _ = both
    config = stock / "nbgrader_config.py"
    config.write_text(config.read_text() + '\nc.JudgePreprocessor.hidden = "../hidden"\n')
    monkeypatch.chdir(tmp_path)
    assert hidden_of(stock, "week0").samefile(stock.parent / "hidden")
    assert hidden_tests(load_course(stock, tree=False)).samefile(stock.parent / "hidden")


def test_an_assignment_that_was_not_generated(handed):
    """Without its rows in the gradebook nothing is recorded, and the sentence says what to run."""
    with pytest.raises(CourseError, match="nbgrader generate_assignment week7"):
        Recorder(handed, "week7")
