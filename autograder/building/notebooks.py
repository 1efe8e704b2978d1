"""Notebooks as the build writes them: from MyST Markdown, with legal ids that every build repeats, as bytes."""

from __future__ import annotations

import copy
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.building.questions import STUB_TEXT, Question, is_answer
from autograder.building.slicing import ExerciseSource, clear_solutions
from autograder.common.marker import marker, named_on
from autograder.course import CourseError, Exercise

# jsonschema imports it for a format that notebooks do not use, and that import takes a second.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import jupytext  # noqa: E402 - after the line above
import nbformat  # noqa: E402
from nbgrader.utils import compute_checksum  # noqa: E402

Notebook = nbformat.NotebookNode
Cell = nbformat.NotebookNode

NBGRADER_SCHEMA = 3
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def read_lesson(path: Path) -> Notebook:
    """Read a lesson from MyST Markdown, or from Python with cells (``# %%``).

    Raises:
        CourseError: If it cannot be read.
    """
    form, name = ("py:percent", "Python with cells") if path.suffix == ".py" else ("md:myst", "MyST Markdown")
    try:
        notebook: Notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt=form)
        return notebook
    except (OSError, ValueError) as error:
        raise CourseError(f"{path.name}: is not a lesson in {name} ({error}); correct it") from error


def setup_texts(path: Path) -> list[str]:
    """Return the text of each setup cell of a lesson, which may be half written.

    Raises:
        CourseError: If it cannot be read.
    """
    return [cell.source for cell in read_lesson(path).cells if "setup" in cell.metadata.get("tags", ())]


def placement(cell: Cell, *, answered: bool = False) -> str | None:
    """Return the id of the exercise that a cell places, or None for an ordinary cell.

    Args:
        cell: The cell.
        answered: Whether the answer stands in it.

    Raises:
        ValueError: If the cell begins like a placement but is not one line ``# exercise: ID``.
    """
    if cell.cell_type != "code":
        return None
    text = cell.source.strip()
    named = named_on(text)
    if named is not None and text != marker(named) and not (answered and text.startswith(f"{marker(named)}\n")):
        raise ValueError(text.split("\n")[0])
    return named


def solution_cell(source: ExerciseSource) -> Cell:
    """Make nbgrader's solution cell of an exercise, with the answer in it."""
    exercise = source.exercise
    return _graded(exercise.solution_id, source.reference_cell, solution=True)


def check_cell(exercise: Exercise, text: str = "") -> Cell:
    """Make the locked cell that checks an exercise and carries its points.

    Args:
        exercise: The exercise.
        text: The check that the lesson's author wrote; by default the library's own is called.
    """
    cell = _graded(exercise.graded_id, text or f'check("{exercise.id}")', solution=False)
    cell.metadata["nbgrader"]["points"] = exercise.points
    return cell


def _graded(grade_id: str, source: str, *, solution: bool) -> Cell:
    cell: Cell = nbformat.v4.new_code_cell(source)
    cell.id = _hash(grade_id)
    cell.metadata["nbgrader"] = nbformat.from_dict(
        {
            "grade": not solution,
            "grade_id": grade_id,
            "locked": not solution,
            "schema_version": NBGRADER_SCHEMA,
            "solution": solution,
            "task": False,
        }
    )
    return cell


def question_cells(question: Question, *, alone: bool = True) -> list[Cell]:
    """Make the cells that ask a question and take its answer, with the model answer in it (`Question.cells`)."""
    asked, answer = question.cells(alone=alone)
    answer.id = _hash(answer.metadata["nbgrader"]["grade_id"])
    return [asked, answer]


def text_cell(text: str, metadata: Mapping[str, Any] | None = None) -> Cell:
    """Make a Markdown cell, with a copy of the metadata of the cell that the text is a part of."""
    cell: Cell = nbformat.v4.new_markdown_cell(text, metadata=copy.deepcopy(metadata or {}))
    return cell


def new_notebook(lesson: str, version: str, cells: list[Cell]) -> Notebook:
    """Assemble a notebook: ordinary cells get ids, outputs and foreign metadata go.

    *Run All* goes on behind an ordinary cell that raises: it may build on an exercise that is not written yet.
    """
    seen: Counter[str] = Counter()
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
        if "nbgrader" not in cell.metadata:
            if cell.cell_type == "code" and "setup" not in cell.metadata.get("tags", ()):
                cell.metadata["tags"] = [*cell.metadata.get("tags", ()), "raises-exception"]
            key = f"{lesson}\n{cell.cell_type}\n{cell.source}"
            cell.id = _hash(f"{key}\n{seen[key]}")
            seen[key] += 1
    minigrad = {"lesson": lesson, "version": version}
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}, "minigrad": minigrad}
    notebook: Notebook = nbformat.v4.new_notebook(cells=cells, metadata=nbformat.from_dict(metadata))
    notebook.nbformat_minor = 5
    return notebook


def student_version(notebook: Notebook) -> Notebook:
    """Return what nbgrader's `generate_assignment` makes of a source notebook: the release."""
    student = copy.deepcopy(notebook)
    for cell in student.cells:
        nbgrader = cell.metadata.get("nbgrader")
        if nbgrader is None:
            continue
        cell.metadata["deletable"] = False
        if nbgrader["grade"] and not nbgrader["solution"]:
            cell.metadata["editable"] = False
        cell.source = clear_solutions(cell.source, STUB_TEXT if is_answer(cell) else "")
        nbgrader["checksum"] = compute_checksum(cell)
        nbgrader["cell_type"] = cell.cell_type
    return student


def is_generated(path: Path) -> bool:
    """Return whether a file is a notebook that a build wrote."""
    try:
        return "stamp" in json.loads(path.read_bytes())["metadata"]["minigrad"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def is_worked_in(path: Path) -> bool:
    """Return whether a student notebook was run or answered; a build leaves no outputs, and each stub as it was."""
    try:
        cells = nbformat.from_dict(json.loads(path.read_bytes())["cells"])
        return any(_was_run(cell) or _is_answered(cell) for cell in cells)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def _was_run(cell: Cell) -> bool:
    return cell.cell_type == "code" and bool(cell.outputs or cell.execution_count is not None)


def _is_answered(cell: Cell) -> bool:
    """Return whether an answer's cell holds anything else than was given out, and be it beside a stub that is left."""
    nbgrader = cell.metadata.get("nbgrader", {})
    cell.source = "".join(cell.source)
    return bool(nbgrader.get("solution") and compute_checksum(cell) != nbgrader["checksum"])


def stamp_of(notebook: Notebook) -> str:
    """Return a short hash of a notebook's content."""
    return _hash(dump(notebook))


def dump(notebook: Notebook) -> str:
    """Return the notebook as the text of its file."""
    text: str = nbformat.writes(notebook, version=nbformat.NO_CONVERT)
    return text + "\n"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
