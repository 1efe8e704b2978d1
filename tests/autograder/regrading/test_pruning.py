"""`autograder tidy` removes what can be made again or was handed in anew, and nothing that a mark rests on."""

import datetime as dt
import os
import shutil

import pytest
from class_runs import generate, write
from deep_folders import deep
from places import ROOT
from two_lessons import ARITHMETIC, COMPARISON, make_course
from typer.testing import CliRunner

from autograder.cli import app
from autograder.common.atomic import remove
from autograder.course.loading import load_course
from autograder.grafting.collecting import take_in
from autograder.judging.judge import Judge
from autograder.regrading import pruning

pytestmark = pytest.mark.full("a student's work is graded under several releases", share=48, group="pruning")


def run(course, command, *arguments):
    place = ["--course", str(course), "--hidden", str(course.parent / "hidden")]
    done = CliRunner().invoke(app, [*command.split(), *place, *arguments], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course with one student's work, graded and recorded."""
    course = make_course(tmp_path_factory.mktemp("pruning"), ROOT)
    toml = course / "course.toml"
    toml.write_text(toml.read_text().replace('title = "Numbers"', 'title = "Numbers"\nanswers_open = 2027-02-15'))
    generate(course)
    write(course, "ada", {"00_numbers": ARITHMETIC, "01_order": COMPARISON})
    run(course, "autograde week0 --jobs 1")
    return course


@pytest.fixture
def course(graded, tmp_path):
    """The same again."""
    shutil.copytree(graded.parent, tmp_path / "copy")
    return tmp_path / "copy" / "course"


def everything(course):
    return {path.relative_to(course): path.read_bytes() for path in course.rglob("*") if path.is_file()}


def found(course, day="2027-02-15"):
    """What may go, kind by kind."""
    judge = Judge(load_course(course, tree=False), hidden=course.parent / "hidden")
    kinds = {}
    for each in pruning.unneeded(judge, dt.date.fromisoformat(day)):
        assert each.size > 0
        kinds.setdefault(each.kind, []).append(each.path)
    return kinds


def test_what_is_needed_stays(course):
    """Right after grading nothing may go, and nothing is changed by asking."""
    before = everything(course)
    assert found(course) == {}
    assert "nothing is kept that is needed no longer" in run(course, "tidy", "--yes")
    assert everything(course) == before


def hand_in(course, name):
    """One more submission of ada's, as it is kept among the originals."""
    place = course.parent / name
    place.mkdir(exist_ok=True)
    (place / "00_numbers.ipynb").write_text(f"no notebook, {name}")
    clean, originals = course.parent / f"clean {name}", course / "originals" / "ada" / "week0"
    shutil.rmtree(clean, ignore_errors=True)
    before = set(originals.iterdir())
    take_in(load_course(course, tree=False), "week0", place, clean, originals)
    return next((path for path in originals.iterdir() if path not in before), None)


def test_the_newest_two_submissions_stay(course):
    """Older ones may go; one that was handed in once more is new again."""
    (first,) = (path for path in (course / "originals" / "ada" / "week0").iterdir() if path.is_dir())
    os.utime(first, (1, 1))
    second = hand_in(course, "second")
    os.utime(second, (2, 2))
    assert found(course) == {}
    third = hand_in(course, "third")
    os.utime(third, (3, 3))
    assert found(course) == {"originals": [first]}
    assert hand_in(course, "second") is None
    fourth = hand_in(course, "fourth")
    assert found(course) == {"originals": [third, first]}
    assert fourth.is_dir()


def test_what_follows_from_other_tests_or_another_library_goes(course):
    """After a test was mended its results are found anew; after the library changed its copies are made anew."""
    kept = sorted((course / ".grades").glob("??/*.json"))
    assert len(kept) == 4  # two answers of ada's, and the reference of each lesson, which was run before the class
    hidden = course.parent / "hidden" / "test_operators.py"
    hidden.write_text(hidden.read_text() + "# mended\n")
    assert sorted(found(course)["results"]) == kept and "editions" not in found(course)
    operators = course.parent / "src" / "minigrad" / "operators.py"
    operators.write_text(operators.read_text() + "# changed\n")
    assert sorted(found(course)["editions"]) == sorted((course / ".cache" / "editions").iterdir())


def test_a_release_that_may_still_be_handed_in_stays(course):
    """A master goes once answers are open and no notebook says that it was made from it."""
    (used,) = {path.parent for path in (course / "masters").glob("*/00_numbers.ipynb")}
    other = course / "masters" / "abcdef012345"
    shutil.copytree(used, other)
    assert found(course, "2027-02-14") == {}
    assert {path.parent for path in found(course)["masters"]} == {other}
    (course / "submitted" / "ada" / "week0" / "late.ipynb").write_text('{"metadata": {"stamp": "abcdef012345"}}')
    assert found(course) == {}


def test_a_release_that_a_strange_submission_was_made_from_stays(course):
    """Submissions that stayed whole are gone over, however deep folders nest there and however large a notebook is."""
    (used,) = {path.parent for path in (course / "masters").glob("*/00_numbers.ipynb")}
    other = course / "masters" / "abcdef012345"
    shutil.copytree(used, other)
    place = course / "originals" / "ada" / "week0" / "whole-x"
    place.mkdir()
    with (place / "00_numbers.ipynb").open("wb") as file:
        file.truncate(2**42)
    deep(place, 1200)
    try:
        assert {path.parent for path in found(course)["masters"]} == {other}
        (place / "mine.ipynb").write_text('{"metadata": {"stamp": "abcdef012345"}}')
        assert found(course) == {}
    finally:
        remove(place)


def test_what_cannot_be_looked_into_keeps_every_release(course, monkeypatch):
    """Where a folder cannot be opened no release goes, since what lies there may be made from any."""
    (used,) = {path.parent for path in (course / "masters").glob("*/00_numbers.ipynb")}
    shutil.copytree(used, course / "masters" / "abcdef012345")

    def refuse(place):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pruning, "every_file", refuse)
    assert found(course) == {}


def test_it_lists_first_and_removes_when_told(course):
    """Without --yes nothing changes; with it the listed goes, and grading goes on with the same marks."""
    hidden = course.parent / "hidden" / "test_operators.py"
    hidden.write_text(hidden.read_text() + "# mended\n")
    stale = course / ".cache" / "editions" / ("0" * 16)
    (stale / "minigrad").mkdir(parents=True)
    (stale / "minigrad" / "x.py").write_text("x = 1\n")
    before = everything(course)
    said = run(course, "tidy")
    assert "can be freed; add --yes" in said and everything(course) == before
    assert "freed" in run(course, "tidy", "--yes")
    after = everything(course)
    gone = {str(path.parts[0]) for path in before.keys() - after.keys()}
    assert gone == {".grades", ".cache"} and not stale.exists()
    assert {path: before[path] for path in after} == after
    assert not any("submissions" in path.parts for path in before.keys() - after.keys())
    assert "2 with full points" in run(course, "autograde week0 --jobs 1")
