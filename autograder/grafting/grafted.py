"""The result of grafting: the master with a student's text in it, and the role of each of its cells."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import nbformat

from autograder.building.questions import is_answer
from autograder.common.marker import exercise_of
from autograder.common.python_text import defined_names


@dataclass(frozen=True)
class Note:
    """Something repaired or ignored; `exercise` is empty where it concerns the whole notebook."""

    text: str
    exercise: str = ""


@dataclass(frozen=True)
class Slot:
    """A place of the master for a student's text.

    Attributes:
        exercise: The exercise's id.
        grade_id: nbgrader's id of the solution cell.
        index: The cell's place in the master.
        stub: The text that the student was given.
        names: The names that the cell is to define.
    """

    exercise: str
    grade_id: str
    index: int
    stub: str
    names: frozenset[str]


@dataclass(frozen=True)
class Grafted:
    """The master with a student's text in it.

    Attributes:
        notebook: A notebook that can be trusted in everything but the text of its solution and added cells.
        notes: The repairs, and the parts that were ignored.
        unreadable: Why nothing could be taken from the submission; empty where something could.
    """

    notebook: nbformat.NotebookNode
    notes: tuple[Note, ...] = ()
    unreadable: str = ""

    @property
    def language(self) -> str:
        """The language that the submission says it is in; empty for English."""
        return str(self.notebook.metadata.get("minigrad", {}).get("language", ""))


def slots_of(master: nbformat.NotebookNode) -> list[Slot]:
    """The solution cells of a master notebook, in order."""
    slots = []
    for index, cell in enumerate(master.cells):
        nbgrader = cell.metadata.get("nbgrader", {})
        exercise = exercise_of(cell.source)
        if cell.cell_type == "code" and nbgrader.get("solution") and exercise:
            names = frozenset(defined_names(cell.source))
            slots.append(Slot(exercise, nbgrader["grade_id"], index, cell.source, names))
    return slots


def stubs(master: nbformat.NotebookNode, reason: str) -> Grafted:
    """Return the graft of a submission that cannot be read: the master as released, and the reason."""
    notebook = copy.deepcopy(master)
    for slot in slots_of(master):
        label(notebook.cells[slot.index], "solution", slot.exercise, "missing")
    for cell in filter(is_answer, notebook.cells):
        label(cell, "answer")
    return Grafted(finish(notebook, [], reason), (), reason)


def grade_id_of(cell: nbformat.NotebookNode) -> str:
    """nbgrader's id of a cell, or the empty string."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def alike(one: str, other: str) -> bool:
    """Return whether two texts differ in white space at most."""
    return one.split() == other.split()


def label(cell: nbformat.NotebookNode, kind: str, exercise: str = "", state: str = "", reason: str = "") -> None:
    """Write what a cell is into its metadata, which from here on is the grader's own.

    Args:
        cell: The cell.
        kind: "solution", "answer", "added" or "setup".
        exercise: The exercise of a solution.
        state: "answered", "untouched", "missing" or "unclear".
        reason: Why nothing can be graded where the state is "unclear".
    """
    said = {"kind": kind, "exercise": exercise, "state": state} | ({"reason": reason} if reason else {})
    cell.metadata["minigrad"] = nbformat.from_dict(said)


def added_cell(text: str, number: int) -> nbformat.NotebookNode:
    """A cell of the student's own."""
    cell: nbformat.NotebookNode = nbformat.v4.new_code_cell(text)
    cell.id = f"added-{number}"
    label(cell, "added")
    return cell


def finish(
    notebook: nbformat.NotebookNode, notes: list[Note], unreadable: str, language: str = ""
) -> nbformat.NotebookNode:
    """Clear outputs and write what a later stage must know into the notebook's own metadata."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            if "setup" in cell.metadata.get("tags", ()):
                label(cell, "setup")
    minigrad: dict[str, Any] = dict(notebook.metadata.get("minigrad", {}))
    minigrad["notes"] = [{"text": note.text, "exercise": note.exercise} for note in notes]
    minigrad["unreadable"] = unreadable
    if language:
        minigrad["language"] = language
    notebook.metadata["minigrad"] = nbformat.from_dict(minigrad)
    return notebook


def grafted_from(notebook: nbformat.NotebookNode) -> Grafted:
    """Read a notebook that `graft` wrote back into what it returned."""
    minigrad: Mapping[str, Any] = notebook.metadata.get("minigrad", {})
    notes = tuple(Note(note["text"], note["exercise"]) for note in minigrad.get("notes", ()))
    return Grafted(notebook, notes, minigrad.get("unreadable", ""))
