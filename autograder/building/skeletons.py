"""The skeletons that `autograder new exercise` lays out: each says `### FILL IN EXERCISE: ...` where an author writes.

A function takes the text of a file and returns it with the skeleton; no line that stood there before is changed.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

from autograder.building.slicing import BEGIN, END, clear_solutions
from autograder.common.marker import marker, named_on
from autograder.course import Exercise

FRESH = "fill-in-"
"""The first part of the name of a wrong answer or variant, until its author names the file."""

_TEXTS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def mark(exercise_id: str) -> str:
    """Return the words that a skeleton of an exercise holds until its author has filled it in."""
    return f"### FILL IN {exercise_id}:"


def with_object(exercise_id: str, name: str, text: str) -> str:
    """Add a function, or a class for a name with a capital letter, to a module of the library."""
    skeleton = _TEXTS["class"] if name[0].isupper() else _TEXTS["function"]
    text = text or _TEXTS["object_file"].format(mark=mark(exercise_id))
    return _added(text, skeleton.format(mark=mark(exercise_id), name=name, begin=BEGIN, end=END))


def with_pointer(exercise_id: str, text: str) -> str:
    """Place an exercise in a lesson, in a section of its own behind the last exercise."""
    lines = text.rstrip("\n").split("\n")
    places = [number for number, line in enumerate(lines) if named_on(line)]
    ends = [number for number, line in enumerate(lines) if places and number > places[-1] and line.startswith("```")]
    end = ends[0] + 1 if ends else len(lines)
    section = _TEXTS["section"].format(mark=mark(exercise_id), header=marker(exercise_id))
    return "\n".join([*lines[:end], "", section.rstrip("\n"), *lines[end:], ""])


def with_check(exercise: Exercise, text: str) -> str:
    """Add a visible test to a module of checks."""
    module, _, name = exercise.objects[0].rpartition(".")
    skeleton = _TEXTS["check"].format(mark=mark(exercise.id), id=exercise.id, name=name)
    return _added(text or _TEXTS["check_file"].format(module=module), skeleton)


def with_hidden_test(exercise: Exercise, group: str, text: str) -> str:
    """Add a hidden test of a group to a file of hidden tests."""
    module, _, name = exercise.objects[0].rpartition(".")
    skeleton = _TEXTS["hidden"].format(
        mark=mark(exercise.id),
        id=exercise.id,
        group=group,
        name=name,
        group_name=group.replace("-", "_"),
        object=exercise.objects[0],
    )
    return _added(text or _TEXTS["hidden_file"].format(module=module), skeleton)


def with_answer(exercise_id: str, kind: str, references: list[str], text: str) -> str:
    """Return a known-wrong answer ("wrong") or another right one ("variants"), made of the library's signatures."""
    parts = [_TEXTS[kind].format(mark=mark(exercise_id)), *map(_bare, references)]
    return text or "\n\n\n".join(parts) + "\n"


def with_hints(exercise_id: str, text: str) -> str:
    """Add the three hints of an exercise to its lesson's file."""
    return _added(text, _TEXTS["hints"].format(id=exercise_id, mark=mark(exercise_id)), blank=1)


def _added(text: str, skeleton: str, blank: int = 2) -> str:
    return f"{text.rstrip()}\n{chr(10) * blank}{skeleton}" if text.strip() else skeleton


def _bare(reference: str) -> str:
    """The source of an object without answers and docstrings."""
    tree = ast.parse(clear_solutions(reference))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)
