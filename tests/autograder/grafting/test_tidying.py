"""The submitted tree is made clean, and nothing that was handed in is lost on the way."""

import datetime as dt
import json
import shutil
from pathlib import Path

import pytest
from processes import standing
from two_lessons import ARITHMETIC, COMPARISON, make_course

from autograder.building.masters import find_master
from autograder.course.loading import load_course
from autograder.grafting import collecting
from autograder.grafting.collecting import recorded
from autograder.grafting.grafted import slots_of
from autograder.grafting.tidying import put_back, tidy
from autograder.judging.judge import Judge
from autograder.regrading import pruning

WHEN = "2027-01-01 10:00:00.000000 UTC"


@pytest.fixture(scope="module")
def made(tmp_path_factory, root):
    """A course of two lessons, built."""
    return make_course(tmp_path_factory.mktemp("tidying"), root)


@pytest.fixture
def course(made, tmp_path):
    """The same again."""
    shutil.copytree(made.parent, tmp_path / "copy")
    return tmp_path / "copy" / "course"


@pytest.fixture
def originals(course):
    return course / "originals" / "ada" / "week0"


def notebook(course, lesson, text):
    """A released notebook with a text in its solution cell."""
    filled = find_master(load_course(course, tree=False), lesson)
    filled.cells[slots_of(filled)[0].index].source = text
    return json.dumps(filled)


@pytest.fixture
def home(course):
    """A submission of both lessons, put in place by hand."""
    place = course / "submitted" / "ada" / "week0"
    place.mkdir(parents=True)
    (place / "timestamp.txt").write_text(WHEN)
    for lesson, text in (("00_numbers", ARITHMETIC), ("01_order", COMPARISON)):
        (place / f"{lesson}.ipynb").write_text(notebook(course, lesson, text))
    return place


def what(folder):
    """A folder's files and what they say."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def whole(originals):
    """The submissions that were kept as they came."""
    return list(originals.glob("whole-*"))


def unneeded(course):
    judge = Judge(load_course(course, tree=False), hidden=course.parent / "hidden")
    return [each.path for each in pruning.unneeded(judge, dt.date(2099, 1, 1))]


def test_what_is_kept_file_by_file_is_not_kept_twice(course, home, originals, caplog):
    """An ordinary submission lies among the originals once; hidden files of the machine are none of it."""
    before = what(home)
    (home / ".ipynb_checkpoints").mkdir()
    (home / ".ipynb_checkpoints" / "00_numbers-checkpoint.ipynb").write_text("{}")
    tidy(course, home)
    (kept,) = (path for path in originals.iterdir() if path.is_dir())
    assert what(kept) == before and not whole(originals)
    assert not caplog.messages


@pytest.mark.parametrize("beyond", ["large", "many", "deep"])
def test_a_submission_that_is_more_than_is_kept_stays_whole(course, home, originals, caplog, beyond):
    """What is beyond the limits on originals stays with all the rest, where no pruning looks; the log says where."""
    if beyond == "large":
        with (home / "data.csv").open("wb") as file:
            file.truncate(30_000_000)
    elif beyond == "many":
        for number in range(210):
            (home / f"z{number}.txt").write_text(f"{number}")
    else:
        (home / "/".join("d" * 25)).mkdir(parents=True)
        (home / "/".join("d" * 25) / "deep.txt").write_text("deep")
    before = what(home)
    tidy(course, home)
    (place,) = whole(originals)
    assert what(place) == before
    assert {path.name for path in home.iterdir()} == {
        "00_numbers.ipynb",
        "01_order.ipynb",
        "timestamp.txt",
        "submission_secret.txt",
    }
    assert [text for text in caplog.messages if text.startswith("ada: ") and str(place.relative_to(course)) in text]
    assert beyond != "large" or any("data.csv" in text for text in caplog.messages)
    assert not [path for path in unneeded(course) if originals in path.parents]
    assert not list(home.parent.parent.glob(".tidy-*"))


def test_a_submission_that_nothing_could_be_kept_of_stays_whole(course, home, originals, caplog, monkeypatch):
    """Where keeping fails the student gets stubs and a reason, and what was handed in is there for who looks."""

    def fail(*_):
        raise MemoryError

    before = what(home)
    monkeypatch.setattr(collecting, "_keep", fail)
    tidy(course, home)
    (place,) = whole(originals)
    assert what(place) == before
    assert any("could not be taken in (MemoryError)" in text for text in caplog.messages)
    assert any(place.name in text for text in caplog.messages)
    record = recorded(originals, "00_numbers", (home / "00_numbers.ipynb").read_bytes())
    assert "MemoryError" in record["unreadable"]


def test_a_disk_that_refuses_to_keep_a_submission_leaves_it_in_its_place(course, home, monkeypatch):
    """An error of the disk is no submission's fault: it is raised, and nothing has moved."""

    def fail(*_):
        raise OSError(28, "No space left on device")

    before = what(home)
    monkeypatch.setattr(collecting, "_keep", fail)
    with pytest.raises(OSError, match="No space left"):
        tidy(course, home)
    assert what(home) == before and not list(home.parent.parent.glob(".tidy-*"))


def test_a_whole_submission_is_put_back_when_its_process_is_killed(course, home, originals):
    """Between the two moves of `tidy` the submission is among the originals alone: the next run brings it home."""
    for number in range(210):
        (home / f"z{number}.txt").write_text(f"{number}")
    before = what(home)
    rename = Path.rename

    def work(stop):
        def move(self, target):
            rename(self, target)
            if self == home:
                stop()

        Path.rename = move
        tidy(course, home)

    with standing(work):
        assert not home.exists() and len(whole(originals)) == 1
        put_back(course / "submitted")
        assert not home.exists(), "it was taken from a living process"
    put_back(course / "submitted")
    assert what(home) == before and not whole(originals)


def test_what_was_said_is_logged(course, home, caplog):
    """What was repaired or ignored is told as `nbgrader collect` tells it: a line with the student's name."""
    (home / "00_numbers.ipynb").rename(home / "mine.ipynb")
    tidy(course, home)
    assert any(text.startswith("ada: 00_numbers: ") and "mine.ipynb" in text for text in caplog.messages)


@pytest.mark.parametrize("gone", [["00_numbers.ipynb"], ["00_numbers.ipynb", "01_order.ipynb", "timestamp.txt"]])
def test_a_clean_notebook_that_was_removed_is_made_again(course, home, originals, gone):
    """A clean tree that lacks files gets them from the original, the same ones again, and keeps no second original."""
    tidy(course, home)
    before, kept = what(home), what(originals)
    for name in gone:
        (home / name).unlink()
    tidy(course, home)
    after = what(home)
    assert after.keys() == before.keys() and what(originals) == kept
    assert {name for name in after if after[name] != before[name]} <= {"timestamp.txt"}


def test_a_clean_notebook_whose_original_was_too_large_is_made_again(course, home, originals):
    """The reason is found once more in the submission that stayed whole, not in what was kept of it."""
    with (home / "00_numbers.ipynb").open("wb") as file:
        file.truncate(25_000_000)
    tidy(course, home)
    before = what(home)
    assert "at most 20 MB are read" in recorded(originals, "00_numbers", before["00_numbers.ipynb"])["unreadable"]
    (home / "00_numbers.ipynb").unlink()
    tidy(course, home)
    assert what(home) == before


def test_a_removed_notebook_of_which_there_is_no_original(course, home, originals):
    """Where the original is gone as well, the lesson becomes stubs, and the reason says that nothing is there."""
    tidy(course, home)
    (home / "00_numbers.ipynb").unlink()
    for folder in originals.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)
    tidy(course, home)
    record = recorded(originals, "00_numbers", (home / "00_numbers.ipynb").read_bytes())
    assert "no notebook 00_numbers.ipynb was handed in" in record["unreadable"]


def test_a_lesson_that_came_to_the_assignment_later(course, home, originals, caplog):
    """It becomes stubs with the reason, or what was handed in of it; what was taken in before stays as it is."""
    (home / "01_order.ipynb").unlink()
    toml = course / "course.toml"
    text = toml.read_text()
    both = 'lessons = ["00_numbers", "01_order"]'
    later = '\n[[assignment]]\nname = "week1"\ntitle = "Order"\nlessons = ["01_order"]\n'
    toml.write_text(text.replace(both, 'lessons = ["00_numbers"]\n' + later))
    tidy(course, home)
    before = what(home)
    assert "01_order.ipynb" not in before
    toml.write_text(text)
    tidy(course, home)
    after = what(home)
    assert {name: after[name] for name in before} == before
    record = recorded(originals, "01_order", after["01_order.ipynb"])
    assert "no notebook 01_order.ipynb was handed in" in record["unreadable"]
    assert recorded(originals, "00_numbers", after["00_numbers.ipynb"]) is not None
    assert any(line.startswith("ada: 01_order: ") for line in caplog.messages)
    caplog.clear()
    tidy(course, home)
    assert what(home) == after and not caplog.messages
