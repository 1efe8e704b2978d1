"""Compiled graphs: one kernel of fused loops, and one generated Python function that calls it and everything else.

The function is straight-line code: no equation is looked up and no shape is asked for while it runs.

    def run(a, b, c):
        d = empty((1000,), float64)
        kernel(alone, 0, 0, pack_0(5, handle(d), handle(a), handle(b), handle(c)) + table_0)
        return (d,)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from minigrad import backends, tensor_functions
from minigrad.backends import arrays, guarded
from minigrad.backends.calls import Calls
from minigrad.graph.planning import Plan, plan_for
from minigrad.graph.preparing import prepare
from minigrad.graph.program import Equation, Graph, Var
from minigrad.graph.writing import Writer


class Program:
    """A graph as a function of arrays.

    Args:
        graph: What to compute.
        donated: The inputs, by number, whose memory may be used for results. A CUDA device takes none.
        device: "cpu" or "cuda": whose arrays it takes.

    Attributes:
        graph: The graph after all passes.
        plan: Which values share memory.
        loops: The text of the kernel, or kernels.
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
        kernel(ALONE, 0, 0, pack_0(3, handle(v_b), handle(v_a)) + table_0)
        return (v_b, )
    """

    def __init__(self, graph: Graph, donated: Sequence[int] = (), device: str = "cpu") -> None:
        self.graph = prepare(graph)
        plan, calls = plan_for(self.graph, donated, device), backends.compiler(device).calls()
        kind = _OnProcessors if device == "cpu" else Writer
        self._writer = writer = kind(self.graph, plan, calls, partial(_Inside, device=device))
        self.plan = plan
        self.inputs = [writer.names[v] for v in self.graph.inputs]
        self.results = writer.results
        self.read = writer.read
        self.loops = calls.source()

    def scope(self) -> dict[str, Any]:
        """Return what the generated lines refer to; the kernel is compiled now if it was not yet."""
        return self._writer.load()

    def body(self, end: str) -> list[str]:
        """Return the generated lines, up to a last one that returns the results."""
        return self._writer.body(end)

    @property
    def text(self) -> str:
        """The text of the function that calls the kernel."""
        lines = [self._writer.calls.in_rows(self._writer.names[v]) for v in self.read]
        lines += self.body(f"return ({''.join(f'{name}, ' for name in self.results)})")
        return "\n".join([f"def run({', '.join(self.inputs)}):", *[f"    {line}" for line in lines], ""])

    def whole_text(self) -> str:
        """Return the text of the loops and of the function, and that of graphs inside of equations."""
        parts = [f"{self.loops}\n\n{self.text}".lstrip("\n")]
        for each in self._writer.inner:
            inside = each.program().whole_text()
            parts.append(f"# inside of an equation\n{inside}")
        return "\n\n".join(parts)

    def load(self) -> Callable[..., Any]:
        """Return the program as a function of arrays that returns a tuple of arrays."""
        scope = self.scope()
        exec(compile(self.text, "<compiled graph>", "exec"), scope)
        return scope["run"]  # type: ignore[no-any-return]


def separate(donated: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Return donated arrays that results may be written to: copies of those that share memory with another array.

    >>> import numpy as np
    >>> from minigrad.graph.compiled import separate
    >>> x, y = np.zeros(3), np.ones(3)
    >>> separate([x], [y])[0] is x, separate([x], [x[1:]])[0] is x
    (True, False)
    """
    every = (*donated, *others)
    views = [x for x in every if x.base is not None]
    if not views and len({*map(id, every)}) == len(every):  # each has memory of its own
        return [x if x.flags.writeable else x.copy() for x in donated]
    found, end, owner = list(donated), 0, -1
    for start, stop, n in sorted([(*_span(x), n) for n, x in enumerate(every)]):
        if start < end:
            for each in (n, owner):
                if each < len(found):
                    found[each] = donated[each].copy()
        if stop > end:
            end, owner = stop, n
    return [x if x.flags.writeable and (x.base is None or not guarded.has_other_views(x)) else x.copy() for x in found]


def _span(array: Any) -> tuple[int, int]:
    """Return the addresses between which an array lies."""
    if array.flags.c_contiguous:
        start = guarded.address(array)
        return start, start + array.nbytes
    return np.lib.array_utils.byte_bounds(array)


_KEPT = 256 * 1024
"""Bytes from which on an arena is not kept: the backend's pool of buffers keeps it."""


class _Arenas:
    """Memory for the temporary values of a run. A small arena is kept for the next run."""

    def __init__(self, size: int, places: Sequence[tuple[tuple[int, ...], Any, int]]) -> None:
        self._size, self._places = size, places
        self._spare: list[tuple[Any, ...]] = []
        kept = size < _KEPT
        self.give_back: Callable[[Any], None] = self._spare.append if kept else (lambda arena: None)

    def take(self) -> tuple[Any, ...]:
        """Return an array for each value."""
        try:
            return self._spare.pop()
        except IndexError:
            memory = arrays.empty((self._size + 64,), np.dtype(np.uint8))
            start = -memory.ctypes.data % 64
            return tuple(np.ndarray(shape, dtype, memory, start + place) for shape, dtype, place in self._places)


class _OnProcessors(Writer):
    """Writes the function that runs a graph on the CPU, where values share memory and BLAS multiplies matrices."""

    def __init__(self, graph: Graph, plan: Plan, calls: Calls, inside: Callable[[Graph], Any]) -> None:
        super().__init__(graph, plan, calls, inside)
        places = [(v.shape, v.dtype, place) for v, place in plan.places.items()]
        self.scope |= {
            "arenas": _Arenas(plan.arena, places),
            "concatenate": np.concatenate,
            "dot": np.dot,
            "matmul": arrays.matmul,
            "reduce": arrays.reduce,
            "separate": separate,
            "silence": guarded.silence,
            "speak": guarded.speak,
        }

    def body(self, end: str) -> list[str]:
        """Return the lines of the function, up to one that returns the results."""
        lines = [*self._opening(), *self.lines, *self._closing(), end]
        if not any(re.search(r"\b(dot|matmul|product|reduce)\(", line) for line in self.lines):
            return lines
        indented = [f"    {line}" for line in lines]
        return ["token = silence()", "try:", *indented, "finally:", "    speak(token)"]

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

    def other(self, equation: Equation) -> None:
        """Write an equation that no loop computes; BLAS multiplies matrices."""
        if equation.op is tensor_functions.Sum and not equation.saved and equation.options["dim"]:
            self._sum(equation)
        elif equation.op is tensor_functions.MatMul and not equation.saved:
            self._product(equation)
        elif equation.op is tensor_functions.Cat and not equation.saved:
            self._cat(equation)
        else:
            super().other(equation)

    def _sum(self, equation: Equation) -> None:
        ((x,), (out,)), options = (equation.operands, equation.outputs), equation.options
        shown = self.names[x] if isinstance(x, Var) else self.named(x)
        self.lines.append(f"{self.names[out]} = rows(reduce('add', {shown}, {options['dim']}, {options['keepdim']}))")

    def _cat(self, equation: Equation) -> None:
        (out,), dim = equation.outputs, equation.options["dim"]
        shown = "".join(f"{self.names[x] if isinstance(x, Var) else self.named(x)}, " for x in equation.operands)
        self.lines.append(f"{self.names[out]} = concatenate(({shown}), {dim}, {self.allocation(out.shape, out.dtype)})")

    def _product(self, equation: Equation) -> None:
        a, b = equation.operands
        (out,) = equation.outputs
        shown = ", ".join(self.names[x] if isinstance(x, Var) else self.named(x) for x in (a, b))
        flat = len(a.shape) == len(b.shape) == 2 and a.dtype == b.dtype and a.dtype.kind == "f"
        small = arrays.is_small(a.shape) and arrays.is_small(b.shape)
        if out in self.plan.places:
            self.lines.append(f"{'dot' if small else 'product'}({shown}, {self.names[out]})")
        else:
            self.lines.append(f"{self.names[out]} = {'dot' if flat and small else 'matmul'}({shown})")


class _Inside:
    """A graph inside of an equation, compiled with the graph around it.

    Args:
        graph: The graph.
        device: "cpu" or "cuda".
    """

    def __init__(self, graph: Graph, device: str) -> None:
        self._graph, self._device = graph, device

    def program(self) -> Program:
        """Return the graph as a program."""
        return Program(self._graph, device=self._device)

    def load(self) -> None:
        """Compile it."""
        self.run: Callable[..., Sequence[Any]] = self.program().load()
