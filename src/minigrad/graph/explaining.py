"""Sentences about a call of a jitted function: why it would be traced again, and what its graph remembers."""

from __future__ import annotations

import dis
import functools
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from minigrad.backends import arrays
from minigrad.graph.forms import Call
from minigrad.graph.program import Var, frozen
from minigrad.graph.tracing import Constant
from minigrad.nn.module import Module
from minigrad.transforms.trees import unlike

__all__ = ["Remembered", "differences"]

_LIBRARY = str(Path(__file__).parents[1])


def differences(call: Call, known: Call, paths: Sequence[str]) -> list[str]:
    """Return what a call has that another one had not.

    Args:
        call: The form of the call.
        known: That of the other one.
        paths: The path of each leaf of the call.
    """
    (given, named), (given_before, named_before) = call.structure.children, known.structure.children
    if len(given.children) != len(given_before.children):
        count, of_old = len(given.children), len(given_before.children)
        return [f"it is called with {count} positional arguments, and was called with {of_old}"]
    if named.rest != named_before.rest:
        names = [", ".join(each.rest) or "none" for each in (named, named_before)]
        return [f"the keyword arguments are {names[0]}, and were {names[1]}"]
    keys = [*range(len(given.children)), *named.rest]
    before = [*given_before.children, *named_before.children]
    for key, new, old in zip(keys, (*given.children, *named.children), before, strict=True):
        if new != old:
            return [f"{unlike(new, old, f'argument {key}').replace(': ', ' is ', 1).replace(' and ', ', and was ')}"]
    pairs = zip(paths, call.specs, known.specs, strict=True)
    found = [f"{path} is {_shown(new)}, and was {_shown(old)}" for path, new, old in pairs if new != old]
    if call.device != known.device:
        found.append(f"the tensors are on {call.device}, and were on {known.device}")
    if call.float_type != known.float_type:
        found.append(f"the default type of floats is {call.float_type}, and was {known.float_type}")
    if call.state[0] != known.state[0]:
        found.append(f"the backend is {call.state[0]!r}, and was {known.state[0]!r}")
    elif call.state != known.state:
        found.append("other answers stand in the library than before")
    return found


def _shown(spec: Any) -> str:
    return Var(*spec[1:]).type if spec[0] == "tensor" else repr(_thawed(spec[1]))


def _thawed(value: Any) -> Any:
    """Return the value that `frozen` has made hashable."""
    kind, content = value
    if kind in ("tuple", "list"):
        return tuple(map(_thawed, content))
    return float.fromhex(content) if kind is float else content


# --- what a graph remembers ---------------------------------------------------------------------------------------


class Remembered:
    """Values that a function took from outside when it was traced: variables that are numbers or words, and tensors.

    Args:
        fun: The function.
        constants: The captured tensors, as they were.
    """

    def __init__(self, fun: Callable[..., Any], constants: Sequence[Constant]) -> None:
        self._fun = fun
        self._values = dict(_variables_of(fun))
        self._tensors = [(weakref.ref(each.tensor), each.array) for each in constants]

    def changes(self) -> list[str]:
        """Return what is something else now.

        >>> from minigrad.graph.explaining import Remembered
        >>> settings = 2.0
        >>> remembered = Remembered(lambda x: x * settings, [])
        >>> settings = 5.0
        >>> remembered.changes()
        ['settings is 5.0 now, and the graph has 2.0']
        """
        now = dict(_variables_of(self._fun))
        found = [
            f"{name} is {now[name]!r} now, and the graph has {value!r}"
            for name, value in self._values.items()
            if name in now and frozen(now[name], {}) != frozen(value, {})
        ]
        for reference, array in self._tensors:
            tensor = reference()
            if tensor is not None and not _same(arrays.to_host(tensor._array), array):
                shape = Var(array.shape, array.dtype).type
                found.append(f"a captured tensor {shape} was changed, and the graph has its first elements")
        return found


def _same(x: Any, y: Any) -> bool:
    return bool(x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes())


def _variables_of(fun: Any) -> Iterator[tuple[str, Any]]:
    """Go through the variables outside of a function, and of functions that it calls, that hold numbers or words.

    Of a module it is whether the module is in training.
    """
    stack, seen = [fun], set[int]()
    while stack:
        each = _plain(stack.pop())
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        for name, value in _outside(each):
            if isinstance(value, bool | int | float | str | None):
                yield name, value
            elif isinstance(value, Module):
                yield f"{name}.training", value.training
            else:
                stack.append(value)


def _plain(fun: Any) -> types.FunctionType | None:
    """Return the function that a method, a partial application or a wrapper stands for; None for what is none."""
    while not isinstance(fun, types.FunctionType):
        if isinstance(fun, types.MethodType):
            fun = fun.__func__
        elif isinstance(fun, functools.partial):
            fun = fun.func
        else:
            fun = getattr(fun, "__dict__", {}).get("__wrapped__")
            if fun is None:
                return None
    return fun


def _outside(fun: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Go through the variables of a function that are not its own; of the library's functions, not through globals."""
    for name, cell in zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True):
        with suppress(ValueError):  # a variable that has no value yet
            yield name, cell.cell_contents
    if fun.__code__.co_filename.startswith(_LIBRARY):
        return
    codes = [fun.__code__]
    while codes:
        code = codes.pop()
        codes += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
        names = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
        yield from ((name, fun.__globals__[name]) for name in sorted(names) if name in fun.__globals__)
