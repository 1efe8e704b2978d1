"""What a function's code may read: the names of variables and attributes in it, and the modules that it imports."""

from __future__ import annotations

import dis
import functools
import os
import sys
import sysconfig
import types
from collections.abc import Iterator
from typing import Any

_PYTHONS = os.path.realpath(sysconfig.get_paths()["stdlib"])
_BY_ANY_NAME = {"vars", "__dict__", "__getattribute__", "asdict", "astuple", "getmembers", "attrgetter", "methodcaller"}
"""Names of code that may read attributes whose names it does not have."""
_BY_A_WORD = {"getattr", "hasattr"}
"""Functions that may do so where the name is no word in the code."""
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")


def is_of_a_library(module: Any) -> bool:
    """Return whether a module is Python's, this library's, or another installed one: their variables stay."""
    if not isinstance(module, types.ModuleType):
        return False
    top = vars(module).get("__name__", "").split(".")[0]
    path = str(vars(module).get("__file__") or _PYTHONS)
    is_installed = "site-packages" in path or "dist-packages" in path
    is_pythons = top in sys.stdlib_module_names - {"__main__"} and os.path.realpath(path).startswith(_PYTHONS)
    return top == "minigrad" or is_installed or is_pythons


def _all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Go through a function's code and that of the functions inside of it."""
    codes = [code]
    while codes:
        each = codes.pop()
        codes += [inner for inner in each.co_consts if isinstance(inner, types.CodeType)]
        yield each


@functools.lru_cache(4096)
def names_in(code: types.CodeType) -> frozenset[str]:
    """Return the names of variables and attributes in a function's code, and its words that may be such names."""
    found: set[str] = set()
    for each in _all_codes(code):
        found |= set(each.co_names)
        words = [x for const in each.co_consts for x in (const if isinstance(const, tuple) else (const,))]
        found |= {part for x in words if isinstance(x, str) for part in x.split(".") if part.isidentifier()}
    return frozenset(found)


@functools.lru_cache(4096)
def reads_any_name(code: types.CodeType) -> bool:
    """Return whether code may read attributes whose names it does not have, as in ``getattr(x, f"k{1}")``.

    >>> from minigrad.graph.names import reads_any_name
    >>> reads_any_name((lambda x: getattr(x, "scale", 1.0)).__code__)
    False
    >>> reads_any_name((lambda x, n: getattr(x, f"scale{n}")).__code__)
    True
    """
    if names_in(code) & _BY_ANY_NAME:
        return True
    for each in _all_codes(code):
        steps = list(dis.get_instructions(each))
        for n, step in enumerate(steps):
            if step.opname in _LOADS and step.argval in _BY_A_WORD:
                # The word is loaded just before the call, or before a default that is a constant or a variable.
                ends = (m for m in range(n, len(steps)) if steps[m].opname in ("CALL", "CALL_FUNCTION", "PRECALL"))
                last = steps[n : next(ends, n)][-2:]
                if not any(x.opname == "LOAD_CONST" and isinstance(x.argval, str) for x in last):
                    return True
    return False


@functools.lru_cache(4096)
def globals_of(code: types.CodeType) -> tuple[frozenset[str], tuple[tuple[int, str], ...]]:
    """Return the global variables that code reads, and the modules that it imports, with the number of dots."""
    variables, imported = set(), []
    for each in _all_codes(code):
        before: list[Any] = [None, None]
        for instruction in dis.get_instructions(each):
            if instruction.opname in _LOADS:
                variables.add(instruction.argval)
            elif instruction.opname == "IMPORT_NAME":
                level, parts = before[-2] or 0, instruction.argval.split(".")
                imported += [(level, ".".join(parts[: n + 1])) for n in range(len(parts))]
            before = [before[-1], instruction.argval]
    return frozenset(variables), tuple(imported)


@functools.lru_cache(4096)
def _owners_of_gradients(code: types.CodeType) -> frozenset[str]:
    """Return the global variables of which code reads `grad`, as in ``minigrad.func.grad``; "" for anything else."""
    found: set[str] = set()
    for each in _all_codes(code):
        owner = ""
        for instruction in dis.get_instructions(each):
            if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                if instruction.argval == "grad":
                    found.add(owner)
            else:
                owner = instruction.argval if instruction.opname in _LOADS else ""
        if "grad" in each.co_consts:
            found.add("")
    return frozenset(found)


def names_libraries_gradient(fun: types.FunctionType) -> bool:
    """Return whether a function's code has `grad` only as a variable or as in ``minigrad.grad``: it reads no gradient.

    >>> from minigrad.graph.names import names_libraries_gradient
    >>> names_libraries_gradient(lambda x: minigrad.grad(x)), names_libraries_gradient(lambda x: x.grad)
    (True, False)
    """
    owners = [fun.__globals__.get(name) for name in _owners_of_gradients(fun.__code__)]
    return all(isinstance(x, types.ModuleType) and is_of_a_library(x) for x in owners)
