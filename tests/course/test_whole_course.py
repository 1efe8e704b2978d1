"""A whole course: the lessons solved one after the other, each on top of the student's own work in the ones before.

It is done in the full library and in the edition of a class from which every answer is cut: there nothing but the
student's code can compute. At the end a network learns to read digits with it.
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
from executing import ROOT, execute

from autograder import build as building
from autograder.course import load_course
from autograder.editions import class_edition
from autograder.slicing import slice_exercise

LEFT_OUT = ("derivatives.gradient", "tensor_ops.tensor_reduce", "fast_ops._tensor_matrix_multiply")
"""Three that a student may leave out and still see a network learn: nothing needs them, or something slower serves."""

RELEASED = [
    name for each in load_course(ROOT / "course").assignments.values() if not each.draft for name in each.lessons
]

USE = "import minigrad\nminigrad.use()"

TRAINING = """
import minigrad
from minigrad import data, nn, optim

minigrad.manual_seed(0)
network = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2),
    nn.Flatten(), nn.Dropout(0.1), nn.Linear(64, 10),
)
optimizer = optim.Adam(network.parameters(), lr=0.01)
for images, classes in data.DataLoader(data.digits(train=True), batch_size=32, shuffle=True):
    optimizer.zero_grad()
    nn.CrossEntropyLoss()(network(images), classes).backward()
    optimizer.step()
network.eval()
images, classes = data.digits(train=False).tensors
print("read", (network(images).argmax(1) == classes).sum().item() / len(classes))
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy of the course in which every lesson is released, built."""
    copy = tmp_path_factory.mktemp("course")
    for part in ("course/lessons", "course/hints", "src/minigrad"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    text = (ROOT / "course" / "course.toml").read_text(encoding="utf-8")
    released = "\n".join(line for line in text.split("\n") if line != "draft = true")
    (copy / "course" / "course.toml").write_text(released, encoding="utf-8")
    building.build(copy / "course")
    return load_course(copy / "course")


@pytest.fixture(scope="module")
def edition(course, tmp_path_factory):
    """The library of a class, without any answer."""
    return class_edition(tmp_path_factory.mktemp("edition"), course, dt.date(2026, 1, 1))


def solved(course, lesson, left_out=()):
    """Return a lesson's notebook with the right answers typed in."""
    notebook = nbformat.read(course.notebooks / f"{lesson}.ipynb", as_version=4)
    for cell in notebook.cells:
        placed = re.match(r"# exercise: (\S+)\n", cell.source)
        if placed and placed[1] not in left_out:
            cell.source = slice_exercise(course, placed[1]).reference_cell
    return notebook


def solve(course, library, folder, left_out, *, in_class):
    """Solve lesson after lesson in notebooks that lie side by side; yield each with what came of it.

    Args:
        course: The course.
        library: The directory with the library.
        folder: For the notebooks.
        left_out: Exercises whose cells keep the stub.
        in_class: Whether `use` comes first, as lesson 02 tells those to whom their library says that an exercise is
            not written. Everything is run then. In the full library the lessons are tested one by one elsewhere;
            here it is the answers, and what `use` makes of them.
    """
    for lesson in RELEASED:
        shutil.copy(course.notebooks / f"{lesson}.ipynb", folder)
    for lesson in RELEASED:
        notebook = solved(course, lesson, left_out)
        text = nbformat.writes(notebook)
        if in_class:
            notebook.cells.insert(0, nbformat.v4.new_code_cell(USE))
        else:
            notebook.cells = [cell for cell in notebook.cells if _is_answer(cell)]
        notebook.cells.append(nbformat.v4.new_code_cell(USE))
        if "# exercise: nn.functional.dropout" in text:
            notebook.cells.append(nbformat.v4.new_code_cell(TRAINING))
        run = execute(notebook, folder, library)
        (folder / f"{lesson}.ipynb").write_text(text, encoding="utf-8")
        yield lesson, notebook, run


def _is_answer(cell):
    return "nbgrader" in cell.metadata or "setup" in cell.metadata.get("tags", []) or "minigrad.use()" in cell.source


def said(cell):
    """What a cell printed."""
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


@pytest.mark.parametrize("left_out", [(), LEFT_OUT], ids=["everything", "but three"])
@pytest.mark.parametrize("in_class", [False, True], ids=["full library", "class"])
def test_lessons_solved_in_order(course, edition, tmp_path, left_out, in_class):
    """No cell fails, `use` takes each answer that is there, and in the end a network learns with them."""
    library = edition if in_class else course.source.parent
    done, printed = [], []
    for lesson, notebook, run in solve(course, library, tmp_path, left_out, in_class=in_class):
        assert (lesson, run.errors, run.stderr) == (lesson, (), "")
        own = {each.id for each in course.of_lesson(lesson)} - set(left_out)
        done += own
        printed = [said(cell) for cell in notebook.cells if cell.source in (USE, TRAINING)]
        table = dict(line.split(maxsplit=1) for line in printed[in_class].splitlines())
        lacking = "missing" if in_class else "reference"
        assert {id: state.split(",")[0] for id, state in table.items()} == {
            id: "yours" if id in done else lacking for id in course.exercises
        }
        assert own <= {id for id, state in table.items() if state == "yours, from this notebook"}
        failing = [id for id, report in run.checks.items() if not re.search(r"all \d+ checks pass", report)]
        assert left_out or not failing
    if "nn.functional.dropout" in done:
        assert float(printed[-1].split()[-1]) > 0.7  # one pass; guessing reads a tenth


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
