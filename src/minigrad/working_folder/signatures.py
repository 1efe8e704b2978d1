"""The signatures of map, zipWith and reduce: MiniTorch since 2023 names these functions and leaves the rest open."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["NO_START", "as_theirs", "curried", "has_no_start"]

NO_START = "reduce takes no start, which MiniTorch since 2023 does not ask for; it got the start as the first element"

_LISTS = {"map": 1, "zipWith": 2, "reduce": 1}


def curried(name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return map, zipWith or reduce as functions that return functions, however they take their lists.

    >>> from minigrad.working_folder.signatures import curried
    >>> curried("map", lambda fn, numbers: [fn(x) for x in numbers])(abs)([-1.0, 2.0])
    [1.0, 2.0]
    """
    if name == "reduce" and has_no_start(theirs):
        return lambda fn, start: lambda ls: theirs(fn, [start, *ls])
    if not _takes_lists(name, theirs):
        return theirs
    if name != "reduce":
        return lambda fn: lambda *ls: theirs(fn, *ls)
    if _start_of(theirs) == 1:
        return lambda fn, start: lambda ls: theirs(fn, start, ls)
    return lambda fn, start: lambda ls: theirs(fn, ls, start)


def as_theirs(name: str, ours: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return our map, zipWith or reduce with the signature of theirs; a reduce without a start stays theirs.

    >>> from minigrad import operators
    >>> from minigrad.working_folder.signatures import as_theirs
    >>> fold = as_theirs("reduce", operators.reduce, lambda fn, values, start=0.0: None)
    >>> fold(operators.add, [1.0, 2.0], start=3.0)
    6.0
    """
    if name == "reduce" and has_no_start(theirs):
        return theirs
    if not _takes_lists(name, theirs):
        return ours
    signature = inspect.signature(theirs)

    def ask(*given: Any, **named: Any) -> Any:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        fn, *rest = bound.arguments.values()
        if name != "reduce":
            return ours(fn)(*rest)
        return ours(fn, rest.pop(_start_of(theirs) - 1))(rest[0])

    return ask


def has_no_start(reduce: Callable[..., Any]) -> bool:
    """Return whether a reduce takes a function and a list and folds at once, from the first element on.

    >>> import functools
    >>> from minigrad.working_folder.signatures import has_no_start
    >>> has_no_start(lambda fn, values: functools.reduce(fn, values)), has_no_start(lambda fn, start: print)
    (True, False)
    """
    try:
        return len(_parameters(reduce)) == 2 and not callable(reduce(lambda x, y: x + y, [1.0, 2.0]))
    except Exception:  # it wants a number as its start, or is not written
        return False


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def _takes_lists(name: str, theirs: Callable[..., Any]) -> bool:
    parameters = _parameters(theirs)
    if name == "reduce":  # its start may have a default
        return len(parameters) >= 3
    return len([each for each in parameters if each.default is each.empty]) > _LISTS[name]


def _start_of(reduce: Callable[..., Any]) -> int:
    """Return the place of reduce's start: the second parameter, or the one whose name or default says so."""
    for place, each in enumerate(_parameters(reduce)):
        name = each.name.lower()
        if "start" in name or "init" in name or name == "x" or each.default is not each.empty:
            return place
    return 1
