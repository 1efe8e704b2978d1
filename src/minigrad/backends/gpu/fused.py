"""Fused loops on a CUDA device: the source of a kernel for each.

Without folded axes there is one thread for each element. With folded axes a block walks one row: its threads take every
n-th element, and a fold joins what they have found in shared memory, half as many threads at each step. A softmax:

    while j < end: s1 = op_max(s1, p1[...]); j += n
    t1 = fold_max(cache, s1)
    while j < end: s3 = op_add(s3, op_exp(op_sub(p1[...], t1))); j += n
    t3 = fold_add(cache, s3)
    while j < end: p0[...] = op_div(op_exp(op_sub(p1[...], t1)), t3); j += n

A later walk computes again what an earlier one has computed for each element: a device has no room to keep it close by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import operators
from minigrad.backends.fused import ELEMENT, ONCE, ROW, Loop, Operand, Walks
from minigrad.backends.gpu import launching
from minigrad.backends.gpu.expressions import kernels_of, literal
from minigrad.backends.gpu.reductions import start_value
from minigrad.backends.gpu.sizes import LOOP, ROW_THREADS
from minigrad.backends.gpu.sources import WAIT, collapse, compiled, positions

if TYPE_CHECKING:
    from minigrad.operators import Expression

FLOAT64 = np.dtype(np.float64)

_FOLD = """
def fold_{name}(cache, value):
    t = cuda.threadIdx.x
    cache[t] = value
    {wait}
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            cache[t] = float64(op_{name}(cache[t], cache[t + half]))
        {wait}
        half //= 2
    found = cache[0]
    {wait}
    return found
"""
"""Joins the values of a block's threads. The last wait lets no thread begin the next fold before all have read."""


class Part:
    """A loop as a CUDA kernel.

    Args:
        loop: The loop.

    Attributes:
        text: The source of the kernel. The arrays ``p0``, ``p1``, ... are the outputs and then the inputs, and ``at0``,
            ... where each starts, with its strides.

    >>> from minigrad.backends.fused import Loop, Operand, Step
    >>> from minigrad.backends.gpu.fused import Part
    >>> x, twice = Operand(minigrad.float32, (1,)), Step(("add", ("in", 0), ("in", 0)))
    >>> loop = Loop((8,), 0, minigrad.float32, (x,), (twice,), (Operand(minigrad.float32, (1,), value=1),))
    >>> print(Part(loop).text)
    def kernel(size, shape, p0, at0, p1, at1):  # in float32
        i = cuda.grid(1)
        while i < size:
            q0 = at0[0]
            q1 = at1[0]
            q0 += i * at0[1]
            q1 += i * at1[1]
            v0 = float32(p1[q1])
            t1 = float32(op_add(v0, v0))
            p0[q0] = float32(t1)
            i += cuda.gridsize(1)
    <BLANKLINE>
    """

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.operands = (*loop.outputs, *loop.inputs)
        kept = len(loop.shape) - loop.folded
        self.outer, self.steps = collapse(loop.shape[:kept], *[o.strides[:kept] for o in self.operands])
        self.inner, self.within = collapse(loop.shape[kept:], *[o.strides[kept:] for o in self.operands])
        self.by_element = [not loop.folded or any(self.within[i]) for i in range(len(loop.outputs))]
        first = len(loop.outputs)
        inner = [not loop.folded or any(each) for each in self.within[first:]]
        self.walks = Walks(loop, inner, [any(each) for each in self.steps[first:]], self.by_element)
        self.name = [f"v{i}" for i in range(len(loop.inputs))] + [f"t{i}" for i in self.walks.step_of]
        self.text = self._rows() if loop.folded else self._elements()

    def load(self) -> Callable[..., None]:
        """Return a function of device arrays, the outputs and then the inputs, that runs the kernel."""
        names = dict.fromkeys(name for step in self.loop.steps for name in kernels_of(step.expression))
        names.update(dict.fromkeys(step.fold for step in self.loop.steps if step.fold))
        run = _kernel(self.text, tuple((f"op_{name}", getattr(operators, name)) for name in names))
        rows, folded = math.prod(self.outer), self.loop.folded
        grid, block = self._grid_of_rows(rows) if folded else LOOP.grid(rows)
        numbers = (self.outer, math.prod(self.inner), self.inner, *self.loop.ragged) if folded else (rows, self.outer)
        starts = [(o.offset, steps) for o, steps in zip(self.operands, self.steps, strict=True)]

        def launch(*arrays: Any) -> None:
            given: list[Any] = []
            for n, (x, (offset, steps)) in enumerate(zip(arrays, starts, strict=True)):
                given += [x.storage, (x.offset + offset, *steps)]
                if folded:
                    given.append((0, *self.within[n]))
            run(grid, block, *numbers, *given)

        return launch

    def _grid_of_rows(self, rows: int) -> Any:
        """Return the sizes of grid and block: a power of two of threads for each row, no more than it has elements."""
        threads = ROW_THREADS
        while threads >= 2 * math.prod(self.inner):
            threads //= 2
        return (rows, 1, 1), (threads, 1, 1)

    # --- lines ----------------------------------------------------------------------------------------------------

    def _load(self, i: int) -> str:
        place = len(self.loop.outputs) + i
        where = f"q{place}" if self.walks.level[i] == ELEMENT else f"r{place}"
        return f"v{i} = {self.loop.dtype}(p{place}[{where}])"

    def _value(self, n: int) -> str:
        """Return the line that loads or computes a value."""
        if n not in self.walks.step_of:
            return self._load(n)
        return f"{self.name[n]} = {self._formula(self.walks.step_of[n].expression)}"

    def _formula(self, expression: Expression) -> str:
        kernel, *arguments = expression
        if kernel == "in":
            return self.name[arguments[0]]
        if kernel == "const":
            return f"{self.loop.dtype}({literal(arguments[0])})"
        return f"{self.loop.dtype}(op_{kernel}({', '.join(map(self._formula, arguments))}))"

    def _store(self, place: int, where: str) -> str:
        o: Operand = self.loop.outputs[place]
        name = self.name[o.value]
        return f"p{place}[{where}] = " + (f"{name} != 0" if o.dtype == np.bool_ else f"{o.dtype}({name})")

    def _element(self, walk: int) -> list[str]:
        """Return the source lines for one element; its addresses are computed above."""
        lines = [self._value(n) for n in self.walks.needed(walk)]
        return lines + [self._store(place, f"q{place}") for place in self._written(walk)]

    def _written(self, walk: int) -> list[int]:
        """Return the outputs that a walk writes for each element."""
        ready = self.walks.ready
        return [i for i, o in enumerate(self.loop.outputs) if self.by_element[i] and ready[o.value] == walk]

    # --- kernels --------------------------------------------------------------------------------------------------

    def _elements(self) -> str:
        """Return a kernel of one thread for each element, and again from the start where there are more elements."""
        places = [(f"q{i}", f"at{i}") for i in range(len(self.operands))]
        lines = [f"{q} = {at}[0]" for q, at in places]
        lines += positions("i", "shape", len(self.outer), places) + self._element(0)
        given = [f"p{i}, at{i}" for i in range(len(self.operands))]
        return _text(
            f"def kernel(size, shape, {', '.join(given)}):  # in {self.loop.dtype}",
            ["i = cuda.grid(1)", "while i < size:", *_indent([*lines, "i += cuda.gridsize(1)"])],
        )

    def _rows(self) -> str:
        """Return a kernel of one block for each row."""
        places = [(f"r{i}", f"at{i}") for i in range(len(self.operands))]
        lines = [
            f"cache = cuda.shared.array({ROW_THREADS}, float64)",
            "t = cuda.threadIdx.x",
            "row = cuda.blockIdx.x",
            "end = tail if row % ragged == ragged - 1 and tail > 0 else length",
            *[f"{r} = {at}[0]" for r, at in places],
            *positions("row", "outer", len(self.outer), places),
            *[self._value(n) for n in self.walks.between(ONCE, 0)],
        ]
        for walk in range(self.walks.count):
            lines += [self._value(n) for n in self.walks.between(ROW, walk)] + self._walk(walk)
        lines += [self._value(n) for n in self.walks.between(ROW, self.walks.count)]
        stores = [self._store(i, f"r{i}") for i, by_element in enumerate(self.by_element) if not by_element]
        lines += ["if t == 0:", *_indent(stores)] if stores else []
        given = [f"p{i}, at{i}, in{i}" for i in range(len(self.operands))]
        head = f"def kernel(outer, length, inner, ragged, tail, {', '.join(given)}):  # in {self.loop.dtype}"
        folds = sorted({step.fold for step in self.loop.steps if step.fold})
        return "\n".join([*[_FOLD.format(name=name, wait=WAIT).lstrip() for name in folds], _text(head, lines)])

    def _walk(self, walk: int) -> list[str]:
        """Return a walk over one row, and the folds at its end: of float64, so that long sums lose nothing."""
        folds, first = self.walks.folds(walk), len(self.loop.outputs)
        used = self._written(walk) + [first + n for n in self.walks.needed(walk) if n not in self.walks.step_of]
        lines = [f"q{i} = r{i}" for i in used]
        lines += positions("j", "inner", len(self.inner), [(f"q{i}", f"in{i}") for i in used])
        lines += self._element(walk)
        ends = []
        begins = []
        for n in folds:
            step = self.walks.step_of[n]
            begins.append(f"s{n} = float64({literal(start_value(step.fold, FLOAT64))})")
            lines.append(f"s{n} = float64(op_{step.fold}(s{n}, float64({self.name[step.inputs[0]]})))")
            ends.append(f"t{n} = {self.loop.dtype}(fold_{step.fold}(cache, s{n}))")
        return [*begins, "j = t", "while j < end:", *_indent([*lines, "j += cuda.blockDim.x"]), *ends]


def _indent(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _text(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, *_indent(lines), ""])


@lru_cache(maxsize=1024)
def _kernel(text: str, functions: tuple[tuple[str, Any], ...]) -> Any:
    """Make a kernel ready; functions are part of the key, since they can be replaced."""
    names = {"float32": np.float32, "float64": np.float64, "int32": np.int32, "int64": np.int64, **dict(functions)}
    return launching.ready(compiled(text, names))
