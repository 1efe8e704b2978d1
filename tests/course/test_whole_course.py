"""A whole course: the lessons solved one after the other, each on top of the student's own work in the ones before.

It is done in the edition of a class from which every answer is cut: there nothing but the student's code can compute.
At the end a network learns to read digits with it.
"""

import datetime as dt
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from executing import execute
from places import ROOT
from solving import HURRIED, cells, solved

from autograder.building.editions import class_edition
from autograder.course.loading import load_course

pytestmark = pytest.mark.full("all lessons on top of each other, three times")

LEFT_OUT = ("mlp.SGD", "tensor_ops.tensor_reduce", "fast_ops._tensor_matrix_multiply")
"""Three that a student may leave out and still see a network learn: nothing needs them, or something slower serves."""

USE = "import minigrad\nminigrad.use(verbose=True)"


TRAINING = """
import minigrad
from minigrad import data, nn, optim

minigrad.manual_seed(11)
network = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2),
    nn.Flatten(), nn.Dropout(0.1), nn.Linear(64, 10),
)
optimizer = optim.Adam(network.parameters(), lr=0.03)
for images, classes in data.DataLoader(data.digits(train=True), batch_size=32, shuffle=True):
    optimizer.zero_grad()
    nn.CrossEntropyLoss()(network(images), classes).backward()
    optimizer.step()
network.eval()
images, classes = data.digits(train=False).tensors
print("read", (network(images).argmax(1) == classes).sum().item() / len(classes))
"""


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Compile the students' kernels for one thread, which takes a quarter of the time."""
    monkeypatch.setenv("MINIGRAD_PARALLEL", "0")


@pytest.fixture(scope="module")
def course():
    """The course, as it is built."""
    return load_course(ROOT / "course")


@pytest.fixture(scope="module")
def edition(course, tmp_path_factory):
    """The library of a class, without any answer."""
    return class_edition(tmp_path_factory.mktemp("edition"), course, dt.date(2026, 1, 1))


def solve(course, edition, folder, left_out):
    """Solve lesson after lesson in notebooks that lie side by side; yield each with what came of it.

    In each, `use` comes first, as lesson 02 tells those to whom their library says that an exercise is not written.
    """
    for lesson in course.lessons:
        shutil.copy(course.notebooks / f"{lesson}.ipynb", folder)
    for lesson in course.lessons:
        notebook = solved(course, lesson, left_out)
        text = nbformat.writes(notebook)
        last = lesson == list(course.lessons)[-1]
        notebook.cells = [*cells(HURRIED, USE), *notebook.cells, *cells(USE, *[TRAINING] * last)]
        run = execute(notebook, folder, edition)
        (folder / f"{lesson}.ipynb").write_text(text, encoding="utf-8")
        yield lesson, notebook, run


def _lacks(id, report, left_out):
    """Whether an exercise is left out, or its checks say that one that is left out is not written."""
    return id in left_out or any(f"{each} is not written yet" in report for each in left_out)


def said(notebook, source):
    """What the last cell of that text printed."""
    cell = [cell for cell in notebook.cells if cell.source == source][-1]
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def states(notebook):
    """What the last `use` said of each exercise."""
    return dict(line.split(maxsplit=1) for line in said(notebook, USE).splitlines())


def share_read(notebook):
    """The share of the digits kept aside that the network reads after one pass; guessing reads a tenth."""
    return float(said(notebook, TRAINING).split()[-1])


@pytest.mark.full("all lessons on top of each other", minutes=12)
@pytest.mark.parametrize("left_out", [(), LEFT_OUT], ids=["everything", "but three"])
def test_lessons_solved_in_order(course, edition, tmp_path, left_out):
    """No cell fails, checks and `use` find each answer that is there, and in the end a network learns with them."""
    done, folder = [], tmp_path / "notebooks"  # whose neighbours hold no lessons
    folder.mkdir()
    for lesson, notebook, run in solve(course, edition, folder, left_out):
        assert (lesson, run.errors, run.stderr) == (lesson, (), "")
        assert left_out or run.waiting == ()
        exercises = [each.id for each in course.of_lesson(lesson)]
        done += [id for id in exercises if id not in left_out]
        found = states(notebook)
        assert {id: state.split(",")[0] for id, state in found.items()} == {
            id: "yours" if id in done else "missing" for id in course.exercises
        }
        assert all(found[id] in ("yours, from this notebook", "missing") for id in exercises)
        assert list(run.checks) == exercises
        failing = {id: report for id, report in run.checks.items() if not re.search(r"all \d+ checks pass", report)}
        assert [id for id, report in failing.items() if not _lacks(id, report, left_out)] == []
    assert share_read(notebook) > 0.7


def test_three_left_out_of_the_full_library(course, tmp_path):
    """The library's own functions stand in for what is left out, and a network learns with them and the others."""
    folder = tmp_path / "notebooks"  # whose neighbours hold no lessons
    folder.mkdir()
    for lesson in course.lessons:
        nbformat.write(solved(course, lesson, LEFT_OUT), folder / f"{lesson}.ipynb")
    notebook = nbformat.v4.new_notebook(cells=cells(USE, TRAINING))
    run = execute(notebook, folder)
    assert (run.errors, run.stderr) == ((), "")
    assert states(notebook) == {
        each.id: "reference" if each.id in LEFT_OUT else f"yours, from {each.lesson}.ipynb"
        for each in course.exercises.values()
    }
    assert share_read(notebook) > 0.7


def test_only_what_is_left_out_is_missing(course, edition, tmp_path):
    """With all answers but one, whatever the library can do works, or says that this one is not written: no other."""
    for lesson in course.lessons:
        nbformat.write(solved(course, lesson), tmp_path / f"{lesson}.ipynb")
    program = [sys.executable, str(Path(__file__).with_name("every_part.py")), str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(edition), "NUMBA_ENABLE_CUDASIM": "1"}
    ended = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    said = json.loads(ended.stdout)
    assert list(said) == ["", *course.exercises]
    others = {id: {part: name for part, name in parts.items() if name != id} for id, parts in said.items()}
    assert others == {id: {} for id in said}
    assert said["autodiff.backpropagate"]["gradcheck"] == "autodiff.backpropagate"
