"""A submission's cells as the sandbox takes them, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import nbformat

from autograder.course import Course, Exercise
from autograder.grafting.graft import Grafted
from autograder.reading import defined_names
from autograder.results import NO_CELL, NOT_STARTED, Graded
from autograder.results.keeping import Outcomes
from autograder.sandbox import SourceCell

__all__ = ["cell_notes", "last_names", "not_done", "solution_cell", "source_cells", "why_missing"]


def source_cells(notebook: nbformat.NotebookNode) -> list[SourceCell]:
    """The cells of a grafted notebook that the sandbox runs: setup, solutions and added cells."""
    cells: list[SourceCell] = []
    count = {"setup": 0, "added": 0}
    for cell in notebook.cells:
        label = cell.metadata.get("minigrad", {})
        kind = label.get("kind")
        if kind == "solution":
            cells.append(solution_cell(label["exercise"], cell.source))
        elif kind in count:
            count[kind] += 1
            name = f"setup cell {count[kind]}" if kind == "setup" else f"added cell {count[kind]}"
            cells.append(SourceCell(cell.source, kind, None, name))
    return cells


def solution_cell(exercise: str, text: str) -> SourceCell:
    """A solution cell for the sandbox."""
    return SourceCell(text, "solution", exercise, f"solution of {exercise}")


def not_done(grafted: Grafted, course: Course) -> dict[str, str]:
    """Exercises that need no sandbox to earn nothing, with the reason."""
    labels = [cell.metadata.get("minigrad", {}) for cell in grafted.notebook.cells]
    added = set[str]()
    for cell, label in zip(grafted.notebook.cells, labels, strict=True):
        if label.get("kind") == "added":
            added |= defined_names(cell.source)
    reasons = {"missing": NO_CELL, "untouched": NOT_STARTED}
    found = {label["exercise"]: label["reason"] for label in labels if label.get("reason")}
    for label in labels:
        if label.get("kind") == "solution" and label["state"] in reasons:
            objects = course.exercise(label["exercise"]).objects
            if not added & {dotted.rpartition(".")[2] for dotted in objects}:
                found[label["exercise"]] = reasons[label["state"]]
    return found


def why_missing(exercise: Exercise, cells: Sequence[SourceCell], outcomes: Outcomes) -> str:
    """Why there is nothing to test: the solution cell failed, or defines something else."""
    for index, outcome in sorted(outcomes.items()):
        if cells[index].exercise == exercise.id and not outcome.ok:
            return f"nothing could be tested: {outcome.sentence()}"
    return f"nothing could be tested: no cell defines {last_names(exercise.objects)}"


def last_names(objects: Iterable[str]) -> str:
    """The names by which cells define an exercise's objects."""
    return ", ".join(dotted.rpartition(".")[2] for dotted in objects)


def cell_notes(exercise: Exercise, cells: Sequence[SourceCell], outcomes: Outcomes, graded: Graded) -> list[str]:
    """Return notes for the student on the exercise's own cells, and on those that belong to no exercise."""
    notes = []
    for index, outcome in sorted(outcomes.items()):
        if cells[index].exercise in (None, exercise.id):
            if not outcome.ok and not graded.reason.endswith(outcome.sentence()):
                notes.append(outcome.sentence())
            notes += [f"{outcome.label}: {note}" for note in outcome.notes]
    return notes
