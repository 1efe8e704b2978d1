"""Which exercises a student's answers stand in for, so that the quick paths beside them stand aside.

`minigrad.exercises.install` says what it replaces. A quick path asks `any_of` for the modules that it bypasses, and
whoever holds something made from an exercise (a compiled kernel, a traced rule) drops it in `on_change`.

A class's edition of the library leaves out what would give an exercise away, and it stays out when the student has done
that exercise. `is_cut` tells, and who would call it goes by the student's own work instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["any_of", "is_cut", "on_change", "replaced"]

_modules: frozenset[str] = frozenset()
_listeners: list[Callable[[], None]] = []


def any_of(*modules: str) -> bool:
    """Return whether an object of one of these modules (``"tensor_data"``, ...) is replaced.

    >>> from minigrad import standing_aside
    >>> standing_aside.any_of("tensor_data")
    False
    """
    return not _modules.isdisjoint(modules)


def is_cut(function: Callable[..., Any]) -> bool:
    """Return whether this edition of the library leaves the body of a function out."""
    code = getattr(function, "__code__", None)
    return code is not None and "ExerciseNotDone" in code.co_names


def on_change(listener: Callable[[], None]) -> None:
    """Call a function whenever other objects are replaced than before."""
    _listeners.append(listener)


def replaced(names: Iterable[str]) -> None:
    """Take note of everything that is replaced now, by dotted names such as ``"autodiff.chain_rule"``."""
    global _modules
    _modules = frozenset(name.rpartition(".")[0] for name in names)
    for listener in _listeners:
        listener()
