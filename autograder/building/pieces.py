"""The pieces of an exercise: the file that holds each, and whether its author has written it.

`autograder new exercise` lists them and lays out skeletons; the build and `verify` refuse an exercise while one of its
files holds a skeleton.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from autograder.building.skeletons import (
    FRESH,
    mark,
    with_answer,
    with_check,
    with_hidden_test,
    with_hints,
    with_object,
    with_pointer,
)
from autograder.building.slicing import BEGIN, find_object
from autograder.common.files import write
from autograder.common.marker import marker
from autograder.course import Course, CourseError, Exercise, split_object
from autograder.course.answers import VARIANTS, WRONG, files_of_answers, wrong_answers
from autograder.results.causes import SEEN


@dataclass(frozen=True)
class Piece:
    """One piece of an exercise.

    Attributes:
        path: The file that holds it.
        state: "there", "to fill in" or "missing".
        to_do: The author's next step; empty where the piece is there.
        command: The command that takes the step, or says whether it was done well.
        skeleton: Returns the file's text with the skeleton, from the text without it; None for a generated piece.
    """

    path: Path
    state: str = "there"
    to_do: str = ""
    command: str = ""
    skeleton: Callable[[str], str] | None = None


def lay_out(course: Course, exercise: Exercise, hidden: Path, answers: Path, entry: str | None = None) -> list[Piece]:
    """Write a skeleton for each piece of an exercise that is missing; no line that stands there is changed.

    Args:
        course: The course, which lists the exercise.
        exercise: The exercise.
        hidden: The directory of hidden tests.
        answers: The directory that holds `wrong` and `variants`.
        entry: The text of course.toml with the exercise's entry, where the file has none yet.

    Returns:
        The pieces, as `pieces` finds them afterwards.

    Raises:
        CourseError: As `pieces`; nothing is written then.
    """
    found = pieces(course, exercise, hidden, answers)
    if entry is not None:
        write(course.path, entry)
    for piece in found:
        if piece.state == "missing" and piece.skeleton is not None:
            write(piece.path, piece.skeleton(_read(piece.path)))
    return pieces(course, exercise, hidden, answers)


def pieces(course: Course, exercise: Exercise, hidden: Path, answers: Path) -> list[Piece]:
    """Return the pieces of an exercise: first those that a person writes, then those that commands write.

    Args:
        course: The course, which lists the exercise.
        exercise: The exercise.
        hidden: The directory of hidden tests.
        answers: The directory that holds `wrong` and `variants`.

    Raises:
        CourseError: If one of the files cannot be read as Python or TOML, or a package is missing.
    """
    return [
        Piece(course.path),
        *_for_students(course, exercise),
        *_hidden_tests(exercise, hidden),
        *_answers(course, exercise, answers),
        *_generated(course, exercise),
        *_records(exercise, answers),
    ]


def unfilled(course: Course, exercise: Exercise, hidden: Path | None = None, answers: Path | None = None) -> list[str]:
    """Return a sentence for each file of an exercise that is still a skeleton.

    Args:
        course: The course.
        exercise: The exercise.
        hidden: The directory of hidden tests, where they are asked for.
        answers: The directory that holds `wrong` and `variants`, where they are asked for.
    """
    files = [_module_file(course, dotted) for dotted in exercise.objects]
    files += [course.lesson_of(exercise).path, _checks(course, exercise), _hints(course, exercise)]
    files += _files_of_tests(exercise, hidden) if hidden else []
    files += [file for kind in (WRONG, VARIANTS) if answers for file in files_of_answers(answers, kind, exercise.id)]
    return [
        f"{_short(course, file)}: is still the skeleton of {exercise.id}; "
        f"write its part, as `autograder new exercise {exercise.id}` lists it"
        for file in dict.fromkeys(files)
        if _is_skeleton(exercise, file)
    ]


def refuse_skeletons(course: Course, hidden: Path | None = None) -> None:
    """Refuse a course in which a file of an exercise is still a skeleton, or a notebook has nothing to check.

    Raises:
        CourseError: If there is one; the message names the first.
    """
    for exercise in course.exercises.values():
        for sentence in unfilled(course, exercise, hidden):
            raise CourseError(sentence)
    if (course.source / "checks").is_dir():
        for exercise in course.released:
            _refuse_unchecked(course, exercise)


def _refuse_unchecked(course: Course, exercise: Exercise) -> None:
    file = _checks(course, exercise)
    if not _has_check(exercise, file):
        raise CourseError(
            f"{file.name}: {file.parent.name}/ has no visible check of {exercise.id}; write one, as "
            f"`autograder new exercise {exercise.id}` lists it"
        )


def _for_students(course: Course, exercise: Exercise) -> Iterator[Piece]:
    """The pieces that students read: the task, its place in the lesson, the visible check, the hints."""
    for dotted in exercise.objects:
        yield _object(course, exercise, dotted)
    lesson, hints = course.lesson_of(exercise).path, _hints(course, exercise)
    if lesson.is_file():
        placed = marker(exercise.id) in _read(lesson).split("\n")
        place = partial(with_pointer, exercise.id)
        yield _written(exercise, lesson, placed, "write the section around the exercise's cell", place)
    elif not course.is_draft(exercise):
        yield Piece(lesson, "missing", "write the lesson", f"autograder new exercise {exercise.id}")
    checks = _checks(course, exercise)
    yield _written(
        exercise, checks, _has_check(exercise, checks), "write a visible check", partial(with_check, exercise)
    )
    if hints.parent.is_dir() and not course.is_draft(exercise):
        hinted = exercise.id in _toml(hints)
        yield _written(exercise, hints, hinted, "write three hints", partial(with_hints, exercise.id))


def _object(course: Course, exercise: Exercise, dotted: str) -> Piece:
    file, name = _module_file(course, dotted), dotted.rpartition(".")[2]
    kinds = (ast.FunctionDef, ast.ClassDef)
    exists = any(isinstance(node, kinds) and node.name == name for node in _python(file).body)
    if exists and not find_object(course.source, dotted).regions:
        return Piece(file, "missing", f"put {BEGIN!r} and its partner around the answer of {name}", "autograder build")
    to_do = f"write signature, docstring and answer of {name}"
    return _written(exercise, file, exists, to_do, partial(with_object, exercise.id, name))


def _hidden_tests(exercise: Exercise, hidden: Path) -> Iterator[Piece]:
    """A hidden test for each group of points."""
    home = hidden / f"test_{_module(exercise).replace('.', '_')}.py"
    tested = _tested_groups(exercise, hidden)
    for group in exercise.groups:
        path, test = tested.get(group, home), partial(with_hidden_test, exercise, group)
        yield _written(exercise, path, group in tested, f"write a hidden test of the group {group}", test, proved=True)


def _answers(course: Course, exercise: Exercise, answers: Path) -> Iterator[Piece]:
    """Known-wrong answers and variants: those there are, and as many skeletons as `verify` wants beside them."""

    def skeleton(kind: str, text: str) -> str:
        references = [find_object(course.source, dotted).text for dotted in exercise.objects]
        return with_answer(exercise.id, kind, references, text)

    for kind, fewest, to_do in (
        (WRONG, course.fewest_wrong, "write a wrong answer; name the file after the mistake"),
        (VARIANTS, course.fewest_variants, "write the right answer in another way; name the file after it"),
    ):
        found = files_of_answers(answers, kind, exercise.id)
        for file in found:
            yield _written(exercise, file, True, to_do, proved=True)
        free = (answers / kind / exercise.id / f"{FRESH}{number}.py" for number in range(1, len(found) + fewest + 1))
        for file in [file for file in free if file not in found][: max(fewest - len(found), 0)]:
            yield _written(exercise, file, False, to_do, partial(skeleton, kind), proved=True)


def _written(
    exercise: Exercise,
    path: Path,
    is_there: bool,
    to_do: str,
    skeleton: Callable[[str], str] | None = None,
    *,
    proved: bool = False,
) -> Piece:
    """A piece that a person writes; `verify` says whether it was done well if it is `proved`, else the build."""
    if is_there and not _is_skeleton(exercise, path):
        return Piece(path)
    command = f"autograder verify {exercise.id}" if proved else "autograder build"
    return Piece(path, "to fill in" if is_there else "missing", to_do, command, skeleton)


def _generated(course: Course, exercise: Exercise) -> Iterator[Piece]:
    """The files that the build makes."""
    catalogue, hints = course.catalogue, course.catalogue.with_name("hints.json")
    listed = {each["id"]: each["points"] for each in _json(catalogue).get("exercises", ())}
    built = {catalogue: listed.get(exercise.id) == exercise.points}
    if not course.is_draft(exercise):
        notebook = course.notebooks / f"{exercise.lesson}.ipynb"
        built[notebook] = f'"{exercise.graded_id}"' in _read(notebook)
        if _hints(course, exercise).parent.is_dir():
            built[hints] = exercise.id in _json(hints).get("hints", ())
    for path, is_there in built.items():
        yield Piece(path) if is_there else Piece(path, "missing", "build the course", "autograder build")


def _records(exercise: Exercise, answers: Path) -> Iterator[Piece]:
    """The files in which `verify` keeps what it found."""
    seen, table = answers / SEEN, answers / "mutants.json"
    recorded = set(_json(seen).get("exercises", {}).get(exercise.id, ()))
    wrong = wrong_answers(answers, exercise.id).keys()
    command = f"autograder verify {exercise.id} --record"
    is_recorded = recorded == wrong and bool(wrong)
    yield Piece(seen) if is_recorded else Piece(seen, "missing", "record what tests see of wrong answers", command)
    if table.is_file() and _json(table).get("exercises", {}).get(exercise.id, {}).get("survivors") != 0:
        to_do = "count small mistakes in the answer; prove the harmless ones in equivalent.toml"
        yield Piece(table, "missing", to_do, f"autograder verify {exercise.id} --mutants --record")
    elif table.is_file():
        yield Piece(table)


def _is_skeleton(exercise: Exercise, path: Path) -> bool:
    return path.is_file() and (path.stem.startswith(FRESH) or mark(exercise.id).encode() in path.read_bytes())


def _module(exercise: Exercise) -> str:
    return exercise.objects[0].rpartition(".")[0]


def _module_file(course: Course, dotted: str) -> Path:
    """The file of the library that holds an object, or is to hold it."""
    try:
        return split_object(course.source, dotted)[0]
    except FileNotFoundError as error:
        file = course.source.joinpath(*dotted.split(".")[:-1]).with_suffix(".py")
        if not file.parent.is_dir():
            raise CourseError(f"{dotted}: there is no folder {file.parent}; make it or correct the name") from error
        return file


def _checks(course: Course, exercise: Exercise) -> Path:
    """The file that holds visible checks of an exercise; its module's own if none does yet."""
    folder = course.source / "checks"
    there = (file for file in sorted(folder.glob("*.py")) if _has_check(exercise, file))
    return next(there, folder / f"{_module(exercise).replace('.', '_')}.py")


def _has_check(exercise: Exercise, file: Path) -> bool:
    return re.search(rf'@visible\(\s*"{re.escape(exercise.id)}"', _read(file)) is not None


def _hints(course: Course, exercise: Exercise) -> Path:
    return course.directory / "hints" / f"{exercise.lesson}.toml"


def _files_of_tests(exercise: Exercise, hidden: Path) -> list[Path]:
    return [file for file in sorted(hidden.glob("test_*.py")) if f'"{exercise.id}"' in _read(file)]


def _tested_groups(exercise: Exercise, hidden: Path) -> Mapping[str, Path]:
    """The groups of an exercise that hidden tests grade, each with a file that holds such a test."""
    found: dict[str, Path] = {}
    for file in _files_of_tests(exercise, hidden):
        body = _python(file).body
        named = [node.targets[0] for node in body if isinstance(node, ast.Assign) and _mentions(node, exercise.id)]
        names = {exercise.id, *(target.id for target in named if isinstance(target, ast.Name))}
        marks = [each for node in body if isinstance(node, ast.FunctionDef) for each in node.decorator_list]
        for call in marks:
            if isinstance(call, ast.Call) and any(_mentions(call, name) for name in names):
                found |= {ast.literal_eval(each.value): file for each in call.keywords if each.arg == "group"}
    return found


def _mentions(node: ast.AST, name: str) -> bool:
    """Return whether a piece of code holds a text, or a variable of that name."""
    return any(name in (getattr(each, "value", None), getattr(each, "id", None)) for each in ast.walk(node))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else ""
    except UnicodeDecodeError as error:
        raise CourseError(f"{path.name}: is not text in UTF-8; save it as UTF-8") from error


def _python(path: Path) -> ast.Module:
    try:
        return ast.parse(_read(path))
    except SyntaxError as error:
        raise CourseError(f"{path.name}: line {error.lineno} is not Python ({error.msg}); correct it") from error


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(_read(path))
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path.name}: is not TOML: {error}; correct that place") from error


def _json(path: Path) -> Mapping[str, Any]:
    try:
        content: Mapping[str, Any] = json.loads(_read(path) or "{}")
    except ValueError as error:
        raise CourseError(f"{path.name}: is not JSON ({error}); build the course again") from error
    return content


def _short(course: Course, path: Path) -> str:
    root = course.directory.parent
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name
