"""Put a student's objects into the library, in the place of its own, and take them out again.

Functions are looked up through their module, the members of classes on the class, so that every caller gets what is
installed, and objects that exist already change too.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CellType, FunctionType, MemberDescriptorType, TracebackType
from typing import Any

from minigrad.machine import overrides

_MISSING: Any = object()
_changing = threading.RLock()


class Installation:
    """Objects put into the library; used as a context manager, it takes them out again at the end.

    Of installations of one name the last one that is still there holds, in whatever order they are undone.
    """

    undone = False

    def __init__(self, objects: Mapping[str, Any]) -> None:
        self.names = tuple(objects)
        self._objects = dict(objects)
        self._undo: list[Callable[[], None]] = []
        self._install()

    def _install(self) -> None:
        with _changing:
            _installed.append(self)
            try:
                for name, value in self._objects.items():
                    self._put(name, value)
            except BaseException:
                self._lift()
                raise
            _tell()

    def _put(self, name: str, value: Any) -> None:
        module_name, _, attribute = name.rpartition(".")
        module = importlib.import_module(f"minigrad.{module_name}")
        ours = getattr(module, attribute)
        if isinstance(ours, type):
            if not isinstance(value, type):
                raise TypeError(f"{name} is a class; the object given for it is of type {type(value).__name__}")
            self._put_class(ours, value)
        else:
            if not callable(value):
                raise TypeError(f"{name} is a function; the object given for it is of type {type(value).__name__}")
            wrap = getattr(ours, "__minigrad_wrap__", None)
            self._set(module, attribute, wrap(value) if wrap else value)

    def _put_class(self, ours: type, theirs: type) -> None:
        members: dict[str, Any] = {}
        for base in reversed(theirs.__mro__):
            if base not in ours.__mro__:  # a base of the student's own
                members.update(vars(base))
        # A slot is a place in objects of the student's own class: the library's objects have none there.
        members = {name: attr for name, attr in members.items() if not isinstance(attr, MemberDescriptorType)}
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
            self._undo.append(lambda: _put_back(scope, ours, theirs))
        before = written_by_student.get(ours, (ours, {}))
        written_by_student[ours] = theirs, scope
        self._undo.append(lambda: written_by_student.update({ours: before}))

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

    def _lift(self) -> None:
        """Put back what was there before this installation, the last one."""
        while self._undo:
            self._undo.pop()()
        _installed.remove(self)
        _tell()

    def undo(self) -> None:
        """Take the objects out; what others have put in since then stays."""
        take_out([self])

    def __enter__(self) -> Installation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo()


_installed: list[Installation] = []
# For each class of ours the one that it has its members from, and the namespace where that was written.
written_by_student: dict[type, tuple[type, Mapping[str, Any]]] = {}


def _put_back(scope: dict[str, Any], ours: type, theirs: type) -> None:
    """Let a class's name mean the student's class again, unless it has come to mean another since."""
    if scope.get(theirs.__name__) is ours:
        scope[theirs.__name__] = theirs


def _tell() -> None:
    """Report the installed names to `overrides`, whose listeners drop what they made from an exercise."""
    overrides.replaced(name for installation in _installed for name in installation.names)


def _moved_into(owner: type, member: Any, copies: dict[int, Any] | None = None) -> Any:
    """Return a method whose ``super()`` looks from the class that it is moved into, also below decorators.

    The functions from the outermost decorator's down to the method's are copied: the student's class keeps its own.

    Args:
        owner: The class.
        member: A method. Anything else is returned as it is.
        copies: Copies that are begun, by the id of the original: a decorator's function may hold itself.
    """
    copies = {} if copies is None else copies
    if not _asks_for_class(member):
        return member
    if isinstance(member, staticmethod | classmethod):
        return type(member)(_moved_into(owner, member.__func__, copies))
    if isinstance(member, property):
        getter, setter, deleter = (_moved_into(owner, f, copies) for f in (member.fget, member.fset, member.fdel))
        return property(getter, setter, deleter, member.__doc__)
    if id(member) not in copies:
        cells = dict(zip(member.__code__.co_freevars, member.__closure__, strict=True))
        own = {name: CellType() for name, cell in cells.items() if name == "__class__" or _asks_for_class(_held(cell))}
        closure = tuple((cells | own).values())
        moved = FunctionType(member.__code__, member.__globals__, member.__name__, member.__defaults__, closure)
        moved.__kwdefaults__ = member.__kwdefaults__
        copies[id(member)] = moved
        for name, cell in own.items():
            cell.cell_contents = owner if name == "__class__" else _moved_into(owner, _held(cells[name]), copies)
        vars(moved).update({name: _moved_into(owner, held, copies) for name, held in vars(member).items()})
    return copies[id(member)]


def _asks_for_class(member: Any) -> bool:
    """Return whether ``super()`` stands in a method, or in a function that a decorator's function holds."""
    todo: list[Any] = [member]
    looked_into: set[int] = set()
    while todo:
        match todo.pop():
            case staticmethod() | classmethod() as method:
                todo.append(method.__func__)
            case property() as attribute:
                todo += attribute.fget, attribute.fset, attribute.fdel
            case FunctionType() as function if id(function) not in looked_into:
                looked_into.add(id(function))
                if "__class__" in function.__code__.co_freevars:
                    return True
                todo += [*map(_held, function.__closure__ or ()), *vars(function).values()]
    return False


def _held(cell: CellType) -> Any:
    """Return the value in a cell of a closure, or None where the cell is still empty."""
    return None if cell == CellType() else cell.cell_contents


def install(objects: Mapping[str, Any]) -> Installation:
    """Put a student's objects in the place of the library's.

    It takes effect at once and lasts until the returned installation is undone; in a ``with`` statement, until its
    end. The members of a class are set on the library's own class, so that existing objects change too.

    Args:
        objects: By dotted name, for example ``{"autodiff.topological_sort": my_sort}``.
    """
    return Installation(objects)


def take_out(installations: Sequence[Installation]) -> None:
    """Undo installations; what others have put in since then stays."""
    for installation in installations:
        installation.undone = True
    _set_aside(installations)


def _set_aside(installations: Sequence[Installation]) -> None:
    """Take installations out of the library: those that came later are taken out too, and put in again."""
    with _changing:
        first = next((n for n, each in enumerate(_installed) if each in installations), len(_installed))
        later = _installed[first:]
        for installation in reversed(later):
            installation._lift()
        for installation in later:
            if installation not in installations:
                installation._install()


@contextmanager
def reference() -> Iterator[None]:
    """Take everything that is installed out of the library for the time of a ``with`` block."""
    aside = list(_installed)
    _set_aside(aside)
    try:
        yield
    finally:
        for installation in aside:
            if not installation.undone:
                installation._install()


def installed() -> list[str]:
    """Return the dotted names of everything that is installed now."""
    return sorted({name for installation in _installed for name in installation.names})
