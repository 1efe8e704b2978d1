"""A student's answers as a package of their own: a module for each lesson, and the visible checks as its tests."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from minigrad import exercises
from minigrad.errors import MinigradError
from minigrad.exercises.lesson_files import lessons_in
from minigrad.exercises.marker import exercise_of
from minigrad.working_folder.checking import is_as_given

PACKAGE = "my_minigrad"

_FUTURE = "from __future__ import annotations"

_PROJECT = f"""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{PACKAGE.replace("_", "-")}"
version = "0.1.0"
description = "My answers to the exercises of the course minigrad"
readme = "README.md"
requires-python = ">=3.11"

[tool.hatch.build.targets.wheel]
packages = ["src/{PACKAGE}"]

[tool.pytest.ini_options]
pythonpath = ["src"]
testpaths = ["tests"]
"""

_README = """\
# My minigrad

My answers to {count} exercises of the course minigrad, a module for each lesson. They need the course's library beside
them, from which they import what I did not write.

    pip install -e .
    pytest                                      # the visible checks of the course
    python -c "import {package}; {package}.install()"   # from then on minigrad computes with my functions
"""

_INIT = '''\
"""My answers to the exercises of the course minigrad, a module for each lesson."""

import importlib

from minigrad import exercises

EXERCISES = {{
{table}}}
"""For each exercise the module that holds my answer."""


def install():
    """Let minigrad compute with these answers, until Python ends."""
    for id, module in EXERCISES.items():
        names = vars(importlib.import_module(f"{{__name__}}.{{module}}"))
        exercises.install(exercises.collect(id, names))
'''

_TESTS = f'''\
"""The visible checks of the course minigrad, on the answers in this package."""

import importlib

import pytest
from minigrad.checks import run
from minigrad.exercises import stand_in

import {PACKAGE}


@pytest.fixture(scope="session", autouse=True)
def earlier_answers():
    """A class's library lacks the answers; mine stand in for those that a check builds on."""
    for module in dict.fromkeys({PACKAGE}.EXERCISES.values()):
        stand_in(vars(importlib.import_module(f"{PACKAGE}.{{module}}")))


@pytest.mark.parametrize(("id", "module"), {PACKAGE}.EXERCISES.items(), ids=list({PACKAGE}.EXERCISES))
def test_answer(id, module):
    """Every visible check of the exercise passes."""
    report = run(id, vars(importlib.import_module(f"{PACKAGE}.{{module}}")), module)
    assert report.passed, str(report)
'''


@dataclass(frozen=True)
class Exported:
    """The result of an export.

    Attributes:
        path: The package's folder.
        exercises: The exercises that are in it.
        left_out: A sentence for each cell that Python cannot read.
    """

    path: Path
    exercises: tuple[str, ...]
    left_out: tuple[str, ...]


def export(folder: Path, target: Path) -> Exported:
    """Write the answers of a folder's lessons as a package, whole or not at all.

    Raises:
        MinigradError: If the target is not empty, or there is no answer, or a notebook cannot be read.
    """
    target = target.resolve()
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise MinigradError(f"export: {target} is there already; name a folder that is not there yet, or empty")
    modules, placed, left_out = {}, dict[str, str](), list[str]()
    for notebook in lessons_in(folder):
        cells = _readable(notebook, left_out)
        ids = [id for source in cells if (id := _begun(source))]
        if ids:
            module = f"lesson_{notebook.stem}"
            modules[f"src/{PACKAGE}/{module}.py"] = _module(notebook.stem, cells, ids)
            placed |= dict.fromkeys(ids, module)
    if not placed:
        raise MinigradError(f"export: nothing is written yet in the lessons of {folder.resolve()}; save your notebooks")
    table = "".join(f'    "{id}": "{module}",\n' for id, module in placed.items())
    files = {
        "pyproject.toml": _PROJECT,
        "README.md": _README.format(count=len(placed), package=PACKAGE),
        f"src/{PACKAGE}/__init__.py": _INIT.format(table=table),
        **modules,
        "tests/test_answers.py": _TESTS,
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as aside:
        for name, text in files.items():
            place = Path(aside, target.name, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        if target.exists():  # empty, as seen above; not every system renames over a folder
            target.rmdir()
        os.rename(Path(aside, target.name), target)
    return Exported(target, tuple(placed), tuple(left_out))


def _readable(notebook: Path, left_out: list[str]) -> list[str]:
    """Return the cells that answers consist of; of one that Python cannot read, why."""
    cells = []
    for source in exercises.answer_cells(notebook):
        try:
            cells += [source] if exercises.code_of(source) else []
        except MinigradError as error:
            left_out.append(exercises.left_out(notebook.name, source, f"Python cannot read it: {error}"))
    return cells


def _begun(source: str) -> str:
    """Return the exercise that a cell answers; the empty string for a stub, and for a cell that is no answer."""
    id = exercise_of(source)
    return id if id in exercises.catalogue() and not is_as_given(id, source) else ""


def _module(lesson: str, cells: Sequence[str], ids: Sequence[str]) -> str:
    """Return a lesson's setup and answers as a module. What is not written there yet is the library's."""
    others = [each for each in exercises.catalogue().values() if each.lesson == lesson and each.id not in ids]
    lent = [name.rpartition(".") for each in others if not each.draft for name in each.objects]
    head = [f'"""My answers to the exercises of lesson {lesson}."""', _FUTURE]
    given = "\n".join(f"from minigrad.{module} import {name}  # not written by me" for module, _, name in lent)
    body = [source for source in cells if not exercise_of(source) or _begun(source)]
    texts = ["\n".join(line for line in each.splitlines() if line.strip() != _FUTURE).strip() for each in body]
    return "\n\n".join([*head, *([given] if given else []), *texts]) + "\n"
