"""Pack a probe: a function of a hidden test that is shipped into the sandbox, and nothing of the test with it."""

import builtins
import dis
import types
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from typing import Any

import cloudpickle

from autograder.library import MINIGRAD, Library
from autograder.sandbox.model import ProbeError
from autograder.sandbox.packages import modules_of

ALLOWED_MODULES = frozenset({"functools", "itertools", "math", "numpy", "operator", "random"})
_IN_THE_SANDBOX = frozenset(
    {
        *("bisect", "calendar", "collections", "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal"),
        *("enum", "fractions", "heapq", "io", "json", "matplotlib", "numba", "pathlib", "re", "sqlite3", "statistics"),
        *("string", "textwrap", "time", "types", "typing", "warnings", "zoneinfo"),
    }
)
"""Modules that a probe may import where it runs; beside the tests they would be imported without need."""
_NAME = "observe"
_MOST_PACKED = 1000
_PACKED: dict[tuple[types.CodeType, str, int, str, tuple[str, ...]], tuple[dict[str, Any], bytes]] = {}
_GLOBAL_READS = {"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"}


def pack_probe(fn: Callable[..., Any], library: Library = MINIGRAD) -> bytes:
    """A probe as bytes for `Session.observe`: by value, without file name, docstrings, annotations or the test's name.

    Args:
        fn: The probe.
        library: The library, which it may import.

    Raises:
        ProbeError: if anything but its own code would travel with it.
    """
    if not isinstance(fn, types.FunctionType):
        raise ProbeError(f"a probe must be a plain function, not {type(fn).__name__}")
    code = fn.__code__
    if code.co_freevars:
        names = ", ".join(code.co_freevars)
        raise ProbeError(f"probe {fn.__name__} uses {names} of the function around it; pass values as arguments")
    if fn.__defaults__ or fn.__kwdefaults__:
        raise ProbeError(f"probe {fn.__name__} has default values; pass values as arguments")
    # A test defines its probe anew for each submission: the same code, over the same globals.
    key = (code, fn.__qualname__, id(fn.__globals__), library.package, library.requires)
    kept = _PACKED.get(key)
    if kept is None or kept[0] is not fn.__globals__:
        if len(_PACKED) >= _MOST_PACKED:
            _PACKED.clear()
        kept = _PACKED[key] = (fn.__globals__, _pack(fn, code, _importable(library)))
    return kept[1]


def _importable(library: Library) -> frozenset[str]:
    return ALLOWED_MODULES | _IN_THE_SANDBOX | {library.package} | modules_of(library.requires)


def _pack(fn: types.FunctionType, code: types.CodeType, importable: Collection[str]) -> bytes:
    needed = {
        name: _allowed_global(fn, name)
        for name in sorted(_global_names(code))
        if not hasattr(builtins, name) or name in fn.__globals__
    }
    for module in _imports(code):
        if module.partition(".")[0] not in importable:
            raise ProbeError(f"probe {fn.__name__} imports {module}; it may import {', '.join(sorted(importable))}")
    bare = types.FunctionType(_strip(code, fn.__qualname__), dict(needed), _NAME)
    bare.__module__ = "probe"  # no module of this name exists, so cloudpickle packs the function by value
    return bytes(cloudpickle.dumps(bare))


def _allowed_global(fn: types.FunctionType, name: str) -> types.ModuleType:
    value = fn.__globals__.get(name)
    if isinstance(value, types.ModuleType) and value.__name__ in ALLOWED_MODULES:
        return value
    allowed = ", ".join(sorted(ALLOWED_MODULES))
    raise ProbeError(
        f"probe {fn.__name__} uses the global {name}; it may use only its arguments and the modules {allowed}"
    )


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _global_names(code: types.CodeType) -> set[str]:
    names = set()
    for part in _codes(code):
        local = {step.argval for step in dis.get_instructions(part) if step.opname == "STORE_NAME"}
        # A class body reads its own names by LOAD_NAME as well; __name__ is read there for __module__.
        local |= {"__name__", "__module__", "__qualname__"}
        names |= {step.argval for step in dis.get_instructions(part) if step.opname in _GLOBAL_READS} - (
            local if not part.co_flags & 1 else set()
        )
    return names


def _imports(code: types.CodeType) -> set[str]:
    return {step.argval for part in _codes(code) for step in dis.get_instructions(part) if step.opname == "IMPORT_NAME"}


def _strip(code: types.CodeType, qualname: str) -> types.CodeType:
    """`code` without docstrings, file name and line, and without the name of the test around it."""
    constants = [_strip_constant(constant, qualname) for constant in code.co_consts]
    steps = list(dis.get_instructions(code))
    loaded = {step.arg for step in steps if step.opname in {"LOAD_CONST", "RETURN_CONST"}}
    if constants and isinstance(constants[0], str) and 0 not in loaded:
        constants[0] = None  # a docstring: only the making of the function reads it
    for step, following in pairwise(steps):
        if step.opname == "LOAD_CONST" and following.opname == "STORE_NAME" and following.argval == "__doc__":
            constants[step.arg or 0] = None
    return code.replace(
        co_consts=tuple(constants),
        co_filename=f"<{_NAME}>",
        co_firstlineno=1,
        co_name=_NAME if code.co_qualname == qualname else code.co_name,
        co_qualname=_shorten(code.co_qualname, qualname),
    )


def _strip_constant(constant: object, qualname: str) -> object:
    if isinstance(constant, types.CodeType):
        return _strip(constant, qualname)
    # The body of a class holds its qualified name as a constant.
    return _shorten(constant, qualname) if isinstance(constant, str) else constant


def _shorten(name: str, qualname: str) -> str:
    if name == qualname:
        return _NAME
    return _NAME + name[len(qualname) :] if name.startswith(f"{qualname}.") else name
