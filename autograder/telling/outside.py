"""Answers from outside of a class: of an earlier term, of the reference, from a page on the web.

Nobody marked whose cell is whose there, so an answer is found by its name: the functions and classes that an exercise
asks for, wherever at the top level of a notebook or of a Python file they are defined. Nothing is run.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.common.python_text import MAX_PARSED, python_of
from autograder.course import Course, CourseError
from autograder.reading import read_notebook
from autograder.reading.damaged import decode
from autograder.reading.handed_in import every_file, is_notebook
from autograder.reading.student_files import Unreadable, one_line, read_bytes, without_outputs


@dataclass(frozen=True)
class Outside:
    """Answers from outside.

    Attributes:
        answers: For each exercise, the text of each answer by the place where it stands, such as
            `term-2026/ada/module0/00_operators.ipynb`.
        unread: Files that could not be read, each with the reason.
    """

    answers: Mapping[str, Mapping[str, str]]
    unread: Sequence[str]


def read_outside(course: Course, folders: Iterable[Path]) -> Outside:
    """Read the notebooks and Python files below some folders, or named themselves.

    Raises:
        CourseError: If one of them is not there or cannot be looked into.
    """
    asked = defaultdict[str, list[str]](list)
    for exercise in course.exercises.values():
        for dotted in exercise.objects:
            asked[dotted.rpartition(".")[2]].append(exercise.id)
    answers = defaultdict[str, dict[str, str]](dict)
    unread = []
    names = Counter[str]()
    for folder in folders:
        root = folder if folder.is_dir() else folder.parent
        name = root.resolve().name
        names[name] += 1
        name += f" ({names[name]})" if names[name] > 1 else ""
        for path in _files(folder):
            place = one_line(f"{name}/{path.relative_to(root).as_posix()}")
            try:
                found = definitions("\n\n".join(_code(path)))
            except Unreadable as error:
                unread.append(f"{place}: {error}")
                continue
            for defined, text in found.items():
                for exercise_id in asked.get(defined, ()):
                    kept = answers[exercise_id].get(place)
                    answers[exercise_id][place] = f"{kept}\n\n\n{text}" if kept else text
    return Outside(answers, unread)


def definitions(text: str) -> dict[str, str]:
    """The top-level functions and classes in a text, the last of each name.

    Raises:
        Unreadable: If the text is not Python.
    """
    if (parsed := python_of(text)) is None:
        raise Unreadable(f"is not Python, or is longer than {MAX_PARSED:,} characters")
    tree, read = parsed
    lines = read.split("\n")
    found = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return {node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in found}


def _files(folder: Path) -> list[Path]:
    """The notebooks and Python files below a folder, in order; the file itself, if it is one."""
    try:
        files = [folder] if folder.is_file() else every_file(folder)
        return sorted(path for path in files if is_notebook(path) or path.suffix == ".py")
    except OSError as error:
        raise CourseError(f"{folder}: cannot be looked into ({error.strerror}); name a folder of notebooks") from error


def _code(path: Path) -> Iterator[str]:
    """The code of a notebook, cell by cell where each is Python, or of a Python file."""
    if not is_notebook(path):
        yield decode(read_bytes(path))[0]
        return
    for cell in read_notebook(without_outputs(path)).cells:
        if cell.code and python_of(cell.text):
            yield cell.text
