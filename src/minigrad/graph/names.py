"""What a function's code may read: the names of variables and attributes in it, and the modules that it imports."""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections.abc import Iterator
from typing import Any

__all__ = ["globals_of", "is_of_a_library", "names_in", "names_libraries_gradient"]


def is_of_a_library(module: types.ModuleType | None) -> bool:
    """Return whether a module is Python's, this library's, or another installed one: their variables stay."""
    if module is None:
        return False
    top = module.__name__.split(".")[0]
    path = str(getattr(module, "__file__", None) or "")
    is_installed = "site-packages" in path or "dist-packages" in path
    return top in sys.stdlib_module_names - {"__main__"} or top == "minigrad" or is_installed


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
def globals_of(code: types.CodeType) -> tuple[frozenset[str], tuple[tuple[int, str], ...]]:
    """Return the global variables that code reads, and the modules that it imports, with the number of dots."""
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    variables, imported = set(), []
    for each in _all_codes(code):
        before: list[Any] = [None, None]
        for instruction in dis.get_instructions(each):
            if instruction.opname in loads:
                variables.add(instruction.argval)
            elif instruction.opname == "IMPORT_NAME":
                imported.append((before[-2] or 0, instruction.argval))
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
                owner = instruction.argval if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") else ""
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
