"""Answers of a student that stand in for those that an edition of the library leaves out.

A class's edition leaves out the answers of a whole lesson. What a notebook has of them is installed when a later
exercise of the lesson is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from minigrad.exercises import syllabus
from minigrad.exercises.collecting import done_in, is_of_another, was_installed
from minigrad.exercises.given import library_object, put_in_place, without_answer
from minigrad.exercises.installing import install
from minigrad.exercises.lesson_files import lessons_beside
from minigrad.exercises.stubs import KEPT, is_stub
from minigrad.machine.overrides import is_ours


def standing_in(id: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers of a notebook that the library around an exercise needs, because it lacks its own.

    A class's edition leaves the answers of a whole lesson out. What a notebook has of them stands in when a later
    exercise of the lesson is looked at, whether or not `use` was called in between.

    Args:
        id: The exercise that is looked at.
        namespace: The notebook's names.
    """
    objects: dict[str, Any] = {}
    for exercise in syllabus.catalogue().values():
        found = done_in(exercise.id, namespace) if exercise.id != id else None
        if found and without_answer(exercise):
            objects |= found
    return objects


def lessons_before(notebook: Path) -> list[Path]:
    """Return the student's lessons that a notebook stands on where this edition leaves answers to them out.

    They lie in its own folder, or in the folders beside it. A notebook that is no lesson may stand on all.
    """
    lessons = list(dict.fromkeys(exercise.lesson for exercise in syllabus.catalogue().values()))
    if notebook.stem in lessons:
        del lessons[lessons.index(notebook.stem) :]
    if not any(exercise.lesson in lessons and without_answer(exercise) for exercise in syllabus.catalogue().values()):
        return []
    here = notebook.resolve().parent
    places = [*(here / f"{lesson}.ipynb" for lesson in lessons), *lessons_beside(here)]
    found = [path for path in places if path.stem in lessons and path.is_file()]
    return sorted(found, key=lambda path: lessons.index(path.stem))


def stand_in(namespace: Mapping[str, Any]) -> None:
    """Install for good what a notebook has of the answers that this edition leaves out, and say nothing."""
    done = {id: objects for id in syllabus.catalogue() if (objects := done_in(id, namespace))}
    for id, objects in done.items():
        if without_answer(syllabus.get(id)):
            with suppress(TypeError):  # a class where a function belongs: that lesson's own check says so
                install(objects)
    fill_stubs(namespace, dict.fromkeys(done, ""))


def fill_stubs(namespace: Mapping[str, Any], taken: Mapping[str, str]) -> None:
    """Let the names of functions that are still stubs mean the library's functions, as the table says.

    A student's `backpropagate` calls `topological_sort` by the name that its own notebook has for it. Classes stay:
    half of one may be written. A name that was imported means what is installed now, too.
    """
    for exercise in syllabus.catalogue().values():
        for name in exercise.objects:
            attribute = name.rpartition(".")[2]
            value = namespace.get(attribute)
            filled = is_ours(value) and attribute in namespace.get(KEPT, {})
            old = filled or was_installed(value, namespace) or (is_stub(value) and exercise.id not in taken)
            asked_for = namespace[KEPT][attribute] if filled else value  # the stub says whose exercise it is
            if not old or is_of_another(exercise.id, asked_for) or not isinstance(namespace, MutableMapping):
                continue
            with suppress(ImportError):  # a kernel's module, where kernels cannot run
                put_in_place(namespace, attribute, library_object(name))
