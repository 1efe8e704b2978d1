"""The demo's class: invented students, and the files that each of them hands in.

Everyone starts from the notebooks as they were released. Each later mishap, in a head, in an editor or on purpose, is
one function.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import nbformat

from autograder.building.notebooks import dump
from autograder.course import Course
from autograder.proof.demo.typing_in import answers, fill, read_answers

Released = Mapping[str, nbformat.NotebookNode]
"""Released notebooks by lesson."""

Files = dict[str, bytes]
"""Files that are handed in, by name."""

FUNDAMENTALS, DERIVATIVES, CHAIN_RULE, BACKPROP = (
    "00_fundamentals",
    "01_numerical_derivatives",
    "02_chain_rule",
    "03_backprop",
)
LESSONS = (FUNDAMENTALS, DERIVATIVES, CHAIN_RULE, BACKPROP)
"""The first two assignments, which the class works on."""


@dataclass(frozen=True)
class Student:
    """A student of the demo.

    Attributes:
        name: nbgrader's student id.
        story: The mishap, in a few words.
        hand_in: Makes the files from the released notebooks.
    """

    name: str
    story: str
    hand_in: Callable[[Course, Released], Files]


def _answered(released: Released, given: Mapping[str, str]) -> dict[str, nbformat.NotebookNode]:
    """The released notebooks with answers typed in."""
    notebooks = {lesson: copy.deepcopy(notebook) for lesson, notebook in released.items()}
    for notebook in notebooks.values():
        fill(notebook, given)
    return notebooks


def _files(notebooks: Mapping[str, nbformat.NotebookNode]) -> Files:
    return {f"{lesson}.ipynb": dump(notebook).encode() for lesson, notebook in notebooks.items()}


def _with(*names: str) -> Callable[[Course, Released], Files]:
    """Hand in the reference answers, with those of some files in their place."""
    return lambda course, released: _files(_answered(released, answers(course, *names)))


def _attack(course: Course, released: Released) -> Files:
    """Nothing but attacks, and files that a careless grader would read or run."""
    files = _files(_answered(released, read_answers(course, "attacks")))
    files["ipykernel_launcher.py"] = b"raise SystemExit('run in the place of the kernel')\n"
    files["conftest.py"] = b"import os\nos._exit(0)\n"
    return files


def _cell(notebook: nbformat.NotebookNode, exercise: str) -> nbformat.NotebookNode:
    """The solution cell of an exercise."""
    cells: list[nbformat.NotebookNode] = notebook.cells
    return next(cell for cell in cells if cell.source.startswith(f"# exercise: {exercise}\n"))


def _index(notebook: nbformat.NotebookNode, check: str) -> int:
    """The place of the graded cell of an exercise."""
    return next(i for i, cell in enumerate(notebook.cells) if cell.source == f'check("{check}")')


def _unparsable(course: Course, released: Released) -> Files:
    """A bracket is missing in one cell."""
    notebooks = _answered(released, answers(course))
    cell = _cell(notebooks[BACKPROP], "autodiff.topological_sort")
    cell.source = cell.source.replace("(variable: Variable)", "(variable: Variable", 1)
    return _files(notebooks)


def _endless(course: Course, released: Released) -> Files:
    """An experiment above one answer counts past its goal: 0.1 + 0.1 + 0.1 is not 0.3."""
    notebooks = _answered(released, answers(course))
    cell = _cell(notebooks[DERIVATIVES], "derivatives.gradient")
    head, _, rest = cell.source.partition("\n")
    cell.source = f"{head}\nstep = 0.0\nwhile step != 0.3:\n    step += 0.1\n\n\n{rest}"
    return _files(notebooks)


def _mangled_files(course: Course, released: Released) -> Files:
    """Four notebooks, each damaged in its own way by an editor, an old program or a hurry."""
    notebooks = _answered(released, answers(course))
    _mangle_graded_cells(notebooks[CHAIN_RULE])
    files = _files(notebooks)
    files[f"{FUNDAMENTALS}.ipynb"] = b"<!DOCTYPE html>\n<html><body>Log in to download this file.</body></html>\n"
    files[f"{DERIVATIVES}.ipynb"] = in_format_3(notebooks[DERIVATIVES])
    files[f"{BACKPROP} (final, really).ipynb"] = files.pop(f"{BACKPROP}.ipynb")
    return files


def _mangle_graded_cells(notebook: nbformat.NotebookNode) -> None:
    """Delete one graded cell, copy another and edit a third; and lose the metadata of a solution cell."""
    del notebook.cells[_index(notebook, "operators.backs")]
    place = _index(notebook, "functions.arithmetic")
    twin = copy.deepcopy(notebook.cells[place])
    twin.id = "copy-of-it"
    notebook.cells.insert(place, twin)
    notebook.cells[_index(notebook, "functions.elementary")].source = "8.0  # points"
    _cell(notebook, "autodiff.chain_rule").metadata.pop("nbgrader", None)


def in_format_3(notebook: nbformat.NotebookNode) -> bytes:
    """The notebook as a program of the year 2014 saves it."""
    return json.dumps(nbformat.convert(copy.deepcopy(notebook), 3), indent=1).encode()


def _misbehaving_cells(course: Course, released: Released) -> Files:
    """Right answers, and in each notebook an added cell that does what a cell should not."""
    notebooks = _answered(released, answers(course))
    for lesson, source in MISBEHAVIOUR.items():
        cells = notebooks[lesson].cells
        first = next(i for i, cell in enumerate(cells) if cell.metadata.get("nbgrader", {}).get("grade"))
        cells.insert(first + 1, nbformat.v4.new_code_cell(source))
    return _files(notebooks)


MISBEHAVIOUR = {
    FUNDAMENTALS: "# exercise: operators.cube_root\ndef cube_root(x):\n    return x ** (1 / 3)",
    DERIVATIVES: 'data = [1.0, 2.0]\nprint("the third is", data[2])',
    CHAIN_RULE: 'print("loss " * 20_000_000)  # 100 MB',
    BACKPROP: "import os\n\nos._exit(0)",
}

CLASS = (
    Student("ada", "answers everything as the library does", _with()),
    Student("mei", "writes as in a MiniTorch course", _with("minitorch_style")),
    Student("tom", "makes typical mistakes", _with("typical_mistakes")),
    Student("noor", "forgets a bracket in one cell", _unparsable),
    Student("emil", "hands in the notebooks untouched", lambda course, released: _files(released)),
    Student("lena", "has a loop without end in one cell", _endless),
    Student("mallory", "looks for the hidden tests and attacks the grader", _attack),
    Student("oscar", "hands in damaged files", _mangled_files),
    Student("rita", "has a cell in each notebook that misbehaves", _misbehaving_cells),
)
