"""Cell of the sandbox: list the functions of an edition, and try each of them as the answer to an exercise.

Each function is tried in a fork of its own, so that one that changes the library, or never ends, spoils no other.
"""

import builtins
import contextlib
import copy
import importlib
import inspect
import json
import linecache
import math
import os
import pkgutil
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle
import numpy as np
from numpy.testing import assert_allclose

_APART = ("__main__", "cli", "commands", "exercises", "machine", "tutor", "widgets", "working_folder")
_BORING = frozenset({"__init__", "__new__", "__repr__", "__getattr__", "__setattr__", "__del__", "__init_subclass__"})
_TOGETHER = 25  # functions that are tried in one process


class Ended(BaseException):
    """Ends a program: it ran out of time, or only its arguments were wanted."""


def _lib(name: str) -> Any:
    return globals()["lib"](name)  # of the text above this one


def every_callable() -> list[str]:
    """Return the names, as `lib` reads them, of all functions, classes and their members, also those in tables."""
    found: dict[int, str] = {}
    for module in _modules():
        for name, value in list(vars(module).items()):
            for path, each in _within(name, value):
                if _is_from(each, module.__name__) or (path != name and _is_from(each, "minigrad")):
                    found.setdefault(id(each), f"{module.__name__.removeprefix('minigrad').lstrip('.')}:{path}")
    return sorted(found.values())


def _modules() -> Iterator[Any]:
    package = importlib.import_module("minigrad")
    yield package
    for each in pkgutil.walk_packages(package.__path__, "minigrad.", onerror=lambda _: None):
        if each.name.split(".")[1] not in _APART:
            with contextlib.suppress(Exception):  # what this edition lacks cannot be borrowed
                yield importlib.import_module(each.name)


def _within(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield an object, the members of a class, and what stands in a table, with their paths."""
    if isinstance(value, dict):
        for key, each in list(value.items())[:200]:
            if isinstance(key, str):
                yield from ((f"{name}/{key}/{path}".rstrip("/"), one) for path, one in _fields(each))
    elif isinstance(value, type):
        yield name, value
        for member, each in list(vars(value).items()):
            inner = getattr(each, "__func__", getattr(each, "fget", each))
            if member not in _BORING and inspect.isfunction(inner):
                yield f"{name}/{member}", inner
    elif callable(value):
        yield name, value


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a callable in a table, or those that are fields of an object there."""
    if callable(value):
        yield "", value
    else:
        yield from ((key, each) for key, each in getattr(value, "__dict__", {}).items() if callable(each))


def _is_from(value: Any, module: str) -> bool:
    return callable(value) and str(getattr(value, "__module__", "")).startswith(module)


def concerned(_minigrad: Any, tests: list[Any]) -> list[int]:
    """Return the indices of the tests whose questions reach the slot."""
    reached = []
    for index, questions in enumerate(tests):
        calls: list[int] = []
        builtins.candidate = lambda *_, calls=calls, **__: calls.append(1)  # type: ignore[attr-defined]
        for probe, args, _ in questions:
            with contextlib.suppress(Exception):
                cloudpickle.loads(bytes.fromhex(probe))(_minigrad, *copy.deepcopy(args))
            if calls:
                reached.append(index)
                break
    return reached


def tried(
    minigrad: Any, names: list[str], patterns: list[Any], questions: list[Any], times: list[float], is_kernel: bool
) -> list[Any]:
    """Try functions as the answer.

    Args:
        minigrad: The library, with a slot installed that calls `builtins.candidate`.
        names: The functions.
        patterns: Sources of functions of the slot's parameters, in which `C` is the function; each with the numbers of
            arguments that it gives to `C`, and the names of the functions that it is for.
        questions: Questions of hidden tests with the answers of the reference, the quickest first.
        times: Seconds for a program, for a function, and for all.
        is_kernel: Whether each thread of a grid asks.

    Returns:
        The number of programs, for each that answers right its function and pattern, and how many functions
        the time sufficed for.
    """
    asked = [(cloudpickle.loads(bytes.fromhex(probe)), *rest) for probe, *rest in questions]
    made = [(_readable(source, number), *rest) for number, (source, *rest) in enumerate(patterns)]
    if _is_answered(minigrad, lambda _: lambda *args: args[0], asked):
        return [0, [], len(names)]  # its argument is the answer, which nobody has to borrow
    # Where its first argument does as well as what a function makes of it, a pattern borrows nothing from the function.
    made = [(pattern, *rest, _is_answered(minigrad, pattern, asked)) for pattern, *rest in made]
    given = _given(minigrad, asked) if is_kernel else []
    count, wins, done, ends = 0, [], 0, time.monotonic() + times[2]
    while done < len(names) and time.monotonic() < ends:
        programs, won, finished = _apart(minigrad, names[done : done + _TOGETHER], made, asked, given, times, ends)
        count += programs
        wins += won
        done += finished
    return [count, wins, min(done, len(names))]


def _is_answered(minigrad: Any, pattern: Any, asked: Any) -> bool:
    """Return whether a pattern answers right by itself."""
    try:
        builtins.candidate = pattern(lambda *args: args[0])  # type: ignore[attr-defined]
        return _answers_right(minigrad, asked)
    except Exception:
        return False


def _readable(source: str, number: int) -> Any:
    """Return a pattern whose text can be read: whoever follows the threads of a kernel rewrites it."""
    text, name = f"lambda C: {source}\n", f"<pattern {number}>"
    linecache.cache[name] = (len(text), None, [text], name)
    return eval(compile(text, name, "eval"), globals())


def _given(minigrad: Any, asked: Any) -> list[Any]:
    """Return the arguments of a kernel's first call that has something to write, as plain arrays and numbers."""
    raw_of, given = _lib("debug.arrays:raw_of"), list[Any]()

    def note(*args: Any) -> None:
        given[:] = [copy.deepcopy(raw_of(each)) for each in args]
        raise Ended

    builtins.candidate = note  # type: ignore[attr-defined]
    for probe, args, _ in asked:
        with contextlib.suppress(Exception, Ended):
            probe(minigrad, *copy.deepcopy(args))
        if given and np.size(given[0]):
            return given
    return []


def _can_be_a_kernel(program: Any, borrowed: Any, given: list[Any]) -> bool:
    """Return whether a program changes its first argument, or asks which thread runs it, which only a grid can tell.

    A program that does neither takes microseconds here, and as a kernel the time of thousands of threads.
    """
    if _lib("debug.source:unwrap")(borrowed) is not borrowed:
        return True  # compiled: a grid runs what is inside
    args = copy.deepcopy(given)
    try:
        program(*args)
    except Exception as error:
        return any(words in str(error) for words in ("numba.cuda", "in a kernel alone"))  # with a GPU, and without
    return not np.array_equal(args[0], given[0], equal_nan=True)


def _apart(
    minigrad: Any, names: list[str], made: Any, asked: Any, given: list[Any], times: list[float], ends: float
) -> list[Any]:
    """The same of a few functions, in a process of their own; one that hangs or dies is left out."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for each in (0, 1, 2):
                os.dup2(null, each)
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
            for name in names:
                found = _programs(minigrad, name, made, asked, given, times)
                os.write(write, json.dumps(found).encode() + b"\n")
        finally:
            os._exit(0)
    os.close(write)
    data = b""
    while select.select([read], [], [], max(0.0, min(2.0 * times[1], ends - time.monotonic())))[0]:
        chunk = os.read(read, 1 << 16)
        if not chunk:
            break
        data += chunk
    os.close(read)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    lines = [json.loads(line) for line in data.split(b"\n")[:-1]]
    return [sum(line[0] for line in lines), [win for line in lines for win in line[1]], min(len(lines) + 1, len(names))]


def _programs(minigrad: Any, name: str, made: Any, asked: Any, given: list[Any], times: list[float]) -> list[Any]:
    """Try the patterns of one function; return how many there were, and those that answer right."""

    def ring(*_: Any) -> None:
        raise Ended

    signal.signal(signal.SIGALRM, ring)
    borrowed = _lib(name)
    takes, won, count, ends = _takes(borrowed), [], 0, time.monotonic() + times[1]
    for number, (pattern, counts, rooms, is_idle) in enumerate(made):
        if time.monotonic() > ends:
            break
        if is_idle or not all(takes(each) for each in counts) or not re.match(rooms, name):
            continue
        count += 1
        try:
            signal.setitimer(signal.ITIMER_REAL, times[0])
            builtins.candidate = program = pattern(borrowed)  # type: ignore[attr-defined]
            if given and not _can_be_a_kernel(program, borrowed, given):
                continue
            if _answers_right(minigrad, asked):
                won.append([name, number])
        except BaseException:  # whatever a function raises that was called in the wrong way
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return [count, won]


def _takes(function: Any) -> Callable[[int], bool]:
    """Return what says whether a function takes a number of arguments."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return lambda _: True
    named = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    least = sum(each.default is each.empty for each in named)
    most = math.inf if any(each.kind is each.VAR_POSITIONAL for each in parameters) else len(named)
    return lambda count: least <= count <= most


def _answers_right(minigrad: Any, asked: Any) -> bool:
    """Return whether all questions are answered as by the reference."""
    return all(_is_right(minigrad, *each) for each in asked)


def _is_right(minigrad: Any, probe: Any, args: Any, wanted: Any) -> bool:
    try:
        return _same(probe(minigrad, *copy.deepcopy(args)), wanted)
    except Exception:
        return False


def _same(seen: Any, wanted: Any) -> bool:
    """Return whether answers agree, but for rounding."""
    if isinstance(wanted, list | tuple):
        return isinstance(seen, list | tuple) and len(seen) == len(wanted) and all(map(_same, seen, wanted))
    if isinstance(wanted, dict):
        return (
            isinstance(seen, dict) and seen.keys() == wanted.keys() and all(_same(seen[k], wanted[k]) for k in wanted)
        )
    if isinstance(wanted, float) and isinstance(seen, float | int):
        both_nan = wanted != wanted and seen != seen
        return bool(wanted == seen or both_nan or abs(seen - wanted) <= 1e-6 + 1e-4 * abs(wanted))
    if isinstance(wanted, float | int | np.ndarray | np.generic) and not isinstance(wanted, bool):
        try:
            assert_allclose(np.asarray(seen, float), np.asarray(wanted, float), 1e-4, 1e-6)
        except (AssertionError, TypeError, ValueError):
            return False
        return bool(np.shape(seen) == np.shape(wanted))
    return bool(seen == wanted)
