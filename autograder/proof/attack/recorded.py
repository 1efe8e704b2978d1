"""Attacks taken the whole way: handed in, graded for a class, recorded in nbgrader's gradebook, fed back."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import nbformat

from autograder.proof.attack.model import Attack
from autograder.proof.attack.notebooks import MARKUP
from autograder.proof.attack.running import Arena, write_files
from autograder.proof.attack.watching import live_markup, state

_WRITTEN = ("submitted", "originals", "autograded", "feedback", ".grades", ".cache", "gradebook.db")
_MARKS = ("grade", "comment", "submitted_assignment", "submitted_notebook", "student")
"""Tables that grading writes to; the neighbour's rows in them are looked at one by one."""


def record_attacks(arena: Arena, attacks: Sequence[Attack]) -> tuple[dict[str, float], list[str]]:
    """Grade attacks on the lesson that is attacked as a class, in a scratch course that no attack was run in before.

    Returns:
        The points in the gradebook by attack, and what was won or went wrong.
    """
    chosen = [attack for attack in attacks if attack.lesson == arena.target.lesson and not attack.exercise]
    assignment = arena.course.lessons[arena.target.lesson].assignment
    (arena.root / "gradebook.db").unlink()
    problems = list(_run(arena, "nbgrader", "generate_assignment", assignment))
    for attack in chosen:
        write_files(arena.root / "submitted" / attack.name / assignment, attack.hand_in(arena.released))
    before, book = state(arena.root, _WRITTEN), _structure(arena.root)
    problems += _run(arena, "autograder", "autograde", assignment, "--isolation", arena.judge.isolation)
    problems += _run(arena, "nbgrader", "generate_feedback", assignment)
    if state(arena.root, _WRITTEN) != before:
        problems.append("files of the course were changed")
    if _structure(arena.root) != book:
        problems.append("the gradebook holds more than grades")
    earned = _earned(arena.root)
    for attack in chosen:
        problems += (f"{attack.name}: {problem}" for problem in _won(arena, attack, assignment, earned))
    if earned.get("neighbour") != arena.target.points:
        problems.append(f"the neighbour has {earned.get('neighbour')} points, not {arena.target.points:g}")
    return earned, problems


def _run(arena: Arena, program: str, *words: str) -> Iterator[str]:
    """Run a command as an instructor does; say so if it fails."""
    if program == "nbgrader":
        code = arena.classroom.nbgrader(*words, said=lambda _: None)
        tail = str(arena.classroom.out / "logs")
    else:
        command = [sys.executable, "-P", "-c", "from autograder.cli import main; main()", *words]
        done = subprocess.run(command, cwd=arena.root, capture_output=True, text=True, check=False)
        code, tail = done.returncode, done.stderr[-300:]
    if code:
        yield f"`{program} {' '.join(words)}` ended with exit code {code}: {tail}"


def _structure(root: Path) -> dict[str, list[object]]:
    """The parts of a gradebook that grading does not write: tables, triggers, and the rows of most tables."""
    with closing(sqlite3.connect(root / "gradebook.db")) as book:
        found = {"": list(book.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name"))}
        tables = [name for kind, name, _ in found[""] if kind == "table" and name not in _MARKS]
        return {**found, **{name: list(book.execute(f'SELECT * FROM "{name}"')) for name in tables}}


def _earned(root: Path) -> dict[str, float]:
    """Each student's points, manual ones included."""
    query = """SELECT submitted_assignment.student_id,
        sum(coalesce(manual_score, auto_score, 0) + coalesce(extra_credit, 0))
        FROM grade JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id
        JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
        GROUP BY submitted_assignment.student_id"""
    with closing(sqlite3.connect(root / "gradebook.db")) as book:
        return dict(book.execute(query))


def _won(arena: Arena, attack: Attack, assignment: str, earned: dict[str, float]) -> Iterator[str]:
    """The winnings of an attack in the gradebook, in its graded notebook and in its feedback page."""
    if attack.name not in earned:
        yield "is not in the gradebook"
    elif earned[attack.name] > attack.honest + 1e-9:
        yield f"{earned[attack.name]:g} points in the gradebook for what is worth {attack.honest:g}"
    notebook = arena.root / "autograded" / attack.name / assignment / f"{arena.target.lesson}.ipynb"
    page = arena.root / "feedback" / attack.name / assignment / f"{arena.target.lesson}.html"
    for path in (notebook, page):
        if not path.is_file():
            yield f"{path.relative_to(arena.root)} is missing"
            return
    text = page.read_text(encoding="utf-8")
    yield from (f"the feedback page would run its script: {element}" for element in live_markup(text, MARKUP))
    cells = nbformat.read(notebook, as_version=nbformat.NO_CONVERT).cells
    for shown in (text, *(str(cell.get("outputs", "")) for cell in cells)):
        yield from (f"a page shows {line[:60]!r}" for line in set(arena.secrets.in_text(shown)))
