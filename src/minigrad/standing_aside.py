"""Which exercises a student's answers stand in for, so that the quick paths beside them stand aside.

`minigrad.exercises.install` says what it replaces. A quick path asks `any_of` for the modules that it bypasses, and
code that holds something made from an exercise (a compiled kernel, a traced rule) drops it in `on_change`.

An edition for students omits the reference answers, and every fast routine that would reveal one. It keeps omitting
them after the student has solved the exercise. Code that wants such a routine first calls `is_cut(routine)`; if that is
true, it calls the student's own function.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["CUT", "any_of", "cut_names", "exercise", "is_cut", "is_ours", "on_change", "replaced"]

CUT = "cut.txt"
"""The file in an edition's package that lists the functions without their bodies; the whole library has none."""

_modules: frozenset[str] = frozenset()
_listeners: list[Callable[[], None]] = []


def any_of(*modules: str) -> bool:
    """Return whether an object of one of these modules (``"tensor_data"``, ...) is replaced.

    >>> from minigrad import standing_aside
    >>> standing_aside.any_of("tensor_data")
    False
    """
    return not _modules.isdisjoint(modules)


@cache
def cut_names() -> frozenset[str]:
    """Return the dotted names of the functions whose bodies this edition leaves out, as its maker listed them."""
    try:
        return frozenset(Path(__file__).with_name(CUT).read_text(encoding="utf-8").split())
    except FileNotFoundError:
        return frozenset()


def is_cut(value: Any) -> bool:
    """Return whether this edition leaves the body of a function out, or those of methods of a class.

    A student's function that is installed in its place is not cut: it has another module.
    """
    names = cut_names()
    if not names:
        return False
    members = vars(value).values() if isinstance(value, type) else (value,)
    functions = (getattr(each, "__func__", each) for each in members)
    return any(f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', '')}" in names for f in functions)


def exercise(name: str) -> Any:
    """Return the object that an exercise consists of, by its dotted name; a student's where one is installed."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"minigrad.{module}"), attribute)


def is_ours(value: Any) -> bool:
    """Return whether an object comes from this library, imported rather than written by the student.

    A function that the library's functions make, as in ``negList = map(neg)``, is the student's.
    """
    is_made = "<locals>" in str(getattr(value, "__qualname__", ""))
    return not is_made and str(getattr(value, "__module__", "")).split(".")[0] == "minigrad"


def on_change(listener: Callable[[], None]) -> None:
    """Call a function whenever other objects are replaced than before."""
    _listeners.append(listener)


def replaced(names: Iterable[str]) -> None:
    """Take note of everything that is replaced now, by dotted names such as ``"autodiff.chain_rule"``."""
    global _modules
    _modules = frozenset(name.rpartition(".")[0] for name in names)
    for listener in _listeners:
        listener()
