"""State beside arrays that threads, or iterations, could share: what a kernel finds outside of itself.

Threads of a GPU, and iterations of a compiled loop, share arrays only, and each access to an array is noted. In Python
they could also meet in a dictionary, a list, a default value, an iterator or a cache. So every object that a kernel and
its helpers name from outside is a constant, a function, a module, or an array that is recorded; or its contents are
compared after each turn of a thread; or, where these cannot be seen, the object itself is a finding.
"""

from __future__ import annotations

import ast
import dis
import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from minigrad.compiling.reaching import installed
from minigrad.debug.arrays import Recorded, RecordedList
from minigrad.debug.source import MISSING, resolve, unwrap
from minigrad.machine.simulated_cuda import InKernel

_ACCOUNTED = (
    Recorded, int, float, complex, str, bytes, range, slice, type, np.generic, np.dtype, np.ufunc, types.NoneType,
    types.EllipsisType, types.ModuleType, types.GenericAlias, types.WrapperDescriptorType, InKernel,
)  # fmt: skip
_CONTAINERS = (list, dict, set)
_DEFAULT = "a default value"


class Named(NamedTuple):
    """An object from outside, with the place at which the kernel names it.

    Attributes:
        name: Its name there.
        value: The object.
        code: The function that names it.
        line: The line.
    """

    name: str
    value: Any
    code: types.CodeType
    line: int


class Outside:
    """The objects outside of a kernel that could hold values for another thread.

    Args:
        function: The kernel.

    Attributes:
        strange: Objects whose contents cannot be compared.
    """

    def __init__(self, function: types.FunctionType) -> None:
        self.strange: list[Named] = []
        self._containers: dict[int, Named] = {}
        self._before: list[Any] = []
        self._seen: set[int] = set()
        self._walk(function)
        self.take()

    def add(self, name: str, value: Any, code: types.CodeType, line: int) -> None:
        """Look at an object that stands in a variable of the kernel."""
        self._look_at(Named(name, value, code, line), inside=False)

    def take(self) -> None:
        """Remember the contents of all containers."""
        self._before = [_contents(each.value) for each in self._containers.values()]

    def changed(self) -> Named | None:
        """Return a container that holds something else than before; from then on it is compared with that."""
        if not self._before:
            return None
        now = [_contents(each.value) for each in self._containers.values()]
        pairs = zip(self._containers.values(), self._before, now, strict=True)
        found = next((each for each, old, new in pairs if old != new), None)
        self._before = now
        return found

    def _walk(self, function: types.FunctionType) -> None:
        if function.__globals__.get("__name__", "").partition(".")[0] in ("minigrad", "numpy", "numba"):
            return  # the library's own
        for each in _named_by(function):
            self._look_at(each, inside=each.name == _DEFAULT)

    def _look_at(self, each: Named, inside: bool) -> None:
        """Sort an object in.

        Args:
            each: The object.
            inside: Whether it is reached through another object, so that a name does not lead to it.
        """
        value = each.value
        if isinstance(value, _ACCOUNTED) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, np.ndarray) and not inside and not value.dtype.hasobject:
            return  # recorded where its name is read
        function = installed(unwrap(value))
        parts: Iterable[Any] | None = _parts(value)
        if isinstance(function, types.FunctionType):
            self._walk(function)
        elif parts is None:
            self.strange.append(each)
        elif isinstance(value, _CONTAINERS) and not isinstance(value, RecordedList):
            self._containers[id(value)] = each
        for part in parts or ():
            self._look_at(each._replace(value=part), inside=True)


def _parts(value: Any) -> Iterable[Any] | None:
    """Return the objects that an object leads to, or None if these are not known."""
    if isinstance(value, list):
        return list(list.__iter__(value))  # of a recorded list, unnoticed
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):
        return [value.__self__] if value.__self__ is not None else []
    return () if type(value).__module__.partition(".")[0] in ("numba", "numpy") and not _goes_on(value) else None


def _goes_on(value: Any) -> bool:
    """Return whether an object of NumPy or Numba has a state: an array, an iterator, a container."""
    return isinstance(value, np.ndarray) or any(hasattr(value, name) for name in ("__next__", "__setitem__"))


class _Same:
    """An object that equals itself alone; it is kept alive, so that no other one takes its place in memory."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._value is self._value

    __hash__ = None  # type: ignore[assignment]  # it is only compared


def _contents(value: Any) -> Any:
    """Return what equals itself as long as a container holds the same; containers in it are compared by themselves."""
    if isinstance(value, dict):
        return [(_element(key), _element(each)) for key, each in value.items()]
    if isinstance(value, list):
        return [_element(each) for each in list.__iter__(value)]
    return sorted(repr(each) for each in value)


def _element(value: Any) -> Any:
    return repr(value) if isinstance(value, int | float | complex | str | np.generic) else _Same(value)


def _named_by(function: types.FunctionType) -> Iterator[Named]:
    """Yield what a function, and those inside it, name from outside, and its default values."""
    codes = [function.__code__]
    given = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for value in given:
        yield Named(_DEFAULT, value, function.__code__, function.__code__.co_firstlineno)
    while codes:
        code = codes.pop()
        codes += [each for each in code.co_consts if isinstance(each, types.CodeType)]
        line = code.co_firstlineno
        for step in dis.get_instructions(code):
            line = (step.positions and step.positions.lineno) or line
            name = str(step.argval)
            is_ours = step.opname == "LOAD_DEREF" and name in function.__code__.co_freevars
            if is_ours or step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                found = resolve(ast.Name(name, ast.Load()), function)
                if found is not MISSING:
                    yield Named(name, found, code, line)


def arrays_named_by(function: types.FunctionType) -> list[Named]:
    """Return the arrays that a function names from outside."""
    return [each for each in _named_by(function) if isinstance(each.value, np.ndarray)]
