"""Answers from elsewhere are found by their names, compared with the class, and exported with it."""

import dataclasses
import hashlib
import json
import random
import shutil

import pytest
from invented_class import entry, graded
from small_course import SmallCourse
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course import CourseError
from autograder.results.ledger import write_entry
from autograder.telling.classreport.gather import gather
from autograder.telling.classreport.page import class_page
from autograder.telling.outside import read_outside


def clamp(seed):
    """An answer that nobody else would write."""
    rng = random.Random(seed)
    functions = ["abs", "float", "round"]
    lines = [
        f"    v{n} = v{rng.randrange(n)} {rng.choice('+-*/')} {rng.choice(functions)}(v{rng.randrange(n)})"
        for n in range(1, 9)
    ]
    return "\n".join(["def clamp(v0):", *lines, "    return v8"])


def notebook(*cells):
    """The text of a notebook of some code cells."""
    made = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": each} for each in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


@pytest.fixture
def small(tmp_path):
    """A course with six graded answers, the last of them a copy of one from the web."""
    made = SmallCourse(tmp_path)
    for number, student in enumerate(["ada", "bob", "cy", "dot", "eve", "fay"]):
        text = clamp("web" if student == "fay" else number)
        cell = {"metadata": {"minigrad": {"kind": "solution", "exercise": "numbers.clamp", "state": "answered"}}}
        data = json.dumps({"cells": [{**cell, "source": text}]}).encode()
        path = tmp_path / "course" / "submitted" / student / "week0" / "00_numbers.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        row = entry(student, "00_numbers", (graded("numbers.clamp", 1.0),), "week0")
        write_entry(tmp_path / "course", dataclasses.replace(row, sha256=hashlib.sha256(data).hexdigest()))
    return made


def test_answers_are_found_by_their_names(small, tmp_path):
    """In a notebook without marks, beside a cell that is no Python, in a Python file, the last of a name."""
    web = tmp_path / "web"
    web.mkdir()
    (web / "lab.ipynb").write_text(notebook("%%html\n<b>", f"{clamp(1)}\n\nclamp(3)", "def broken("))
    (web / "numbers.py").write_text(
        f"import math\n\n\n{clamp(1)}\n\n\n{clamp(2)}\n\n\ndef other(x):\n    return clamp(x)\n"
    )
    (web / "bad.ipynb").write_text("no notebook")
    (web / "old.py").write_text("print 'of another Python'\n")
    (web / "notes.txt").write_text(clamp(3))
    found = read_outside(small.load(), [web, web / "numbers.py"])
    assert found.answers == {
        "numbers.clamp": {"web/lab.ipynb": clamp(1), "web/numbers.py": clamp(2), "web (2)/numbers.py": clamp(2)}
    }
    assert [each.partition(":")[0] for each in found.unread] == ["web/bad.ipynb", "web/old.py"]
    assert found.unread[1] == "web/old.py: is not Python, or is longer than 250,000 characters"
    with pytest.raises(CourseError, match=r"nowhere: cannot be looked into \(No such file or directory\)"):
        read_outside(small.load(), [tmp_path / "nowhere"])


def test_the_page_shows_both_texts(small, tmp_path):
    """The copied answer stands beside the place that it is like; without folders the page says how to name some."""
    web = tmp_path / "web"
    web.mkdir()
    (web / "<b>.py").write_text(clamp("web").replace("v1", "first"))
    course = small.load()
    page = class_page(gather(course, folders=[web]))
    assert "<strong>fay and web/&lt;b&gt;.py</strong>: numbers.clamp" in page
    assert page.count("<details>") == 1
    assert "Compared with nothing" in class_page(gather(course))


def test_jplag_gets_its_folders(small, tmp_path):
    """New and old answers and what the task gives out; a folder that is there is not touched."""
    old = tmp_path / "old"
    (old / ("deep" * 60) / "ada").mkdir(parents=True)
    (old / ("deep" * 60) / "ada" / "x.py").write_text(clamp(5))
    command = ["report", "week0", "--course", str(tmp_path / "course"), "--with", str(old), "--jplag"]
    result = CliRunner().invoke(app, [*command, str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    made = {str(path.relative_to(tmp_path / "out")): path.read_text() for path in files}
    assert made["new/fay/numbers.clamp.py"] == clamp("web")
    assert "raise NotImplementedError()" in made["base/numbers.clamp.py"]
    (earlier,) = (name for name in made if name.startswith("old/"))
    assert earlier.startswith("old/00000-") and made[earlier] == clamp(5)
    assert len(made) == 6 + 1 + 1
    again = CliRunner().invoke(app, [*command, str(tmp_path / "out")])
    assert again.exit_code == 2 and "is there already" in again.output
    shutil.rmtree(tmp_path / "out")
    nowhere = CliRunner().invoke(app, [*command, str(tmp_path / "none" / "out")])
    assert nowhere.exit_code == 2 and "cannot be written (No such file or directory)" in nowhere.output
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".out")]


@pytest.mark.parametrize("more", [["--csv", "canvas"], ["--out", "x.html"]])
def test_one_thing_is_written_at_a_time(small, tmp_path, more):
    """Options that contradict each other are refused before anything is read."""
    result = CliRunner().invoke(app, ["report", "--jplag", "x", *more, "--course", str(tmp_path / "course")])
    assert result.exit_code == 2
    assert "leave out --csv and --out" in result.output
