"""The calls that a failing check makes of a student's code, seen while the check runs once more.

A check may go through helpers, or through the library, so its own text does not always say which call failed. Python
tells a profiler of each function that begins: the outermost ones of the student's are the calls.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any

from minigrad.checks.expectation import expect, expect_that, text_of
from minigrad.checks.standins import Node

LONGEST, LONGEST_VALUE = 400, 200  # characters of the calls together, and of one argument
_MOST_CALLS, _MOST_VARIABLES = 4, 8
_NOT_TYPED = frozenset({"__setattr__", "__getattr__", "__delattr__", "__getattribute__", "__repr__", "__hash__"})
"""Methods that run where no call is written."""

_EXPECTS = (expect.__code__, expect_that.__code__)


class Observed:
    """Watches the calls of a student's functions while it is entered.

    Args:
        is_theirs: Whether a frame runs the student's code.
        names: The names of answers that are lambdas.
    """

    def __init__(self, is_theirs: Callable[[FrameType], bool], names: Mapping[CodeType, str]) -> None:
        self._is_theirs = is_theirs
        self._names = names
        self._calls: list[str] = []
        self._launches: list[str] = []  # of kernels, by functions of ours that take a kernel
        self._graphs: dict[str, None] = {}
        self._inside: FrameType | None = None
        self._value: tuple[int, int] | None = None  # the number of the value that differed, and how many there were
        self._is_compared = False  # what was called so far was as expected, if something else is called
        self._theirs: dict[CodeType, bool] = {}
        self._used = set[str]()  # calls that made an object of which a method is called
        self._made: list[tuple[Any, str]] = []  # objects of the student's making, each with the call that made it

    def __enter__(self) -> Observed:
        self._before = sys.getprofile()
        # It is held here: where recursion ends in the profiler itself, CPython drops the profiler while it still runs.
        self._profiler = self._note
        sys.setprofile(self._profiler)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.setprofile(self._before)

    def text(self) -> str:
        """Return the calls that are not known to be right; nothing if there is none."""
        calls = [each for each in self._calls if not self._is_part(each)]
        calls = self._blamed(calls) or list(dict.fromkeys(calls))
        if self._launches:  # a compiled function tells no profiler that it runs
            calls = [each for each in calls if each not in self._makers()] or list(dict.fromkeys(self._launches))
        dots = ["..."] if calls[_MOST_CALLS:] else []
        return _cut(", then ".join([*dots, *calls[-_MOST_CALLS:]]) + "".join(self._graphs), LONGEST)

    def _blamed(self, calls: list[str]) -> list[str]:
        """Return the one that gave the value that differed, where each value is one call's of the same function."""
        number, count = self._value or (0, 0)
        is_one_each = len(calls) == count and len({call.partition("(")[0] for call in calls}) == 1
        return [calls[number]] if is_one_each else []

    def _is_part(self, call: str) -> bool:
        """Return whether another call says this one: it calls what this one made."""
        return call in self._used or any(each.startswith((f"{call}.", f"{call}(")) for each in self._calls)

    def running(self) -> str:
        """Return the last call; for one that does not come to its end."""
        self._calls = self._calls[-1:]
        return self.text()

    def _note(self, frame: FrameType, event: str, value: Any) -> None:
        if event == "call" and self._inside is None and self._is_one(frame):
            self._inside = frame
            self._begin()
            self._calls.append(self._written(frame))
        elif event == "call" and self._inside is None and (launched := self._launched(frame)):
            self._begin()
            self._launches.append(launched)
        elif event == "return" and frame is self._inside:
            self._inside = None
            made = getattr(value, "py_func", value)
            if isinstance(made, FunctionType) and "<locals>" in made.__qualname__:
                self._made.append((made.__code__, self._calls[-1]))
            elif frame.f_code.co_name == "__init__":
                self._made.append((next(iter(frame.f_locals.values()), None), self._calls[-1]))
        elif event == "return" and frame.f_code in _EXPECTS:
            self._is_compared, self._value = True, _differing(frame)

    def _begin(self) -> None:
        if self._is_compared:
            self._calls, self._launches, self._graphs, self._is_compared = [], [], {}, False

    def _launched(self, frame: FrameType) -> str:
        """Return the call of a kernel that a function of ours runs, and is about to run; nothing for all others."""
        code = frame.f_code
        if not code.co_argcount or code.co_varnames[0] != "kernel":
            return ""
        (_, kernel), *given = _arguments(frame)
        function = getattr(kernel, "py_func", kernel)
        if not isinstance(function, FunctionType):
            return ""
        called = self._maker(function.__code__) or function.__name__
        return f"{called}({', '.join(_shown(value, name) for name, value in given)})"

    def _makers(self) -> list[str]:
        return [text for _, text in self._made]

    def _is_one(self, frame: FrameType) -> bool:
        code = frame.f_code
        if code not in self._theirs:
            is_named = not code.co_name.startswith("<") and code.co_name not in _NOT_TYPED
            self._theirs[code] = code in self._names or (is_named and self._is_theirs(frame))
        return self._theirs[code]

    def _written(self, frame: FrameType) -> str:
        """Return a call as it would be typed."""
        code = frame.f_code
        given = list(_arguments(frame))
        outer, _, name = self._names.get(code, code.co_qualname).rpartition(".")
        if outer.endswith("<locals>"):
            called = self._maker(code) or f"{outer.removesuffix('.<locals>')}(...)"
        elif code.co_argcount and (owner := outer.rpartition(".")[2]) in _kinds(given[0][1]):
            _, this = given.pop(0)
            called = owner if name == "__init__" else f"{self._instance(this, owner)}.{name}"
        else:
            called = f"{outer}.{name}" if outer else name
        for each in (value for _, value in given):
            if isinstance(each, Node) and (made := graph_of(each)):
                self._graphs[f", with {made}"] = None
        return f"{called}({', '.join(_shown(value, name) for name, value in given)})"

    def _instance(self, this: Any, owner: str) -> str:
        """Return an object as it was made, or as its class writes it if that says more."""
        made, text = self._maker(this), _shown(this, "")
        self._used.add(made)
        return max(made or f"{owner}(...)", text if text.startswith(f"{owner}(") and len(text) < 100 else "", key=len)

    def _maker(self, made: Any) -> str:
        return next((text for each, text in reversed(self._made) if each is made), "")


@contextmanager
def unwatched() -> Iterator[None]:
    """Hide the calls of the block from `Observed`: a check that has failed makes them to find the cause."""
    before = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(before)


def _differing(comparison: FrameType) -> tuple[int, int] | None:
    """Return which of the compared values differed first, and how many there were; None if that is unknown."""
    seen, place = (comparison.f_locals.get(name) for name in ("seen", "place"))
    if not place or not isinstance(seen, list | tuple):
        return None
    return int(place[0][1:-1]), len(seen)


def _arguments(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Yield the arguments of a call that begins: those by position under their parameters' names, then the others."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames
    count, keywords = code.co_argcount, code.co_kwonlyargcount
    rest = count + keywords
    yield from ((name, values[name]) for name in names[:count] if name in values)
    if code.co_flags & 0x04:  # *values
        yield from ((names[rest], each) for each in values.get(names[rest], ()))
        rest += 1
    yield from ((f"{name}=", values[name]) for name in names[count : count + keywords] if name in values)
    if code.co_flags & 0x08:  # **options
        yield from ((f"{name}=", each) for name, each in values.get(names[rest], {}).items())


def _kinds(value: Any) -> list[str]:
    return [each.__name__ for each in type(value).__mro__]


def _shown(value: Any, name: str) -> str:
    """Return an argument as text; the parameter's name where a value has no text of its own."""
    keyword, name = (name, name[:-1]) if name.endswith("=") else ("", name)
    if getattr(value, "__name__", "") == "<lambda>":
        return keyword + (_lambda(value.__code__) or name)
    try:
        text = " ".join(text_of(value, LONGEST_VALUE).split())
    except Exception:  # an int of more digits than Python writes, or a student's own __repr__
        return keyword + name
    if " at 0x" in text or (text.startswith("<") and hasattr(value, "__name__")):
        text = getattr(value, "__name__", name)
    return keyword + _cut(text, LONGEST_VALUE)


def _lambda(code: CodeType) -> str:
    """Return the text of a lambda; nothing if it is not found."""
    lines = linecache.getlines(code.co_filename)
    places = {(line, column) for line, _, column, _ in code.co_positions()}
    try:
        lambdas = (each for each in ast.walk(ast.parse("".join(lines))) if isinstance(each, ast.Lambda))
        return next((ast.unparse(each) for each in lambdas if (each.body.lineno, each.body.col_offset) in places), "")
    except Exception:  # a text that was changed since, deep nesting, a number of more digits than Python writes
        return ""


def graph_of(variable: Node) -> str:
    """Return of what a stand-in and its inputs are made: ``z made of a and b, b made of a, a made of x``."""
    found: dict[int, Node] = {}
    waiting = [variable]
    while waiting:
        node = waiting.pop(0)
        if node.unique_id not in found and node.parents:
            found[node.unique_id] = node
            waiting += node.parents
    if len(found) > _MOST_VARIABLES:
        return f"a graph of {len(found):,} results"
    return ", ".join(
        f"{node.name} made of {' and '.join(each.name for each in node.parents)}" for node in found.values()
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
