"""Answers that the library gives: those to exercises that the folder's path leaves out, where this edition has them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, MutableMapping
from typing import Any

from minigrad.exercises import paths, syllabus
from minigrad.exercises.stubs import KEPT, is_unfinished
from minigrad.exercises.syllabus import Exercise
from minigrad.machine.overrides import is_cut, is_ours


def give(id: str, namespace: Mapping[str, Any]) -> bool:
    """Let a notebook's stubs of an exercise mean the library's objects, if its path leaves the exercise out.

    An answer that is begun stays.

    Returns:
        Whether the notebook has the library's objects now.

    Raises:
        ImportError: If the library's module cannot be used here.
    """
    path = paths.chosen()
    if path is None or id in path.exercises or not isinstance(namespace, MutableMapping):
        return False
    exercise = syllabus.get(id)
    if without_answer(exercise):
        return False
    names = [dotted.rpartition(".")[2] for dotted in exercise.objects]
    # What is begun may be in the library already: a lesson puts its reader's answers there before each cell.
    if any(name in namespace and not is_ours(namespace[name]) and not is_unfinished(namespace[name]) for name in names):
        return False
    theirs = {dotted.rpartition(".")[2]: library_object(dotted) for dotted in exercise.objects}
    lacking = [name for name, value in theirs.items() if namespace.get(name) is not value]
    if any(name not in namespace or not is_unfinished(namespace[name]) for name in lacking):
        return False
    for name in lacking:
        put_in_place(namespace, name, theirs[name])
    return True


def put_in_place(namespace: MutableMapping[str, Any], name: str, theirs: Any) -> None:
    """Let a notebook's name mean the library's object, and keep the stub that it meant."""
    if not is_ours(namespace[name]) and is_unfinished(namespace[name]):
        namespace.setdefault(KEPT, {})[name] = namespace[name]
    namespace[name] = theirs


def library_object(dotted: str) -> Any:
    """Return the library's object of a name, ``"operators.add"``.

    Raises:
        ImportError: If its module cannot be used here, as that of a kernel without a compiler.
    """
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(f"minigrad.{module}"), name)


def without_answer(exercise: Exercise) -> bool:
    """Return whether this edition of the library leaves an answer out; not of modules that cannot run here."""
    try:
        return any(is_cut(library_object(dotted)) for dotted in exercise.objects)
    except ImportError:
        return False
