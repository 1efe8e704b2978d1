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

import dis
import functools
import operator
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.backends import arrays
from minigrad.graph.program import Var, frozen
from minigrad.nn.module import Module
from minigrad.scalar import Scalar
from minigrad.tensors import Tensor

__all__ = ["Captured", "is_object"]

_LIBRARY = str(Path(__file__).parents[1])
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, slice, range, type(Ellipsis))
_FIXED = (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType)
_MANY_ITEMS = 32
"""Items up to which a container of plain values is compared one by one; a larger one is compared as a whole."""
_MOST = 20_000
"""Values that a function may capture; a guard for more would take longer than most functions."""
_REGISTRIES = ("_parameters", "_buffers", "_modules")
_BY_ANY_NAME = {"getattr", "vars", "__dict__", "hasattr"}
"""Names of code that may read attributes whose names it does not have."""


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


class Captured:
    """What a function captures at one moment.

    Args:
        fun: The function.
        objects: Further objects that it can reach, arguments that are no tensors, by path.
        but: Paths that are left out.

    Attributes:
        leaves: For each value its path, such as ``"self.layer.weight"``, and what a graph depends on of it.
    """

    def __init__(self, fun: Any, objects: Sequence[tuple[str, Any]] = (), but: frozenset[str] = frozenset()) -> None:
        names: frozenset[str] = frozenset()
        while True:  # a function that is found has names, by which more attributes are found
            walk = _Walk(names, but)
            walk.go([("", fun), *objects])
            if walk.found <= names:
                break
            names |= walk.found
        self._walk: _Walk | None = walk
        self._inputs = [f"x{n}" for n in range(1 + len(objects))]
        self.leaves: dict[str, Any] = dict(walk.leaves)

    def changed_since(self, before: Captured) -> frozenset[str]:
        """Return the paths at which there is something else than before, or was something else.

        >>> from minigrad.graph.capturing import Captured
        >>> calls = []
        >>> def fun(x):
        ...     calls.append(x)
        ...
        >>> before = Captured(fun)
        >>> calls.append(1)
        >>> Captured(fun).changed_since(before)
        frozenset({'calls'})
        """
        old, new = before.leaves, self.leaves
        found = {path for path in {**old, **new} if old.get(path) != new.get(path)}
        inside = ("[", ".")
        return frozenset(
            p for p in found if not any(p.startswith(q) and p[len(q) : len(q) + 1] in inside for q in found)
        )

    def guard(self, used: Sequence[Tensor], read: Sequence[Tensor]) -> Callable[..., tuple[Tensor, ...] | None] | None:
        """Return a function of the function and the objects that returns the tensors which stand in for some now.

        It returns None where anything else is not as it was. There is no such function, but None, where nothing is
        captured. It can be made once, for it holds on to no object: what is not used any more is freed.

        Args:
            used: Tensors that are inputs of the graph.
            read: Tensors on whose elements the graph depends.
        """
        walk, self._walk = self._walk, None
        assert walk is not None
        names = {id(x): name for name, x in walk.tensors}
        lines = list(walk.lines)
        for x in read:
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
            "    except (AttributeError, IndexError, KeyError, TypeError, ValueError):\n        return None\n"
        )
        exec(compile(text, "<guard>", "exec"), walk.scope)
        return walk.scope["guard"]  # type: ignore[no-any-return]


def _same(x: Any, y: Any) -> bool:
    return bool(frozen(x, {}) == frozen(y, {}))


def _same_array(x: Any, y: Any) -> bool:
    return bool(x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes())


def _same_items(x: Any, items: Sequence[Any], keys: Sequence[Any] | None) -> bool:
    if len(x) != len(items) or (keys is not None and list(x) != keys):
        return False
    values = x.values() if keys is not None else x
    return all(map(operator.is_, values, items)) or all(map(_same, values, items))


class _Walk:
    """One walk through everything that is reached from some objects by attributes of known names."""

    def __init__(self, names: frozenset[str], but: frozenset[str]) -> None:
        self._names, self._any_name, self._but = names, bool(names & _BY_ANY_NAME), but
        self.found: set[str] = set()
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {
            "host": arrays.to_host,
            "plain_function": _plain_function,
            "same": _same,
            "same_array": _same_array,
            "same_items": _same_items,
        }
        self.leaves: list[tuple[str, Any]] = []
        self.tensors: list[tuple[str, Tensor]] = []
        self._seen: dict[int, tuple[str, Any]] = {}
        self._classes: set[type] = set()
        self._waiting: deque[tuple[str, str, Any]] = deque()
        self._count = 0

    def go(self, roots: Sequence[tuple[str, Any]]) -> None:
        """Visit everything that is reached from these objects, which are the guard's arguments."""
        for path, root in roots:
            self._count += 1
            self._visit(f"x{self._count - 1}", path, root)
        while self._waiting:
            expression, path, value = self._waiting.popleft()
            if self._count > _MOST:
                raise TypeError(
                    f"jit: the function captures more than {_MOST} values, among them {path}; give it what it needs as "
                    "arguments"
                )
            name = f"x{self._count}"
            self._count += 1
            self.lines.append(f"{name} = {expression}")
            self._visit(name, path, value)

    def constant(self, value: Any) -> str:
        """Return the name of a value that the guard has of its own."""
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def _later(self, expression: str, path: str, value: Any) -> None:
        if path not in self._but:
            self._waiting.append((expression, path, value))

    def _unless(self, condition: str) -> None:
        self.lines.append(f"if not ({condition}): return None")

    def _leaf(self, path: str, what: Any) -> None:
        self.leaves.append((path, what))

    def _visit(self, name: str, path: str, value: Any) -> None:
        if isinstance(value, _PLAIN):
            known = self.constant(value)
            self._unless(f"{name} is {known} or same({name}, {known})")
            self._leaf(path, ("value", frozen(value, {})))
            return
        if id(value) in self._seen:
            self._unless(f"{name} is {self._seen[id(value)][0]}")
            return
        self._seen[id(value)] = name, value
        if isinstance(value, Tensor):
            self._tensor(name, path, value)
        elif isinstance(value, types.FunctionType):
            self._function(name, path, value)
        elif isinstance(value, types.MethodType):
            self._later(f"{name}.__func__", path, value.__func__)
            self._later(f"{name}.__self__", "self" if not path else f"{path}.__self__", value.__self__)
        elif isinstance(value, functools.partial):
            for part in ("func", "args", "keywords"):
                self._later(f"{name}.{part}", path, getattr(value, part))
        elif isinstance(value, list | tuple | dict | set | frozenset | deque):
            self._container(name, path, value)
        elif isinstance(value, np.ndarray):
            known = self.constant(value.copy())
            self._unless(f"same_array({name}, {known})")
            self._leaf(path, ("array", Var(value.shape, value.dtype).type, hash(value.tobytes())))
        elif isinstance(value, Scalar):
            self._later(f"{name}.data", path, value.data)
        elif isinstance(value, types.ModuleType):
            if not _is_of_a_library(value):
                self._attributes(name, path, value, vars(value))
        elif isinstance(value, type):
            self._unless(f"{name} is {self.constant(value)}")
            self._class(value, path, is_called=True)
        else:
            self._object(name, path, value)

    def _tensor(self, name: str, path: str, x: Tensor) -> None:
        if x.abstract:
            self._unless(f"{name} is {self.constant(x)}")
            return
        kind, dtype = self.constant(type(x)), self.constant(x.dtype)
        memory = self.constant(type(x._array))
        self._unless(
            f"{name}.__class__ is {kind} and (a := {name}._array).__class__ is {memory} "
            f"and a.shape == {tuple(x.shape)} and a.dtype == {dtype}"
        )
        if "requires_grad" in self._names:
            self._unless(f"{name}._requires_grad is {x._requires_grad}")
        if "grad" in self._names:
            self._later(f"{name}._grad", f"{path}.grad", x._grad)
        self.tensors.append((name, x))
        self._leaf(path, ("tensor", tuple(x.shape), x.dtype))

    # --- functions ------------------------------------------------------------------------------------------

    def _function(self, name: str, path: str, fun: types.FunctionType) -> None:
        code = fun.__code__
        is_ours = code.co_filename.startswith(_LIBRARY)
        if name != "x0":
            self._unless(f"{name}.__code__ is {self.constant(code)}")
        self._leaf(path or fun.__name__, ("function", code))
        self.found |= _names_in(code)
        for n, (variable, cell) in enumerate(zip(code.co_freevars, fun.__closure__ or (), strict=True)):
            try:
                value = cell.cell_contents
            except ValueError:  # a variable that has no value yet
                continue
            self._later(f"{name}.__closure__[{n}].cell_contents", variable, value)
        if is_ours:
            return
        for attribute in self._named([each for each in vars(fun) if not each.startswith("__")]):
            self._later(f"{name}.__dict__[{attribute!r}]", f"{path}.{attribute}", vars(fun)[attribute])
        wrapped = vars(fun).get("__wrapped__")
        if wrapped is not None:
            self._later(f"{name}.__wrapped__", path, wrapped)
        for what in ("__defaults__", "__kwdefaults__"):
            if getattr(fun, what):
                self._later(f"{name}.{what}", f"a default of {fun.__name__}", getattr(fun, what))
        for variable in sorted(_globals_of(code)):
            if variable in fun.__globals__:
                self._global(name, variable, fun.__globals__[variable])

    def _global(self, name: str, variable: str, value: Any) -> None:
        if not (isinstance(value, types.ModuleType) and _is_of_a_library(value)):
            self._later(f"{name}.__globals__[{variable!r}]", variable, value)

    # --- containers and objects -----------------------------------------------------------------------------

    def _container(self, name: str, path: str, value: Any) -> None:
        self._unless(f"{name}.__class__ is {self.constant(type(value))}")
        is_dict = isinstance(value, dict)
        keys = list(value) if is_dict else None
        items = list(value.values()) if is_dict else list(value)
        has_plain_keys = keys is None or all(isinstance(key, _PLAIN) for key in keys)
        if isinstance(value, set | frozenset):
            self._unless(f"{name} == {self.constant(frozenset(value))}")
            self._leaf(path, ("set", frozenset(value)))
            return
        if len(items) > _MANY_ITEMS and has_plain_keys and all(isinstance(x, _PLAIN) for x in items):
            self._unless(f"same_items({name}, {self.constant(items)}, {self.constant(keys)})")
            self._leaf(path, ("values", frozen(items, {}), frozen(keys, {})))
            return
        self._unless(f"len({name}) == {len(items)}")
        self._leaf(path, ("container", type(value), len(items)))
        if not is_dict:
            for n, item in enumerate(items):
                self._later(f"{name}[{n}]", f"{path}[{n}]", item)
        elif has_plain_keys:
            self._unless(f"list({name}) == {self.constant(keys)}")
            for key, item in value.items():
                self._later(f"{name}[{self.constant(key)}]", f"{path}[{key!r}]", item)
        else:
            everything = f"list({name}.values())"
            for n, item in enumerate(items):
                self._later(f"{everything}[{n}]", f"{path}.values()[{n}]", item)

    def _object(self, name: str, path: str, value: Any) -> None:
        kind = type(value)
        contents = getattr(value, "__dict__", None)
        slots = [each for k in kind.__mro__ for each in _listed(vars(k).get("__slots__", ()))]
        if isinstance(value, _FIXED) or (not isinstance(contents, dict) and not slots):
            self._unless(f"{name} is {self.constant(value)}")
            self._leaf(path, ("object", kind, id(value)))
            return
        self._unless(f"{name}.__class__ is {self.constant(kind)}")
        self._leaf(path, ("object", kind))
        self._class(kind, path)
        if isinstance(contents, dict):
            self._attributes(name, path, value, contents)
        for slot in slots:
            if (
                (slot in self._names or self._any_name)
                and hasattr(value, slot)
                and slot not in ("__dict__", "__weakref__")
            ):
                self._later(f"{name}.{slot}", f"{path}.{slot}", getattr(value, slot))

    def _attributes(self, name: str, path: str, value: Any, contents: Mapping[str, Any]) -> None:
        """Visit the attributes of an object that code may read."""
        wanted = self._wanted(value, contents)
        inside = f"d{self._count}_{len(self.lines)}"
        self.lines.append(f"{inside} = {name}.__dict__")
        if not isinstance(value, types.ModuleType | type) and "_captures" not in vars(type(value)):
            self._unless(f"len({inside}) == {len(contents)}")
        if isinstance(value, Module):  # a container goes through its parts in their order
            self._unless(f"list({inside}['_modules']) == {self.constant(list(contents['_modules']))}")
        for attribute in wanted:
            self._later(f"{inside}[{attribute!r}]", f"{path}.{attribute}" if path else attribute, contents[attribute])

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
        return [name for name in every if name in held or name in ("training", "_hooks") or name in self._names]

    def _named(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self._names]

    def _class(self, kind: type, path: str, is_called: bool = False) -> None:
        """Visit the methods that code may call, and what it may read of a class."""
        for each in kind.__mro__:
            if each in self._classes and not is_called:
                continue
            self._classes.add(each)
            is_ours = each.__module__.split(".")[0] == "minigrad"
            if not is_ours and _is_of_a_library(sys.modules.get(each.__module__)):
                continue
            inside = self.constant(vars(each))
            if not is_ours:  # one more attribute may hide that of another class
                self._unless(f"len({inside}) == {len(vars(each))}")
            for attribute, value in list(vars(each).items()):
                function = _plain_function(value)
                if not self._may_be_used(attribute, function, is_called):
                    continue
                if is_ours:
                    self.found |= _names_in(function.__code__) if isinstance(function, types.FunctionType) else set()
                    continue
                place = f"{inside}[{attribute!r}]"
                self._later(
                    place if function is value else f"plain_function({place})", f"{each.__name__}.{attribute}", function
                )

    def _may_be_used(self, attribute: str, value: Any, is_called: bool) -> bool:
        if attribute.startswith("__") and attribute.endswith("__"):  # Python itself calls it
            if not isinstance(value, types.FunctionType):
                return False
            return attribute not in _OF_EVERY_OBJECT or (is_called and attribute == "__init__")
        return attribute in self._names or self._any_name


_COMPARISONS = {"__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__"}
_OF_EVERY_OBJECT = frozenset(dir(object)) - _COMPARISONS - {"__getattribute__"}
"""Methods that every object has and that no operation on one calls."""


def _plain_function(value: Any) -> Any:
    """Return the function of a property, a class method or a static method; anything else as it is."""
    if isinstance(value, property):
        return value.fget
    if isinstance(value, functools.cached_property):
        return value.func
    return value.__func__ if isinstance(value, classmethod | staticmethod) else value


def _listed(slots: Any) -> Sequence[str]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_of_a_library(module: types.ModuleType | None) -> bool:
    """Return whether a module is Python's, this library's, or another installed one: their variables stay."""
    if module is None:
        return False
    top = module.__name__.split(".")[0]
    path = str(getattr(module, "__file__", None) or "")
    return top in sys.stdlib_module_names - {"__main__"} or top == "minigrad" or "site-packages" in path


def _all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Go through a function's code and that of the functions inside of it."""
    codes = [code]
    while codes:
        each = codes.pop()
        codes += [inner for inner in each.co_consts if isinstance(inner, types.CodeType)]
        yield each


@functools.lru_cache(4096)
def _names_in(code: types.CodeType) -> frozenset[str]:
    """Return the names of variables and attributes in a function's code, and its words that may be such names."""
    found: set[str] = set()
    for each in _all_codes(code):
        found |= set(each.co_names)
        found |= {x for x in each.co_consts if isinstance(x, str) and x.isidentifier()}
    return frozenset(found)


@functools.lru_cache(4096)
def _globals_of(code: types.CodeType) -> frozenset[str]:
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    return frozenset(e.argval for each in _all_codes(code) for e in dis.get_instructions(each) if e.opname in loads)
