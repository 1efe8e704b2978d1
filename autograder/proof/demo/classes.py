"""A class of any size, made from a seed: right answers, known-wrong ones, damaged files and attacks.

A student's files follow from the course, the seed and the student's number alone. Every student writes in words of
their own: variables are renamed and remarks added. So no two students hand in the same text, and no cached result of
one student serves another.
"""

from __future__ import annotations

import ast
import copy
import io
import random
import re
import symtable
import tokenize
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat

from autograder.building.build import build_lesson
from autograder.building.masters import find_master
from autograder.building.notebooks import dump
from autograder.building.slicing import STUB, slice_exercise
from autograder.common.marker import marker
from autograder.course import Course
from autograder.course.answers import variants, wrong_answers
from autograder.proof.demo.classroom import Classroom
from autograder.proof.demo.submissions import Files, in_format_3
from autograder.proof.demo.typing_in import fill, read_answers, reference_answers

Member = tuple[str, str, Files]
"""A student's id, the kind of the work, and the files."""

SHARES = {"right": 0.35, "variant": 0.15, "wrong": 0.35, "untouched": 0.05, "mangled": 0.05, "hostile": 0.05}
"""The share of a class that hands in each kind of notebook."""

HONEST = ("right", "variant", "wrong")
"""Work that was done, and that any grader can be expected to survive."""

MOST_WRONG = 3

_CELLS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("cells.toml").read_text(encoding="utf-8"))


def make_class(
    course: Course, lessons: Sequence[str], size: int, seed: int, *, shares: Mapping[str, float] = SHARES
) -> Iterator[Member]:
    """Make what each student of a class hands in.

    Args:
        course: The course.
        lessons: Names of the lessons that are handed in; of drafts too, where the lesson is written.
        size: Students in the class.
        seed: The same one makes the same class.
        shares: Which part of the class hands in what.

    Yields:
        The student's id, the kind of the work, and the files by name.
    """
    desk = _Desk(course, lessons)
    for number, kind in enumerate(_kinds(size, seed, shares), start=1):
        student = f"s{number:0{len(str(size))}}"
        yield student, kind, desk.files(student, kind, random.Random(f"{seed} {number}"))


def hand_in(course: Course, assignment: str, members: Iterable[Member], *, exchange: bool = False) -> dict[str, str]:
    """Write a class's files where the grader finds them.

    Args:
        course: The course; what it holds of these students stays.
        assignment: The assignment that is handed in.
        members: The class.
        exchange: Whether to use the inbound folder of the exchange, where the assignment was released, for
            `nbgrader collect`; else `submitted`.

    Returns:
        The kind of each student's work.
    """
    classroom, kinds = Classroom(course.directory.parent, course), {}
    for student, kind, files in members:
        kinds[student] = kind
        if exchange:
            classroom.submit(student, assignment, files)
            continue
        folder = course.directory / "submitted" / student / assignment
        folder.mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
    return kinds


def _kinds(size: int, seed: int, shares: Mapping[str, float]) -> list[str]:
    """A kind for each student: as near to the shares as whole students allow, in an order that the seed gives."""
    wanted = {kind: share / sum(shares.values()) * size for kind, share in shares.items()}
    count = {kind: int(number) for kind, number in wanted.items()}
    for kind in sorted(wanted, key=lambda kind: count[kind] - wanted[kind])[: size - sum(count.values())]:
        count[kind] += 1
    kinds = [kind for kind, number in count.items() for _ in range(number)]
    random.Random(f"{seed} kinds").shuffle(kinds)
    return kinds


class _Desk:
    """A desk to fill in notebooks at: the released lessons, and every answer that is known to their exercises."""

    def __init__(self, course: Course, lessons: Sequence[str]) -> None:
        self.released = {lesson: _released(course, lesson) for lesson in lessons}
        self.exercises = [exercise for lesson in lessons for exercise in course.of_lesson(lesson)]
        self.stubs = {each.id: slice_exercise(course, each.id).stub_cell for each in self.exercises}
        self.right = reference_answers(course, self.stubs)
        self.variants = {each.id: _cells(each.id, variants(course.directory, each.id)) for each in self.exercises}
        self.wrong = {each.id: _cells(each.id, wrong_answers(course.directory, each.id)) for each in self.exercises}
        self.attacks = read_answers(course, "attacks")

    def files(self, student: str, kind: str, chance: random.Random) -> Files:
        """Return the files that a student hands in."""
        answers = {exercise: in_own_words(text, student, chance) for exercise, text in self.right.items()}
        answers.update(self._instead(kind, student, chance))
        if kind == "untouched":
            done = chance.randrange(len(answers)) if chance.random() < 0.5 else 0
            answers = dict(list(answers.items())[:done])
        notebooks = {lesson: copy.deepcopy(notebook) for lesson, notebook in self.released.items()}
        for notebook in notebooks.values():
            fill(notebook, answers)
            if answers and chance.random() < 0.3:
                _try_something(notebook, student, chance)
        if kind == "hostile":
            _misbehave(notebooks[chance.choice(list(notebooks))], student, chance)
        if kind == "mangled":
            lesson = chance.choice(list(notebooks))
            mangled = chance.choice(MANGLED)(notebooks.pop(lesson), lesson)
            return {f"{name}.ipynb": dump(notebook).encode() for name, notebook in notebooks.items()} | mangled
        return {f"{name}.ipynb": dump(notebook).encode() for name, notebook in notebooks.items()}

    def _instead(self, kind: str, student: str, chance: random.Random) -> dict[str, str]:
        """The answers that are not the reference's."""
        if kind == "hostile":
            return self._hostile(chance)
        known = {"variant": self.variants, "wrong": self.wrong}.get(kind, {})
        possible = [exercise for exercise, texts in known.items() if texts]
        if not possible:
            return {}
        most = MOST_WRONG if kind == "wrong" else len(possible)
        chosen = chance.sample(possible, chance.randint(1, min(most, len(possible))))
        return {each: in_own_words(chance.choice(known[each]), student, chance) for each in sorted(chosen)}

    def _hostile(self, chance: random.Random) -> dict[str, str]:
        """Attacks: those of the demo where it has one, and objects and frames that claim to be right elsewhere."""
        preface, value = chance.choice(_CELLS["pretences"]).values()
        forged = {
            exercise: "\n".join((marker(exercise), preface, *_returning(stub, value)))
            for exercise, stub in self.stubs.items()
        }
        return forged | {exercise: text for exercise, text in self.attacks.items() if exercise in forged}


def _released(course: Course, lesson: str) -> nbformat.NotebookNode:
    """A lesson's notebook as students get it."""
    if lesson not in course.draft_lessons:
        return find_master(course, lesson)
    sources = {each.id: slice_exercise(course, each.id) for each in course.of_lesson(lesson)}
    return build_lesson(course, course.draft_lessons[lesson], sources).student


def _cells(exercise: str, answers: Mapping[str, str]) -> list[str]:
    """Known answers as whole solution cells, without the sentence that says what is the matter with them."""
    return [f"{marker(exercise)}\n{_without_docstring(text)}" for text in answers.values()]


def _without_docstring(text: str) -> str:
    tree = ast.parse(text)
    skipped = (tree.body[0].end_lineno or 0) if ast.get_docstring(tree) is not None else 0
    return "\n".join(text.split("\n")[skipped:]).strip("\n")


def _returning(stub: str, value: str) -> list[str]:
    """The lines of a solution cell, its header left out, whose functions return an expression."""
    kept = (line for line in stub.split("\n")[1:] if line.strip() != STUB[0])
    return [line.replace(STUB[1], f"return {value}") for line in kept]


# --- a student's own words ------------------------------------------------------------------------------------------


def in_own_words(cell: str, student: str, chance: random.Random) -> str:
    """A solution cell that means the same: a remark of the student's above it, and variables of other names."""
    first, _, rest = cell.partition("\n")
    names = _free_to_rename(rest)
    chosen = [name for name in sorted(names) if chance.random() < 0.7]
    suffix = "_" + re.sub(r"\W", "", student)
    text = _renamed(rest, {name: name + suffix for name in chosen})
    return f"{first}\n# {student}: {chance.choice(_CELLS['remarks'])}\n{text}"


def _free_to_rename(text: str) -> set[str]:
    """Names that mean a local variable wherever they stand in a text."""
    free: set[str] = set()
    bound: set[str] = set()
    tables = [symtable.symtable(text, "cell", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            is_variable = table.get_type() == "function" and symbol.is_local() and symbol.is_assigned()
            if is_variable and not (symbol.is_parameter() or symbol.is_imported() or symbol.is_namespace()):
                free.add(symbol.get_name())
            elif not symbol.is_free():
                bound.add(symbol.get_name())
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and node.arg:
            bound.add(node.arg)
        elif isinstance(node, ast.JoinedStr):  # one token of a string until Python 3.12
            bound |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    return {name for name in free - bound if not name.startswith("_")}


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with names exchanged, attributes left alone."""
    lines, before, places = text.split("\n"), "", []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string in names and before != ".":
            places.append((token.start, token.string))
        before = token.string
    for (row, column), name in reversed(places):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + names[name] + line[column + len(name) :]
    return "\n".join(lines)


def _try_something(notebook: nbformat.NotebookNode, student: str, chance: random.Random) -> None:
    """Add a cell in which a student tries something."""
    numbers = [round(chance.uniform(-9, 9), 2) for _ in range(4)]
    _add_cell(notebook, f"values = {numbers}  # {student}\nprint(sorted(values), max(values) - min(values))")


def _add_cell(notebook: nbformat.NotebookNode, source: str) -> None:
    """Add a cell below the first graded one."""
    cell = nbformat.v4.new_code_cell(source, id=f"added-{len(notebook.cells)}")
    notebook.cells.insert(_graded_cells(notebook)[0] + 1, cell)


def _graded_cells(notebook: nbformat.NotebookNode) -> list[int]:
    return [i for i, cell in enumerate(notebook.cells) if cell.metadata.get("nbgrader", {}).get("grade")]


# --- attacks --------------------------------------------------------------------------------------------------------


def _misbehave(notebook: nbformat.NotebookNode, student: str, chance: random.Random) -> None:
    """Add a cell that does what no cell should; change what decides on points."""
    _add_cell(notebook, f"# {student}\n{chance.choice(_CELLS['misbehaviour'])}")
    for index in _graded_cells(notebook):
        cell = notebook.cells[index]
        cell.metadata.nbgrader.points = 1000
        cell.metadata.tags = ["skip-execution"]


# --- damage ---------------------------------------------------------------------------------------------------------


def _without_marks(notebook: nbformat.NotebookNode, lesson: str) -> Files:
    """An editor dropped what marks the cells, and one graded cell is there twice."""
    twin = copy.deepcopy(notebook.cells[_graded_cells(notebook)[0]])
    twin.id = "copy-of-it"
    notebook.cells.append(twin)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
    return {f"{lesson}.ipynb": dump(notebook).encode()}


def _in_format_3(notebook: nbformat.NotebookNode, lesson: str) -> Files:
    return {f"{lesson}.ipynb": in_format_3(notebook)}


def _renamed_file(notebook: nbformat.NotebookNode, lesson: str) -> Files:
    return {f"{lesson} (final).ipynb": dump(notebook).replace("\n", "\r\n").encode()}


def _saved_half(notebook: nbformat.NotebookNode, lesson: str) -> Files:
    data = dump(notebook).encode()
    return {f"{lesson}.ipynb": data[: len(data) // 2]}


def _of_another_kind(notebook: nbformat.NotebookNode, lesson: str) -> Files:
    return {f"{lesson}.ipynb": b"<!DOCTYPE html>\n<p>Log in to download this file.</p>\n"}


MANGLED: tuple[Callable[[nbformat.NotebookNode, str], Files], ...] = (
    _without_marks,
    _in_format_3,
    _renamed_file,
    _saved_half,
    _of_another_kind,
)
"""Accidents that may happen to a notebook between a student's head and the exchange."""
