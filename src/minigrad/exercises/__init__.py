"""The exercises of the course, and the one way in which a student's answers enter the library.

`install` puts objects in the place of the library's own, for every caller: `check` uses it for one exercise, `use` for
all that a student has done, and a grader for the exercise that it grades.
"""

from __future__ import annotations

import difflib
import dis
import importlib
import itertools
import json
import linecache
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from minigrad.errors import ExerciseNotDone, MinigradError, MissingPath, UnknownExercise
from minigrad.exercises.installing import Installation, install, installed, reference, take_out, written_by_student
from minigrad.exercises.marker import exercise_of
from minigrad.exercises.reading import answer_cells, is_reading, left_out, namespace_of, run_answer
from minigrad.standing_aside import is_cut, on_change

__all__ = [
    "Exercise",
    "Installation",
    "answer_cells",
    "catalogue",
    "collect",
    "exercise_of",
    "folder_here",
    "get",
    "install",
    "installed",
    "left_out",
    "lessons_before",
    "namespace_of",
    "needs",
    "on_change",
    "placed_in",
    "reference",
    "run_answer",
    "stand_in",
    "standing_in",
    "use",
]

_MISSING: Any = object()
_STUBS = "__minigrad_stubs__"
"""The name under which a namespace keeps the stubs that `use` has put the library's functions in the place of."""


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes:
        id: Its name, for example ``"autodiff.chain_rule"``.
        lesson: The lesson that places it, for example ``"02_chain_rule"``.
        objects: What the student writes: dotted names inside ``minigrad``.
        points: The points that a grader gives for it.
        uses: Packages that it cannot be run without, for example ``"numba"``.
        draft: Whether its lesson is still being written.

    >>> minigrad.exercises.get("autodiff.backpropagate").objects
    ('autodiff.backpropagate',)
    """

    id: str
    lesson: str
    objects: tuple[str, ...]
    points: float
    uses: tuple[str, ...] = ()
    draft: bool = False


@cache
def catalogue() -> Mapping[str, Exercise]:
    """Return all exercises by id, in the order of the course.

    >>> list(minigrad.exercises.catalogue())[0]
    'operators.arithmetic'
    """
    course = json.loads((Path(__file__).parents[1] / "course.json").read_text(encoding="utf-8"))
    return {each["id"]: _exercise(each) for each in course["exercises"]}


def _exercise(each: Mapping[str, Any]) -> Exercise:
    uses, draft = tuple(each.get("uses", ())), bool(each.get("draft"))
    return Exercise(each["id"], each["lesson"], tuple(each["objects"]), float(each["points"]), uses, draft)


def get(id: str) -> Exercise:
    """Return the exercise with that id.

    Raises:
        UnknownExercise: If there is none; the message names ids that look alike.

    >>> minigrad.exercises.get("autodiff.chain_rule").lesson
    '02_chain_rule'
    """
    known = catalogue()
    if callable(id):
        raise UnknownExercise(f"an exercise is named by a text: write {_named_like(id)}, with the quotes")
    if not isinstance(id, str):
        raise UnknownExercise(f"there is no exercise {id!r}; one is named by a text, such as 'autodiff.chain_rule'")
    if id not in known:
        near = difflib.get_close_matches(str(id), known, n=3, cutoff=0.4)
        meant = f"did you mean {' or '.join(near)}?" if near else f"the exercises are {', '.join(known)}"
        raise UnknownExercise(f"there is no exercise {id!r}; {meant}")
    return known[id]


def _named_like(function: Any) -> str:
    """Return the ids, as Python writes them, of the exercises that ask for a function of that name."""
    name = getattr(function, "__name__", "")
    asked = (each for each in catalogue().values() if any(o.rpartition(".")[2] == name for o in each.objects))
    return " or ".join(f'"{each.id}"' for each in asked) or '"autodiff.chain_rule", for example'


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
    found = {name: _written(name, namespace) for name in get(id).objects}
    if any(value is _MISSING for value in found.values()):
        raise ExerciseNotDone(id)
    return found


def missing(id: str, namespace: Mapping[str, Any]) -> list[str]:
    """Return the names that an exercise asks for and a namespace does not define.

    >>> minigrad.exercises.missing("autodiff.chain_rule", {})
    ['chain_rule']
    """
    return [name.rpartition(".")[2] for name in get(id).objects if _written(name, namespace) is _MISSING]


def _written(name: str, namespace: Mapping[str, Any]) -> Any:
    """Return what the student wrote under a name, not what they imported from here."""
    value = namespace.get(name.rpartition(".")[2], _MISSING)
    if isinstance(value, type) and written_by_student.get(value, (value, None))[1] is namespace:
        return written_by_student[value][0]
    if _is_ours(value):
        return namespace.get(_STUBS, {}).get(name.rpartition(".")[2], _MISSING)
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
        if any(map(_is_unfinished, collect(id, here).values())):
            raise ExerciseNotDone(id)


def _is_ours(value: Any) -> bool:
    """Return whether an object comes from this library, imported rather than written by the student.

    A function that the library's functions make, as in ``negList = map(neg)``, is the student's.
    """
    is_made = "<locals>" in str(getattr(value, "__qualname__", ""))
    return not is_made and str(getattr(value, "__module__", "")).split(".")[0] == "minigrad"


# --- a student's work, from this notebook and its siblings --------------------------------------------------

_in_use: list[Installation] = []
"""What the last `use` installed."""


def use(*paths: str | os.PathLike[str], namespace: Mapping[str, Any] | None = None) -> None:
    """Install everything that the student has written so far, for good, and print a line for each exercise.

    Looks into the running notebook first, then into notebooks. Exercises that are not done keep the library's own
    body, where this edition has one. What an earlier call installed goes first: an answer that has become a stub
    again is no longer used.

    Args:
        *paths: Folders with notebooks, or notebooks. If none is given: the current folder (or `my-notebooks` in it, if
            only that has lessons), then the lessons in the folders beside it, since a course hands out each assignment
            in a folder of its own.
        namespace: Where the running notebook keeps its names; found by itself in Jupyter.
    """
    # A grader decides by itself what is installed; and a cell that is read for its answers may hold this very call.
    if os.environ.get("MINIGRAD_SANDBOX") or is_reading():
        return
    taken: dict[str, str] = {}
    here = _running_namespace() if namespace is None else namespace
    read = [here]
    found = [(notebook.name, notebook) for notebook in _notebooks_in(paths or [folder_here()])]
    if not paths:
        found += [(f"{notebook.parent.name}/{notebook.name}", notebook) for notebook in _lessons_beside(Path())]
    take_out(_in_use)
    _in_use.clear()
    _take("this notebook", here, taken)
    for origin, notebook in found:
        try:
            read.append(namespace_of(notebook))
            _take(origin, read[-1], taken)
        except MinigradError as error:  # one broken file in a folder does not cost the others
            print(f"left out: {error}")
    for names in read:
        _fill_stubs(names, taken)
    for exercise in catalogue().values():
        if exercise.draft and exercise.id not in taken:  # nobody has a lesson to do it in
            continue
        state = f"yours, from {taken[exercise.id]}" if exercise.id in taken else _state(exercise)
        print(f"{exercise.id:40} {state}")


def _state(exercise: Exercise) -> str:
    return "missing" if _is_cut(exercise) else "reference"


def _take(origin: str, namespace: Mapping[str, Any], taken: dict[str, str]) -> None:
    """Install what a notebook has of what none before it had.

    At once, before the next notebook runs: what that one imports from the library is then the student's.
    """
    for exercise in catalogue().values():
        objects = _first_done(exercise.id, [(origin, namespace)])[1] if exercise.id not in taken else None
        if not objects:
            continue
        try:
            _in_use.append(install(objects))
        except TypeError as error:  # a function where a class belongs
            print(f"left out: {origin}: {error}")
        else:
            taken[exercise.id] = origin


def _fill_stubs(namespace: Mapping[str, Any], taken: Mapping[str, str]) -> None:
    """Let the names of functions that are still stubs mean the library's functions, as the table says.

    A student's `backpropagate` calls `topological_sort` by the name that its own notebook has for it. Classes stay:
    half of one may be written. A name that was imported means what is installed now, too.
    """
    for exercise in catalogue().values():
        for name in exercise.objects:
            module, _, attribute = name.rpartition(".")
            value = namespace.get(attribute)
            filled = _is_ours(value) and attribute in namespace.get(_STUBS, {})
            old = filled or _was_installed(value, namespace) or (_is_stub(value) and exercise.id not in taken)
            if old and not _is_of_another(exercise.id, value) and isinstance(namespace, MutableMapping):
                if _is_stub(value):
                    namespace.setdefault(_STUBS, {})[attribute] = value
                namespace[attribute] = getattr(importlib.import_module(f"minigrad.{module}"), attribute)


def _is_stub(value: Any) -> bool:
    """Return whether a function does nothing but say that it is not implemented."""
    if not isinstance(value, FunctionType) or value.__code__.co_names != ("NotImplementedError",):
        return False
    return not any("JUMP" in each.opname or "FAST" in each.opname for each in dis.get_instructions(value))


def _is_unfinished(value: Any) -> bool:
    """Return whether a function, or a method of a class, is a stub or still contains the stub's line."""
    return _is_stub(value) or gives_up(value)


def gives_up(value: Any) -> bool:
    """Return whether code, or that of a function or class, can reach the stub's ``raise NotImplementedError()``.

    An error that gives a reason is the student's own, and what stands behind a ``return`` is out of reach.
    """
    return any(map(_raises_the_stub, _codes(value)))


def _raises_the_stub(code: CodeType) -> bool:
    if "NotImplementedError" not in code.co_names:
        return False
    # Without the steps of a call that has no arguments, the exception is raised right after its name is looked up.
    steps = [
        each
        for each in dis.get_instructions(code)
        if each.opname not in ("PRECALL", "PUSH_NULL", "EXTENDED_ARG") and (each.opname, each.arg) != ("CALL", 0)
    ]
    return any(
        name.argval == "NotImplementedError" and (then.opname, then.arg) == ("RAISE_VARARGS", 1)
        for name, then in itertools.pairwise(steps)
    )


def _was_installed(value: Any, namespace: Mapping[str, Any]) -> bool:
    """Return whether a function was read from another notebook: imported after that notebook was installed."""
    scope = getattr(getattr(value, "__wrapped__", value), "__globals__", namespace)
    return scope is not namespace and any(", answer " in code.co_filename for code in _codes(value))


def folder_here() -> Path:
    """Return the current folder, or the student's folder in it if only that has lessons."""
    from minigrad.working_folder.starting import DEFAULT, lessons_in

    return Path(DEFAULT) if lessons_in(Path(DEFAULT)) and not lessons_in(Path()) else Path()


def _notebooks_in(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the notebooks that were named, and those in the folders that were named."""
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise MissingPath(f"use: there is no {str(path)!r}; give a folder with notebooks, or a notebook")
        found += [path] if path.is_file() else sorted(path.glob("*.ipynb"))
    return found


def _lessons_beside(folder: Path) -> list[Path]:
    """Return the lessons' notebooks, known by their names, in the folders beside a folder."""
    here = folder.resolve()
    lessons = {exercise.lesson for exercise in catalogue().values()}
    found = [path for lesson in sorted(lessons) for path in here.parent.glob(f"*/{lesson}.ipynb")]
    return sorted(path for path in found if path.parent.resolve() != here)  # a link may lead back here


def _running_namespace() -> Mapping[str, Any]:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell.user_ns if shell else {}


def placed_in(notebook: Path) -> list[str]:
    """Return the ids of the exercises that have a cell in a notebook."""
    return [id for source in answer_cells(notebook) if (id := exercise_of(source)) in catalogue()]


def _first_done(id: str, sources: list[tuple[str, Mapping[str, Any]]]) -> tuple[str, dict[str, Any] | None]:
    for origin, namespace in sources:
        try:
            objects = collect(id, namespace)
        except ExerciseNotDone:
            continue
        # A number that a notebook happens to call `gradient` is no answer.
        written = all(
            callable(value) and not _is_of_another(id, value) and not _was_installed(value, namespace)
            for value in objects.values()
        )
        if written and not any(map(_is_unfinished, objects.values())):
            return origin, objects
    return "", None


def standing_in(id: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers of a notebook that the library around an exercise needs, because it lacks its own.

    A class's edition leaves the answers of a whole lesson out. What a notebook has of them stands in when a later
    exercise of the lesson is looked at, whether or not `use` was called in between.

    Args:
        id: The exercise that is looked at.
        namespace: The notebook's names.
    """
    objects: dict[str, Any] = {}
    for exercise in catalogue().values():
        found = _first_done(exercise.id, [("", namespace)])[1] if exercise.id != id else None
        if found and _is_cut(exercise):
            objects |= found
    return objects


def lessons_before(notebook: Path) -> list[Path]:
    """Return the student's lessons that a notebook stands on where this edition leaves answers to them out.

    They lie in its own folder, or in the folders beside it. A notebook that is no lesson may stand on all.
    """
    lessons = list(dict.fromkeys(exercise.lesson for exercise in catalogue().values()))
    if notebook.stem in lessons:
        del lessons[lessons.index(notebook.stem) :]
    if not any(exercise.lesson in lessons and _is_cut(exercise) for exercise in catalogue().values()):
        return []
    here = notebook.resolve().parent
    places = [*(here / f"{lesson}.ipynb" for lesson in lessons), *_lessons_beside(here)]
    found = [path for path in places if path.stem in lessons and path.is_file()]
    return sorted(found, key=lambda path: lessons.index(path.stem))


def stand_in(namespace: Mapping[str, Any]) -> None:
    """Install for good what a notebook has of the answers that this edition leaves out, and say nothing."""
    done = {id: objects for id in catalogue() if (objects := _first_done(id, [("", namespace)])[1])}
    for id, objects in done.items():
        if _is_cut(get(id)):
            with suppress(TypeError):  # a class where a function belongs: that lesson's own check says so
                install(objects)
    _fill_stubs(namespace, dict.fromkeys(done, ""))


def _is_cut(exercise: Exercise) -> bool:
    """Return whether this edition of the library omits the answer."""
    modules = {name: importlib.import_module(f"minigrad.{name.rpartition('.')[0]}") for name in exercise.objects}
    return any(is_cut(getattr(module, name.rpartition(".")[2])) for name, module in modules.items())


def _is_of_another(id: str, value: Any) -> bool:
    """Return whether an object stands in the cell of another exercise: several lessons ask for ``tensor_map``."""
    for code in _codes(value):
        named = exercise_of("".join(linecache.getlines(code.co_filename)))
        return named in catalogue() and named != id
    return False


def _codes(value: Any) -> Iterator[CodeType]:
    """Yield the code of a function, compiled or not, or of a class's methods, and of all functions inside."""
    if isinstance(value, type):
        for member in vars(value).values():
            yield from _codes(getattr(member, "__func__", member))
        return
    code = value if isinstance(value, CodeType) else getattr(getattr(value, "__wrapped__", value), "__code__", None)
    if isinstance(code, CodeType):
        yield code
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from _codes(constant)
