"""The gradebook's knowledge of a notebook: the released text of its cells, and their points."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from types import SimpleNamespace
from typing import Any

import nbformat
from nbgrader import utils
from nbgrader.api import MissingEntry
from nbgrader.preprocessors import DeduplicateIds, OverwriteCells

NO_RESPONSE = "No response."
"""nbgrader's comment on an answer that is still as it was released."""


class Blueprint:
    """A notebook as the gradebook describes it; it stands where OverwriteCells expects a gradebook.

    Args:
        notebook: nbgrader's row.
    """

    def __init__(self, notebook: Any) -> None:
        self.name = notebook.name
        rows = [*notebook.grade_cells, *notebook.solution_cells, *notebook.task_cells]
        self.names = {cell.id: cell.name for cell in rows}
        self.kernelspec = json.loads(notebook.kernelspec) if notebook.kernelspec else None
        columns = ("name", "cell_type", "locked", "source", "checksum")
        self._cells = {
            cell.name: SimpleNamespace(**{column: getattr(cell, column) for column in columns})
            for cell in notebook.source_cells
        }
        solutions = {cell.name for cell in notebook.solution_cells}
        self.asks = any(cell.name in solutions for cell in notebook.grade_cells)
        graded = [*notebook.grade_cells, *notebook.task_cells]
        self._graded = {cell.name: SimpleNamespace(max_score=cell.max_score) for cell in graded}
        self._overwrite: Any = OverwriteCells()
        self._overwrite.gradebook, self._overwrite.notebook_id, self._overwrite.assignment_id = self, self.name, ""

    def find_source_cell(self, name: str, notebook: str, assignment: str) -> Any:
        """Return a cell as it was released."""
        if name not in self._cells:
            raise MissingEntry(f"no cell {name} in {notebook}")
        return self._cells[name]

    def find_graded_cell(self, name: str, notebook: str, assignment: str) -> Any:
        """Return the points that a cell is worth."""
        return self._graded[name]

    def apply(self, notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
        """Take nbgrader's sanitizing steps."""
        DeduplicateIds().preprocess(notebook, {})
        if self.kernelspec:
            notebook.metadata["kernelspec"] = self.kernelspec
        for index, cell in enumerate(notebook.cells):
            notebook.cells[index], _ = self._overwrite.preprocess_cell(cell, {}, index)
        return notebook


def has_id(cell: nbformat.NotebookNode) -> bool:
    """Return whether nbgrader knows a cell by a grade id."""
    return bool(cell.metadata.get("nbgrader", {}).get("grade_id"))


def score(
    submitted: Any,
    cells: Mapping[str, nbformat.NotebookNode],
    names: Mapping[str, str],
    marked: Container[str],
    log: Any,
) -> None:
    """Fill the rows of a notebook as SaveAutoGrades does: a mark that a person gave stays, and is to be looked at.

    Args:
        submitted: nbgrader's row.
        cells: The graded notebook's cells, by grade id.
        names: The grade id of each of the gradebook's cells, by its own id; to ask each row for it takes long.
        marked: Answers in words that have not changed: a mark that a person gave them needs no second look.
        log: Where nbgrader says what it finds odd.
    """
    for grade in submitted.grades:
        cell = cells.get(names[grade.cell_id])
        if cell is not None and utils.is_grade(cell):
            grade.auto_score, _ = utils.determine_grade(cell, log)
            if names[grade.cell_id] not in marked or grade.manual_score is None:
                grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
    for comment in submitted.comments:
        cell = cells.get(names[comment.cell_id])
        if cell is not None and (utils.is_solution(cell) or utils.is_task(cell)):
            untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
            comment.auto_comment = NO_RESPONSE if untouched and not utils.is_task(cell) else None
