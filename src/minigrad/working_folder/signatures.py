"""The ways to call map, zipWith and reduce: MiniTorch since 2023 names these functions and leaves the rest open.

The way to call an answer is found by trying: it is asked one question with the arguments in every order, at once and
call by call. Names of parameters are not looked at: they differ from answer to answer, as in `reduce(f, xs, base)`.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any

NO_START = "reduce takes no start, which MiniTorch since 2023 does not ask for; it got the start as the first element"

Way = tuple[tuple[str, ...], ...]
"""Calls, each of what the one before returned; each names its arguments: `(("fn", "start"), ("ls",))`."""

_OURS: Mapping[str, Way] = {
    "map": (("fn",), ("ls",)),
    "zipWith": (("fn",), ("ls", "other")),
    "reduce": (("fn", "start"), ("ls",)),
}
_QUESTIONS: Mapping[str, tuple[Mapping[str, Any], Any]] = {
    "map": ({"fn": lambda x: -x, "ls": [1.0, 2.0]}, [-1.0, -2.0]),
    "zipWith": ({"fn": lambda x, y: x + y, "ls": [1.0, 2.0], "other": [4.0, 8.0]}, [5.0, 10.0]),
    "reduce": ({"fn": lambda x, y: x + y, "start": 8.0, "ls": [1.0, 2.0, 4.0]}, 15.0),
}
"""A question for each function, and the right answer. The right way must be found of wrong functions too: `fn` is
symmetrical, so that a fold from the wrong end is no sign of a wrong way."""

_REFUSED, _REACHED, _ANSWERED, _RIGHT = range(4)  # what comes of calling a function in some way


def curried(name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return map, zipWith or reduce as functions that return functions, however they take their arguments.

    >>> import functools
    >>> from minigrad.working_folder.signatures import curried
    >>> curried("reduce", lambda numbers, first, fn: functools.reduce(fn, numbers, first))(pow, 2.0)([3.0])
    8.0
    """
    way = _way_of(name, theirs)
    if way == _OURS[name]:
        return theirs

    def answer(given: Mapping[str, Any]) -> Any:
        is_first = "start" in given and not _has_start(way)
        return _called(theirs, way, {**given, "ls": [given["start"], *given["ls"]]} if is_first else given)

    return _taking(_OURS[name], answer)


def as_theirs(name: str, ours: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return our map, zipWith or reduce with the signature of theirs; a reduce without a start stays theirs.

    >>> from minigrad import operators
    >>> from minigrad.working_folder.signatures import as_theirs
    >>> fold = as_theirs("reduce", operators.reduce, lambda fn, values, base=0.0: sum(values, base))
    >>> fold(operators.add, [1.0, 2.0], base=3.0)
    6.0
    """
    way = _way_of(name, theirs)
    if way == _OURS[name]:
        return ours
    if name == "reduce" and not _has_start(way):
        return theirs
    return _taking(way, lambda given: _called(ours, _OURS[name], given), list(_signatures(name, theirs, way)))


def called_otherwise(name: str, theirs: Callable[..., Any]) -> str:
    """Return a sentence if map, zipWith or reduce is called in another way than this course's; else nothing.

    >>> from minigrad.working_folder.signatures import called_otherwise
    >>> called_otherwise("map", lambda numbers, fn: [fn(x) for x in numbers])
    'map is called as map(ls, fn), which MiniTorch since 2023 leaves open; this course asks for map(fn)(ls)'
    """
    way = _way_of(name, theirs)
    if way == _OURS[name]:
        return ""
    called, ours = (name + "".join(f"({', '.join(names)})" for names in each) for each in (way, _OURS[name]))
    return f"{name} is called as {called}, which MiniTorch since 2023 leaves open; this course asks for {ours}"


def has_no_start(reduce: Callable[..., Any]) -> bool:
    """Return whether a reduce takes a function and a list alone, and folds from the first element on.

    >>> import functools
    >>> from minigrad.working_folder.signatures import has_no_start
    >>> has_no_start(lambda fn, values: functools.reduce(fn, values)), has_no_start(lambda fn, start: lambda ls: start)
    (True, False)
    """
    return not _has_start(_way_of("reduce", reduce))


def _has_start(way: Way) -> bool:
    return any("start" in names for names in way)


def _way_of(name: str, theirs: Callable[..., Any]) -> Way:
    """Return the way to call an answer: the one that gives the right value, else one that gives a value at all."""
    ways = [_OURS[name], *_ways(tuple(_QUESTIONS[name][0]))]
    best = max(ways, key=lambda way: _came_of(name, theirs, way))  # of equals the first
    if name == "reduce" and _came_of(name, theirs, best) < _ANSWERED:
        without = [way for way in _ways(("fn", "ls")) if _came_of(name, theirs, way) >= _ANSWERED]
        return without[0] if without else best
    return best


def _ways(names: tuple[str, ...]) -> Iterator[Way]:
    """Yield every way to hand over some arguments; of the two lists of zipWith the first one always comes first."""
    for order in permutations(names):
        if "other" in order and order.index("other") < order.index("ls"):
            continue
        for is_next in product((False, True), repeat=len(names) - 1):
            calls = [[order[0]]]
            for argument, is_another_call in zip(order[1:], is_next, strict=True):
                if is_another_call:
                    calls.append([])
                calls[-1].append(argument)
            yield tuple(map(tuple, calls))


def _came_of(name: str, theirs: Callable[..., Any], way: Way) -> int:
    """Call an answer in some way, and return what came of it."""
    given, wanted = _QUESTIONS[name]
    try:
        found = _called(theirs, way, copy.deepcopy(given))  # an answer may change a list
        if name != "reduce":
            return _RIGHT if list(found) == wanted else _ANSWERED
    except Exception as error:  # not this way, or the answer is wrong or not written
        own = (_came_of.__code__, _called.__code__)
        at = error.__traceback__
        while at is not None and at.tb_frame.f_code in own:
            at = at.tb_next
        return _REFUSED if at is None else _REACHED
    if not isinstance(found, int | float):
        return _REFUSED if callable(found) else _REACHED
    return _RIGHT if found == wanted else _ANSWERED


def _called(function: Any, way: Way, given: Mapping[str, Any]) -> Any:
    for names in way:
        function = function(*(given[name] for name in names))
    return function


def _signatures(name: str, theirs: Any, way: Way) -> Iterator[inspect.Signature | None]:
    """Yield the signature of each function that a way calls; None from the first on that shows none."""
    given, _ = _QUESTIONS[name]
    for names in way:
        try:
            yield inspect.signature(theirs)
            theirs = theirs(*(given[each] for each in names))
        except Exception:  # written in C, or not written
            theirs = None
            yield None


def _taking(
    way: Way,
    answer: Callable[[Mapping[str, Any]], Any],
    signatures: Sequence[inspect.Signature | None] = (),
    so_far: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """Return a function that is called in a way, and answers when it has all arguments.

    Args:
        way: The way.
        answer: Gets the arguments by name.
        signatures: For each call the names and defaults of its parameters; without them places alone count.
        so_far: The arguments of the calls before.
    """
    names, signature = way[0], signatures[0] if signatures else None

    def ask(*given: Any, **named: Any) -> Any:
        if signature is not None:
            bound = signature.bind(*given, **named)
            bound.apply_defaults()
            given = (*bound.args, *bound.kwargs.values())
        taken = {**(so_far or {}), **dict(zip(names, given, strict=True))}
        return _taking(way[1:], answer, signatures[1:], taken) if way[1:] else answer(taken)

    return ask
