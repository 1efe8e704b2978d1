"""A library of two modules for tests of the sandbox, and what every such test needs."""

import inspect
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox import (
    CellOutcome,
    ExerciseSpec,
    Limits,
    Observation,
    Sandbox,
    SandboxUnavailable,
    Session,
    SourceCell,
    choose,
    pack_probe,
)
from minigrad.machine import overrides

LIMITS = Limits(
    cell_seconds=0.4,
    test_seconds=0.4,
    submission_seconds=20,
    memory_mb=700,
    processes=16,
    output_bytes=20_000,
    file_mb=4,
)
DOUBLE = ExerciseSpec("sums.double", ("sums.double",))

_FILES = {
    "__init__.py": "",
    "errors.py": """
        class ExerciseNotDone(Exception):
            pass
    """,
    "sums.py": """
        from minigrad.errors import ExerciseNotDone

        def double(x):
            raise ExerciseNotDone("sums.double: lesson 00")

        def triple(x):
            return 3 * x

        def use_double(x):
            return double(x)
    """,
    "checks.py": """
        def check(id):
            raise RuntimeError("checks do not run when grading")
    """,
    "course.json": """
        {"exercises": [{"id": "sums.double", "objects": ["sums.double"]},
                       {"id": "sums.triple", "objects": ["sums.triple"]}]}
    """,
    "exercises.py": """
        import importlib

        def install(objects):
            for name, value in objects.items():
                if not callable(value):
                    raise TypeError(f"{name} is a function; the object given for it is a {type(value).__name__}")
                module, _, last = name.rpartition(".")
                setattr(importlib.import_module("minigrad." + module), last, value)
    """,
    "debug.py": """
        def races():
            return "what was seen"
    """,
}


def write_edition(folder: Path) -> Path:
    """The small library in `folder`, closed to other users as a temporary folder is."""
    package = folder / "minigrad"
    package.mkdir(mode=0o700)
    (package / "machine").mkdir(mode=0o700)
    machine = {"machine/__init__.py": "", "machine/overrides.py": inspect.getsource(overrides)}
    for name, text in {**_FILES, **machine}.items():
        (package / name).write_text(textwrap.dedent(text))
        (package / name).chmod(0o600)
    return folder


def solution(source: str, exercise: str = "sums.double") -> SourceCell:
    """A solution cell."""
    return SourceCell(textwrap.dedent(source).strip(), "solution", exercise, exercise)


def added(source: str, label: str = "added") -> SourceCell:
    """A cell that the student added."""
    return SourceCell(textwrap.dedent(source).strip(), "added", None, label)


RIGHT = solution("def double(x):\n    return x + x")


def run(box: Sandbox, *cells: SourceCell | str) -> Session:
    """A session over cells, given as cells or as the text of added ones."""
    made: Sequence[SourceCell] = [cell if isinstance(cell, SourceCell) else added(cell) for cell in cells]
    return box.session(made, DOUBLE)


def works(box: Sandbox) -> bool:
    """Assert that the next session runs as if nothing had been before it."""
    with run(box, RIGHT) as session:
        assert [cell.status for cell in session.cells] == ["ok"], session.cells
        answer = ask(session, 4)
        assert answer.value == 8, answer
    return True


def ask(session: Session, *args: Any, seconds: float | None = None) -> Observation:
    """What the student's double returns for the arguments."""

    def observe(mg, *args):  # type: ignore[no-untyped-def]
        return mg.sums.use_double(*args)

    return session.observe(pack_probe(observe), list(args), seconds)


ISOLATED = ("bubblewrap", "namespaces", "landlock", "gvisor")


def available(names: tuple[str, ...]) -> list[object]:
    """Parameters for the kinds of isolation; those that cannot be had here are skipped with the reason."""
    parameters: list[object] = []
    for name in names:
        try:
            choose(name)
            parameters.append(name)
        except SandboxUnavailable as error:
            parameters.append(pytest.param(name, marks=pytest.mark.skip(reason=str(error))))
    return parameters


def outcome_of(box: Sandbox, source: str) -> CellOutcome:
    """How a cell ends that stands before a right answer, which it must not spoil."""
    with run(box, added(source), RIGHT) as session:
        hostile, right = session.cells
        assert right.ok, right
        assert ask(session, 4).value == 8
    assert works(box)
    return hostile


DAEMONS = """
import os, time
for _ in range(5):
    if os.fork() == 0:
        os.setpgid(0, 0)
        if os.fork() == 0:
            os.setpgid(0, 0)
            while True:
                time.sleep({nap})
        os._exit(0)
"""
