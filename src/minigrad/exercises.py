"""The exercises of the course, and the one way in which a student's answers enter the library.

`install` puts objects in the place of the library's own, for every caller: functions are looked up through their
module, the members of classes on the class. `check` uses it for one exercise, `use` for all that a student has done,
and a grader for the exercise that it grades.
"""

from __future__ import annotations

import difflib
import importlib
import json
import linecache
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CellType, CodeType, FunctionType, TracebackType
from typing import Any

from minigrad import standing_aside
from minigrad.errors import ExerciseNotDone, MinigradError, UnknownExercise
from minigrad.standing_aside import on_change

__all__ = [
    "Exercise",
    "Installation",
    "answer_cells",
    "catalogue",
    "collect",
    "get",
    "install",
    "installed",
    "namespace_of",
    "needs",
    "on_change",
    "placed_in",
    "reference",
    "run_answer",
    "standing_in",
    "use",
]

_MISSING: Any = object()


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
    """

    id: str
    lesson: str
    objects: tuple[str, ...]
    points: float
    uses: tuple[str, ...] = ()
    draft: bool = False


@cache
def catalogue() -> Mapping[str, Exercise]:
    """Return all exercises by id, in the order of the course."""
    course = json.loads((Path(__file__).parent / "course.json").read_text(encoding="utf-8"))
    return {each["id"]: _exercise(each) for each in course["exercises"]}


def _exercise(each: Mapping[str, Any]) -> Exercise:
    uses, draft = tuple(each.get("uses", ())), bool(each.get("draft"))
    return Exercise(each["id"], each["lesson"], tuple(each["objects"]), float(each["points"]), uses, draft)


def get(id: str) -> Exercise:
    """Return the exercise with that id.

    Raises:
        UnknownExercise: If there is none; the message names ids that look alike.
    """
    known = catalogue()
    if id not in known:
        near = difflib.get_close_matches(str(id), known, n=3, cutoff=0.4)
        meant = f"did you mean {' or '.join(near)}?" if near else f"the exercises are {', '.join(known)}"
        raise UnknownExercise(f"there is no exercise {id!r}; {meant}")
    return known[id]


def collect(id: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Take the objects of an exercise from a namespace, for example a notebook's ``globals()``.

    Returns:
        The objects by dotted name, as `install` takes them.

    Raises:
        ExerciseNotDone: If one of them is not defined there.
    """
    found = {name: _written(name, namespace) for name in get(id).objects}
    if any(value is _MISSING for value in found.values()):
        raise ExerciseNotDone(id)
    return found


def missing(id: str, namespace: Mapping[str, Any]) -> list[str]:
    """Return the names that an exercise asks for and a namespace does not define."""
    return [name.rpartition(".")[2] for name in get(id).objects if _written(name, namespace) is _MISSING]


def _written(name: str, namespace: Mapping[str, Any]) -> Any:
    """Return what the student wrote under a name, not what they imported from here."""
    value = namespace.get(name.rpartition(".")[2], _MISSING)
    if isinstance(value, type) and _written_by_student.get(value, (value, None))[1] is namespace:
        return _written_by_student[value][0]
    return _MISSING if _is_ours(value) else value


def needs(*ids: str) -> None:
    """Say in one line which exercise is still to do, where a cell builds on what the notebook's reader writes.

    Args:
        *ids: The exercises whose answers the caller's namespace must hold.

    Raises:
        ExerciseNotDone: If one of them is missing, or still the stub.
    """
    here = sys._getframe(1).f_globals
    for id in ids:
        if any(_mentions(value, "NotImplementedError") for value in collect(id, here).values()):
            raise ExerciseNotDone(id)


def _is_ours(value: Any) -> bool:
    """Whether an object comes from this library, imported rather than written by the student.

    A function that the library's functions make, as in ``negList = map(neg)``, is the student's.
    """
    is_made = "<locals>" in str(getattr(value, "__qualname__", ""))
    return not is_made and str(getattr(value, "__module__", "")).split(".")[0] == "minigrad"


class Installation:
    """Objects put into the library; used as a context manager, it takes them out again at the end."""

    def __init__(self, objects: Mapping[str, Any]) -> None:
        self.names = tuple(objects)
        self._objects = dict(objects)
        self._undo: list[Callable[[], None]] = []
        self._install()

    def _install(self) -> None:
        _fast_path(allowed=False)
        _installed.append(self)
        try:
            for name, value in self._objects.items():
                self._put(name, value)
        except BaseException:
            self.undo()
            raise
        _tell()

    def _put(self, name: str, value: Any) -> None:
        module_name, _, attribute = name.rpartition(".")
        module = importlib.import_module(f"minigrad.{module_name}")
        ours = getattr(module, attribute)
        if isinstance(ours, type):
            if not isinstance(value, type):
                raise TypeError(f"{name} is a class; the object given for it is a {type(value).__name__}")
            self._put_class(ours, value)
        else:
            if not callable(value):
                raise TypeError(f"{name} is a function; the object given for it is a {type(value).__name__}")
            wrap = getattr(ours, "__minigrad_wrap__", None)
            self._set(module, attribute, wrap(value) if wrap else value)

    def _put_class(self, ours: type, theirs: type) -> None:
        members: dict[str, Any] = {}
        for base in reversed(theirs.__mro__):
            if base not in ours.__mro__:  # a base of the student's own
                members.update(vars(base))
        for member, attr in members.items():
            if member not in ("__dict__", "__weakref__", "__module__", "__qualname__", "__doc__"):
                self._set(ours, member, _moved_into(ours, attr))
        for member, attr in list(vars(ours).items()):
            if member not in members and isinstance(attr, FunctionType | staticmethod | classmethod | property):
                self._set(ours, member, _MISSING)  # what the student left out is not there
        self._rename(ours, theirs, members)

    def _rename(self, ours: type, theirs: type, members: Mapping[str, Any]) -> None:
        """Let the class's name mean the library's class where the student's methods look it up."""
        scope = next((m.__globals__ for m in members.values() if isinstance(m, FunctionType)), {})
        if scope.get(theirs.__name__) is theirs:
            scope[theirs.__name__] = ours
            self._undo.append(lambda: scope.update({theirs.__name__: theirs}))
        before = _written_by_student.get(ours, (ours, {}))
        _written_by_student[ours] = theirs, scope
        self._undo.append(lambda: _written_by_student.update({ours: before}))

    def _set(self, owner: Any, attribute: str, value: Any) -> None:
        before = vars(owner).get(attribute, _MISSING)
        if value is _MISSING:
            delattr(owner, attribute)
        else:
            setattr(owner, attribute, value)
        if before is _MISSING:
            self._undo.append(lambda: delattr(owner, attribute))
        else:
            self._undo.append(lambda: setattr(owner, attribute, before))

    def undo(self) -> None:
        """Put back what was there before."""
        while self._undo:
            self._undo.pop()()
        if self in _installed:
            _installed.remove(self)
        _tell()
        if not _installed:
            _fast_path(allowed=True)

    def __enter__(self) -> Installation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo()


_installed: list[Installation] = []
# For each class of ours the one that it has its members from, and the namespace where that was written.
_written_by_student: dict[type, tuple[type, Mapping[str, Any]]] = {}


def _tell() -> None:
    """Let whoever holds something made from an exercise, such as a compiled kernel, know that it is out of date."""
    standing_aside.replaced(name for installation in _installed for name in installation.names)


def _moved_into(owner: type, member: Any) -> Any:
    """Return a method whose ``super()`` looks from the class that it is moved into."""
    if isinstance(member, staticmethod | classmethod):
        return type(member)(_moved_into(owner, member.__func__))
    if isinstance(member, property):
        getter, setter, deleter = (_moved_into(owner, f) for f in (member.fget, member.fset, member.fdel))
        return property(getter, setter, deleter, member.__doc__)
    code = getattr(member, "__code__", None)
    if code is None or "__class__" not in code.co_freevars:
        return member
    cells = zip(code.co_freevars, member.__closure__, strict=True)
    closure = tuple(CellType(owner) if name == "__class__" else cell for name, cell in cells)
    moved = FunctionType(code, member.__globals__, member.__name__, member.__defaults__, closure)
    moved.__kwdefaults__ = member.__kwdefaults__
    return moved


def install(objects: Mapping[str, Any]) -> Installation:
    """Put a student's objects in the place of the library's.

    It takes effect at once and lasts until the returned installation is undone; in a ``with`` statement, until its
    end. The members of a class are set on the library's own class, so that existing objects change too.

    Args:
        objects: By dotted name, for example ``{"autodiff.topological_sort": my_sort}``.
    """
    return Installation(objects)


@contextmanager
def reference() -> Iterator[None]:
    """Take everything that is installed out of the library for the time of a ``with`` block."""
    aside = list(_installed)
    for installation in reversed(aside):
        installation.undo()
    try:
        yield
    finally:
        for installation in aside:
            installation._install()


def installed() -> list[str]:
    """Return the dotted names of everything that is installed now."""
    return sorted({name for installation in _installed for name in installation.names})


def _fast_path(allowed: bool) -> None:
    """Let the quick twins of the engine stand aside while a student's code must be what runs."""
    try:
        from minigrad import fast
    except ImportError:  # an edition without them
        return
    if allowed:
        fast.enable()
    else:
        fast.disable()


# --- a student's work, from this notebook and its siblings --------------------------------------------------


def use(*paths: str | os.PathLike[str], namespace: Mapping[str, Any] | None = None) -> None:
    """Install everything that the student has written so far, for good, and print a line for each exercise.

    Looks into the running notebook first, then into notebooks. Exercises that are not done keep the library's own
    body, where this edition has one.

    Args:
        *paths: Folders with notebooks, or notebooks. If none is given: the current folder, then the lessons in the
            folders beside it, since a course hands out each assignment in a folder of its own.
        namespace: Where the running notebook keeps its names; found by itself in Jupyter.
    """
    if os.environ.get("MINIGRAD_SANDBOX"):  # a grader decides by itself what is installed
        return
    taken: dict[str, str] = {}
    here = _running_namespace() if namespace is None else namespace
    read = [here]
    _take("this notebook", here, taken)
    found = [(notebook.name, notebook) for notebook in _notebooks_in(paths or [Path()])]
    if not paths:
        found += [(f"{notebook.parent.name}/{notebook.name}", notebook) for notebook in _lessons_beside(Path())]
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
        if objects:
            install(objects)
            taken[exercise.id] = origin


def _fill_stubs(namespace: Mapping[str, Any], taken: Mapping[str, str]) -> None:
    """Let the names of functions that are still stubs mean the library's functions, as the table says.

    A student's `backpropagate` calls `topological_sort` by the name that its own notebook has for it. Classes stay:
    half of one may be written.
    """
    for exercise in catalogue().values():
        for name in exercise.objects if exercise.id not in taken else ():
            module, _, attribute = name.rpartition(".")
            value = namespace.get(attribute)
            if _is_stub(value) and not _is_of_another(exercise.id, value) and isinstance(namespace, MutableMapping):
                namespace[attribute] = getattr(importlib.import_module(f"minigrad.{module}"), attribute)


def _is_stub(value: Any) -> bool:
    """Whether a function does nothing but say that it is not implemented."""
    return isinstance(value, FunctionType) and value.__code__.co_names == ("NotImplementedError",)


def _notebooks_in(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the notebooks that were named, and those in the folders that were named."""
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise FileNotFoundError(f"use: there is no {str(path)!r}; give a folder with notebooks, or a notebook")
        found += [path] if path.is_file() else sorted(path.glob("*.ipynb"))
    return found


def _lessons_beside(folder: Path) -> list[Path]:
    """Return the lessons' notebooks, known by their names, in the folders beside a folder."""
    here = folder.resolve()
    lessons = {exercise.lesson for exercise in catalogue().values()}
    found = [path for lesson in sorted(lessons) for path in here.parent.glob(f"*/{lesson}.ipynb")]
    return sorted(path for path in found if path.parent != here)


def _running_namespace() -> Mapping[str, Any]:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell.user_ns if shell else {}


def namespace_of(notebook: Path) -> dict[str, Any]:
    """Run a notebook's imports and answers, and return the names that they define."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(answer_cells(notebook), start=1):
        if left_out := run_answer(notebook.name, number, source, namespace):
            print(left_out)
    return namespace


def run_answer(notebook: str, number: int, source: str, namespace: dict[str, Any]) -> str:
    """Run one cell of a notebook, and return a sentence if it could not be run to its end."""
    name = f"<{notebook}, answer {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)  # for error messages
    try:
        exec(compile(source, name, "exec"), namespace)
    except (Exception, SystemExit) as error:
        return f"{notebook}: a cell was left out: {type(error).__name__}: {error}"
    return ""


def placed_in(notebook: Path) -> list[str]:
    """Return the ids of the exercises that have a cell in a notebook."""
    ids = []
    for source in answer_cells(notebook):
        marker, _, id = source.lstrip().partition("\n")[0].partition(":")
        if marker == "# exercise" and id.strip() in catalogue():
            ids.append(id.strip())
    return ids


def answer_cells(notebook: Path) -> list[str]:
    """Return the text of the cells that answers consist of: tagged ``setup``, or beginning with ``# exercise:``."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = [("".join(c["source"]), c["metadata"].get("tags", ())) for c in cells if c["cell_type"] == "code"]
        answers = [source for source, tags in code if "setup" in tags or source.lstrip().startswith("# exercise:")]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise MinigradError(f"{notebook.name} is not a notebook that can be read") from None
    return [_without_magics(source) for source in answers]


def _without_magics(source: str) -> str:
    return "\n".join(line for line in source.splitlines() if not line.startswith(("%", "!")))


def _first_done(id: str, sources: list[tuple[str, Mapping[str, Any]]]) -> tuple[str, dict[str, Any] | None]:
    for origin, namespace in sources:
        try:
            objects = collect(id, namespace)
        except ExerciseNotDone:
            continue
        # A number that a notebook happens to call `gradient` is no answer.
        written = all(callable(value) and not _is_of_another(id, value) for value in objects.values())
        if written and not any(_mentions(value, "NotImplementedError") for value in objects.values()):
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


def _is_cut(exercise: Exercise) -> bool:
    """Whether this edition of the library leaves the answer out."""
    modules = {name: importlib.import_module(f"minigrad.{name.rpartition('.')[0]}") for name in exercise.objects}
    return any(_mentions(getattr(m, name.rpartition(".")[2]), "ExerciseNotDone") for name, m in modules.items())


def _is_of_another(id: str, value: Any) -> bool:
    """Whether an object stands in the cell of another exercise: ``tensor_map`` is asked for in several lessons."""
    for code in _codes(value):
        marker, _, named = linecache.getline(code.co_filename, 1).partition(":")
        return marker == "# exercise" and named.strip() in catalogue() and named.strip() != id
    return False


def _mentions(value: Any, name: str) -> bool:
    """Whether the code of a function, of a function in it, or of a method of a class, uses a name."""
    return any(name in code.co_names for code in _codes(value))


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
