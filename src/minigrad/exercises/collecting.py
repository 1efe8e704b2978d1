"""The answers of a namespace: the objects that a student wrote for an exercise, and not what was imported."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

from minigrad.errors import ExerciseNotDone
from minigrad.exercises import syllabus
from minigrad.exercises.given import give
from minigrad.exercises.installing import written_by_student
from minigrad.exercises.marker import exercise_of
from minigrad.exercises.reading import answer_cells
from minigrad.exercises.stubs import KEPT, codes, is_unfinished
from minigrad.machine.overrides import is_ours

_MISSING: Any = object()


def collect(id: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Take the objects of an exercise from a namespace, for example a notebook's ``globals()``.

    Returns:
        The objects by dotted name, as `install` takes them.

    Raises:
        ExerciseNotDone: If one of them is not defined there.

    >>> def chain_rule(variable, d_output):
    ...     ...
    ...
    >>> list(minigrad.exercises.collect("autodiff.chain_rule", {"chain_rule": chain_rule}))
    ['autodiff.chain_rule']
    """
    found = there(id, namespace)
    if len(found) < len(syllabus.get(id).objects):
        raise ExerciseNotDone(id)
    return found


def there(id: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Take those objects of an exercise from a namespace that are defined there, in the form of `collect`.

    >>> sorted(minigrad.exercises.there("operators.folds", {"sum": sum, "total": sum}))
    ['operators.sum']
    """
    found = {name: _written(name, namespace) for name in syllabus.get(id).objects}
    return {name: value for name, value in found.items() if value is not _MISSING}


def missing(id: str, namespace: Mapping[str, Any]) -> list[str]:
    """Return the names that an exercise asks for and a namespace does not define.

    >>> minigrad.exercises.missing("autodiff.chain_rule", {})
    ['chain_rule']
    """
    return [name.rpartition(".")[2] for name in syllabus.get(id).objects if _written(name, namespace) is _MISSING]


def _written(name: str, namespace: Mapping[str, Any]) -> Any:
    """Return what the student wrote under a name, not what they imported from here."""
    value = namespace.get(name.rpartition(".")[2], _MISSING)
    if isinstance(value, type) and written_by_student.get(value, (value, None))[1] is namespace:
        return written_by_student[value][0]
    if is_ours(value):
        return namespace.get(KEPT, {}).get(name.rpartition(".")[2], _MISSING)
    return value


def needs(*ids: str) -> None:
    """Say in one line which exercise is still to do, where a cell builds on what the notebook's reader writes.

    Args:
        *ids: The exercises whose answers the caller's namespace must hold.

    Raises:
        ExerciseNotDone: If one of them is missing, or still the stub.
    """
    here = sys._getframe(1).f_globals
    for id in ids:
        if any(map(is_unfinished, collect(id, here).values())) and not give(id, here):
            raise ExerciseNotDone(id)


def placed_in(notebook: Path) -> list[str]:
    """Return the ids of the exercises that have a cell in a notebook."""
    return [id for source in answer_cells(notebook) if (id := exercise_of(source)) in syllabus.catalogue()]


def done_in(id: str, namespace: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an exercise's objects if a namespace has them all, written there and finished; None if not."""
    try:
        objects = collect(id, namespace)
    except ExerciseNotDone:
        return None
    for value in objects.values():
        # A number that a notebook happens to call `gradient` is no answer.
        if not callable(value) or is_of_another(id, value) or was_installed(value, namespace) or is_unfinished(value):
            return None
        if _is_example(id, value, namespace):
            return None
    return objects


def was_installed(value: Any, namespace: Mapping[str, Any]) -> bool:
    """Return whether a function was read from another notebook: it came by an import, once that one was installed."""
    scope = getattr(getattr(value, "__wrapped__", value), "__globals__", namespace)
    return scope is not namespace and any(", answer " in code.co_filename for code in codes(value))


def _is_example(id: str, value: Any, namespace: Mapping[str, Any]) -> bool:
    """Return whether an object comes of a cell without a first line, in a notebook that answers another lesson.

    An example of lesson 11b defines a `softmax`, which is no answer to lesson 09.
    """
    texts = _cells_of(value)
    if not any(texts) or any(map(exercise_of, texts)):
        return False
    known = [*namespace.values(), *namespace.get(KEPT, {}).values()]  # those, too, that a path leaves out
    own = [each for each in known if isinstance(each, FunctionType | type) and not is_ours(each)]
    marked = {exercise_of(text) for each in own for text in _cells_of(each)} & syllabus.catalogue().keys()
    return bool(marked) and syllabus.get(id).lesson not in {syllabus.get(each).lesson for each in marked}


def _cells_of(value: Any) -> list[str]:
    """The texts of the cells that define an object, as far as they are known."""
    return ["".join(linecache.getlines(name)) for name in dict.fromkeys(code.co_filename for code in codes(value))]


def is_of_another(id: str, value: Any) -> bool:
    """Return whether an object is an answer to another exercise that asks for the same name, as for ``tensor_map``.

    What a function of another exercise's cell has made, as in ``prod = reduce(mul, 1)``, is no answer to that one.
    """
    for text in _cells_of(value):
        named = exercise_of(text)
        if named == id or named not in syllabus.catalogue():
            return False
        asked, others = ({name.rpartition(".")[2] for name in syllabus.get(each).objects} for each in (id, named))
        return not asked.isdisjoint(others)
    return False
