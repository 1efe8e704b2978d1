"""The form of a hostile submission, and its making from the released notebooks."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import dedent

import nbformat

Node = nbformat.NotebookNode

Released = Mapping[str, Node]
"""Released notebooks by lesson."""


@dataclass(frozen=True)
class Link:
    """A symbolic link that is handed in."""

    target: str


Files = dict[str, bytes | Link]
"""Files that are handed in, by name."""

LESSON, ARITHMETIC = "00_fundamentals", "operators.arithmetic"
WRONG = "def add(x, y):\n    return x - y\n\n\ndef mul(x, y):\n    return x + y\n\n\ndef neg(x):\n    return x\n"
RIGHT = (
    "def add(x, y):\n    return x + y\n\n\ndef mul(x, y):\n    return x * y\n\n\ndef neg(x):\n    return -float(x)\n"
)
RIGHT_POINTS = 3.0


@dataclass(frozen=True)
class Attack:
    """A hostile submission.

    Attributes:
        name: Its name in commands.
        tries: Its aim, in a few words.
        hand_in: Makes its files from the released notebooks.
        lesson: The lesson whose notebook it hands in.
        honest: The points that its answers are worth without the attack.
        exercise: For an exercise whose lesson is a draft: its id; `text` is then all that is judged.
        text: The text of that exercise's solution cell.
        naive: Its success where a grader runs the notebook beside its tests, as a word of `naive.py`; nothing
            where it attacks what only this grader has.
        keeps: Whether its right answers must keep these points: it wins too if they lose one.
    """

    name: str
    tries: str
    hand_in: Callable[[Released], Files]
    lesson: str = LESSON
    honest: float = 0.0
    exercise: str = ""
    text: str = ""
    naive: str = ""
    keeps: bool = False


def cell_of(notebook: nbformat.NotebookNode, exercise: str) -> int:
    """The place of an exercise's solution cell."""
    return next(i for i, cell in enumerate(notebook.cells) if cell.source.startswith(f"# exercise: {exercise}\n"))


def notebook_with(
    released: Released, text: str, added: tuple[str, ...] = (), exercise: str = ARITHMETIC, lesson: str = LESSON
) -> nbformat.NotebookNode:
    """A released notebook with an answer in one solution cell and cells added behind it."""
    notebook = copy.deepcopy(released[lesson])
    place = cell_of(notebook, exercise)
    notebook.cells[place].source = f"# exercise: {exercise}\n{dedent(text).strip()}"
    new = [nbformat.v4.new_code_cell(dedent(source).strip()) for source in added]
    for number, cell in enumerate(new):
        cell.id = f"added-{number}"
    notebook.cells[place + 1 : place + 1] = new
    return notebook


def handed(notebook: nbformat.NotebookNode, lesson: str = LESSON) -> Files:
    """A notebook as a file."""
    return {f"{lesson}.ipynb": json.dumps(notebook).encode()}


def cells(
    text: str, *added: str, exercise: str = ARITHMETIC, lesson: str = LESSON, beside: Files | None = None
) -> Callable[[Released], Files]:
    """Hand in an answer, cells added behind it and files beside the notebook."""

    def hand_in(released: Released) -> Files:
        return {**handed(notebook_with(released, text, added, exercise, lesson), lesson), **(beside or {})}

    return hand_in


def edited(
    change: Callable[[nbformat.NotebookNode], None], text: str = WRONG, lesson: str = LESSON
) -> Callable[[Released], Files]:
    """Hand in a notebook that was changed as no editor offers."""

    def hand_in(released: Released) -> Files:
        notebook = notebook_with(released, text, lesson=lesson)
        change(notebook)
        return handed(notebook, lesson)

    return hand_in
