"""The guard of what a function captures: a walk through it writes a function that compares it with what it was.

It takes a tenth of a microsecond for each value:

    def guard(x0):                             # x0 is the function
        x1 = x0.__closure__[0].cell_contents   # a tensor, which the graph takes as it is now
        if not (x1.__class__ is k2 and (a := x1._array).__class__ is k3 and ...): return None
        x2 = x0.__globals__["scale"]           # a number
        if not (x2 is k4 or same(x2, k4)): return None
        return (x1,)
"""

from __future__ import annotations

import array
import datetime
import decimal
import enum
import functools
import importlib.util
import operator
import sys
import types
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.autodiff import grad_mode
from minigrad.backends import arrays
from minigrad.graph.names import globals_of, is_of_a_library, names_in, names_libraries_gradient, reads_any_name
from minigrad.graph.program import Var, frozen
from minigrad.nn.module import Module
from minigrad.scalar import Scalar
from minigrad.tensors import Tensor

ARGUMENT = "\x1f"
"""How the place of something in an argument begins; nothing else has this sign."""

_LIBRARY = str(Path(__file__).parents[1])
_NUMBERS_AND_WORDS = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, slice, range)
_TIMES = (datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal)
_PLAIN = (*_NUMBERS_AND_WORDS, *_TIMES, type(Ellipsis))
_FIXED = (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType)
_VIEWS: Any = type({}.keys()) | type({}.values()) | type({}.items())
_MANY_ITEMS = 32
"""Items up to which a container of plain values is compared one by one; a larger one is compared as a whole."""
_MOST = 20_000
"""Values that a function may capture; a guard for more would take longer than most functions."""
_REGISTRIES = ("_parameters", "_buffers", "_modules")
_OVER_PARTS = {
    f"{named}{kind}" for named in ("", "named_") for kind in ("parameters", "buffers", "modules", "children")
}
"""Methods that go through parts in their order, each object once however often it stands there."""
_READERS = (getattr, hasattr, vars, eval)
"""Functions that read any name, wherever they are given one."""
_OF_TENSORS = frozenset({"grad", "requires_grad", "is_grad_enabled"})
"""Names that a library's code has too, though no graph depends there on what they say of a captured tensor."""
_OF_HISTORY = {"enable_grad", "grad_fn", "is_constant", "is_leaf", "set_grad_enabled"}
_OF_MEMORY = {"is_contiguous", "stride", "strides"}
_THROUGH: Sequence[tuple[Any, str, str]] = (
    (set | frozenset | _VIEWS, "list(", ")"),
    (types.MappingProxyType, "dict(", ")"),
    (bytearray | memoryview, "bytes(", ")"),
    (array.array, "asarray(", ")"),
    (ContextVar, "", ".get(None)"),
    (weakref.ref, "", "()"),
    (functools.partial | functools.partialmethod, "parts(", ")"),
    (Scalar, "", ".data"),
)
"""Kinds of values that are looked at through another one, and what stands before and after the value to get it."""


def is_object(value: Any) -> bool:
    """Return whether a value is an object with contents of its own, and not compared by them.

    >>> from minigrad.graph.guards import is_object
    >>> is_object(minigrad.nn.ReLU()), is_object("relu"), is_object(minigrad.relu)
    (True, False, False)
    """
    kind: Any = type(value)
    if isinstance(value, _PLAIN + _FIXED + (type, types.FunctionType, types.ModuleType, Tensor, Scalar)):
        return False
    return bool(kind.__hash__ is object.__hash__ and kind.__eq__ is object.__eq__)


def holds_more(value: Any) -> bool:
    """Return whether a value may hold what its comparison with another does not see.

    >>> from minigrad.graph.guards import holds_more
    >>> holds_more((2, "relu")), holds_more((minigrad.nn.ReLU(),)), holds_more(minigrad.relu)
    (False, True, True)
    """
    if type(value) is tuple:
        return any(map(holds_more, value))
    return not isinstance(value, (*_PLAIN, Tensor)) or _is_of_a_users_class(value)


@dataclass(frozen=True)
class Names:
    """Names that the code has which a function runs.

    Attributes:
        every: Those of all of it.
        users: Those of what is of no library.
        any_name: Whether code of no library may read attributes whose names it does not have.
    """

    every: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    any_name: bool = False

    def __or__(self, other: Names) -> Names:
        return Names(self.every | other.every, self.users | other.users, self.any_name or other.any_name)

    def __le__(self, other: Names) -> bool:
        return self.every <= other.every and self.users <= other.users and self.any_name <= other.any_name


def _same(x: Any, y: Any) -> bool:
    return bool(frozen(x, {}) == frozen(y, {}))


def _same_array(x: Any, y: Any) -> bool:
    """Return whether two arrays have the same bits; the second one is contiguous."""
    return (
        x.shape == y.shape
        and x.dtype == y.dtype
        and bool(np.array_equal(np.ascontiguousarray(x).reshape(-1).view("u1"), y.reshape(-1).view("u1")))
    )


def _same_items(x: Any, items: Sequence[Any]) -> bool:
    return len(x) == len(items) and (all(map(operator.is_, x, items)) or all(map(_same, x, items)))


def _is_empty(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def _parts(call: Any) -> tuple[Any, ...]:
    return call.func, call.args, call.keywords


def _plain(x: Any) -> Any:
    """Return what a list, tuple, dictionary or deque of a user's class holds, whatever its own methods say."""
    if isinstance(x, dict):
        return dict(dict.items(x))
    kind: Any = next(kind for kind in (list, tuple, deque) if isinstance(x, kind))
    return list(kind.__iter__(x))


class Walk:
    """One walk through everything that is reached from some objects by attributes of known names.

    Args:
        names: The known names.
        but: Places that are left out, of a dictionary only which keys it has; and for each whether what stands there is
            left out wherever else it stands too.
        only: The only places, with what is in them, for which lines are written; None for all.

    Attributes:
        found: The names of the code that was found.
        lines: The lines of the guard.
        scope: Its variables.
        leaves: For each place the path of a value, and what a graph depends on of it.
        tensors: The tensors, with their names in the guard.
    """

    def __init__(self, names: Names, but: Mapping[str, bool], only: frozenset[str] | None) -> None:
        self.names, self._but, self._only = names, but, only
        self._every, self._any_name = names.every, names.any_name
        self.found = Names()
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {
            "asarray": np.asarray,
            "host": arrays.to_host,
            "is_empty": _is_empty,
            "mode": grad_mode,
            "modules": sys.modules,
            "parts": _parts,
            "plain": _plain,
            "plain_function": _plain_function,
            "same": _same,
            "same_array": _same_array,
            "same_items": _same_items,
        }
        self.leaves: list[tuple[str, tuple[str, Any]]] = []
        self.tensors: list[tuple[str, Tensor]] = []
        self._places = {"modules": "modules"}
        self._inside = {"modules": only is None}
        self._is_written = True
        self._seen: dict[int, tuple[str, Any]] = {}
        self._left_out: dict[int, Any] = {}
        self._classes: set[type] = set()
        self._waiting: deque[tuple[str, str, str, Any, bool]] = deque()
        self._objects: list[str] = []
        self._count = 0

    def go(self, roots: Sequence[tuple[str, Any]]) -> None:
        """Visit everything that is reached from these objects, which are the guard's arguments."""
        self._is_written = self._only is None
        if "is_grad_enabled" in self._every:
            self._unless(f"mode.enabled is {grad_mode.enabled}")
        self._count = len(roots)
        for n, (path, root) in enumerate(roots):
            name = f"x{n}"
            self._places[name], self._inside[name] = f"{ARGUMENT}{n}" if n else name, self._only is None
            self._visit(name, path, root)
        while self._waiting:
            expression, place, path, value, is_inside = self._waiting.popleft()
            if self._count > _MOST:
                raise TypeError(
                    f"jit: the function captures more than {_MOST} values, among them {path}; give it what it needs as "
                    "arguments"
                )
            name = f"x{self._count}"
            self._count += 1
            self._places[name], self._inside[name] = place, is_inside
            self.lines.append(f"{name} = {expression}")
            self._is_written = is_inside
            self._visit(name, path, value)
        if self.names.users & _OVER_PARTS and self._only is None:  # each of them counts once
            self.lines.append(
                f"if len({{{', '.join(f'id({x})' for x in self._objects)}}}) != {len(self._objects)}: return None"
            )

    def constant(self, value: Any) -> str:
        """Return the name of a value that the guard has of its own."""
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def _later(self, name: str, after: str, path: str, value: Any, before: str = "", at: str | None = None) -> None:
        """Remember to visit a value.

        Args:
            name: The name of what it is got from.
            after: What stands after that name in the expression for it.
            path: The path in the user's words.
            value: The value.
            before: What stands before the name.
            at: What stands after the name of the place, where that is not the same.
        """
        place = f"{before}{self._places[name]}{after if at is None else at}"
        if place not in self._but or isinstance(value, dict):
            is_inside = self._inside[name] or place in (self._only or ())
            self._waiting.append((f"{before}{name}{after}", place, path, value, is_inside))
        elif self._but[place]:
            self._left_out[id(value)] = value

    def _unless(self, condition: str) -> None:
        if self._is_written:
            self.lines.append(f"if not ({condition}): return None")

    def _leaf(self, name: str, path: str, what: Any) -> None:
        self.leaves.append((self._places[name], (path, what)))

    def _find(self, names: Names) -> None:
        self.found = self.found | names

    def _is_of(self, name: str, value: Any) -> None:
        kind = self.constant(type(value))
        is_honest = getattr(type(value), "__class__", None) is type(type(value)) and "__class__" not in _names_of(
            type(value)
        )
        self._unless(f"{name}.__class__ is {kind}" if is_honest else f"type({name}) is {kind}")

    def _visit(self, name: str, path: str, value: Any) -> None:
        if isinstance(value, _PLAIN):
            known = self.constant(value)
            self._unless(f"{name} is {known} or same({name}, {known})")
            self._leaf(name, path, ("value", frozen(value, {})))
            if _is_of_a_users_class(value):
                self._contents(name, path, value)
            return
        if id(value) in self._left_out:
            return
        if id(value) in self._seen:
            self._unless(f"{name} is {self._seen[id(value)][0]}")
            self._leaf(name, path, ("same as", self._places[self._seen[id(value)][0]]))
            return
        self._seen[id(value)] = name, value
        if isinstance(value, Tensor):
            self._tensor(name, path, value)
        elif isinstance(value, types.FunctionType):
            self._function(name, path, value)
        elif isinstance(value, types.MethodType):
            self._is_of(name, value)
            self._later(name, ".__func__", path, value.__func__)
            self._later(name, ".__self__", "self" if not path else f"{path}.__self__", value.__self__)
        elif isinstance(value, list | tuple | dict | deque):
            self._container(name, path, value)
        elif isinstance(value, np.ndarray):
            self._array(name, path, value)
        elif isinstance(value, types.ModuleType):
            self._module(name, path, value)
        elif isinstance(value, type):
            self._unless(f"{name} is {self.constant(value)}")
            self._leaf(name, path, ("class", value))
            self._class(value, path, is_called=True)
        elif type(value) in (set, frozenset) and all(isinstance(x, _PLAIN) for x in value):
            self._is_of(name, value)
            self._unless(f"same_items({name}, {self.constant(list(value))})")
            self._leaf(name, path, ("set", frozen(list(value), {})))
        else:
            self._other(name, path, value)

    def _tensor(self, name: str, path: str, x: Tensor) -> None:
        if x.abstract:
            if self._only is None:
                self._unless(f"{name} is {self.constant(x)}")
            self._leaf(name, path, ("traced", id(x)))
            return
        kind, dtype = self.constant(type(x)), self.constant(x.dtype)
        memory = self.constant(type(x._array))
        self._unless(
            f"{name}.__class__ is {kind} and (a := {name}._array).__class__ is {memory} "
            f"and a.shape == {tuple(x.shape)} and a.dtype == {dtype}"
        )
        if "requires_grad" in self._every or self.names.users & _OF_HISTORY:
            self._unless(f"{name}._requires_grad is {x._requires_grad} and ({name}._fn is None) is {x._fn is None}")
        if self.names.users & _OF_MEMORY:
            self._unless(f"a.strides == {x._array.strides}")
        if "grad" in self._every:
            self._later(name, "._grad", f"{path}.grad", x._grad)
        self.tensors.append((name, x))
        self._objects.append(name)
        self._leaf(name, path, ("tensor", tuple(x.shape), x.dtype))

    def _array(self, name: str, path: str, value: np.ndarray[Any, Any]) -> None:
        self._leaf(name, path, ("array", Var(value.shape, value.dtype).type, hash(value.tobytes())))
        self._is_of(name, value)
        if type(value) is not np.ndarray and hasattr(value, "__dict__"):
            self._later(name, ".__dict__", path, dict(vars(value)))
        if value.dtype.hasobject:
            self._unless(f"{name}.shape == {value.shape}")
            self._later(name, ".tolist()", path, value.tolist())
        else:
            self._unless(f"same_array({name}, {self.constant(np.array(value, order='C'))})")

    # --- functions and modules ------------------------------------------------------------------------------

    def _function(self, name: str, path: str, fun: types.FunctionType) -> None:
        code = fun.__code__
        self._is_of(name, fun)
        self._unless(f"{name}.__code__ is {self.constant(code)}")
        self._leaf(name, path or fun.__name__, ("function", code))
        for n, (variable, cell) in enumerate(zip(code.co_freevars, fun.__closure__ or (), strict=True)):
            if _is_empty(cell):
                self._unless(f"is_empty({name}.__closure__[{n}])")
            else:
                self._later(name, f".__closure__[{n}].cell_contents", variable, cell.cell_contents)
        if code.co_filename.startswith(_LIBRARY):
            self._find(Names(names_in(code) - _OF_TENSORS))
            return
        for what in ("__defaults__", "__kwdefaults__"):
            if getattr(fun, what):
                self._later(name, f".{what}", f"a default of {fun.__name__}", getattr(fun, what))
        wrapped = vars(fun).get("__wrapped__")
        if wrapped is not None:
            self._later(name, ".__wrapped__", path, wrapped)
        if is_of_a_library(sys.modules.get(fun.__globals__.get("__name__", ""))):
            self._find(Names(names_in(code)))
            return
        names = names_in(code) - ({"grad"} if names_libraries_gradient(fun) else set())
        self._find(Names(names, names, reads_any_name(code)))
        held = {attribute: x for attribute, x in vars(fun).items() if not attribute.startswith("__")}
        wanted = list(held) if self._any_name else self._named(held)
        self._no_others(f"{name}.__dict__", vars(fun), wanted)
        for attribute in wanted:
            self._later(name, f".__dict__[{attribute!r}]", f"{path}.{attribute}", held[attribute])
        self._variables(name, fun)

    def _variables(self, name: str, fun: types.FunctionType) -> None:
        """Visit the global variables that a function's code names, and the modules that it imports."""
        variables, imported = globals_of(fun.__code__)
        words = names_in(fun.__code__)
        if variables & {"globals", "eval"}:
            variables |= words & fun.__globals__.keys()
        if words & {"import_module", "__import__"}:
            imported += tuple((0, word) for word in sorted(words & sys.modules.keys()))
        for variable in sorted(variables):
            if variable in fun.__globals__:
                self._later(name, f".__globals__[{variable!r}]", variable, fun.__globals__[variable])
            else:  # one of Python's own, which a global variable may hide
                self._unless(f"{variable!r} not in {name}.__globals__")
        for level, module in imported:
            package = fun.__globals__.get("__package__") or ""
            full = importlib.util.resolve_name("." * level + module, package) if level else module
            if full not in sys.modules:
                self._unless(f"{full!r} not in modules")
            elif not is_of_a_library(sys.modules[full]):
                self._later("modules", f"[{full!r}]", full, sys.modules[full])

    def _module(self, name: str, path: str, module: types.ModuleType) -> None:
        self._leaf(name, path, ("module", module.__name__))
        self._unless(f"{name} is {self.constant(module)}")
        if is_of_a_library(module):
            return
        contents = {attribute: x for attribute, x in vars(module).items() if not attribute.startswith("__")}
        wanted = [each for each in contents if self._any_name and isinstance(contents[each], _PLAIN)]
        for attribute in dict.fromkeys((*wanted, *self._named(contents))):
            self._later(
                name, f".__dict__[{attribute!r}]", f"{path}.{attribute}" if path else attribute, contents[attribute]
            )

    # --- containers and objects -----------------------------------------------------------------------------

    def _container(self, name: str, path: str, value: Any) -> None:
        self._is_of(name, value)
        if type(value) not in (list, tuple, dict, deque):
            self._contents(name, path, value)
            self._later(name, ")", path, _plain(value), "plain(")
            return
        keys = list(value) if isinstance(value, dict) else None
        items = list(value.values()) if isinstance(value, dict) else list(value)
        has_plain_keys = keys is None or not any(map(holds_more, keys))
        is_free = self._places[name] in self._but
        if len(items) > _MANY_ITEMS and has_plain_keys and all(isinstance(x, _PLAIN) for x in items) and not is_free:
            if keys is not None:
                self._unless(f"same_items({name}, {self.constant(keys)})")
            self._unless(f"same_items({name}{'.values()' if keys is not None else ''}, {self.constant(items)})")
            self._leaf(name, path, ("values", frozen(items, {}), frozen(keys, {})))
            return
        self._leaf(name, path, ("container", type(value), len(items)))
        if keys is None:
            self._unless(f"len({name}) == {len(items)}")
            for n, item in enumerate(items):
                self._later(name, f"[{n}]", f"{path}[{n}]", item)
        elif has_plain_keys:
            if not is_free:
                self._unless(f"same_items({name}, {self.constant(keys)})")
            for key, item in value.items():
                self._later(name, f"[{self.constant(key)}]", f"{path}[{key!r}]", item, at=f"[{key!r}]")
        elif not is_free:
            self._later(name, ")", f"{path}.keys()", keys, "list(")
            self._later(name, ".values())", f"{path}.values()", items, "list(")

    def _other(self, name: str, path: str, value: Any) -> None:
        kind = type(value)
        for kinds, before, after in _THROUGH:
            if isinstance(value, kinds):
                self._is_of(name, value)
                self._leaf(name, path, ("object", kind))
                if _is_of_a_users_class(value):
                    self._contents(name, path, value)
                self._later(name, after, path, eval(f"{before}value{after}", {"value": value, **self.scope}), before)
                return
        if isinstance(value, _FIXED):
            owner = getattr(value, "__self__", None)
            if owner is not None and not isinstance(owner, types.ModuleType | type):
                self._unless(f"{name}.__name__ == {value.__name__!r}")
                self._later(name, ".__self__", path, owner)
                return
            if value in _READERS:
                self._find(Names(any_name=True))
        if isinstance(value, operator.attrgetter | operator.methodcaller):
            words = {part for word in value.__reduce__()[1] for part in str(word).split(".")}
            self._find(Names(frozenset(words)))
        array_of, before, after = _array_of(value)
        if array_of is not None:
            self._later(name, after, path, array_of, before)
        if isinstance(value, (*_FIXED, enum.Enum)) or not (_attributes_of(value) is not None or _slots_of(kind)):
            known = _weakly(value)
            self._unless(f"{name} is {self.constant(known or value)}{'()' if known else ''}")
            self._leaf(name, path, ("object", kind, id(value)))
            if not isinstance(value, enum.Enum):
                return
        self._is_of(name, value)
        self._leaf(name, path, ("object", kind))
        self._contents(name, path, value)

    def _contents(self, name: str, path: str, value: Any) -> None:
        """Visit an object's class, its attributes and its slots."""
        self._class(type(value), path)
        contents = _attributes_of(value)
        if contents is not None and contents is not value:
            self._attributes(name, path, value, contents)
        reads_all = self._any_name or _is_of_a_librarys_class(type(value))
        for slot in _slots_of(type(value)):
            if slot not in self._every and not reads_all:
                continue
            try:
                held = object.__getattribute__(value, slot)
            except AttributeError:
                self._unless(f"not hasattr({name}, {slot!r})")
            else:
                self._later(name, f".{slot}", f"{path}.{slot}", held)

    def _attributes(self, name: str, path: str, value: Any, contents: Mapping[str, Any]) -> None:
        """Visit the attributes of an object that code may read."""
        wanted = self._wanted(value, contents)
        self._no_others(f"{name}.__dict__", contents, wanted)
        if isinstance(value, Module):  # a container goes through its parts in their order
            self._objects.append(name)
            for registry in _REGISTRIES:
                keys, place = list(contents[registry]), f"{name}.__dict__[{registry!r}]"
                self._unless(f"list({place}) == {self.constant(keys)}" if keys else f"not {place}")
        if "__wrapped__" in contents:
            self._later(name, ".__wrapped__", path, contents["__wrapped__"])
        for attribute in wanted:
            at = f".__dict__[{attribute!r}]"
            self._later(name, at, f"{path}.{attribute}" if path else attribute, contents[attribute])

    def _no_others(
        self, contents: str, known: Mapping[str, Any], wanted: Sequence[str], also: frozenset[str] = frozenset()
    ) -> None:
        """Write the check that there are no other attributes: one more may hide that of a class."""
        if self._any_name:
            self._unless(f"list({contents}) == {self.constant(list(known))}")
        elif len(wanted) == len(known):
            self._unless(f"len({contents}) == {len(known)}")
        else:
            self._unless(f"{self.constant((self._every | also) - known.keys())}.isdisjoint({contents})")

    def _wanted(self, value: Any, contents: Mapping[str, Any]) -> list[str]:
        every = [name for name in contents if not name.startswith("__")]
        if "_captures" in _names_of(type(value)):  # the library's wrapper of a function
            return [*type(value)._captures, *(each for each in self._named(every) if not each.startswith("_"))]
        if not isinstance(value, Module):  # code of a library that is not seen may read all of its own objects
            return every if self._any_name or _is_of_a_librarys_class(type(value)) else self._named(every)
        self._find(Names(frozenset({"forward", "training"})))
        held = {name: x for registry in _REGISTRIES for name, x in contents.get(registry, {}).items()}
        every = [name for name in every if name != "_unsaved"]
        if all(contents.get(name) is x for name, x in held.items()):  # so they are, but for a moment in functional_call
            every = [name for name in every if name not in _REGISTRIES]
        if self._any_name or type(value).__module__.split(".")[0] == "minigrad":
            return every
        return [name for name in every if name in held or name in ("training", "_hooks") or name in self._every]

    def _named(self, names: Mapping[str, Any] | Sequence[str]) -> list[str]:
        return [name for name in names if name in self._every]

    def _class(self, kind: type, path: str, is_called: bool = False) -> None:
        """Visit the methods that code may call, and what it may read of a class.

        Of the class of a library, this one's too, methods are read for their names only.
        """
        for each in kind.__mro__:
            if each is object or (each in self._classes and not is_called):
                continue
            self._classes.add(each)
            is_fixed = _is_of_a_librarys_class(each)
            inside = self.constant(vars(each))
            self._places[inside] = f"{each.__module__}.{each.__qualname__}"
            self._inside[inside] = self._only is None
            if not is_fixed:
                self._no_others(inside, vars(each), (), _SPECIAL)
                if type(each) is not type:
                    self._class(type(each), path)
            for attribute, value in list(vars(each).items()):
                function = _plain_function(value)
                if not self._may_be_used(attribute, function, is_called):
                    continue
                if is_fixed:
                    if isinstance(function, types.FunctionType):
                        self._find(Names(names_in(function.__code__) - _OF_TENSORS))
                    continue
                at, name = f"[{attribute!r}]", f"{each.__name__}.{attribute}"
                if function is value:
                    self._later(inside, at, name, function)
                else:
                    self._later(inside, f"{at})", name, function, "plain_function(")

    def _may_be_used(self, attribute: str, value: Any, is_called: bool) -> bool:
        if attribute.startswith("__") and attribute.endswith("__"):  # Python itself calls it
            if attribute in _OF_EVERY_OBJECT or not callable(value):
                return is_called and attribute == "__init__"
            return True
        return attribute in self._every or self._any_name


_COMPARISONS = {"__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__"}
_OF_EVERY_OBJECT = frozenset(dir(object)) - _COMPARISONS - {"__getattribute__"}
"""Methods that every object has and that no operation on one calls."""
_SPECIAL = frozenset(
    name for kind in (int, float, list, dict) for name in dir(kind) if name.startswith("__")
) - _OF_EVERY_OBJECT | {"__bool__", "__call__", "__getattr__", "__missing__"}
"""Methods that Python calls where a class has them."""


def _plain_function(value: Any) -> Any:
    """Return the function of a property, a class method or a static method; anything else as it is."""
    if isinstance(value, property):
        return value.fget
    if isinstance(value, functools.cached_property):
        return value.func
    return value.__func__ if isinstance(value, classmethod | staticmethod) else value


def _names_of(kind: type) -> Mapping[str, Any]:
    return {name: None for each in kind.__mro__[:-1] for name in vars(each)}


def _is_of_a_librarys_class(kind: type) -> bool:
    has_module = kind.__module__ != "builtins" or not kind.__flags__ & 1 << 9  # a class that code without a name made
    return has_module and is_of_a_library(sys.modules.get(kind.__module__))


def _is_of_a_users_class(value: Any) -> bool:
    """Return whether a class of no library, or an enumeration, stands behind a value, perhaps a number or a word."""
    kind = type(value)
    return isinstance(value, enum.Enum) or bool(kind.__flags__ & 1 << 9 and not _is_of_a_librarys_class(kind))


def _attributes_of(value: Any) -> dict[str, Any] | None:
    """Return an object's own dictionary of attributes, if it has one."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return found if isinstance(found, dict) else None


def _slots_of(kind: type) -> list[str]:
    """Return the names of the slots that objects of a class have for attributes, as they stand in code."""
    found = []
    for each in kind.__mro__:
        slots = vars(each).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            is_private = name.startswith("__") and not name.endswith("__")
            found.append(f"_{each.__name__.lstrip('_')}{name}" if is_private else name)
    return [name for name in found if name not in ("__dict__", "__weakref__")]


def _array_of(value: Any) -> tuple[Any, str, str]:
    """Return what another library's array or table holds, as an array, and how to get it; None if it does not say."""
    kind = type(value)
    if "__array__" in _names_of(kind) and not kind.__module__.startswith("minigrad"):
        for after in (")", ".detach())"):  # a tensor of PyTorch that wants gradients is no array
            try:
                return eval(f"asarray(value{after}", {"asarray": np.asarray, "value": value}), "asarray(", after
            except Exception:  # whatever another library says
                continue
    return None, "", ""


def _weakly(value: Any) -> Any:
    """Return a weak reference, None where there is none for this kind of value."""
    try:
        return weakref.ref(value)
    except TypeError:
        return None
