"""A submission is taken in whatever it is: the best work is found, no loss is silent, no file stops the batch."""

import io
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from deep_folders import deep
from flushing import Flushes
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc
from traitlets.config import Config
from two_lessons import ARITHMETIC, make_course

from autograder.building.masters import find_master
from autograder.course.loading import load_course
from autograder.gradebook.exchange import GraftingCollect
from autograder.grafting.collecting import is_clean, recorded, take_in
from autograder.grafting.grafted import slots_of
from autograder.grafting.tidying import tidy
from autograder.reading import exports, handed_in
from autograder.reading.handed_in import HandedIn

WHEN = "2027-01-01 10:00:00.000000 UTC"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, root):
    """A course of two lessons, built."""
    return make_course(tmp_path_factory.mktemp("course"), root)


@pytest.fixture
def course(folder):
    return load_course(folder, tree=False)


@pytest.fixture
def submission(tmp_path):
    place = tmp_path / "in"
    place.mkdir()
    return place


@pytest.fixture
def taken(course, submission, tmp_path):
    """Take the submission in; give what was said and the text of lesson 00's solution cell."""

    def run(timestamp=WHEN):
        said = take_in(course, "week0", submission, tmp_path / "out", tmp_path / "originals", timestamp)
        notebook = nbformat.read(tmp_path / "out" / "00_numbers.ipynb", as_version=4)
        return said, next(c.source for c in notebook.cells if c.source.startswith("# exercise"))

    return run


def notebook(course, lesson="00_numbers", text=None):
    """A released notebook with a text in its solution cell."""
    made = find_master(course, lesson)
    if text is not None:
        made.cells[slots_of(made)[0].index].source = text
    return json.dumps(made)


@pytest.fixture
def nest():
    """Make folders within folders, deeper than one path can say; they are gone afterwards."""
    made = []

    def make(folder):
        made.append(str(folder / "d"))
        deep(folder, 1500)

    yield make
    subprocess.run(["rm", "-rf", *made], check=True)


def collector(folder, submitted):
    """nbgrader's collector for a course, into a tree of its own."""
    config = Config()
    config.CourseDirectory.root, config.CourseDirectory.course_id = str(folder), "minigrad"
    config.CourseDirectory.submitted_directory = submitted
    config.Exchange.root = str(folder / "exchange")
    coursedir = CourseDirectory(config=config, assignment_id="week0")
    return GraftingCollect(coursedir=coursedir, authenticator=Authenticator(), config=config)


def hand_in(folder, student, course):
    inbound = folder / "exchange" / "minigrad" / "inbound" / f"{student}+week0+{WHEN}+x1"
    inbound.mkdir(parents=True)
    (inbound / "timestamp.txt").write_text(WHEN)
    (inbound / "00_numbers.ipynb").write_text(notebook(course, text=ARITHMETIC))
    return inbound


def test_a_time_that_no_one_can_read(taken, submission, course, tmp_path):
    """A number in timestamp.txt that no decimal holds is a time that cannot be read, and nothing more."""
    (submission / "00_numbers.ipynb").write_text(notebook(course, text=ARITHMETIC))
    (submission / "timestamp.txt").write_text("2026-11-20 " + "9" * 50 + ".5m")
    _, text = taken()
    assert text == ARITHMETIC
    assert (tmp_path / "out" / "timestamp.txt").read_text() == WHEN


def test_folders_without_end(taken, submission, course, nest):
    """Folders nested beyond what Python can walk do not keep the notebook beside them out."""
    (submission / "00_numbers.ipynb").write_text(notebook(course, text=ARITHMETIC))
    nest(submission)
    assert taken()[1] == ARITHMETIC


def test_tidying_folders_without_end(folder, course, nest):
    """A submission of endless folders that was put in place by hand is made clean, and leaves nothing behind."""
    place = folder / "submitted" / "deep" / "week0"
    place.mkdir(parents=True)
    (place / "00_numbers.ipynb").write_text(notebook(course, text=ARITHMETIC))
    nest(place)
    tidy(folder, place)
    assert not (place / "d").exists()
    assert not list((folder / "submitted").glob(".tidy-*"))


@pytest.mark.full("a class is collected", share=12)
def test_one_strange_submission_does_not_stop_the_class(folder, course, monkeypatch):
    """A submission that breaks the collector is a zero with a reason, and the others are collected."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for student in ("ann", "ben", "cem"):
        hand_in(folder, student, course)

    def breaks(course, assignment, submission, *rest):
        if submission.name.startswith("ben"):
            raise ArithmeticError("never thought of")
        return take_in(course, assignment, submission, *rest)

    monkeypatch.setattr("autograder.grafting.tidying.take_in", breaks)
    collect = collector(folder, "strange")
    lines = []
    monkeypatch.setattr(collect.log, "error", lambda text, *values: lines.append(text % values))
    collect.start()
    assert {path.parent.name for path in (folder / "strange").glob("*/week0")} == {"ann", "ben", "cem"}
    assert len(lines) == 1 and "ben" in lines[0] and "ArithmeticError" in lines[0]
    clean = folder / "strange" / "ben" / "week0" / "00_numbers.ipynb"
    record = recorded(folder / "originals" / "ben" / "week0", "00_numbers", clean.read_bytes())
    assert record is not None and "could not be taken in" in record["unreadable"]


def owned(monkeypatch, owners, users_here=()):
    """Let folders of the exchange belong to the users that a part of their names says; some users are the machine's."""
    users = sorted({*owners.values(), "root"})
    look = os.stat

    def stat(path, *args, **options):
        found = look(path, *args, **options)
        follows = options.get("follow_symlinks", True) and isinstance(path, str | os.PathLike)
        place = os.path.realpath(path) if follows else str(path)
        owner = next((who for part, who in owners.items() if part in place), None)
        if owner is None:
            return found
        return os.stat_result((*found[:4], 50_000 + users.index(owner), *found[5:]))

    monkeypatch.setattr("autograder.gradebook.exchange.os.stat", stat)
    names = {50_000 + number: SimpleNamespace(pw_name=name) for number, name in enumerate(users)}
    monkeypatch.setattr("autograder.gradebook.exchange.pwd.getpwuid", names.__getitem__)
    monkeypatch.setattr("autograder.gradebook.exchange.pwd.getpwnam", dict.fromkeys(users_here).__getitem__)


@pytest.fixture
def exchange(folder, course, monkeypatch):
    """Folders that are handed in to an empty exchange; what was collected of them is gone afterwards."""
    # nbgrader starts `alembic` by its bare name
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    inbound = folder / "exchange" / "minigrad" / "inbound"
    shutil.rmtree(inbound, ignore_errors=True)

    def hand(name, text=ARITHMETIC):
        (inbound / name).mkdir(parents=True)
        (inbound / name / "00_numbers.ipynb").write_text(notebook(course, text=text))

    yield hand
    for place in (inbound, folder / "theirs", folder / "originals"):
        shutil.rmtree(place, ignore_errors=True)


def collected(folder):
    """The students who were collected, with the texts of their answers, and what was logged."""
    collect = collector(folder, "theirs")
    collect.start()
    found = {}
    for path in (folder / "theirs").glob("*/week0/00_numbers.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        found[path.parts[-3]] = next(cell.source for cell in cells if cell.source.startswith("# exercise"))
    return found


@pytest.mark.full("a class with a strange submission is collected", share=12)
def test_a_folder_in_the_exchange_that_cannot_be_read_costs_no_one_else(folder, exchange, caplog):
    """Everybody may make folders there: one that names no time, nobody, or another folder is left out and told."""
    exchange(f"ada+week0+{WHEN}+x1")
    for name in ("eve+week0+never+x", "eve+week0+", f" +week0+{WHEN}+x", f"a\nb+week0+{WHEN}+x"):
        exchange(name)
    assert set(collected(folder)) == {"ada"}
    assert caplog.text.count("was left out of the exchange's folders") == 4


def test_nobody_hands_in_for_another_one(folder, exchange, monkeypatch, caplog):
    """A newer folder in someone's name that another user made is no submission of that student."""
    exchange(f"ada+week0+{WHEN}+x1")
    exchange("ada+week0+2027-01-02 10:00:00.000000 UTC+x2", "def add(x, y):\n    return 0")
    exchange(f"bob+week0+{WHEN}+x3")
    owned(monkeypatch, {"x1": "ada", "x2": "eve", "x3": "eve"})
    found = collected(folder)
    assert set(found) == {"ada"} and "return 0" not in found["ada"]
    assert caplog.text.count("it belongs to another user than its name says") == 2


def test_nobody_hands_in_for_another_one_first(folder, exchange, monkeypatch, caplog):
    """A folder in the name of a Unix user is only that user's, also where nobody has handed in yet."""
    exchange(f"ada+week0+{WHEN}+x1")
    owned(monkeypatch, {"x1": "eve"}, users_here=["ada", "eve"])
    assert collected(folder) == {}
    assert "it belongs to another user than its name says" in caplog.text


def test_a_link_to_anothers_folder_is_no_submission(folder, exchange, monkeypatch, caplog):
    """A student links to a folder of another one's, such as one in /proc; the other's own work is collected."""
    exchange(f"ada+week0+{WHEN}+x1")
    inbound = folder / "exchange" / "minigrad" / "inbound"
    (inbound / "ada+week0+2027-01-02 10:00:00.000000 UTC+x2").symlink_to(inbound / f"ada+week0+{WHEN}+x1")
    owned(monkeypatch, {"x1": "ada", "x2": "eve"})
    assert set(collected(folder)) == {"ada"}
    assert "x2: was left out" in caplog.text


def test_where_all_folders_belong_to_one_user_names_count(folder, exchange, monkeypatch):
    """As on a hub on which everybody is the same user."""
    exchange(f"ada+week0+{WHEN}+x1")
    exchange(f"bob+week0+{WHEN}+x3")
    owned(monkeypatch, {"x1": "jovyan", "x3": "jovyan"})
    assert set(collected(folder)) == {"ada", "bob"}


@pytest.mark.parametrize(("due", "told"), [("2027-06-01", 0), ("2026-06-01", 0), ("2026-08-01", 1)])
def test_a_time_that_the_folder_contradicts_is_told(folder, exchange, monkeypatch, caplog, due, told):
    """A student chooses the name of the folder; the file system knows when it was changed."""
    exchange("ada+week0+2026-07-01 10:00:00.000000 UTC+x1")
    collect = collector(folder, "theirs")
    collect.coursedir.assignment_id = "week0"
    collect.init_src()
    collect.duedate = parse_utc(due)
    for record in collect.src_records:
        collect._doubt_the_time(record)
    assert caplog.text.count("which whoever hands in can choose") == told


def test_worked_on_beats_untouched(taken, submission, course):
    """Work under another name is taken, not the untouched download that has the right name."""
    (submission / "my work.ipynb").write_text(notebook(course, text=ARITHMETIC))
    (submission / "00_numbers.ipynb").write_text(notebook(course))
    said, text = taken()
    assert text == ARITHMETIC
    assert any("my work.ipynb" in sentence for sentence in said)
    assert any("left out" in sentence and "00_numbers.ipynb" in sentence for sentence in said)


def test_work_with_a_deleted_cell_beats_untouched(root, submission, tmp_path):
    """A solved notebook from which one solution cell was deleted is taken, not the whole download beside it."""
    course = load_course(root / "course", tree=False)
    untouched = find_master(course, "00_fundamentals")
    solved = find_master(course, "00_fundamentals")
    places = [slot.index for slot in slots_of(solved)]
    for index in places:
        solved.cells[index].source += "\n# worked on"
    del solved.cells[places[2]]
    (submission / "00_fundamentals.ipynb").write_text(json.dumps(solved))
    (submission / "00_fundamentals (1).ipynb").write_text(json.dumps(untouched))
    take_in(course, "module0", submission, tmp_path / "out", tmp_path / "originals", WHEN)
    text = (tmp_path / "out" / "00_fundamentals.ipynb").read_text()
    assert text.count("# worked on") == len(places) - 1


def test_names_that_steer_a_terminal(taken, submission, course):
    """A file's name reaches notes and log without its control characters."""
    (submission / "a\x1b[2J\x07b.ipynb").write_text(notebook(course, text=ARITHMETIC))
    (submission / "00_numbers\u202e.ipynb").symlink_to(submission / "nowhere")
    said, _ = taken()
    assert all(sentence.isprintable() for sentence in said)
    assert any("[2J" in sentence for sentence in said)


def test_the_time_of_collection_wins(taken, submission, tmp_path):
    """A student who writes an earlier time into timestamp.txt is as late as the exchange says."""
    (submission / "timestamp.txt").write_text("2020-01-01 10:00:00 UTC")
    taken()
    assert (tmp_path / "out" / "timestamp.txt").read_text() == WHEN


def test_a_file_of_more_bytes_than_there_is_memory(folder, course, tmp_path):
    """Whether a tree is clean is told without reading a file of any size."""
    with (tmp_path / "00_numbers.ipynb").open("wb") as file:
        file.truncate(2**42)
    assert not is_clean(tmp_path, folder / "originals" / "nobody" / "week0")


def test_the_originals_are_bounded(taken, submission, course, tmp_path, monkeypatch):
    """Files beyond the limit on originals are not kept, and the log says which."""
    monkeypatch.setattr("autograder.grafting.collecting.MAX_KEPT", 100_000)
    (submission / "00_numbers.ipynb").write_text(notebook(course, text=ARITHMETIC))
    for number in range(4):
        with (submission / f"z{number}.bin").open("wb") as file:
            file.truncate(40_000)
    said, text = taken()
    assert text == ARITHMETIC
    kept = [path for path in (tmp_path / "originals").rglob("*") if path.is_file() and path.name != "record.json"]
    assert 0 < sum(path.stat().st_size for path in kept) <= 100_000
    assert {"00_numbers.ipynb", "z0.bin"} <= {path.name for path in kept}
    assert any("z3.bin" in sentence and "not kept" in sentence for sentence in said)


def test_originals_of_a_second_collection(taken, submission, course, tmp_path):
    """The same content is kept once, another content beside it; nothing half written is left."""
    (submission / "00_numbers.ipynb").write_text(notebook(course, text=ARITHMETIC))
    for number in (1, 1, 2):
        (submission / "more.txt").write_text(f"{number}")
        taken()
        shutil.rmtree(tmp_path / "out")
    folders = [path.name for path in (tmp_path / "originals").iterdir() if path.is_dir()]
    assert len(folders) == 2 and not any(name.startswith(".") for name in folders)


def test_the_folder_of_a_zip_that_was_packed_as_told_is_not_worth_a_word(taken, submission, course):
    """`minigrad submit` packs ASSIGNMENT.zip, which nbgrader unpacks to a folder of that name; another one is told."""
    (submission / "week0").mkdir()
    (submission / "week0" / "00_numbers.ipynb").write_text(notebook(course, text=ARITHMETIC))
    said, text = taken()
    assert text == ARITHMETIC and not any("00_numbers: the notebook was handed in as" in each for each in said)
    (submission / "week0").rename(submission / "mine")
    shutil.rmtree(submission.parent / "out")
    said, text = taken()
    assert text == ARITHMETIC and any("handed in as 'mine/00_numbers.ipynb'" in each for each in said)


def test_what_was_taken_in_is_on_the_disk_before_it_has_a_name(taken, submission, course, tmp_path, monkeypatch):
    """A crash of the machine leaves no empty file where a submission was: each is flushed while it lies aside."""
    (submission / "00_numbers.ipynb").write_text(notebook(course, text=ARITHMETIC))
    (submission / "more.txt").write_text("more")
    flushes = Flushes(monkeypatch)
    taken()
    names = {path.name for path in tmp_path.rglob("*")}
    assert {"00_numbers.ipynb", "more.txt", "record.json"} <= names
    assert flushes.late(tmp_path / "out", tmp_path / "originals") == []


def archive(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in files.items():
            zipped.writestr(name, content)
    return data.getvalue()


def test_an_archive_that_unpacks_without_end(taken, submission, course):
    """What an archive claims and holds is read up to a limit; the notebook before it counts."""
    bomb = archive({"00_numbers.ipynb": notebook(course, text=ARITHMETIC), "zeros.ipynb": b" " * 60_000_000})
    assert len(bomb) < 100_000
    (submission / "work.zip").write_bytes(bomb)
    assert taken()[1] == ARITHMETIC


@pytest.mark.parametrize("damage", [lambda data: data[:200], lambda data: data[:60] + b"xxxx" + data[64:]])
def test_an_archive_that_cannot_be_read(taken, submission, course, damage):
    """A damaged archive is named where no notebook was handed in."""
    (submission / "work.zip").write_bytes(damage(archive({"00_numbers.ipynb": notebook(course, text=ARITHMETIC)})))
    said, _ = taken()
    assert any("no notebook 00_numbers.ipynb" in sentence and "work.zip" in sentence for sentence in said)


def test_archives_of_what_nobody_reads(taken, submission):
    """A file of another kind is not unpacked, in whatever number of archives it stands."""
    bomb = archive({"x.bin": bytes(20_000_000)})
    for number in range(60):
        (submission / f"{number}.zip").write_bytes(bomb)
    begun = time.process_time()
    taken()
    assert time.process_time() - begun < 2.0


def test_an_archive_of_ten_thousand_files(taken, submission):
    """It is refused before its list is read."""
    (submission / "work.zip").write_bytes(archive({f"{number}.py": "" for number in range(exports.MAX_LISTED + 1)}))
    assert taken()
    (found,) = HandedIn([submission / "work.zip"], submission, ["00_numbers"])._read(submission / "work.zip")
    assert found.reason == "the archive has more than 10,000 files"


@pytest.mark.full("a class with a strange submission is collected", share=12)
def test_files_that_take_long_to_read_together(submission, monkeypatch):
    """Files that remain when the time for a submission is used up are not read, and the sentence says so."""
    monkeypatch.setattr(handed_in, "EFFORT", 0.3)
    for number in range(20):
        (submission / f"{number}.py").write_text("a;" * 50_000 + "\n# exercise: operators.add\nx = 1")
    files = sorted(submission.iterdir())
    read = [each for path in files for each in HandedIn(files[:0], submission, [])._read(path)]
    assert all(each.notebook is not None for each in read)  # each of them by itself
    together = HandedIn(files, submission, [])
    found = [each for path in files for each in together._read(path)]
    assert found[0].notebook is not None
    assert "of processor time to read" in found[-1].reason


def test_paths_in_an_archive_lead_nowhere(taken, submission, course, tmp_path):
    """Names that point outside are names: nothing of an archive is written but the originals' copy of it."""
    (submission / "work.zip").write_bytes(
        archive({"../../led-outside/00_numbers.ipynb": notebook(course, text=ARITHMETIC)})
    )
    assert taken()[1] == ARITHMETIC
    assert not list(tmp_path.parent.rglob("led-outside"))


def test_a_page_that_is_no_notebook(taken, submission, course):
    """A page to log in beside an untouched notebook changes nothing."""
    (submission / "00_numbers.html").write_text("<!DOCTYPE html><div class='highlight'><pre>def add(x): 1</pre></div>")
    (submission / "00_numbers.ipynb").write_text(notebook(course))
    said, text = taken()
    assert not any(sentence.startswith("00_numbers") for sentence in said)
    assert "NotImplementedError" in text


def test_an_export_does_not_replace_work(taken, submission, course):
    """A script beside a notebook that was worked on is not looked at."""
    (submission / "00_numbers.ipynb").write_text(notebook(course, text=ARITHMETIC))
    (submission / "00_numbers.py").write_text(ARITHMETIC.replace("x + y", "0.0"))
    assert taken()[1] == ARITHMETIC


def test_a_notebook_in_a_subfolder(taken, submission, course):
    """A notebook in a folder within the submission is found, and the report says where it stood."""
    (submission / "final").mkdir()
    (submission / "final" / "00_numbers.ipynb").write_text(notebook(course, text=ARITHMETIC))
    said, text = taken()
    assert text == ARITHMETIC
    assert any(str(Path("final", "00_numbers.ipynb")) in sentence for sentence in said)
