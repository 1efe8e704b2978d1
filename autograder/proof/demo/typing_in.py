"""Type an answer into a released notebook, as a student does: into the blanks of its solution cells.

Answers are kept as text, one file for each student in the course's folder `demo`: sections that begin with
``# exercise: ID``, in which a function's body is what is typed into that function's blank.

Signature and docstring stay as they were released. Text beside the functions (imports, helpers, experiments) is typed
above them.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Mapping
from textwrap import dedent, indent

import nbformat

from autograder.building.slicing import STUB, slice_exercise, without_markers
from autograder.common.marker import exercise_of, marked_lines
from autograder.course import Course


def read_answers(course: Course, name: str) -> dict[str, str]:
    """Return the answers of a file in a course's folder `demo`, by exercise id; nothing if it has no such file."""
    path = course.directory / "demo" / f"{name}.py"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    sections = [*marked_lines(text), (len(text), "")]
    parts = ((id, text[start:end]) for (start, id), (end, _) in itertools.pairwise(sections))
    return {id: part.partition("\n")[2].strip() for id, part in parts}


def reference_answers(course: Course, exercises: Iterable[str] | None = None) -> dict[str, str]:
    """Return the library's own bodies as whole solution cells, by exercise id: of all that is released, or of some."""
    ids = [each.id for each in course.released] if exercises is None else exercises
    return {id: without_markers(slice_exercise(course, id).reference_cell) for id in ids}


def answers(course: Course, *names: str) -> dict[str, str]:
    """Return the reference answers with those of some files in their place."""
    cells = reference_answers(course)
    for name in names:
        cells.update(read_answers(course, name))
    return cells


def fill(notebook: nbformat.NotebookNode, given: Mapping[str, str]) -> None:
    """Type answers into the solution cells of a released notebook; cells without an answer stay as they are."""
    for cell in notebook.cells:
        exercise = exercise_of(cell.source)
        if cell.cell_type == "code" and exercise in given:
            cell.source = type_in(cell.source, given[exercise])


def type_in(released: str, answer: str) -> str:
    """Return a released solution cell with an answer in its blanks.

    Args:
        released: The cell's text, blanks in it.
        answer: A whole cell, which takes the released one's place, or definitions whose bodies fill the blanks.
    """
    if exercise_of(answer):
        return answer
    bodies = {name: _body(answer, function) for name, function in _functions(ast.parse(answer))}
    lines = released.split("\n")
    for name, function in reversed(list(_functions(ast.parse(released)))):
        blank = _blank(lines, function)
        if blank is None:
            continue
        margin = " " * (len(lines[blank]) - len(lines[blank].lstrip()))
        typed = indent(bodies[name], margin).split("\n")
        lines[blank : blank + len(STUB)] = typed
    head, *rest = lines
    return "\n".join([head, *_beside(answer, released), *rest])


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Top-level functions and the methods of top-level classes, by dotted name."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    yield f"{node.name}.{member.name}", member


def _body(answer: str, function: ast.FunctionDef) -> str:
    """The lines under a signature of one line: comments too."""
    return dedent("\n".join(answer.split("\n")[function.lineno : function.end_lineno]))


def _blank(lines: list[str], function: ast.FunctionDef) -> int | None:
    """The index of a function's first line to be filled in, or None if it has none."""
    for index in range(function.lineno, function.end_lineno or 0):
        if tuple(line.strip() for line in lines[index : index + len(STUB)]) == STUB:
            return index
    return None


def _beside(answer: str, released: str) -> list[str]:
    """The parts of an answer beside the definitions that the cell asks for: imports, helpers, experiments."""
    asked = {node.name for node in ast.parse(released).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    lines = answer.split("\n")
    kept: list[str] = []
    end = 0
    for node in ast.parse(answer).body:
        start, end = end, node.end_lineno or 0
        if not (isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in asked):
            kept += lines[start:end] if kept else "\n".join(lines[start:end]).lstrip("\n").split("\n")
    return [*kept, "", ""] if kept else []
