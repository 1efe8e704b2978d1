"""What a function captures: the variables, attributes and tensors from outside of it on which its graph depends.

A graph computes with captured tensors as with arguments: each run takes what stands in their places then. Everything
else that the function may read (numbers, words, what a list or an object holds, which function a name means) is a
guard: a graph serves a call only where all of it is as it was at the trace. What a function may read is found in its
code: variables of functions around it, globals that its code names, attributes of objects whose names its code has.

The guard is a generated function, which takes a tenth of a microsecond for each value:

    def guard(x0):                             # x0 is the function
        x1 = x0.__closure__[0].cell_contents   # a tensor, which the graph takes as it is now
        if not (x1.__class__ is k2 and (a := x1._array).__class__ is k3 and ...): return None
        x2 = x0.__globals__["scale"]           # a number
        if not (x2 is k4 or same(x2, k4)): return None
        return (x1,)
"""

from __future__ import annotations

import array
import enum
import functools
import importlib.util
import operator
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.autodiff import grad_mode
from minigrad.backends import arrays
from minigrad.graph.names import globals_of, is_of_a_library, names_in, names_libraries_gradient
from minigrad.graph.program import Var, frozen
from minigrad.nn.module import Module
from minigrad.scalar import Scalar
from minigrad.tensors import Tensor

__all__ = ["Captured", "holds_more", "is_object"]

_LIBRARY = str(Path(__file__).parents[1])
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, slice, range, type(Ellipsis))
_FIXED = (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType)
_MANY_ITEMS = 32
"""Items up to which a container of plain values is compared one by one; a larger one is compared as a whole."""
_MOST = 20_000
"""Values that a function may capture; a guard for more would take longer than most functions."""
_REGISTRIES = ("_parameters", "_buffers", "_modules")
_BY_ANY_NAME = {"getattr", "vars", "__dict__", "hasattr", "__getattribute__", "asdict", "astuple", "getmembers"}
"""Names of code that may read attributes whose names it does not have."""
_THROUGH: Sequence[tuple[Any, str, str]] = (
    (set | frozenset, "list(", ")"),
    (types.MappingProxyType, "dict(", ")"),
    ({}.keys().__class__ | {}.values().__class__ | {}.items().__class__, "list(", ")"),
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

    >>> from minigrad.graph.capturing import is_object
    >>> is_object(minigrad.nn.ReLU()), is_object("relu"), is_object(minigrad.relu)
    (True, False, False)
    """
    kind: Any = type(value)
    if isinstance(value, _PLAIN + _FIXED + (type, types.FunctionType, types.ModuleType, Tensor, Scalar)):
        return False
    return bool(kind.__hash__ is object.__hash__ and kind.__eq__ is object.__eq__)


def holds_more(value: Any) -> bool:
    """Return whether a value may hold what its comparison with another does not see.

    >>> from minigrad.graph.capturing import holds_more
    >>> holds_more((2, "relu")), holds_more((minigrad.nn.ReLU(),)), holds_more(minigrad.relu)
    (False, True, True)
    """
    if isinstance(value, tuple) and type(value) is tuple:
        return any(map(holds_more, value))
    return not isinstance(value, (*_PLAIN, Tensor))


class Captured:
    """What a function captures at one moment.

    Args:
        fun: The function.
        objects: Further objects that it can reach, arguments that are no tensors, by path.
        but: Places that are left out; of a dictionary only which keys it has.

    Attributes:
        leaves: For each place, an expression that leads to a value, the value's path in the user's words, such as
            ``"self.layer.weight"``, and what a graph depends on of it.
    """

    def __init__(self, fun: Any, objects: Sequence[tuple[str, Any]] = (), but: frozenset[str] = frozenset()) -> None:
        walk = _Walk(frozenset(), but)
        while True:  # a function that is found has names, by which more attributes are found
            walk.go([("", fun), *objects])
            if walk.found <= walk.names:
                break
            walk = _Walk(walk.names | walk.found, but)
        self._walk: _Walk | None = walk
        self._inputs = [f"x{n}" for n in range(1 + len(objects))]
        self.leaves: dict[str, tuple[str, Any]] = dict(walk.leaves)

    def changed_since(self, before: Captured) -> frozenset[str]:
        """Return the places at which there is something else than before, and may be so after each trace.

        What was not there before, None or False is not among them: a function that fills such a place does it once.

        >>> from minigrad.graph.capturing import Captured
        >>> calls = []
        >>> def fun(x):
        ...     calls.append(x)
        ...
        >>> before = Captured(fun)
        >>> calls.append(1)
        >>> Captured(fun).changed_since(before)
        frozenset({"x0.__globals__['calls']"})
        """
        nothing = ("", _NOTHING)
        pairs = {
            place: (before.leaves.get(place, nothing)[1], self.leaves.get(place, nothing)[1])
            for place in {**before.leaves, **self.leaves}
        }
        return frozenset(
            place for place, (old, new) in pairs.items() if old != new and not (old in _UNFILLED and new[0] != "traced")
        )

    def guard(
        self, used: Sequence[Tensor], read: Sequence[Tensor], is_older: Callable[[Tensor], bool]
    ) -> Callable[..., tuple[Tensor, ...] | None] | None:
        """Return a function of the function and the objects that returns the tensors which stand in for some now.

        It returns None where anything else is not as it was. There is no such function, but None, where nothing is
        captured. It can be made once, for it holds on to no object: what is not used any more is freed.

        Args:
            used: Tensors that are inputs of the graph.
            read: Tensors on whose elements the graph depends.
            is_older: Whether a tensor was there before the trace. The graph has the elements of one that was not, such
                as a mask that the function makes once and keeps.
        """
        walk, self._walk = self._walk, None
        assert walk is not None
        names = {id(x): name for name, x in walk.tensors}
        lines = list(walk.lines)
        for x in (*read, *(x for _, x in walk.tensors if not (x.abstract or is_older(x)))):
            name = names.get(id(x)) or walk.constant(x)
            known = walk.constant(arrays.to_host(x._array).copy())
            lines.append(f"if not same_array(host({name}._array), {known}): return None")
        results = [names.get(id(x)) or walk.constant(x) for x in used]
        if not lines and not results:
            return None
        lines.append(f"return ({''.join(f'{name}, ' for name in results)})")
        body = "\n".join(f"        {line}" for line in lines)
        text = (
            f"def guard({', '.join(self._inputs)}):\n    try:\n{body}\n"
            "    except Exception:  # what was there is not there, or another thing\n        return None\n"
        )
        exec(compile(text, "<guard>", "exec"), walk.scope)
        return walk.scope["guard"]  # type: ignore[no-any-return]


def _same(x: Any, y: Any) -> bool:
    return bool(frozen(x, {}) == frozen(y, {}))


_NOTHING = ("nothing",)
_UNFILLED = [_NOTHING, *(("value", frozen(value, {})) for value in (None, False))]


def _same_array(x: Any, y: Any) -> bool:
    """Return whether two arrays have the same bits; the second one is contiguous."""
    return (
        x.shape == y.shape
        and x.dtype == y.dtype
        and bool(np.array_equal(np.ascontiguousarray(x).reshape(-1).view("u1"), y.reshape(-1).view("u1")))
    )


def _same_items(x: Any, items: Sequence[Any], keys: Sequence[Any] | None) -> bool:
    if len(x) != len(items) or (keys is not None and list(x) != keys):
        return False
    values = x.values() if keys is not None else x
    return all(map(operator.is_, values, items)) or all(map(_same, values, items))


def _is_empty(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def _parts(call: Any) -> tuple[Any, ...]:
    return call.func, call.args, call.keywords


class _Walk:
    """One walk through everything that is reached from some objects by attributes of known names."""

    def __init__(self, names: frozenset[str], but: frozenset[str]) -> None:
        self.names, self._any_name, self._but = names, bool(names & _BY_ANY_NAME), but
        self.found: set[str] = set()
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {
            "asarray": np.asarray,
            "host": arrays.to_host,
            "is_empty": _is_empty,
            "mode": grad_mode,
            "modules": sys.modules,
            "parts": _parts,
            "plain_function": _plain_function,
            "same": _same,
            "same_array": _same_array,
            "same_items": _same_items,
        }
        self.leaves: list[tuple[str, tuple[str, Any]]] = []
        self.tensors: list[tuple[str, Tensor]] = []
        self._places = {"modules": "modules"}
        self._seen: dict[int, tuple[str, Any]] = {}
        self._classes: set[type] = set()
        self._waiting: deque[tuple[str, str, str, Any]] = deque()
        self._count = 0

    def go(self, roots: Sequence[tuple[str, Any]]) -> None:
        """Visit everything that is reached from these objects, which are the guard's arguments."""
        if "is_grad_enabled" in self.names:
            self._unless(f"mode.enabled is {grad_mode.enabled}")
        self._count = len(roots)
        for n, (path, root) in enumerate(roots):
            self._places[f"x{n}"] = f"x{n}"
            self._visit(f"x{n}", path, root)
        while self._waiting:
            expression, place, path, value = self._waiting.popleft()
            if self._count > _MOST:
                raise TypeError(
                    f"jit: the function captures more than {_MOST} values, among them {path}; give it what it needs as "
                    "arguments"
                )
            name = f"x{self._count}"
            self._count += 1
            self._places[name] = place
            self.lines.append(f"{name} = {expression}")
            self._visit(name, path, value)

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
            self._waiting.append((f"{before}{name}{after}", place, path, value))
        elif not isinstance(value, _PLAIN):  # by no other way either
            self._seen[id(value)] = "", value

    def _unless(self, condition: str) -> None:
        self.lines.append(f"if not ({condition}): return None")

    def _leaf(self, name: str, path: str, what: Any) -> None:
        self.leaves.append((self._places[name], (path, what)))

    def _visit(self, name: str, path: str, value: Any) -> None:
        if isinstance(value, _PLAIN):
            known = self.constant(value)
            self._unless(f"{name} is {known} or same({name}, {known})")
            self._leaf(name, path, ("value", frozen(value, {})))
            return
        if id(value) in self._seen:
            first, _ = self._seen[id(value)]
            if first:
                self._unless(f"{name} is {first}")
            return
        self._seen[id(value)] = name, value
        if isinstance(value, Tensor):
            self._tensor(name, path, value)
        elif isinstance(value, types.FunctionType):
            self._function(name, path, value)
        elif isinstance(value, types.MethodType):
            self._later(name, ".__func__", path, value.__func__)
            self._later(name, ".__self__", "self" if not path else f"{path}.__self__", value.__self__)
        elif isinstance(value, list | tuple | dict | deque):
            self._container(name, path, value)
        elif isinstance(value, np.ndarray):
            self._array(name, path, value)
        elif isinstance(value, types.ModuleType):
            if not is_of_a_library(value):
                self._attributes(name, path, value, vars(value))
        elif isinstance(value, type):
            self._unless(f"{name} is {self.constant(value)}")
            self._class(value, path, is_called=True)
        elif isinstance(value, set | frozenset) and all(isinstance(x, _PLAIN) for x in value):
            self._unless(f"{name} == {self.constant(frozenset(value))}")
            self._leaf(name, path, ("set", frozenset(value)))
        else:
            self._other(name, path, value)

    def _tensor(self, name: str, path: str, x: Tensor) -> None:
        if x.abstract:
            self._unless(f"{name} is {self.constant(x)}")
            self._leaf(name, path, ("traced", id(x)))
            return
        kind, dtype = self.constant(type(x)), self.constant(x.dtype)
        memory = self.constant(type(x._array))
        self._unless(
            f"{name}.__class__ is {kind} and (a := {name}._array).__class__ is {memory} "
            f"and a.shape == {tuple(x.shape)} and a.dtype == {dtype}"
        )
        if "requires_grad" in self.names:
            self._unless(f"{name}._requires_grad is {x._requires_grad}")
        if "grad" in self.names:
            self._later(name, "._grad", f"{path}.grad", x._grad)
        self.tensors.append((name, x))
        self._leaf(name, path, ("tensor", tuple(x.shape), x.dtype))

    def _array(self, name: str, path: str, value: np.ndarray[Any, Any]) -> None:
        self._leaf(name, path, ("array", Var(value.shape, value.dtype).type, hash(value.tobytes())))
        if value.dtype.hasobject:
            self._unless(f"{name}.shape == {value.shape}")
            self._later(name, ".tolist()", path, value.tolist())
        else:
            self._unless(f"same_array({name}, {self.constant(np.array(value, order='C'))})")

    # --- functions ------------------------------------------------------------------------------------------

    def _function(self, name: str, path: str, fun: types.FunctionType) -> None:
        code = fun.__code__
        is_ours = code.co_filename.startswith(_LIBRARY)
        self._unless(f"{name}.__code__ is {self.constant(code)}")
        self._leaf(name, path or fun.__name__, ("function", code))
        self.found |= names_in(code) - (
            _OF_TENSORS if is_ours else {"grad"} if names_libraries_gradient(fun) else set()
        )
        for n, (variable, cell) in enumerate(zip(code.co_freevars, fun.__closure__ or (), strict=True)):
            if _is_empty(cell):
                self._unless(f"is_empty({name}.__closure__[{n}])")
            else:
                self._later(name, f".__closure__[{n}].cell_contents", variable, cell.cell_contents)
        if is_ours:
            return
        for attribute in self._named([each for each in vars(fun) if not each.startswith("__")]):
            self._later(name, f".__dict__[{attribute!r}]", f"{path}.{attribute}", vars(fun)[attribute])
        wrapped = vars(fun).get("__wrapped__")
        if wrapped is not None:
            self._later(name, ".__wrapped__", path, wrapped)
        for what in ("__defaults__", "__kwdefaults__"):
            if getattr(fun, what):
                self._later(name, f".{what}", f"a default of {fun.__name__}", getattr(fun, what))
        if not is_of_a_library(sys.modules.get(fun.__module__)):
            self._variables(name, fun)

    def _variables(self, name: str, fun: types.FunctionType) -> None:
        """Visit the global variables that a function's code names, and the modules that it imports."""
        variables, imported = globals_of(fun.__code__)
        if "globals" in variables:
            variables |= names_in(fun.__code__) & fun.__globals__.keys()
        for variable in sorted(variables):
            if variable not in fun.__globals__:  # one of Python's own, which a global variable may hide
                self._unless(f"{variable!r} not in {name}.__globals__")
                continue
            value = fun.__globals__[variable]
            if not (isinstance(value, types.ModuleType) and is_of_a_library(value)):
                self._later(name, f".__globals__[{variable!r}]", variable, value)
        for level, module in imported:
            package = fun.__globals__.get("__package__") or ""
            full = importlib.util.resolve_name("." * level + module, package) if level else module
            if full in sys.modules and not is_of_a_library(sys.modules[full]):
                self._later("modules", f"[{full!r}]", full, sys.modules[full])

    # --- containers and objects -----------------------------------------------------------------------------

    def _container(self, name: str, path: str, value: Any) -> None:
        kind = type(value)
        self._unless(f"{name}.__class__ is {self.constant(kind)}")
        keys = list(value) if isinstance(value, dict) else None
        items = list(value.values()) if isinstance(value, dict) else list(value)
        has_plain_keys = keys is None or not any(map(holds_more, keys))
        if kind not in (list, tuple, dict, deque):
            self._contents(name, path, value)
        is_free = self._places[name] in self._but
        if len(items) > _MANY_ITEMS and has_plain_keys and all(isinstance(x, _PLAIN) for x in items) and not is_free:
            self._unless(f"same_items({name}, {self.constant(items)}, {self.constant(keys)})")
            self._leaf(name, path, ("values", frozen(items, {}), frozen(keys, {})))
            return
        self._leaf(name, path, ("container", kind, len(items)))
        if keys is None:
            self._unless(f"len({name}) == {len(items)}")
            for n, item in enumerate(items):
                self._later(name, f"[{n}]", f"{path}[{n}]", item)
        elif has_plain_keys:
            if not is_free:
                self._unless(f"list({name}) == {self.constant(keys)}")
            for key, item in value.items():
                self._later(name, f"[{self.constant(key)}]", f"{path}[{key!r}]", item, at=f"[{key!r}]")
        elif not is_free:
            self._later(name, ")", f"{path}.keys()", keys, "list(")
            self._later(name, ".values())", f"{path}.values()", items, "list(")

    def _other(self, name: str, path: str, value: Any) -> None:
        kind = type(value)
        for kinds, before, after in _THROUGH:
            if isinstance(value, kinds):
                self._unless(f"{name}.__class__ is {self.constant(kind)}")
                self._leaf(name, path, ("object", kind))
                self._later(name, after, path, eval(f"{before}value{after}", {"value": value, **self.scope}), before)
                return
        owner = getattr(value, "__self__", None)
        if isinstance(value, _FIXED) and owner is not None and not isinstance(owner, types.ModuleType | type):
            self._unless(f"{name}.__name__ == {value.__name__!r}")
            self._later(name, ".__self__", path, owner)
            return
        if isinstance(value, operator.attrgetter | operator.methodcaller):
            self.found |= {part for word in value.__reduce__()[1] for part in str(word).split(".")}
        if hasattr(kind, "__array__") and not kind.__module__.startswith("minigrad"):
            array = _array_of(value)
            if array is not None:
                self._later(name, ")", path, array, "asarray(")
        contents = getattr(value, "__dict__", None)
        if isinstance(value, (*_FIXED, enum.Enum)) or not (isinstance(contents, dict) or _slots_of(kind)):
            self._unless(f"{name} is {self.constant(value)}")
            self._leaf(name, path, ("object", kind, id(value)))
            if not isinstance(value, enum.Enum):
                return
        self._unless(f"{name}.__class__ is {self.constant(kind)}")
        self._leaf(name, path, ("object", kind))
        self._contents(name, path, value)

    def _contents(self, name: str, path: str, value: Any) -> None:
        """Visit an object's class, its attributes and its slots."""
        self._class(type(value), path)
        contents = getattr(value, "__dict__", None)
        if isinstance(contents, dict) and contents is not value:
            self._attributes(name, path, value, contents)
        for slot in _slots_of(type(value)):
            if slot not in self.names and not self._any_name:
                continue
            if hasattr(value, slot):
                self._later(name, f".{slot}", f"{path}.{slot}", getattr(value, slot))
            else:
                self._unless(f"not hasattr({name}, {slot!r})")

    def _attributes(self, name: str, path: str, value: Any, contents: Mapping[str, Any]) -> None:
        """Visit the attributes of an object that code may read."""
        wanted = self._wanted(value, contents)
        if not isinstance(value, types.ModuleType) and "_captures" not in vars(type(value)):
            self._no_others(f"{name}.__dict__", contents, wanted)
        if isinstance(value, Module):  # a container goes through its parts in their order
            self._unless(f"list({name}.__dict__['_modules']) == {self.constant(list(contents['_modules']))}")
        if "__wrapped__" in contents:
            self._later(name, ".__wrapped__", path, contents["__wrapped__"])
        for attribute in wanted:
            at = f".__dict__[{attribute!r}]"
            self._later(name, at, f"{path}.{attribute}" if path else attribute, contents[attribute])

    def _no_others(self, contents: str, known: Mapping[str, Any], wanted: Sequence[str]) -> None:
        """Write the check that there are no other attributes: one more may hide that of a class."""
        if self._any_name or len(wanted) == len(known):
            self._unless(f"len({contents}) == {len(known)}")
        else:
            self._unless(f"{self.constant(self.names - known.keys())}.isdisjoint({contents})")

    def _wanted(self, value: Any, contents: Mapping[str, Any]) -> list[str]:
        every = [name for name in contents if not name.startswith("__")]
        if "_captures" in vars(type(value)):  # the library's wrapper of a function
            return list(type(value)._captures)
        if not isinstance(value, Module):
            return every if self._any_name and not isinstance(value, types.ModuleType) else self._named(every)
        self.found |= {"forward", "training"}
        held = {name: x for registry in _REGISTRIES for name, x in contents.get(registry, {}).items()}
        every = [name for name in every if name != "_unsaved"]
        if all(contents.get(name) is x for name, x in held.items()):  # so they are, but for a moment in functional_call
            every = [name for name in every if name not in _REGISTRIES]
        if self._any_name or type(value).__module__.split(".")[0] == "minigrad":
            return every
        return [name for name in every if name in held or name in ("training", "_hooks") or name in self.names]

    def _named(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self.names]

    def _class(self, kind: type, path: str, is_called: bool = False) -> None:
        """Visit the methods that code may call, and what it may read of a class.

        Of the class of a library, this one's too, methods are read for their names only.
        """
        for each in kind.__mro__:
            if each is object or (each in self._classes and not is_called):
                continue
            self._classes.add(each)
            is_fixed = is_of_a_library(sys.modules.get(each.__module__))
            inside = self.constant(vars(each))
            self._places[inside] = f"{each.__module__}.{each.__qualname__}"
            if not is_fixed:
                self._no_others(inside, vars(each), ())
            for attribute, value in list(vars(each).items()):
                function = _plain_function(value)
                if not self._may_be_used(attribute, function, is_called):
                    continue
                if is_fixed:
                    is_function = isinstance(function, types.FunctionType)
                    self.found |= names_in(function.__code__) - _OF_TENSORS if is_function else set()
                    continue
                at, name = f"[{attribute!r}]", f"{each.__name__}.{attribute}"
                if function is value:
                    self._later(inside, at, name, function)
                else:
                    self._later(inside, f"{at})", name, function, "plain_function(")

    def _may_be_used(self, attribute: str, value: Any, is_called: bool) -> bool:
        if attribute.startswith("__") and attribute.endswith("__"):  # Python itself calls it
            if not isinstance(value, types.FunctionType):
                return False
            return attribute not in _OF_EVERY_OBJECT or (is_called and attribute == "__init__")
        return attribute in self.names or self._any_name


_COMPARISONS = {"__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__"}
_OF_EVERY_OBJECT = frozenset(dir(object)) - _COMPARISONS - {"__getattribute__"}
"""Methods that every object has and that no operation on one calls."""
_OF_TENSORS = frozenset({"grad", "requires_grad", "is_grad_enabled"})
"""Names that a library's code has too, though no graph depends there on what they say of a captured tensor."""


def _plain_function(value: Any) -> Any:
    """Return the function of a property, a class method or a static method; anything else as it is."""
    if isinstance(value, property):
        return value.fget
    if isinstance(value, functools.cached_property):
        return value.func
    return value.__func__ if isinstance(value, classmethod | staticmethod) else value


def _slots_of(kind: type) -> list[str]:
    """Return the names of the slots that objects of a class have for attributes."""
    slots = [vars(each).get("__slots__", ()) for each in kind.__mro__]
    names = [name for each in slots for name in ((each,) if isinstance(each, str) else each)]
    return [name for name in names if name not in ("__dict__", "__weakref__")]


def _array_of(value: Any) -> Any:
    """Return what another library's array or table holds, as an array; None if it does not say."""
    try:
        return np.asarray(value)
    except Exception:  # a tensor of PyTorch that wants gradients, or that is on a device
        return None
