"""Which exercises a student's answers stand in for, so that the quick paths beside them stand aside.

A *twin* is a quick form of something that is written to be read, and equal to it. Each is declared once, with `twin`.

`minigrad.exercises.install` says what it replaces. A quick path asks `any_of` for the modules that it bypasses, and
whoever holds something made from an exercise (a compiled kernel, a traced rule) drops it in `on_change`.

A class's edition of the library leaves out what would give an exercise away, and it stays out when the student has done
that exercise. `is_cut` tells, and who would call it goes by the student's own work instead.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

__all__ = ["EVERYTHING", "any_of", "choose_twins", "exercise", "is_cut", "on_change", "replaced", "twin", "use_twins"]

_modules: frozenset[str] = frozenset()
_MISSING: Any = object()
EVERYTHING = ("*",)
"""For a twin that stands aside while anything at all is replaced."""


class _Twin(NamedTuple):
    """A quick form, the place that it takes, and when it may."""

    owner: Any
    name: Any
    specified: Any
    quick: Any
    unless: tuple[str, ...]
    when: Callable[[], bool]

    def choose(self) -> None:
        """Put the quick form or the specification into the place."""
        aside = not _allowed or (bool(_modules) if self.unless == EVERYTHING else any_of(*self.unless))
        value = self.specified if aside or not self.when() else self.quick
        if isinstance(self.owner, dict):
            self.owner.pop(self.name, None) if value is _MISSING else self.owner.update({self.name: value})
        elif value is not _MISSING:
            setattr(self.owner, self.name, value)
        elif self.name in vars(self.owner):
            delattr(self.owner, self.name)


_twins: list[_Twin] = []
_allowed = True
_listeners: list[Callable[[], None]] = []


def any_of(*modules: str) -> bool:
    """Return whether an object of one of these modules (``"tensor_data"``, ...) is replaced."""
    return not _modules.isdisjoint(modules)


def is_cut(function: Callable[..., Any]) -> bool:
    """Return whether this edition of the library leaves the body of a function out."""
    code = getattr(function, "__code__", None)
    return code is not None and "ExerciseNotDone" in code.co_names


def exercise(name: str) -> Any:
    """Return the object that an exercise consists of, by its dotted name; a student's where one is installed."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"minigrad.{module}"), attribute)


def twin(
    owner: type | dict[Any, Any],
    name: Any,
    quick: Any,
    *,
    unless: tuple[str, ...],
    when: Callable[[], bool] = lambda: True,
) -> None:
    """Declare a quick form, a *twin*, of what stands in a place: it takes the place while nothing forbids it.

    Args:
        owner: A class, or a table.
        name: The class's attribute, or the table's key. What stands there now is the specification.
        quick: What is equal to it, and quicker; left out where this edition of the library omits its body.
        unless: The modules for whose exercises it stands aside, ``("autodiff",)``; `EVERYTHING` for those of all.
        when: A further condition, such as the choice of a backend; `choose_twins` is called when it may have changed.
    """
    if is_cut(quick):
        return
    place = owner if isinstance(owner, dict) else vars(owner)
    _twins.append(_Twin(owner, name, place.get(name, _MISSING), quick, unless, when))
    _twins[-1].choose()


def choose_twins() -> None:
    """Put quick forms where they may stand now, and specifications everywhere else."""
    for each in _twins:
        each.choose()


def use_twins(allowed: bool) -> None:
    """Let quick forms take their places, or none of them: then the library computes as it is written to be read."""
    global _allowed
    _allowed = allowed
    choose_twins()


def on_change(listener: Callable[[], None]) -> None:
    """Call a function whenever other objects are replaced than before."""
    _listeners.append(listener)


def replaced(names: Iterable[str]) -> None:
    """Take note of everything that is replaced now, by dotted names such as ``"autodiff.chain_rule"``."""
    global _modules
    _modules = frozenset(name.rpartition(".")[0] for name in names)
    for listener in _listeners:
        listener()
    choose_twins()
