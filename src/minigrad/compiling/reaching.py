"""The functions and values that a function reaches through its closure, its globals and their modules.

Numba compiles a function together with others only if those are compiled already: a plain helper is refused as an
"untyped global name". `rebuild` makes a copy of a function in which every helper is replaced, however deep it lies, and
leaves the originals untouched; `fingerprint` tells whether any of them has changed since.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

FOREIGN = frozenset((*sys.stdlib_module_names, "numpy", "numba", "llvmlite", "scipy"))
"""Packages whose functions the compiler knows itself, or does not know at all."""

Plain = Callable[[Any], Any]
"""Takes what a name stands for, and returns the function that is meant, or the value itself."""


def bare(value: Any) -> Any:
    """Return the Python function that a compiled one was made from; anything else as it is."""
    while hasattr(value, "py_func"):
        value = value.py_func
    return value


def installed(value: Any) -> Any:
    """Return what stands in the library now for a function of the library, else the value itself.

    So that ``from minigrad.tensor_data import to_index``, in a setup cell, means the one that is installed.
    """
    module, name = str(getattr(value, "__module__", "")), getattr(value, "__qualname__", "")
    if not module.startswith("minigrad.") or name != getattr(value, "__name__", None):
        return value
    found = getattr(sys.modules.get(module), name, value)
    return value if getattr(found, "__wrapped__", None) is value else found  # a decorated function calls the bare one


def kernel_of(value: Any) -> Any:
    """Return the function to compile: without `operators.ieee`, whose rules compiled arithmetic follows by itself."""
    while True:
        value = bare(value)
        if "__minigrad_wrap__" not in getattr(value, "__dict__", ()):
            return value
        value = value.__wrapped__


def rebuild(function: FunctionType, make: Callable[[FunctionType, FunctionType], Any], plain: Plain = bare) -> Any:
    """Copy a function, with every helper that it reaches replaced by what is made of its copy.

    Args:
        function: The function.
        make: Called with each function reached, itself included, and its copy; returns what takes its place. The
            copy's globals and closure are filled in afterwards, so that functions may call themselves and each other.
        plain: What is meant by a value.

    Returns:
        What `make` returned for the function.
    """
    return _Rebuilding(make, plain).function(function)


class _Rebuilding:
    def __init__(self, make: Callable[[FunctionType, FunctionType], Any], plain: Plain) -> None:
        self._make = make
        self._plain = plain
        self._made: dict[int, Any] = {}

    def function(self, function: FunctionType) -> Any:
        if id(function) in self._made:
            return self._made[id(function)]
        scope: dict[str, Any] = {
            key: function.__globals__[key] for key in ("__builtins__", "__name__") if key in function.__globals__
        }
        cells = tuple(CellType() for _ in function.__code__.co_freevars)
        # A code object of its own: under a profiler, Numba changes the flags of the code that it runs.
        code = function.__code__.replace()
        copy = FunctionType(code, scope, function.__name__, function.__defaults__, cells)
        copy.__kwdefaults__ = function.__kwdefaults__
        copy.__qualname__ = function.__qualname__
        self._made[id(function)] = made = self._make(function, copy)
        for name in _names(function.__code__):
            if name in function.__globals__:
                scope[name] = self._value(function.__globals__[name], function)
        for cell, value in _cells(function):
            cells[cell].cell_contents = self._value(value, function)
        return made

    def _value(self, value: Any, user: FunctionType) -> Any:
        meant = self._plain(value)
        if _is_helper(meant):
            return self.function(meant)
        return self._module(value, user) if _is_own_module(value) else value

    def _module(self, module: ModuleType, user: FunctionType) -> ModuleType:
        """Return a module of the same contents, with the helpers in it replaced that the user may mean."""
        stand_in = ModuleType(module.__name__)
        stand_in.__dict__.update(vars(module))
        for name in _names(user.__code__):
            if name in vars(module):
                stand_in.__dict__[name] = self._value(vars(module)[name], user)
        return stand_in


def reached(function: FunctionType, plain: Plain = bare) -> list[FunctionType]:
    """Return a function with all functions that it reaches, itself first."""
    found: list[FunctionType] = []

    def note(original: FunctionType, copy: FunctionType) -> FunctionType:
        found.append(original)
        return copy

    rebuild(function, note, plain)
    return found


def fingerprint(function: FunctionType, plain: Plain = bare) -> Any:
    """Return a key that two functions share only if they, and all that they reach, compute the same."""
    return _Printing(plain).of(function)


class _Held:
    """An object as a key: equal to itself only, and kept alive, so that its identity stays its own."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.value is self.value


class _Printing:
    def __init__(self, plain: Plain) -> None:
        self._plain = plain
        self._seen: dict[int, int] = {}

    def of(self, function: FunctionType) -> Any:
        if id(function) in self._seen:
            return "again", self._seen[id(function)]
        self._seen[id(function)] = len(self._seen)
        scope = function.__globals__
        names = [(name, self._value(scope[name], function)) for name in _names(function.__code__) if name in scope]
        closure = [(cell, self._value(value, function)) for cell, value in _cells(function)]
        defaults = [self._value(value, function) for value in function.__defaults__ or ()]
        return function.__code__, tuple(names), tuple(closure), tuple(defaults)

    def _value(self, value: Any, user: FunctionType) -> Any:
        meant = self._plain(value)
        if _is_helper(meant):
            return self.of(meant)
        if _is_own_module(value):
            inside = [name for name in _names(user.__code__) if name in vars(value)]
            return value.__name__, tuple((name, self._value(vars(value)[name], user)) for name in inside)
        if isinstance(value, tuple):
            return type(value), tuple(self._value(each, user) for each in value)
        if isinstance(value, np.ndarray):
            return value.dtype.str, value.shape, value.tobytes()
        if value is None or isinstance(value, bool | int | float | complex | str | np.generic):
            return type(value), repr(value)  # as text, nan equals nan, and 0.0 is not -0.0
        return _Held(value)


def _is_helper(value: Any) -> bool:
    return isinstance(value, FunctionType) and _package(value.__module__) not in FOREIGN


def _is_own_module(value: Any) -> bool:
    return isinstance(value, ModuleType) and _package(value.__name__) not in FOREIGN


def _package(name: str | None) -> str:
    return (name or "").partition(".")[0]


def _cells(function: FunctionType) -> Iterator[tuple[int, Any]]:
    """Yield the filled cells of a closure: one is empty while the function around is still running."""
    for number, cell in enumerate(function.__closure__ or ()):
        try:
            yield number, cell.cell_contents
        except ValueError:
            continue


def _names(code: CodeType) -> list[str]:
    """Return the names of globals and attributes that a function uses, those of functions inside it included."""
    found = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found.update(dict.fromkeys(_names(constant)))
    return list(found)
