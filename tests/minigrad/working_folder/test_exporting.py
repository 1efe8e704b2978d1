"""`minigrad export`: a package of one's own, whose tests are the visible checks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from notebooks_by_hand import load, save

from minigrad.errors import MinigradError
from minigrad.exercises import exercise_of
from minigrad.working_folder import exporting, starting

ARITHMETIC, FOLDS = "operators.arithmetic", "operators.folds"
ADD = "def add(x, y):\n    return x + y\n\n\ndef mul(x, y):\n    return x * y\n\n\ndef neg(x):\n    return -1.0 * x"
SUM = (
    "def addLists(a, b):\n    return zipWith(lambda x, y: x + y)(a, b)\n\n\ndef negList(a):\n    return [-x for x in a]"
    "\n\n\ndef sum(a):\n    return reduce(lambda x, y: x + y, 0.0)(a)\n\n\n"
    "def prod(a):\n    return reduce(lambda x, y: x * y, 1.0)(a)"
)


@pytest.fixture
def work(tmp_path):
    """A folder with all lessons, as they are given out."""
    starting.start(tmp_path / "work")
    return tmp_path / "work"


def answer(work, id, text, lesson="00_fundamentals"):
    """Type an answer into its cell."""
    path = work / f"{lesson}.ipynb"
    content = load(path)
    (cell,) = [each for each in content["cells"] if exercise_of("".join(each["source"])) == id]
    cell["source"] = f"# exercise: {id}\n{text}"
    save(path, content)


def what_pytest_says(folder):
    """What pytest says in a folder, and its exit status."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, env={**os.environ})
    return done.stdout + done.stderr, done.returncode


def test_right_answers_pass_and_a_wrong_one_fails(work, tmp_path):
    """pytest in the new folder runs the visible checks of what is written, and the library's parts stand in."""
    answer(work, ARITHMETIC, ADD)
    answer(work, FOLDS, SUM)  # on top of `reduce`, which is not written
    made = exporting.export(work, tmp_path / "mine")
    assert made.exercises == (ARITHMETIC, FOLDS) and made.left_out == ()
    said, status = what_pytest_says(tmp_path / "mine")
    assert status == 0 and "2 passed" in said, said
    answer(work, ARITHMETIC, ADD.replace("x * y", "x + y"))
    exporting.export(work, tmp_path / "wrong")
    said, status = what_pytest_says(tmp_path / "wrong")
    assert status == 1 and "1 failed, 1 passed" in said, said
    assert "test_answer[operators.arithmetic]" in said and "mul(" in said


def test_the_package_lets_minigrad_compute_with_the_answers(work, tmp_path):
    """`install` puts the functions into the library."""
    answer(work, ARITHMETIC, ADD)
    exporting.export(work, tmp_path / "mine")
    program = (
        "import my_minigrad, minigrad.operators as o\nbefore = o.mul\nmy_minigrad.install()\n"
        "print(o.mul is not before, o.mul.__module__, o.mul(2.0, 4.0))"
    )
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "mine" / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=variables, timeout=60)
    assert done.stdout == "True my_minigrad.lesson_00_fundamentals 8.0\n", done.stderr


def test_a_cell_that_python_cannot_read_is_left_out(work, tmp_path):
    """One sentence names it; the others are exported."""
    answer(work, ARITHMETIC, ADD)
    answer(work, FOLDS, "def sum(:")
    made = exporting.export(work, tmp_path / "mine")
    assert made.exercises == (ARITHMETIC,)
    (said,) = made.left_out
    assert FOLDS in said and "Python cannot read it" in said
    assert "def sum(:" not in (tmp_path / "mine" / "src" / "my_minigrad" / "lesson_00_fundamentals.py").read_text()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_there_is_refused_and_stays(kind, work, tmp_path):
    """A file, or a folder with anything in it: one sentence, and nothing is changed or left beside."""
    answer(work, ARITHMETIC, ADD)
    target = tmp_path / "mine"
    note = target if kind == "file" else target / "note"
    note.parent.mkdir(exist_ok=True)
    note.write_text("mine")
    with pytest.raises(MinigradError, match=r"mine is there already; name a folder that is not there yet, or empty"):
        exporting.export(work, target)
    assert note.read_text() == "mine"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine", "work"]


def test_an_empty_folder_is_taken(work, tmp_path):
    """Also one whose parents are not there yet."""
    answer(work, ARITHMETIC, ADD)
    (tmp_path / "mine").mkdir()
    exporting.export(work, tmp_path / "mine")
    exporting.export(work, tmp_path / "a" / "b")
    for path in (tmp_path / "mine", tmp_path / "a" / "b"):
        assert sorted(each.name for each in path.iterdir()) == ["README.md", "pyproject.toml", "src", "tests"]


def test_the_place_is_told_as_it_is(work, tmp_path, monkeypatch):
    """A path with dots or a link in it is told without them."""
    answer(work, ARITHMETIC, ADD)
    monkeypatch.chdir(work)
    assert exporting.export(work, Path("../mine")).path == tmp_path / "mine"
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    assert exporting.export(work, Path("../link")).path == tmp_path / "empty"
    assert (tmp_path / "link" / "pyproject.toml").is_file()


def test_an_export_that_breaks_leaves_nothing(work, tmp_path, monkeypatch):
    """The folder is whole or not there."""
    answer(work, ARITHMETIC, ADD)

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting.os, "rename", broken)
    with pytest.raises(OSError, match="No space"):
        exporting.export(work, tmp_path / "mine")
    assert [each.name for each in tmp_path.iterdir()] == ["work"]


def test_nothing_written_is_said(work, tmp_path):
    """Stubs are no answers."""
    with pytest.raises(MinigradError, match="export: nothing is written yet in the lessons of"):
        exporting.export(work, tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_the_command(work, tmp_path):
    """It names the folder and what is in it; a mistake is a sentence and exit code 2."""
    answer(work, ARITHMETIC, ADD)
    command = [sys.executable, "-m", "minigrad", "export", "../mine"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "mine: your answers to 1 exercise." in done.stdout, done.stderr
    again = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=60)
    assert again.returncode == 2 and again.stderr.startswith("minigrad: export: ") and again.stdout == ""
