"""Fingerprints of what the records of `verify` and of mutants follow from: hidden tests, and known-wrong answers."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from pathlib import Path

from autograder.course.answers import wrong_answers
from autograder.judging.hidden_tests import files_of, files_of_hunts


def fingerprint_of(exercise: str, hidden: Path, answers: Path) -> str:
    """Return a short hash of what `verify` tries of an exercise: its hidden tests and its known-wrong answers.

    Args:
        exercise: Its id.
        hidden: The directory of hidden tests.
        answers: The directory that holds `wrong`.
    """
    digest = hashlib.sha256(hidden_tests_of(exercise, hidden).encode())
    for name, text in wrong_answers(answers, exercise).items():
        digest.update(f"\n{name}\n{text}".encode())
    for file in files_of_hunts(files_of(exercise, hidden)):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def hidden_tests_of(exercise: str, hidden: Path) -> str:
    """Return the hidden tests of an exercise, with all that stands in their files but the tests of others.

    Args:
        exercise: Its id.
        hidden: The directory of hidden tests.
    """
    return "".join(_without_others(file.read_text(encoding="utf-8"), exercise) for file in files_of(exercise, hidden))


def _without_others(text: str, exercise: str) -> str:
    """A file without the tests of other exercises."""
    # The text itself, since what `ast` makes of a tree depends on Python's version.
    body, lines = ast.parse(text).body, text.split("\n")
    names = dict[str, object]()
    for node in body:
        if isinstance(node, ast.Assign):
            names[ast.unparse(node.targets[0])] = _constant(node.value)
    for node in body:
        if isinstance(node, ast.FunctionDef) and _graded(node, names) not in (None, exercise):
            first, last = node.decorator_list[0].lineno, node.end_lineno or node.lineno
            lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(line for line in lines if line.strip())


def _constant(value: ast.expr) -> object:
    """A constant, or the one to which a marker of tests is bound; None for anything else."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "functools.partial" and len(value.args) == 2:
        value = value.args[1]
    return value.value if isinstance(value, ast.Constant) else None


def _graded(node: ast.FunctionDef, names: Mapping[str, object]) -> object:
    """The exercise that a test grades; None for what is no test."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call):
            marker = ast.unparse(decorator.func)
            if marker == "pytest.mark.exercise":
                return _constant(decorator.args[0]) or names.get(ast.unparse(decorator.args[0]))
            if names.get(marker):
                return names[marker]
    return None
