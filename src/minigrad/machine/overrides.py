"""Overrides: which exercises a student's answers replace now, and the quick routines that must not run meanwhile.

A *twin* is a quick form of something that is written to be read, and equal to it. Each is declared once, with `twin`.
A `Level` says whether a whole way of computing is quick, such as a backend's loops.

`minigrad.exercises.install` says what it replaces. Code that keeps something made from an exercise (a traced rule)
makes it by a function that `until_change` decorates.

An edition for students omits the reference answers, and every module that would reveal one (`SHOWS`). It keeps omitting
them after the student has solved the exercise. Code that wants such a module first tries to import it; without it, the
student's own function computes.
"""

from __future__ import annotations

import importlib
import itertools
import os
import threading
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

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
        aside = not _allowed or any_of(*self.unless)
        value = self.specified if aside or not self.when() else self.quick
        if isinstance(self.owner, dict):
            self.owner.pop(self.name, None) if value is _MISSING else self.owner.update({self.name: value})
        elif value is not _MISSING:
            setattr(self.owner, self.name, value)
        elif self.name in vars(self.owner):
            delattr(self.owner, self.name)


class Level:
    """A level of the library at which answers count: a backend's loops, say. It is quick while its modules are ours.

    Args:
        *modules: Those that hold what computes there, ``"tensor_data"``.
        then: Called whenever the attributes were found out again.

    Attributes:
        is_quick: Whether no object of its modules is replaced.
        state: Tells apart what is replaced, in any module: 0 for nothing, and another number after each installation.
    """

    def __init__(self, *modules: str, then: Callable[[], object] = lambda: None) -> None:
        self._modules, self._then = modules, then
        with turn:
            on_change(self._refresh)
            self._refresh()

    def _refresh(self) -> None:
        self.is_quick, self.state = not any_of(*self._modules), _state
        self._then()


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


def refuse_cut(functions: Iterable[FunctionType]) -> None:
    """Let the first function that this edition leaves out say which exercise is to be done."""
    for each in functions:
        if is_cut(each):
            each(*[None] * each.__code__.co_argcount)


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
    owner: type | ModuleType | dict[Any, Any],
    name: Any,
    quick: Any,
    *,
    specified: Any = None,
    unless: tuple[str, ...],
    when: Callable[[], bool] = lambda: True,
) -> None:
    """Declare a quick form, a *twin*, of what stands in a place: it takes the place while nothing forbids it.

    Args:
        owner: A class, a module, or a table.
        name: The attribute, or the table's key.
        quick: What is equal to the specification, and quicker; left out where this edition of the library omits its
            body.
        specified: The specification; None if it is what stands there now.
        unless: The modules for whose exercises it stands aside, ``("autodiff",)``.
        when: A further condition, such as the choice of a backend; `choose_twins` is called when it may have changed.
    """
    if is_cut(quick):
        if specified is None:
            return
        quick = specified
    if specified is None:
        specified = (owner if isinstance(owner, dict) else vars(owner)).get(name, _MISSING)
    with turn:
        _twins.append(_Twin(owner, name, specified, quick, unless, when))
        _twins[-1].choose()


def load_quick(*modules: str) -> None:
    """Declare the quick forms of modules, but for those that an edition leaves out, or what they are the forms of."""
    for module in modules:
        try:
            importlib.import_module(f"minigrad.quick.{module}")
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("minigrad."):  # nothing that an edition leaves out
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


def until_change(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorate a function whose results follow from answers: they are kept until others are installed."""
    kept = cache(function)
    on_change(kept.cache_clear)
    return kept  # type: ignore[return-value]  # mypy: cache takes any hashable arguments


def replaced(names: Iterable[str]) -> None:
    """Take note of everything that is replaced now, by dotted names such as ``"autodiff.chain_rule"``."""
    global _modules, _state
    with turn:
        _modules = frozenset(name.rpartition(".")[0] for name in names)
        _state = next(_states) if _modules else 0
        for listener in _listeners:
            listener()
        choose_twins()
