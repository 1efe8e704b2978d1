"""Compiled graphs: one kernel of fused loops, and one generated Python function that calls it and everything else.

The function is straight-line code: no equation is looked up and no shape is asked for while it runs.

    def run(a, b, c):
        d = empty((1000,), float64)
        kernel(alone, 0, 0, pack_0(0, handle(d), handle(a), handle(b), handle(c)) + numbers_0)
        return (d,)
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from minigrad import tensor_functions
from minigrad.backends import arrays, guarded
from minigrad.backends.fused import Loop
from minigrad.backends.numba import pool, programs, splitting, threads
from minigrad.backends.numba.fused import Part
from minigrad.backends.numba.geometry import address, handle
from minigrad.graph.elements import is_view
from minigrad.graph.fusing import Fused
from minigrad.graph.lowering import lower
from minigrad.graph.planning import Plan, plan_memory
from minigrad.graph.preparing import prepare
from minigrad.graph.program import Equation, Graph, Var, compute, replaced, variables_in

__all__ = ["Program"]

_QUICK = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_char_p)
"""A call of a small kernel, which keeps Python's lock: to give it away takes longer."""

_item = (ctypes.c_int64 * 3)(0, 0, 0)
_items = (ctypes.c_void_p * 1)(ctypes.addressof(_item))
ALONE = ctypes.addressof(_items)


class Program:
    """A graph as a function of arrays.

    Args:
        graph: What to compute.
        donated: The inputs, by number, whose memory may be used for results.

    Attributes:
        graph: The graph after all passes.
        plan: Which values share memory.
        loops: The text of the kernel.
        inputs: The names of the graph's inputs in generated text.
        results: The names of its outputs there.
        read: The inputs that loops read: they must lie in row-major order.

    >>> import numpy as np
    >>> from minigrad.graph.compiled import Program
    >>> program = Program(minigrad.graph.trace(lambda x: x * 2.0 + 1.0, minigrad.zeros(3)))
    >>> program.load()(np.ones(3, np.float32))
    (array([3., 3., 3.], dtype=float32),)
    >>> print(program.text.rstrip())
    def run(v_a):
        if not v_a.flags.c_contiguous: v_a = rows(v_a)
        v_b = empty((3,), float32)
        kernel(ALONE, 0, 0, pack_0(0, handle(v_b), handle(v_a)) + numbers_0)
        return (v_b, )
    """

    def __init__(self, graph: Graph, donated: Sequence[int] = ()) -> None:
        self.graph = prepare(graph)
        self.plan: Plan = plan_memory(self.graph, donated)
        writer = _Writer(self.graph, self.plan)
        self.inputs = [writer.names[v] for v in self.graph.inputs]
        self.results = writer.results
        self.read = writer.read
        self._writer = writer
        self.loops, self._load = programs.program(writer.calls)

    def scope(self) -> dict[str, Any]:
        """Return what the generated lines refer to; the kernel is compiled now if it was not yet."""
        scope = dict(self._writer.scope)
        if self._writer.calls:
            kernel = self._load()
            scope["kernel"], scope["of_threads"] = _QUICK(kernel.address), kernel
        return scope

    def body(self, end: str) -> list[str]:
        """Return the generated lines, up to a last one that returns the results."""
        return self._writer.body(end)

    @property
    def text(self) -> str:
        """The text of the function that calls the kernel."""
        lines = [
            f"if not {name}.flags.c_contiguous: {name} = rows({name})"
            for name in map(self._writer.names.get, self.read)
        ]
        lines += self.body(f"return ({''.join(f'{name}, ' for name in self.results)})")
        return "\n".join([f"def run({', '.join(self.inputs)}):", *[f"    {line}" for line in lines], ""])

    def load(self) -> Callable[..., Any]:
        """Return the program as a function of arrays that returns a tuple of arrays."""
        scope = self.scope()
        exec(compile(self.text, "<compiled graph>", "exec"), scope)
        return scope["run"]  # type: ignore[no-any-return]


def shared(kernel: Any, numbers: bytes, total: int, multiple: int, worth: int) -> None:
    """Call a kernel for all parts of its work, on several threads."""
    threads.run(kernel, numbers, threads.parts(total, min(threads.thread_count(), worth), multiple))


def scratch(size: int, worth: int, dtype: Any) -> Any:
    """Return memory for values that each thread keeps."""
    return pool.empty((size * (min(threads.thread_count(), worth) if worth > 1 else 1),), dtype)


def rows(array: Any) -> Any:
    """Return an array in row-major order: the same one if it is.

    >>> import numpy as np
    >>> from minigrad.graph.compiled import rows
    >>> rows(np.zeros((2, 3)).T).flags.c_contiguous
    True
    """
    return array if array.flags.c_contiguous else arrays.contiguous(array)


def separate(donated: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Return donated arrays that results may be written to: copies of those that share memory with another argument.

    >>> import numpy as np
    >>> from minigrad.graph.compiled import separate
    >>> x, y = np.zeros(3), np.ones(3)
    >>> separate([x], [y])[0] is x, separate([x], [x[1:]])[0] is x
    (True, False)
    """
    found, end, owner = list(donated), 0, -1
    for start, stop, n in sorted([(*_span(x), n) for n, x in enumerate((*donated, *others))]):
        if start < end:
            for each in (n, owner):
                if each < len(found):
                    found[each] = donated[each].copy()
        if stop > end:
            end, owner = stop, n
    return [x if x.flags.writeable else x.copy() for x in found]


def _span(array: Any) -> tuple[int, int]:
    """Return the addresses between which an array lies."""
    if array.flags.c_contiguous:
        start = address(array)
        return start, start + array.nbytes
    return np.lib.array_utils.byte_bounds(array)


class _Inside:
    """A graph inside of an equation, compiled when it is first run."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def _function(self) -> Callable[..., Any]:
        return Program(self._graph).load()

    def run(self, *arrays: Any) -> Sequence[Any]:
        """Compute the graph's outputs."""
        return self._function(*arrays)  # type: ignore[no-any-return]


class _Arenas:
    """Memory for the temporary values of a run. A small arena is kept for the next run."""

    def __init__(self, size: int, places: Sequence[tuple[tuple[int, ...], Any, int]]) -> None:
        self._size, self._places = size, places
        self._spare: list[tuple[Any, ...]] = []
        kept = size < pool.SMALLEST
        self.give_back: Callable[[Any], None] = self._spare.append if kept else (lambda arena: None)

    def take(self) -> tuple[Any, ...]:
        """Return an array for each value."""
        try:
            return self._spare.pop()
        except IndexError:
            memory = pool.empty((self._size + 64,), np.uint8)
            start = -memory.ctypes.data % 64
            return tuple(np.ndarray(shape, dtype, memory, start + place) for shape, dtype, place in self._places)


_GIVEN = {
    "ALONE": ALONE,
    "compute": compute,
    "dot": np.dot,
    "empty": np.empty,
    "expand": arrays.expand,
    "handle": handle,
    "large": pool.empty,
    "matmul": arrays.matmul,
    "replaced": replaced,
    "rows": rows,
    "scratch": scratch,
    "separate": separate,
    "shared": shared,
    "silence": guarded.silence,
    "speak": guarded.speak,
}


class _Writer:
    """Writes the function that runs a graph."""

    def __init__(self, graph: Graph, plan: Plan) -> None:
        self.graph, self.plan = graph, plan
        self.names = {v: f"v_{name}" for v, name in graph._names().items()}
        self.scope: dict[str, Any] = dict(_GIVEN)
        self.lines: list[str] = []
        self.calls: list[list[Part]] = []
        self.waiting: list[tuple[Part, list[str]]] = []
        self.looked_at = self._run_time_values()
        self.read = [v for v in graph.inputs if v in self._read_by_loops()]
        for v, array in graph.constants:
            self.scope[self.names[v]] = np.ascontiguousarray(array).reshape(v.shape)
        for equation in graph.equations:
            self._equation(equation)
        self._flush()
        places = [(v.shape, v.dtype, place) for v, place in plan.places.items()]
        self.scope["arenas"] = _Arenas(plan.arena, places)
        self.results = self._results()

    def _results(self) -> list[str]:
        """Return the text of each result: an array of its own, unless it looks at an input."""
        made = {v: each for each in self.graph.equations for v in each.outputs}
        taken = {v for v, _ in self.graph.constants}
        found = []
        for y in self.graph.outputs:
            if not isinstance(y, Var):
                found.append(self._object(y))
                continue
            root, repeats = y, False
            while root in made and is_view(made[root]):
                repeats |= made[root].op is tensor_functions.Expand
                root = made[root].operands[0]
            found.append(f"{self.names[y]}.copy()" if repeats or root in taken else self.names[y])
            taken |= {root} - set(self.graph.inputs)
        return found

    def body(self, end: str) -> list[str]:
        """Return the lines of the function, up to one that returns the results."""
        lines = [*self._opening(), *self.lines, *self._closing(), end]
        if not any("dot(" in line or "matmul(" in line for line in self.lines):
            return lines
        indented = [f"    {line}" for line in lines]
        return ["token = silence()", "try:", *indented, "finally:", "    speak(token)"]

    def _run_time_values(self) -> set[Var]:
        """Return the values that are needed while the function runs, and not only inside of loops."""
        needed = {y for y in self.graph.outputs if isinstance(y, Var)}
        for each in reversed(self.graph.equations):
            if not is_view(each) or any(v in needed for v in each.outputs):
                needed.update(each.uses())
        return needed

    def _read_by_loops(self) -> set[Var]:
        """Return the values that loops read."""
        return {v for each in self.graph.equations if each.op is Fused for v in each.uses()}

    def _object(self, value: Any) -> str:
        """Return the name of an object that the function uses."""
        name = f"x_{len(self.scope)}"
        self.scope[name] = value
        return name

    def _type(self, dtype: Any) -> str:
        name = str(np.dtype(dtype))
        self.scope[name] = np.dtype(dtype)
        return name

    def new(self, v: Var) -> None:
        """Write the line that gives a result its memory."""
        if v in self.plan.donated:
            self.lines.append(f"{self.names[v]} = {self.names[self.plan.donated[v]]}")
        elif v not in self.plan.places:
            self.lines.append(f"{self.names[v]} = {self.allocation(v.shape, v.dtype)}")

    def _opening(self) -> list[str]:
        """Return the lines that look at donated arrays, and give temporary values their places in the arena."""
        lines = []
        if self.plan.donated:
            donated = dict.fromkeys(self.plan.donated.values())
            taken = "".join(f"{self.names[v]}, " for v in donated)
            others = "".join(f"{self.names[v]}, " for v in self.graph.inputs if v not in donated)
            lines.append(f"{taken}= separate(({taken}), ({others}))")
        if self.plan.places:
            lines += ["arena = arenas.take()", f"{''.join(f'{self.names[v]}, ' for v in self.plan.places)}= arena"]
        return lines

    def _closing(self) -> list[str]:
        return ["arenas.give_back(arena)"] if self.plan.places else []

    def allocation(self, shape: tuple[int, ...], dtype: Any) -> str:
        """Return the text that asks for memory."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        return f"{'large' if size >= pool.SMALLEST else 'empty'}({shape}, {self._type(dtype)})"

    # --- equations ----------------------------------------------------------------------------------------------

    def _equation(self, equation: Equation) -> None:
        if equation.op is Fused:
            self._fused(equation)
        elif is_view(equation):
            if equation.outputs[0] in self.looked_at:
                self._flush()
                self._view(equation)
        else:
            self._flush()
            self._other(equation)

    def _view(self, equation: Equation) -> None:
        (x,), (out,), options = equation.operands, equation.outputs, equation.options
        name, given = self.names[out], self.names[x]
        if equation.op is tensor_functions.Permute:
            self.lines.append(f"{name} = {given}.transpose({options['order']})")
        elif equation.op is tensor_functions.View:
            self.lines.append(f"{name} = {given}.reshape({options['shape']})")
        elif equation.op is tensor_functions.Expand:
            self.lines.append(f"{name} = expand({given}, {options['shape']})")
        else:
            self.lines.append(f"{name} = {given}[{self._object(options['key'])}]")

    def _other(self, equation: Equation) -> None:
        operands, outputs = equation.operands, equation.outputs
        shown = [self.names[x] if isinstance(x, Var) else self._object(x) for x in operands]
        left = ", ".join(self.names[v] for v in outputs)
        if equation.op is tensor_functions.MatMul and not equation.saved:
            a, b = operands
            flat = len(a.shape) == len(b.shape) == 2 and a.dtype == b.dtype and a.dtype.kind == "f"
            small = arrays.is_small(a.shape) and arrays.is_small(b.shape)
            if outputs[0] in self.plan.places:
                self.lines.append(f"dot({', '.join(shown)}, {left})")
            else:
                self.lines.append(f"{left} = {'dot' if flat and small else 'matmul'}({', '.join(shown)})")
            return
        graphs = {name: _Inside(x) for name, x in equation.options.items() if isinstance(x, Graph)}
        options = self._object(equation.options | graphs)
        variables = dict.fromkeys(variables_in(equation.options))
        if variables:
            known = ", ".join(f"{self._object(v)}: {self.names[v]}" for v in variables)
            options = f"replaced({options}, {{{known}}}.get)"
        op, saved = self._object(equation.op), self._object(equation.saved)
        self.lines.append(f"{left}, = compute({op}, [{', '.join(shown)}], {options}, {saved})")
        for v in outputs:
            self.lines.append(f"{self.names[v]} = rows({self.names[v]})")

    # --- loops --------------------------------------------------------------------------------------------------

    def _fused(self, equation: Equation) -> None:
        body = equation.options["body"]
        lowered = lower(body.equations, equation.options["space"])
        assert lowered is not None
        outside = dict(zip(body.inputs, equation.operands, strict=True))
        given = [self.names[outside[v]] for v in lowered.inputs]
        for v in equation.outputs:
            self.new(v)
        results = [self.names[v] for v in equation.outputs]
        loop = lowered.writing(body.outputs)
        divided = splitting.split(loop)
        if divided is None:
            self._loop(loop, [*results, *given])
            return
        partial = []
        for _ in divided.pieces.outputs[len(results) - len(divided.outputs) :]:
            partial.append(f"part_{len(self.lines)}")
            self.lines.append(f"{partial[-1]} = {self.allocation(divided.partial, loop.dtype)}")
        by_element = [name for n, name in enumerate(results) if n not in divided.outputs]
        self._loop(divided.pieces, [*by_element, *partial, *given])
        rest = [results[n] for n in divided.outputs]
        self._loop(divided.rows, [*rest, *partial, *[given[n] for n in divided.given]])

    def _loop(self, loop: Loop, handles: list[str]) -> None:
        for part in programs.parts_of(loop):
            if part.worth > 1:
                self._flush()
            self.waiting.append((part, handles))
            if part.worth > 1:
                self._flush()

    def _flush(self) -> None:
        """Write the call of the loops that wait."""
        if not self.waiting:
            return
        number, parts = len(self.calls), [part for part, _ in self.waiting]
        given = []
        for part, handles in self.waiting:
            given += [f"handle({name})" for name in handles]
            if part.scratch:
                memory = f"memory_{number}_{len(given)}"
                self.lines.append(f"{memory} = scratch({part.scratch}, {part.worth}, {self._type(part.loop.dtype)})")
                given.append(f"handle({memory})")
        numbers = [n for part in parts for n in part.numbers]
        pack, tail = f"pack_{number}", f"numbers_{number}"
        self.scope[pack] = struct.Struct(f"{1 + len(given)}q").pack
        self.scope[tail] = struct.pack(f"{len(numbers)}q", *numbers)
        packed = f"{pack}({number}, {', '.join(given)}) + {tail}"
        if programs.is_shared(parts):
            self.lines.append(f"shared(of_threads, {packed}, {parts[0].total}, {parts[0].multiple}, {parts[0].worth})")
        else:
            self.lines.append(f"kernel(ALONE, 0, 0, {packed})")
        self.calls.append(parts)
        self.waiting = []
