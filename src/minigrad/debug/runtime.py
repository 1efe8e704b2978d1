"""The runtime of a rewritten kernel in Python. It makes calls, counts steps, records new arrays and notes accesses."""

from __future__ import annotations

import functools
import inspect
import math
import random
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad.compiling.reaching import installed
from minigrad.debug.arrays import Recorded, raw_of
from minigrad.debug.findings import Findings, places
from minigrad.debug.memory import READ, WRITE, Root
from minigrad.debug.outside import Named, Outside, arrays_named_by
from minigrad.debug.report import Race, Traffic
from minigrad.debug.rewrite import codes_of
from minigrad.debug.source import line_of, unwrap
from minigrad.emulator.device import poisoned

STEPS = 2_000_000
"""The seconds that a run may take by default."""

_LIBRARIES = frozenset(sys.stdlib_module_names) - {"__main__"} | {"numpy", "numba", "scipy"}


class Endless(Exception):
    """The kernel took more steps than it was given."""


class Runtime:
    """Runs one kernel once.

    Args:
        findings: Where findings go.
        steps: How many steps the kernel may take: turns of a loop, and accesses to elements.
        shuffle: Puts iterations, or threads, into another order. None leaves them in theirs.
    """

    agents = "threads"

    def __init__(self, findings: Findings, steps: int, shuffle: random.Random | None) -> None:
        self.findings = findings
        self.beyond: Outside | None = None
        self.shuffle = shuffle
        self.limit = steps
        self.used = 0
        self.codes: set[types.CodeType] = set()
        self._targets: dict[int, tuple[Any, Any]] = {}
        self.traffic: dict[Root, Traffic] = {}
        self._globals: dict[int, tuple[Any, Any]] = {}

    def step(self) -> None:
        """Count a step."""
        self.used += 1
        if self.used > self.limit:
            raise Endless

    def call(self, function: object, /, *args: object, **kwargs: object) -> Any:
        """Call a function for the kernel. Helpers are rewritten too, and new arrays are recorded."""
        known = self._targets.get(id(function))
        target = known[1] if known and known[0] is function else self._prepare(function)
        return target(*args, **kwargs)

    def call_at_once(self, function: object, /, *args: object, **kwargs: object) -> Any:
        """Call a function from a place where it cannot wait."""
        return self.call(function, *args, **kwargs)

    def look_outside(self, who: object) -> None:
        """Compare the objects outside of the kernel with what they were before somebody's turn."""
        changed = self.beyond.changed() if self.beyond else None
        if changed is not None:
            self._add_outside(changed, f"{who} changes")

    def _add_outside(self, each: Named, does: str) -> None:
        name, value, code, line = each
        kind = type(value).__name__
        message = (
            f"{does} {name}, which belongs to all {self.agents}: it is or holds {_with_article(kind)}, and compiled "
            f"{self.agents} share arrays only; let values pass through arrays, and write constants as numbers or tuples"
        )
        race = Race("outside", message, name, **places(code, line))
        self.findings.add(("outside", name), None, lambda: race)

    def named(self, value: object, name: str) -> Any:
        """Give a new array the name of the variable that it is put in."""
        if value.__class__ is Recorded and not value._root.name:
            value._root.name = name
        return value

    def shared(self, array: Any, name: str) -> Any:
        """Return a recorded copy of an array that the kernel takes from outside, the same one each time."""
        known = self._globals.get(id(array))
        if known is None:
            root = Root(array.copy(), name)
            known = self._globals[id(array)] = (array, Recorded(root.raw, root, self))
        return known[1]

    def touch(self, root: Root, address: int, kind: int) -> None:
        """Note the access to one element."""
        raise NotImplementedError

    def touch_many(self, root: Root, found: Any, kind: int) -> None:
        """Note the access to the elements with these addresses."""
        for address in set(found.ravel().tolist()):
            self.touch(root, address, kind)

    def outside(self, root: Root, index: tuple[Any, ...], shape: tuple[int, ...], kind: int) -> bool:
        """Note an index outside the array, and return whether NumPy may go on with it."""
        raise NotImplementedError

    def adopt(self, value: object, name: str = "") -> Any:
        """Record a new array too, if other iterations or threads can come to see it."""
        raise NotImplementedError

    def count(self, root: Root, kind: int, agent: int) -> None:
        """Count an access to an array by an iteration or a thread. An atomic access reads and writes."""
        traffic = self.traffic.get(root)
        if traffic is None:
            traffic = self.traffic[root] = Traffic()
        traffic.reads += kind != WRITE
        if kind != READ:
            traffic.writes += 1
            traffic.writers.add(agent)

    def rewritten(self, function: types.FunctionType) -> Any:
        """Return the function that runs in another one's place."""
        raise NotImplementedError

    def special(self, function: object) -> Any:
        """Return the substitute for a function that this runtime treats in a way of its own, or None."""
        return None

    def _prepare(self, function: object) -> Any:
        inner = installed(unwrap(function))
        target = self.special(inner) or self._target(inner)
        if not isinstance(function, types.MethodType | types.BuiltinMethodType | functools.partial) or inner in _KEPT:
            self._targets[id(function)] = (function, target)
        return target

    def _target(self, function: Any) -> Any:
        if isinstance(function, types.FunctionType):
            if function.__code__ in self.codes:
                return function
            if _is_students(function):
                return self._rewritten_or_direct(function)
        if getattr(function, "__self__", None) is self:  # inside of a partial function that was followed
            return function
        if isinstance(function, types.MethodType) and _is_students(function):
            return functools.partial(self.call, function.__func__, function.__self__)
        if isinstance(function, functools.partial):
            return functools.partial(self.call, function.func, *function.args, **function.keywords)
        if function is print:
            return _silent
        if getattr(function, "__module__", None) == "math":
            return _lenient(function)
        if function in (np.asarray, np.ascontiguousarray):
            return lambda array, *args, **kwargs: self._as_array(function, array, *args, **kwargs)
        if function in (np.empty, np.empty_like):
            return lambda *args, **kwargs: self.adopt(poisoned(raw_of(function(*args, **kwargs))))
        return lambda *args, **kwargs: self.adopt(
            _complete(function, *map(self._followed, args), **{key: self._followed(kwargs[key]) for key in kwargs})
        )

    def _followed(self, value: Any) -> Any:
        """Return a function that is given to one of Python or NumPy as one that goes through here when called.

        A student's own is rewritten, and one of NumPy may hand out memory that another thread has used.
        """
        function = unwrap(value)
        is_students = isinstance(function, types.FunctionType) and _is_students(function)
        return functools.partial(self.call_at_once, value) if is_students or isinstance(value, _CALLED) else value

    def _as_array(self, function: Any, array: Any, *args: Any, **kwargs: Any) -> Any:
        """Stand in for ``np.asarray``, which can return the very same memory."""
        found = function(raw_of(array), *args, **kwargs)
        return array if isinstance(array, Recorded) and found is array._raw else self.adopt(found)

    def rewrite_kernel(self, function: types.FunctionType) -> types.FunctionType:
        """Rewrite the kernel itself, of which the source must be known."""
        self.beyond = Outside(function)
        for each in self.beyond.strange:
            self._add_outside(each, "the kernel uses")
        new: types.FunctionType = self.rewritten(function)
        self.codes.update(codes_of(new.__code__))
        self._targets[id(function)] = (function, new)
        return new

    def _rewritten_or_direct(self, function: types.FunctionType) -> Any:
        try:
            new = self.rewritten(function)
        except ValueError:  # made by exec, say: its reads and writes are noted all the same, in the caller's name
            for each in arrays_named_by(function):
                self._add_outside(each, f"{function.__name__}, whose source text is not known, uses")
            return function
        self.codes.update(codes_of(new.__code__))
        return new

    def frame(self) -> types.FrameType:
        """Return the innermost frame of the student's code."""
        frame: Any = sys._getframe(2)
        while frame.f_code not in self.codes:
            frame = frame.f_back
        return frame  # type: ignore[no-any-return]

    def line_in(self, trace: types.TracebackType | None) -> tuple[str, int, str]:
        """Return file, line and function of the innermost of the student's frames in a traceback."""
        found = ("", 0, "")
        while trace is not None:
            code = trace.tb_frame.f_code
            if code in self.codes:
                found = (code.co_filename, trace.tb_lineno, code.co_name)
            trace = trace.tb_next
        return found

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Run the kernel without warnings. An index out of bounds, or a kernel without end, is a finding.

        What else the student's code raises is for the student to see, unless it comes of a race that is known already.
        """
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
            self.finish()
        except (Endless, IndexError) as error:
            self.finish()
            self.ended_badly(error)
        except Exception:
            self.finish()
            if not (self.shuffle and self.findings.list()):
                raise

    def finish(self) -> None:
        """Add the findings that are only known at the end of the kernel."""

    def ended_badly(self, error: Exception) -> None:
        """Turn a step limit, or an index outside a private array, into a finding."""
        filename, line, function = self.line_in(error.__traceback__)
        if isinstance(error, Endless):
            kind = "endless"
            message = (
                f"the kernel was stopped after {self.limit:,} steps: one of its loops does not come to its end, or "
                "there is too much to do for one step at a time"
            )
        else:
            kind, message = "out of bounds", str(error)
        race = Race(kind, message, line=line, source=line_of(filename, line), function=function, file=filename)
        self.findings.add((kind, line, function), None, lambda: race)


_CALLED = (types.BuiltinFunctionType, types.MethodType, functools.partial, np.ufunc, type(np.empty_like))
_KEPT = frozenset(
    (np.empty, np.empty_like, np.zeros, np.array, print, *(f for f in vars(math).values() if callable(f)))
)


def _is_students(function: object) -> bool:
    """Return whether a function is followed: not those of Python, NumPy and Numba, nor these here."""
    module = function.__module__ or ""
    ours = module.startswith(("minigrad.debug.", "minigrad.emulator."))
    return module.partition(".")[0] not in _LIBRARIES and not ours


def _complete(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function. Where it is to leave elements out, these are not what was in that memory before."""
    found = function(*args, **kwargs)
    if kwargs.get("where", True) is True or kwargs.get("out") is not None:
        return found
    if isinstance(function, np.ufunc) and len(args) > function.nin:
        return found
    made = [raw_of(each) for each in (found if isinstance(found, tuple) else (found,))]
    if not all(isinstance(each, np.ndarray) for each in made):
        return found
    out = tuple(poisoned(np.empty_like(each)) for each in made)
    return function(*args, **(kwargs | {"out": out if isinstance(found, tuple) else out[0]}))


def _silent(*args: object, **kwargs: object) -> None:
    """Stand in for `print` while a kernel is examined, many times over and out of order."""


def _lenient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of `math` that has a value where compiled code has one and Python raises."""

    def call(*args: object) -> Any:
        try:
            return function(*args)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return call


def _with_article(kind: str) -> str:
    return f"a{'n' * (kind[0] in 'aeiou')} {kind}"


def kernel_function(kernel: object, purpose: str) -> types.FunctionType:
    """Return the Python function of a kernel.

    Raises:
        TypeError: If there is none.
    """
    function = unwrap(kernel)
    if isinstance(function, types.MethodType):
        function = function.__func__
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"{purpose} takes a kernel, a Python function or one that Numba has compiled; got {kernel!r}")
    return function


def check_call(function: types.FunctionType, args: Sequence[Any], purpose: str) -> None:
    """Refuse arguments that a kernel cannot be called with.

    Raises:
        TypeError: If there are too few or too many. The message tells to call a function that makes kernels first.
    """
    try:
        inspect.signature(function, follow_wrapped=False).bind(*args)
    except TypeError as error:
        makes = any(isinstance(c, types.CodeType) and c.co_name.isidentifier() for c in function.__code__.co_consts)
        call = made_by(function)
        hint = f"; if it makes the kernel, call it first: {purpose}({call}, ...)" if makes else ""
        given = f"{len(args)} argument{'s' * (len(args) != 1)}"
        raise TypeError(f"{purpose}: {call} cannot be called with {given}: {error}{hint}") from None


def made_by(function: types.FunctionType) -> str:
    """Return the text of a call of a function by its own names, such as ``tensor_map(fn)``."""
    code = function.__code__
    return f"{function.__name__}({', '.join(code.co_varnames[: code.co_argcount])})"


def by_name(traffic: dict[Root, Traffic]) -> dict[str, Traffic]:
    """Return the accesses to arrays, those of arrays with one name together."""
    result: dict[str, Traffic] = {}
    for root, found in traffic.items():
        total = result.setdefault(root.name or "an array", Traffic())
        total.reads += found.reads
        total.writes += found.writes
        total.writers |= found.writers
    return result


def copies(args: Sequence[Any]) -> list[Any]:
    """Return copies of all arrays among the arguments. Arrays that overlap have copies that overlap in the same way."""
    result = [_from_device(arg) for arg in args]
    places = [i for i, arg in enumerate(result) if isinstance(arg, np.ndarray) and not arg.dtype.hasobject]
    for group in _overlapping([(i, *np.lib.array_utils.byte_bounds(result[i])) for i in places]):
        low, high = min(start for _, start, _ in group), max(end for _, _, end in group)
        buffer = np.empty(high - low, dtype=np.uint8)
        for i, _, _ in group:
            old = result[i]
            offset = old.__array_interface__["data"][0] - low
            new: Any = np.ndarray(old.shape, old.dtype, buffer=buffer, offset=offset, strides=old.strides)
            if old.size:
                new[...] = old
            result[i] = new
    return result


def _from_device(value: object) -> Any:
    for name in ("copy_to_host", "to_host"):  # of Numba's device arrays, and of the library's own
        if hasattr(value, name):
            return getattr(value, name)()
    return value


def _overlapping(spans: list[tuple[int, int, int]]) -> Iterator[list[tuple[int, int, int]]]:
    """Yield groups of (place, start, end) that share memory."""
    group: list[tuple[int, int, int]] = []
    reach = -1
    for span in sorted(spans, key=lambda span: span[1:]):
        if group and span[1] >= reach:
            yield group
            group = []
        group.append(span)
        reach = max(reach if len(group) > 1 else -1, span[2])
    if group:
        yield group
