"""A submission's cells as the sandbox takes them, and what is said of them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import nbformat

from autograder.common.python_text import bound_by, defined_names, helper_names, names_bound, parse, written
from autograder.course import Course, Exercise
from autograder.grafting.grafted import Grafted
from autograder.results import NO_CELL, NOT_STARTED, Graded
from autograder.results.result_cache import Outcomes
from autograder.sandbox import SourceCell

NOT_THERE = "it asks for what is not defined"
"""The reason of a test that asks for a part of the answer which is not there."""


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
    return SourceCell(text, "solution", exercise, f"answer to {exercise}")


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
    return f"nothing could be tested: {what_is_missing(exercise.objects, cells, outcomes)}"


def why_some_are_missing(
    missing: Sequence[str], exercise: Exercise, cells: Sequence[SourceCell], outcomes: Outcomes
) -> str:
    """Why a part of an answer is not there: how its cell ended, and what that one did not come to define."""
    ended = [each for index, each in sorted(outcomes.items()) if cells[index].exercise == exercise.id and not each.ok]
    return "; ".join([*(each.sentence() for each in ended), what_is_missing(missing, cells, outcomes)])


def without_some(graded: Graded, why: str) -> Graded:
    """A result that says first why a part of the answer is not there; a test that asks for that part says no more."""
    verdicts = (
        replace(each, reason=NOT_THERE, hint="") if each.failure == "not-done" else each for each in graded.verdicts
    )
    return replace(graded, reason=why, verdicts=tuple(verdicts))


def what_is_missing(objects: Sequence[str], cells: Sequence[SourceCell], outcomes: Outcomes) -> str:
    """Say why objects are missing after the cells: not defined, not reached, or only imported.

    Args:
        objects: The dotted names of the missing objects.
        cells: The submission's cells.
        outcomes: How cells ended, by index.
    """
    ours = [index for index, cell in enumerate(cells) if cell.kind != "setup"]
    defined = {index: defined_names(cells[index].source) for index in ours}
    bound = set[str]().union(*(helper_names(cells[index].source) for index in ours))
    said: dict[tuple[str, str], list[str]] = {}
    for name in objects:
        last = name.rpartition(".")[2]
        failed = {index for index, outcome in outcomes.items() if not outcome.ok}
        stopped = [cells[index].label for index in ours if last in defined[index] and index in failed]
        if stopped:
            what = ("{cell} ended before it defined {names}", stopped[-1])
        elif last in bound:
            what = ("no cell defines {names} itself: the name only stands for the library's object, or for None", "")
        else:
            what = ("no cell defines {names}", "")
        said.setdefault(what, []).append(name)
    return "; ".join(what.format(cell=cell, names=last_names(names)) for (what, cell), names in said.items())


def without_later_imports(cells: Sequence[SourceCell], objects: Sequence[str]) -> list[SourceCell]:
    """The cells without imports of names that the student has defined before: an import takes no answer away.

    Args:
        cells: The submission's cells, in order.
        objects: The dotted names of the exercise's objects.
    """
    names, defined, ready = {name.rpartition(".")[2] for name in objects}, set[str](), []
    for cell in cells:
        tree = parse(cell.source) if cell.kind != "setup" and "\r" not in cell.source else None
        body, lines = tree.body if tree else [], cell.source.split("\n")
        ends = Counter(line for each in body for line in {each.lineno, each.end_lineno})
        for statement in body:
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                defined |= names_bound(ast.Module([statement], []), imports=False)
                continue
            first, last = statement.lineno, statement.end_lineno or statement.lineno
            kept = [each for each in statement.names if bound_by(each) not in names & defined]
            if len(kept) < len(statement.names) and ends[first] == ends[last] == 1:
                statement.names = kept
                lines[first - 1 : last] = [written(statement) if kept else "", *[""] * (last - first)]
        ready.append(replace(cell, source="\n".join(lines)))
    return ready


def last_names(objects: Iterable[str]) -> str:
    """The names by which cells define an exercise's objects."""
    return ", ".join(dotted.rpartition(".")[2] for dotted in objects)


def cell_notes(exercise: Exercise, cells: Sequence[SourceCell], outcomes: Outcomes, graded: Graded) -> list[str]:
    """Return notes for the student on the exercise's own cells, and on those that belong to no exercise."""
    notes = []
    for index, outcome in sorted(outcomes.items()):
        if cells[index].exercise in (None, exercise.id):
            if not outcome.ok and outcome.sentence() not in graded.reason:
                notes.append(outcome.sentence())
            notes += [f"{outcome.label}: {note}" for note in outcome.notes]
    return notes
