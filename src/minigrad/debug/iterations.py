"""Runs a kernel with prange loops in Python, its iterations one after another, and takes notes."""

from __future__ import annotations

import operator
import random
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from minigrad.debug.arrays import Recorded, RecordedList, plain
from minigrad.debug.findings import Findings, iterations_collide, places
from minigrad.debug.loops import Plan
from minigrad.debug.memory import WRITE, Access, Memory, Root
from minigrad.debug.report import Race
from minigrad.debug.rewrite_prange import PrangeRewriter
from minigrad.debug.runtime import Endless, Runtime
from minigrad.emulator.text import build

_AUGMENT: dict[str, Any] = {
    "Add": operator.iadd, "Sub": operator.isub, "Mult": operator.imul, "Div": operator.itruediv,
    "FloorDiv": operator.ifloordiv, "Mod": operator.imod, "Pow": operator.ipow, "BitAnd": operator.iand,
    "BitOr": operator.ior, "BitXor": operator.ixor, "LShift": operator.ilshift, "RShift": operator.irshift,
    "MatMult": operator.imatmul,
}  # fmt: skip

_UNBOUND: Any = object()
_THREADS = 4


@dataclass(frozen=True, slots=True)
class _Thread:
    """The thread that runs an iteration, for kernels that ask for its number."""

    number: int

    def __str__(self) -> str:
        return f"of thread {self.number}"


def _chunk(place: int, size: int) -> _Thread:
    """Return the thread that runs an iteration: each has a quarter of them, one after the other."""
    return _Thread(place * _THREADS // size)


@dataclass(eq=False, slots=True)
class _Carried:
    """The value that a private variable has from another iteration, in the variable's place until it is assigned."""

    name: str
    value: Any
    plan: Plan
    lost: bool = False


@dataclass
class _Loop:
    """A prange loop while it runs.

    Attributes:
        plan: What its text tells.
        frame: Of the function that holds it.
        iteration: The present one.
        previous: The one before, of which the variables have not been looked at yet.
        agent: Who runs the iteration: it alone, or the thread if the kernel asks for its number.
        exposed: By variable, up to two iterations that read it before they wrote it, and where.
        written: By variable, up to two iterations that wrote it.
    """

    plan: Plan
    frame: types.FrameType
    iteration: Any = None
    agent: Any = None
    previous: Any = None
    exposed: dict[str, list[tuple[Any, int]]] = field(default_factory=dict)
    written: dict[str, list[Any]] = field(default_factory=dict)


class Iterations(Runtime):
    """One run of a kernel, its iterations one after another.

    Args:
        findings: Where findings go.
        steps: How many steps it may take.
        shuffle: Puts the iterations into another order. None leaves them in theirs.
    """

    agents = "iterations"

    def __init__(self, findings: Findings, steps: int, shuffle: random.Random | None) -> None:
        super().__init__(findings, steps, shuffle)
        self.plans: list[Plan] = []
        self.by_thread = False
        self.loop: _Loop | None = None
        self.loops: dict[tuple[int, str], int] = {}
        self._own: dict[str, Callable[..., Any]] = {
            "prange": range,  # one inside another loop
            "pndindex": np.ndindex,
            "get_num_threads": lambda: _THREADS,
            "get_thread_id": lambda: self.loop.agent.number if self.loop and self.by_thread else 0,
        }
        self._latest: _Loop | None = None
        self._memory = Memory(self._collide)

    def rewritten(self, function: types.FunctionType) -> types.FunctionType:
        """Return the function that runs in another one's place."""
        self.by_thread |= "get_thread_id" in function.__code__.co_names
        return build(function, PrangeRewriter(function, self.plans).rewrite, {"__mg__": self})

    def special(self, function: object) -> Any:
        """Return the substitute for a function that this runtime treats in a way of its own."""
        return self._own.get(getattr(function, "__name__", ""))

    def prange(self, number: int, function: object, *args: object) -> Iterator[Any]:
        """Yield the iterations of a loop. Inside another parallel loop they are ordinary ones."""
        every = self._iterations(function, args)
        if self.loop is not None:
            yield from every
            return
        found = self.plans[number]
        self.loop = self._latest = loop = _Loop(found, sys._getframe(1))
        self._memory = Memory(self._collide)
        self._note_overwritten(loop)
        key = (found.line, loop.frame.f_code.co_name)
        self.loops[key] = self.loops.get(key, 0) + len(every)
        self._begin_loop(loop)
        natural = {iteration: place for place, iteration in enumerate(sorted(every))} if self.by_thread else {}
        try:
            for iteration in every:
                loop.previous, loop.iteration = loop.iteration, iteration
                loop.agent = _chunk(natural.get(iteration, 0), len(every)) if self.by_thread else iteration
                yield iteration
                self.look_outside(f"iteration {iteration}")
        finally:
            self.loop = None

    def _begin_loop(self, loop: _Loop) -> None:
        """Look at what the variables of the kernel hold as well, which iterations could change."""
        assert self.beyond is not None
        for name, value in loop.frame.f_locals.items():
            if value.__class__ is not _Carried and (
                isinstance(value, list | dict | set | tuple) or hasattr(value, "__next__")
            ):
                self.beyond.add(name, value, loop.frame.f_code, loop.plan.line)
        for each in self.beyond.strange:
            self._add_outside(each, "the loop uses")
        self.beyond.take()

    def _iterations(self, function: object, args: tuple[Any, ...]) -> list[Any]:
        if getattr(function, "__name__", "") == "pndindex":
            shape = args[0] if len(args) == 1 else args
            every: Any = np.ndindex(tuple(int(n) for n in plain(shape)))
        else:
            every = range(*(operator.index(arg) for arg in args))
            if len(every) > self.limit:
                raise Endless
        result = list(every)
        if self.shuffle and self.loop is None:
            self.shuffle.shuffle(result)
        return result

    def begin(self, number: int) -> tuple[Any, ...]:
        """Return the values that the private variables have before a loop."""
        found, values = self.plans[number], sys._getframe(1).f_locals
        every = [values.get(name, _UNBOUND) for name in found.private]
        return tuple(
            _Carried(name, value, found) if value is _UNBOUND else _value(value)
            for name, value in zip(found.private, every, strict=True)
        )

    def turn(self, number: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Take the private variables away at the beginning of an iteration."""
        loop, found = self.loop, self.plans[number]
        if loop is None or loop.frame is not sys._getframe(1):
            return values
        self._note_written(loop, loop.previous, values)
        return tuple(
            value if value.__class__ is _Carried else _Carried(name, value, found)
            for name, value in zip(found.private, values, strict=True)
        )

    def end(self, number: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give back the values from before a loop. Values that its iterations assigned are lost."""
        found, loop = self.plans[number], self._latest
        if self.loop is not None or loop is None:
            return tuple(map(_value, values))
        self._note_written(loop, loop.iteration, values)
        self._judge(loop)
        return tuple(
            _Carried(name, _value(value), found, lost=True)
            if loop.written.get(name) or _value(value) is _UNBOUND
            else _value(value)
            for name, value in zip(found.private, values, strict=True)
        )

    def _note_written(self, loop: _Loop, iteration: object, values: tuple[Any, ...]) -> None:
        """Note the variables that an iteration has assigned. They no longer hold their placeholder."""
        if iteration is None:
            return
        for name, value in zip(loop.plan.private, values, strict=True):
            writers = loop.written.setdefault(name, [])
            if value.__class__ is not _Carried and len(writers) < 2:
                writers.append(iteration)

    def named(self, value: object, name: str) -> Any:
        """Give a new array, or list, the name of the variable that it is put in."""
        if value.__class__ is list and self.loop is None:
            return RecordedList(value, name, self.frame().f_lineno, self)
        return super().named(value, name)

    def load(self, value: object) -> Any:
        """Return the value of a private variable. A value from another iteration is a finding."""
        if value.__class__ is not _Carried:
            return value
        line = self.frame().f_lineno
        if value.lost:
            if value.value is not _UNBOUND:
                self._add_lost(value, line)
        elif self.loop is not None and self.loop.plan is value.plan:
            readers = self.loop.exposed.setdefault(value.name, [])
            if len(readers) < 2 and (not readers or readers[0][0] != self.loop.iteration):
                readers.append((self.loop.iteration, line))
        if value.value is _UNBOUND:
            raise UnboundLocalError(f"local variable '{value.name}' is read before it has a value")
        return value.value

    def augment(self, name: str, before: object, value: object) -> Any:
        """Carry out an augmented assignment to a private variable."""
        return _AUGMENT[name](before, value)

    def reduce(self, name: str, before: object, value: object) -> Any:
        """Carry out an augmented assignment to a reduced variable. The variable itself is safe."""
        if isinstance(before, Recorded) and self.loop is not None:
            _AUGMENT[name](before._raw, plain(value))
            return before
        return _AUGMENT[name](before, value)

    def reassign(self, name: str, value: object) -> Any:
        """Assign a new value to a reduced variable, which is safe for a number and not for an array."""
        if self.loop is not None and isinstance(value, Recorded | np.ndarray) and value.ndim:
            code, line = self.loop.frame.f_code, self.loop.frame.f_lineno
            message = (
                f"{name} = {name} ... makes a new array in each iteration, and Numba loses all of them: an array is "
                f"reduced by {name} += ... (or -=, *=, /=) alone"
            )
            race = Race("carried", message, name, **places(code, line))
            self.findings.add(("reassign", name, line), None, lambda: race)
        return value

    def touch(self, root: Root, address: int, kind: int) -> None:
        """Note the access to one element."""
        loop = self.loop
        if loop is None:
            return
        self.step()
        self.count(root, kind, loop.iteration)
        frame = self.frame()
        site = (frame.f_code, frame.f_lineno, loop.frame.f_lineno)
        self._memory.access(address, kind, (loop.agent, site, root))

    def outside(self, root: Root, index: tuple[Any, ...], shape: tuple[int, ...], kind: int) -> bool:
        """Note an index outside the array, and return whether NumPy may go on with it."""
        if all(isinstance(i, slice) or -n <= i < n for i, n in zip(index, shape, strict=False)):
            return True  # counted from the end, as Numba does
        frame, loop = self.frame(), self.loop
        code, line = frame.f_code, frame.f_lineno
        name, where, iteration = root.name or "an array", loop.frame.f_lineno if loop else 0, loop and loop.iteration

        def make() -> Race:
            at = ", ".join(":" if isinstance(i, slice) else str(i) for i in index)
            message = f"{name}[{at}] does not exist: the shape is {shape}, and compiled code does not look"
            found = tuple(int(i) for i in index if not isinstance(i, slice))
            return Race("out of bounds", message, name, found, second=iteration, loop_line=where, **places(code, line))

        self.findings.add(("out of bounds", name, line), str(index), make)
        return False

    def adopt(self, value: object, name: str = "") -> Any:
        """Record a new array too, if others can come to see it."""
        if self.loop is not None or not isinstance(value, np.ndarray):
            return value  # made inside an iteration, which alone can see it
        return Recorded(value, Root(value, name, line=self.frame().f_lineno), self)

    def _collide(self, address: int, kind: int, access: Access, other_kind: int, other: Access) -> None:
        name = "write-write" if kind == other_kind == WRITE else "read-write"
        lines = frozenset(site[:2] for site in (other[1], access[1]))
        roots = access[2], other[2]
        key = (name, frozenset(root.name for root in roots), lines)
        element = address - min(root.address for root in roots)
        self.findings.add(key, element, lambda: iterations_collide(name, address, access, kind, other))

    def _judge(self, loop: _Loop) -> None:
        """Compare the iterations that read variables before writing them with those that wrote them."""
        for name, readers in loop.exposed.items():
            for reader, line in readers:
                writer = next((i for i in loop.written.get(name, []) if i != reader), None)
                if writer is not None:
                    self._add_carried(loop, name, reader, line, writer)
                    break

    def _add_carried(self, loop: _Loop, name: str, reader: object, line: int, writer: object) -> None:
        code, written = loop.frame.f_code, loop.plan.private[name]
        message = (
            f"iteration {reader} reads {name} before it has assigned it, so that its value would have to come from "
            f"another iteration, such as {writer}: in parallel there is no such order. Numba reduces a variable only "
            f"if the loop does nothing with it but one {name} += ... (or -=, *=, /=), or {name} = max({name}, ...) "
            "(or min)"
        )
        race = Race("carried", message, name, (), writer, reader, **places(code, line, code, written))
        self.findings.add(("carried", name, line), None, lambda: race)

    def _add_lost(self, value: _Carried, line: int) -> None:
        code, written = self.frame().f_code, value.plan.private[value.name]
        message = (
            f"{value.name} is assigned in the prange loop, where each iteration has its own, and is read after the "
            "loop: which value it has then, if any, is left open"
        )
        race = Race("lost", message, value.name, **places(code, written, code, line))
        self.findings.add(("lost", value.name, line), None, lambda: race)

    def _note_overwritten(self, loop: _Loop) -> None:
        code = loop.frame.f_code
        for name, line in loop.plan.overwritten:
            message = (
                f"{name} is the variable of the prange loop and is assigned in its body, which Numba refuses "
                "('Overwrite of parallel loop index') or gets wrong: use another name for the new value"
            )
            race = Race("loop variable", message, name, loop_line=loop.plan.line, **places(code, line))
            self.findings.add(("loop variable", name, line), None, partial(_itself, race))

    def finish(self) -> None:
        """Judge a loop that was left by return or by an error."""
        if self._latest is not None:
            self._judge(self._latest)


def _itself(race: Race) -> Race:
    return race


def _value(value: object) -> Any:
    return value.value if value.__class__ is _Carried else value
