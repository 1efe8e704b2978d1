"""Students' answers go into the library: by `minigrad.use` all of them, here and in sibling notebooks.

`needs_installed` does it for single exercises of the running notebook, where a cell builds on them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from minigrad.errors import ExerciseNotDone, MinigradError
from minigrad.exercises import paths, syllabus
from minigrad.exercises.collecting import collect, done_in
from minigrad.exercises.given import give, library_object, without_answer
from minigrad.exercises.installing import Installation, install, installed, take_out
from minigrad.exercises.lesson_files import folder_here, lessons_beside, notebooks_in
from minigrad.exercises.reading import is_reading, namespace_of
from minigrad.exercises.standing_in import fill_stubs
from minigrad.exercises.stubs import is_unfinished
from minigrad.exercises.syllabus import Exercise
from minigrad.exercises.telling import Told, told

NAMED = 2
"""So many exercises of a lesson that are not the student's are named, and the others counted."""

MISSING = (
    "missing: not written yet, and your course's library has no answer of its own; what needs it works once you have "
    "written it"
)
_said_missing = False

_in_use: list[Installation] = []
"""The installations that the last `use` made, and `needs_installed` since then."""

_needed: dict[str, tuple[dict[str, Any], Installation]] = {}
"""The answers that `needs_installed` has put in since the last `use`, by exercise."""


def use(*paths: str | os.PathLike[str], namespace: Mapping[str, Any] | None = None, verbose: bool = False) -> None:
    """Install everything that the student has written so far, for good, and print a line for each lesson.

    Looks into the running notebook first, then into notebooks. An answer is taken as it is, right or wrong: only
    `check` tells. Exercises that are not done keep the library's own body, where this edition has one. What an
    earlier call installed goes first: an answer that has become a stub again is no longer used.

    Args:
        *paths: Folders with notebooks, or notebooks. If none is given: the current folder (or the student's folder in
            it, if only that has lessons), then the lessons in the folders beside it, since a course hands out each
            assignment in a folder of its own.
        namespace: Where the running notebook keeps its names; found by itself in Jupyter.
        verbose: Whether to print a line for each exercise instead.
    """
    # A grader decides by itself what is installed; and a cell that is read for its answers may hold this very call.
    if os.environ.get("MINIGRAD_SANDBOX") or is_reading():
        return
    taken: dict[str, str] = {}
    here = _running_namespace() if namespace is None else namespace
    read = [here]
    found = [(notebook.name, notebook) for notebook in notebooks_in(paths or [folder_here()])]
    if not paths:
        found += [(f"{notebook.parent.name}/{notebook.name}", notebook) for notebook in lessons_beside(folder_here())]
    take_out(_in_use)
    _in_use.clear()
    _needed.clear()
    _take("this notebook", here, taken)
    for origin, notebook in found:
        try:
            read.append(namespace_of(notebook))
            _take(origin, read[-1], taken)
        except MinigradError as error:  # one broken file in a folder does not cost the others
            print(told(f"left out: {error}"))
    _let_compiled_loops_compute(taken)
    for names in read:
        fill_stubs(names, taken)
    # An exercise of a draft has no lesson to do it in.
    shown = [each for each in syllabus.catalogue().values() if each.id in taken or not each.draft]
    states = {each.id: f"yours, from {taken[each.id]}" if each.id in taken else _state(each) for each in shown}
    lines = [f"{id:40} {told(state)}" for id, state in states.items()] if verbose else _by_lesson(shown, states)
    print("\n".join([*lines, *map(told, _explained(states))]))


def _let_compiled_loops_compute(taken: Mapping[str, str]) -> None:
    """Install the library's compiled loops for a student who has done what a path asks for before them, and not them.

    With a student's operators or strides, but not their compiled loops, Python's loops compute: a step of a small
    network takes 31 ms instead of 6. In the whole course the student has written compiled loops by then.
    """
    path, order = paths.chosen(), list(syllabus.catalogue())
    loops = [each for each in syllabus.catalogue().values() if each.objects[0].startswith("fast_ops.")]
    if path is None or not loops or any(each.id in path.exercises for each in loops):
        return
    before = [id for id in path.exercises if order.index(id) < order.index(loops[0].id)]
    if before and all(id in taken for id in before):
        for each in loops:
            if each.id not in taken and not without_answer(each):
                with suppress(ImportError):  # without a compiler
                    _in_use.append(install({dotted: library_object(dotted) for dotted in each.objects}))


def needs_installed(*ids: str) -> None:
    """Put the running notebook's answers to some exercises into the library, as they are now; say if one is to do.

    Lessons whose cells go through the library's modules, as in ``dual.jvp(f, ...)``, import it under the name of
    `needs`. So such a cell runs what its reader wrote, also in a class's edition, where the library has no answer.

    Args:
        *ids: The exercises whose answers the caller's namespace must hold.

    Raises:
        ExerciseNotDone: If one of them is missing, or still the stub.
    """
    here = sys._getframe(1).f_globals
    for id in ids:
        objects = collect(id, here)
        if any(map(is_unfinished, objects.values())):
            if give(id, here):
                continue
            raise ExerciseNotDone(id)
        put_in(id, objects)


def put_in(id: str, objects: dict[str, Any]) -> None:
    """Put the running notebook's answer to an exercise into the library, in the place of an earlier one."""
    if os.environ.get("MINIGRAD_SANDBOX") or is_reading() or _needed.get(id, ({},))[0] == objects:
        return
    take_back(id)
    _needed[id] = objects, install(objects)
    _in_use.append(_needed[id][1])


def take_back(id: str) -> None:
    """Take out of the library what `put_in` has put there for an exercise, if it has."""
    if id in _needed:
        _, installation = _needed.pop(id)
        take_out([installation])
        _in_use.remove(installation)


def _explained(states: Mapping[str, str]) -> list[str]:
    """Return the line that says what "missing" means, the first time that something is."""
    global _said_missing
    if _said_missing or "missing" not in states.values():
        return []
    _said_missing = True
    return [MISSING]


def _state(exercise: Exercise) -> str:
    state: Told = "missing" if without_answer(exercise) else "reference"
    return state


def _by_lesson(shown: Sequence[Exercise], states: Mapping[str, str]) -> list[str]:
    """Return a line for each lesson: how many exercises are the student's, and which are not.

    Lessons one behind the other of which nothing is, for one reason, share a line.
    """
    groups: list[tuple[list[str], list[Exercise], str]] = []
    for lesson in dict.fromkeys(each.lesson for each in shown):
        mine = [each for each in shown if each.lesson == lesson]
        kinds = {states[each.id].partition(",")[0] for each in mine}
        kind = kinds.pop() if len(kinds) == 1 else ""
        if groups and kind in ("reference", "missing") and groups[-1][2] == kind:
            groups[-1][0].append(lesson)
            groups[-1][1].extend(mine)
        else:
            groups.append(([lesson], mine, kind))
    lines = [_line(lessons, mine, states, kind) for lessons, mine, kind in groups]
    return [*lines, told("minigrad.use(verbose=True) names every exercise")]


def _line(lessons: Sequence[str], mine: Sequence[Exercise], states: Mapping[str, str], kind: str) -> str:
    rest = {state: [each.id for each in mine if states[each.id] == state] for state in ("missing", "reference")}
    count = len(mine) - sum(map(len, rest.values()))
    beside = {states[each.id].rpartition("/")[0].removeprefix("yours, from ") for each in mine} - {""}
    parts = [f"{count:2} of {len(mine)} yours", *(f"in {folder}" for folder in sorted(beside))]
    for state, ids in rest.items():
        named = told("all") if kind else ", ".join(ids[:NAMED])
        more = f" and {len(ids) - NAMED} more" if ids[NAMED:] and not kind else ""
        parts += [f"{'missing' if state == 'missing' else 'reference'}: {named}{more}"] if ids else []
    which = told(f"{lessons[0]} to {lessons[-1]}") if lessons[1:] else lessons[0]
    return f"{which:44} {', '.join(map(told, parts))}"


def _take(origin: str, namespace: Mapping[str, Any], taken: dict[str, str]) -> None:
    """Install what a notebook has of what none before it had.

    At once, before the next notebook runs: what that one imports from the library is then the student's.
    """
    for exercise in syllabus.catalogue().values():
        objects = done_in(exercise.id, namespace) if exercise.id not in taken else None
        if not objects:
            continue
        try:
            _in_use.append(install(objects))
        except (TypeError, ImportError) as error:  # a function where a class belongs; a kernel without a compiler
            print(told(f"left out: {origin}: {error}"))
        else:
            taken[exercise.id] = origin


def _running_namespace() -> Mapping[str, Any]:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell.user_ns if shell else {}


def written(until: str | None = None) -> dict[str, list[tuple[str, bool]]]:
    """Return what a student is asked to write, and what of it the library has as theirs: for `draw.library`.

    Args:
        until: The last lesson that counts, such as "03_backprop". None takes all.

    Returns:
        For each lesson its functions, with whether `use` has put the student's own into the library.

    Raises:
        ValueError: If there is no such lesson.

    >>> minigrad.exercises.written("00_fundamentals")["00 fundamentals"][0]
    ('add', False)
    """
    catalogue = syllabus.catalogue().values()
    lessons = list(dict.fromkeys(each.lesson for each in catalogue))
    if until is not None and until not in lessons:
        raise ValueError(f"exercises.written: there is no lesson {until!r}; the lessons are {', '.join(lessons)}")
    there = set(installed())
    found: dict[str, list[tuple[str, bool]]] = {}
    for lesson in lessons if until is None else lessons[: lessons.index(until) + 1]:
        names = [name for each in catalogue if each.lesson == lesson for name in each.objects]
        found[lesson.replace("_", " ")] = [(name.rpartition(".")[2], name in there) for name in names]
    return found
