"""Overrides: which exercises a student's answers replace now, and the quick routines that must not run meanwhile.

A *twin* is a quick form of something that is written to be read, and equal to it. Each is declared once, with `twin`.

`minigrad.exercises.install` says what it replaces. A quick path asks `any_of` for the modules that it bypasses, and
code that holds something made from an exercise (a compiled kernel, a traced rule) drops it in `on_change`.

An edition for students omits the reference answers, and every fast routine that would reveal one. It keeps omitting
them after the student has solved the exercise. Code that wants such a routine first calls `is_cut(routine)`; if that is
true, it calls the student's own function.
"""

from __future__ import annotations

import importlib
import itertools
import os
import threading
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

CUT = "cut.txt"
"""The file in an edition's package that lists the functions without their bodies; the whole library has none."""

_modules: frozenset[str] = frozenset()
_state = 0
_states = itertools.count(1)
_MISSING: Any = object()
turn = threading.RLock()
"""Held by the thread that chooses twins, or changes what they are chosen by: classes and tables serve all threads."""
if hasattr(os, "register_at_fork"):  # no child begins while another thread, which it does not have, holds the lock
    os.register_at_fork(before=turn.acquire, after_in_parent=turn.release, after_in_child=turn.release)
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
_listeners: list[Callable[[], object]] = []


def any_of(*modules: str) -> bool:
    """Return whether an object of one of these modules (``"tensor_data"``, ...) is replaced."""
    return not _modules.isdisjoint(modules)


@cache
def cut_names() -> frozenset[str]:
    """Return the dotted names of the functions whose bodies this edition leaves out, as its maker listed them.

    The whole library leaves none out.
    """
    try:
        return frozenset(Path(__file__).parents[1].joinpath(CUT).read_text(encoding="utf-8").split())
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
    """Return the object that an exercise consists of, by its dotted name; a student's where one is installed.

    >>> from minigrad.machine.overrides import exercise
    >>> exercise("operators.add")(1.0, 2.0)
    3.0
    """
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"minigrad.{module}"), attribute)


def is_ours(value: Any) -> bool:
    """Return whether an object comes from this library, imported rather than written by the student.

    A function that the library's functions make, as in ``negList = map(neg)``, is the student's.

    >>> from minigrad.machine.overrides import is_ours
    >>> is_ours(minigrad.operators.add), is_ours(len)
    (True, False)
    """
    is_made = "<locals>" in str(getattr(value, "__qualname__", ""))
    return not is_made and str(getattr(value, "__module__", "")).split(".")[0] == "minigrad"


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
    with turn:
        _twins.append(_Twin(owner, name, place.get(name, _MISSING), quick, unless, when))
        _twins[-1].choose()


def load_quick(*modules: str) -> None:
    """Declare the quick forms of modules; an edition for students leaves out those that would give answers away."""
    for module in modules:
        try:
            importlib.import_module(f"minigrad.quick.{module}")
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("minigrad.quick"):  # a mistake in the module, which nobody would notice
                raise


def choose_twins() -> None:
    """Put quick forms where they may stand now, and specifications everywhere else."""
    with turn:
        for each in _twins:
            each.choose()


def use_twins(allowed: bool) -> None:
    """Let quick forms take their places, or none of them: then the library computes as it is written to be read."""
    global _allowed
    with turn:
        _allowed = allowed
        choose_twins()


def on_change(listener: Callable[[], object]) -> None:
    """Call a function whenever other objects are replaced than before."""
    _listeners.append(listener)


def state() -> int:
    """Return a number that tells what is replaced now: 0 for nothing, and another one after each installation."""
    return _state


def replaced(names: Iterable[str]) -> None:
    """Take note of everything that is replaced now, by dotted names such as ``"autodiff.chain_rule"``."""
    global _modules, _state
    with turn:
        _modules = frozenset(name.rpartition(".")[0] for name in names)
        _state = next(_states) if _modules else 0
        for listener in _listeners:
            listener()
        choose_twins()
