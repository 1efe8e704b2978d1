"""Fused loops: several results and reductions from one walk over memory, as a compiler of graphs asks for them.

A `Loop` says what to compute for each element of a shape. Some of its trailing axes may be folded: then each row is
walked as often as its folds depend on each other, while it lies in the cache. A softmax walks three times:

    for row in range(start, stop):
        for j in range(n): t1 = maximum(t1, load(p1, o1 + j))
        for j in range(n): t3 = exp(v0 - t1); t4 = add_any_order(t4, t3); scratch0[j] = t3
        for j in range(n): store(p0, o0 + j, scratch0[j] / t4)
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import operators
from minigrad.backends.numba.elementwise import (
    DEAR,
    GRAIN,
    STREAM_BUFFER,
    STREAM_FROM,
    indent,
    index,
    memory_dtype,
    offsets,
)
from minigrad.backends.numba.expressions import Formula
from minigrad.backends.numba.geometry import HEADER, Axis, kind

if TYPE_CHECKING:
    from minigrad.operators import Expression

__all__ = ["BLOCK", "Loop", "Operand", "Part", "Step"]

BLOCK = 4096
"""Elements of a row that are summed in one go."""

SCRATCH = 2048
"""The longest row of which values are kept on the stack."""

ONCE, ROW, ELEMENT = range(3)


@dataclass(frozen=True)
class Operand:
    """An array as a loop reads or writes it.

    Attributes:
        dtype: Of its elements.
        strides: Its step in elements along each axis of the loop; 0 where it repeats.
        offset: Where it starts, in elements.
        value: For an output, the number of the value that is written.
    """

    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    offset: int = 0
    value: int = -1


@dataclass(frozen=True)
class Step:
    """One value: of an expression whose ``("in", i)`` are earlier values, or of a fold of such a value.

    Attributes:
        expression: The expression; for a fold ``("in", i)``.
        fold: "", or "add", "mul", "max", "min".

    >>> from minigrad.backends.numba.fused import Step
    >>> Step(("mul", ("in", 0), ("const", 2.0))).inputs, Step(("in", 1), "add").inputs
    ([0], [1])
    """

    expression: Expression
    fold: str = ""

    @property
    def inputs(self) -> list[int]:
        """The numbers of the values that it needs."""
        return [x[1] for x in (self.expression, *self.expression[1:]) if isinstance(x, tuple) and x[0] == "in"]


@dataclass(frozen=True)
class Loop:
    """What to compute for each element of a shape. Inputs have the values 0, 1, ..., and steps those after them.

    Attributes:
        shape: The shape, without zeros.
        folded: How many trailing axes the folds of the steps fold.
        dtype: The type in which everything is computed; truth values are 0 and 1 in it.
        inputs: The arrays that are read.
        steps: What is computed.
        outputs: The arrays that are written: of folded axes, with stride 0.
        ragged: How many rows make one, and the length of the last of them; the others have the shape's.
    """

    shape: tuple[int, ...]
    folded: int
    dtype: np.dtype[Any]
    inputs: tuple[Operand, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Operand, ...]
    ragged: tuple[int, int] = (1, 0)


class Part:
    """A loop over a part of the index space, as text, and the numbers that it is given beside arrays.

    Attributes:
        text: The function.
        numbers: Sizes and strides.
        total: How much there is to share out: rows if axes are folded, else elements.
        multiple: Threads get multiples of this.
        worth: How many threads it is worth.
        scratch: Elements of memory that each thread needs.
        handles: How many handles it is given: of the outputs, the inputs, and of scratch memory if it needs some.
    """

    def __init__(self, loop: Loop, axes: Sequence[Axis], inner: Sequence[Axis], shifts: Sequence[int]) -> None:
        self.loop, self.outer, self.inner = loop, list(axes), list(inner)
        self.operands = (*loop.outputs, *loop.inputs)
        self.formula = Formula(None, loop.dtype)
        self.layout = [kind(step) for step in self.inner[-1][1]]
        self.rank = len(self.outer) + len(self.inner)
        self.rows = math.prod(n for n, _ in self.outer)
        self.size = self.inner[-1][0]
        row = math.prod(n for n, _ in self.inner)
        self.total = self.rows if loop.folded else self.rows * row
        self.multiple = 1 if loop.folded else self.size if self.total >= 64 * self.size else 64
        self.stream = self._streams()
        self.scratches: dict[int, tuple[str, int]] = {}
        self._levels()
        body = self._body()
        text = "\n".join(self.formula.lines)
        weight = 1 + len(self.formula.lines) + 8 * sum(text.count(name) for name in DEAR)
        self.worth = max(self.rows * row * weight // GRAIN, 1)
        stacked = row <= SCRATCH and len(self.scratches) <= 4
        self.scratch = 0 if stacked else row * len(self.scratches)
        self.numbers = [self.total, *[o.offset + s for o, s in zip(self.operands, shifts, strict=True)]]
        self.numbers += [n for n, _ in (*self.outer, *self.inner)]
        for i in range(len(self.operands)):
            self.numbers += [steps[i] for _, steps in (*self.outer, *self.inner)]
        self.numbers += [*loop.ragged, row]
        self.body, self.stacked = body, stacked
        self.handles = len(self.operands) + bool(self.scratch)

    def _streams(self) -> bool:
        """Return whether the outputs are written past the caches."""
        loop = self.loop
        outputs = range(len(loop.outputs))
        large = self.rows * self.size * loop.dtype.itemsize >= STREAM_FROM
        plain = not self.outer and not loop.folded and all(self.layout[i] == "c" for i in outputs)
        return large and plain and all(o.dtype == loop.dtype and o.offset == 0 for o in loop.outputs)

    # --- which value is known when ------------------------------------------------------------------------------

    def _levels(self) -> None:
        """Find for each value how often it changes, and how many folds of a row must come before it."""
        loop, first = self.loop, len(self.loop.outputs)
        inner = [any(steps[first + i] for _, steps in self.inner) for i in range(len(loop.inputs))]
        outer = [any(steps[first + i] for _, steps in self.outer) for i in range(len(loop.inputs))]
        self.level = [ELEMENT if i else ROW if o else ONCE for i, o in zip(inner, outer, strict=True)]
        self.ready = [0] * len(loop.inputs)
        for step in loop.steps:
            level = max((self.level[i] for i in step.inputs), default=ONCE)
            ready = max((self.ready[i] for i in step.inputs), default=0)
            self.level.append(ROW if step.fold else level)
            self.ready.append(ready + 1 if step.fold else ready)
        self.step_of = dict(enumerate(loop.steps, len(loop.inputs)))
        self.name = [f"v{i}" for i in range(len(loop.inputs))] + [f"t{i}" for i in self.step_of]
        for i, name in enumerate(self.name):
            self.formula.names["in", i] = name
        self.constant = {}
        for step in loop.steps:  # constants and functions get their names in the order of the steps
            if step.fold:
                start = operators.FORMS[step.fold].start
                self.constant[step.fold] = self.formula.write(("const", start))
        ends = [self.ready[i] for i, step in self.step_of.items() if step.fold]
        ends += [self.ready[o.value] + 1 for o in loop.outputs if self._is_element(o)]
        self.walks = max(ends, default=0)

    def _is_element(self, output: Operand) -> bool:
        """Return whether an output is written in the innermost loop."""
        return any(steps[self.loop.outputs.index(output)] for _, steps in self.inner) or not self.loop.folded

    def _needed(self, walk: int) -> list[int]:
        """Return the values that are computed for each element in a walk, in order."""
        roots = [i for n, step in self.step_of.items() if step.fold and self.ready[n] == walk + 1 for i in step.inputs]
        roots += [o.value for o in self.loop.outputs if self._is_element(o) and self.ready[o.value] == walk]
        needed: set[int] = set()
        stack = [i for i in roots if self.level[i] == ELEMENT]
        while stack:
            n = stack.pop()
            if n in needed:
                continue
            needed.add(n)
            if n in self.step_of and not self._is_kept(n, walk):
                stack += [i for i in self.step_of[n].inputs if self.level[i] == ELEMENT]
        return sorted(needed)

    def _is_dear(self, n: int) -> bool:
        expression = self.step_of[n].expression
        return bool(operators.FORMS.get(expression[0], operators.Form(is_dear=True)).is_dear)

    def _keep_dear_values(self) -> None:
        """Choose which values are kept for a later walk instead of being computed again: the last of a chain first."""
        while True:
            walks: dict[int, list[int]] = {}
            for walk in range(self.walks):
                for n in self._needed(walk):
                    if n in self.step_of and n not in self.scratches and self._is_dear(n):
                        walks.setdefault(n, []).append(walk)
            dear = [n for n, found in walks.items() if len(found) > 1]
            if not dear:
                return
            n = max(dear)
            self.scratches[n] = f"scratch{len(self.scratches)}", walks[n][0]

    def _is_kept(self, n: int, walk: int) -> bool:
        """Return whether an earlier walk has kept a value."""
        return n in self.scratches and self.scratches[n][1] < walk

    # --- lines --------------------------------------------------------------------------------------------------

    def _compute(self, n: int) -> list[str]:
        """Return the line that computes a step's value."""
        before = len(self.formula.lines)
        kernel, *args = self.step_of[n].expression
        form = self.formula.form(kernel, args).format(*[self.formula.write(a) for a in args])
        assert len(self.formula.lines) == before
        self.formula.lines.append(form)
        return [f"{self.name[n]} = {form}"]

    def _load(self, i: int, base: str) -> str:
        place = len(self.loop.outputs) + i
        how = self.layout[place] if self.level[i] == ELEMENT else "0"
        return f"v{i} = number(load(p{place}, {self._index(how, place, base)}))"

    def _index(self, how: str, place: int, base: str) -> str:
        return index(how, place, self.rank, base) if self.rank > 1 else index(how, place, 1)

    def _before(self, level: int, ready: int) -> list[str]:
        """Return the loads and steps of a level that are possible after so many folds, and not before."""
        lines = [self._load(i, "o") for i in range(len(self.loop.inputs)) if (self.level[i], ready) == (level, 0)]
        for n, step in self.step_of.items():
            if (self.level[n], self.ready[n]) == (level, ready) and not step.fold:
                lines += self._compute(n)
        return lines

    def _written(self, o: Operand) -> str:
        name = self.name[o.value]
        return f"uint8({name} != zero)" if o.dtype == np.bool_ else f"{o.dtype.name}({name})"

    def _element(self, walk: int, base: str, prefix: str) -> list[str]:
        """Return the lines for one element in a walk. The folds' names start with a prefix."""
        lines = []
        for n in self._needed(walk):
            if n not in self.step_of:
                lines.append(self._load(n, base))
            elif self._is_kept(n, walk):
                lines.append(f"{self.name[n]} = {self.scratches[n][0]}[{self._place()}]")
            else:
                lines += self._compute(n)
                if n in self.scratches:
                    lines.append(f"{self.scratches[n][0]}[{self._place()}] = {self.name[n]}")
        for place, o in enumerate(self.loop.outputs):
            if self._is_element(o) and self.ready[o.value] == walk:
                where = (
                    f"buffer{place}, k" if self.stream else f"p{place}, {self._index(self.layout[place], place, base)}"
                )
                lines.append(f"store({where}, {self._written(o)})")
        for n in self._folds(walk):
            combine, name = operators.FORMS[self.step_of[n].fold].fold, f"{prefix}{n}"
            lines.append(f"{name} = {combine}({name}, {self.name[self.step_of[n].inputs[0]]})")
        return lines

    def _place(self) -> str:
        """Return where an element of a row is in scratch memory."""
        return "j" if len(self.inner) == 1 else "at + j"

    def _folds(self, walk: int) -> list[int]:
        return [n for n, step in self.step_of.items() if step.fold and self.ready[n] == walk + 1]

    def _walk(self, walk: int) -> list[str]:
        """Return a walk over the inner axes of one row."""
        folds, first = self._folds(walk), len(self.outer)
        starts = {n: self.constant[self.step_of[n].fold] for n in folds}
        combined = [f"t{n} = {operators.FORMS[self.step_of[n].fold].fold}(t{n}, b{n})" for n in folds]
        begin = [f"t{n} = {start}" for n, start in starts.items()]
        again = [f"b{n} = {start}" for n, start in starts.items()]
        last = f"n{self.rank - 1}" if self.loop.ragged == (1, 0) else "length"
        if len(self.inner) == 1:
            if folds and self.size >= 2 * BLOCK:
                loop = [
                    *again,
                    f"for j in range(first, min(first + {BLOCK}, {last})):",
                    *indent(self._element(walk, "o", "b")),
                    *combined,
                ]
                return [*begin, f"for first in range(0, {last}, {BLOCK}):", *indent(loop)]
            return [*begin, f"for j in range({last}):", *indent(self._element(walk, "o", "t"))]
        axes = range(first, self.rank - 1)
        count = len(self.operands)
        places = [f"q{i} = " + " + ".join([f"o{i}", *[f"i{a} * s{i}_{a}" for a in axes]]) for i in range(count)]
        at = " + ".join(f"i{a} * " + " * ".join(f"n{b}" for b in range(a + 1, self.rank)) for a in axes)
        lines = [
            *places,
            f"at = {at}",
            *again,
            f"for j in range({last}):",
            *indent(self._element(walk, "q", "b")),
            *combined,
        ]
        for axis in reversed(axes):
            lines = [f"for i{axis} in range(n{axis}):", *indent(lines)]
        return [*begin, *lines]

    def _body(self) -> list[str]:
        self._keep_dear_values()
        return self._rows() if self.loop.folded else self._elements()

    def _rows(self) -> list[str]:
        """Return the loop over rows that are folded."""
        lines = offsets(len(self.operands), range(len(self.outer)))
        if self.loop.ragged != (1, 0):
            last = "row % ragged == ragged - 1"
            lines.append(f"length = tail if {last} else n{self.rank - 1}")
        for walk in range(self.walks):
            lines += self._before(ROW, walk) + self._walk(walk)
        lines += self._before(ROW, self.walks)
        for place, o in enumerate(self.loop.outputs):
            if not self._is_element(o):
                lines.append(f"store(p{place}, o{place}, {self._written(o)})")
        once = [f"o{i} = 0" for i in range(len(self.operands))]
        return [*once, *self._before(ONCE, 0), "for row in range(start, stop):", *indent(lines)]

    def _elements(self) -> list[str]:
        """Return the loop over elements where nothing is folded."""
        once = [f"o{i} = 0" for i in range(len(self.operands))] if self.rank > 1 else []
        once = [*once, *self._before(ONCE, 0)]
        if self.stream:
            return [*once, *self._streamed()]
        inner = self._element(0, "o", "t")
        if self.rank == 1:
            return [*once, "for j in range(start, stop):", *indent(inner)]
        size = f"n{self.rank - 1}"
        row = [
            f"row = position // {size}",
            f"begin = position - row * {size}",
            f"end = min({size}, begin + stop - position)",
            *offsets(len(self.operands), range(len(self.outer))),
            *self._before(ROW, 0),
            "for j in range(begin, end):",
            *indent(inner),
            "position += end - begin",
        ]
        return [*once, "position = start", "while position < stop:", *indent(row)]

    def _streamed(self) -> list[str]:
        """Return a loop that fills buffers in the first-level cache, and writes them past the caches."""
        outputs, line = range(len(self.loop.outputs)), 64 // self.loop.dtype.itemsize
        return [
            *[f"buffer{i} = local_buffer({self.loop.dtype.name}, {STREAM_BUFFER})" for i in outputs],
            f"for first in range(start, stop, {STREAM_BUFFER}):",
            f"    count = min({STREAM_BUFFER}, stop - first)",
            "    for k in range(count):",
            "        j = first + k",
            *indent(indent(self._element(0, "o", "t"))),
            f"    lines = count - count % {line}",
            f"    for k in range(0, lines, {line}):",
            *[f"        store_line(p{i}, first + k, buffer{i}, k)" for i in outputs],
            "    for k in range(lines, count):",
            *[f"        p{i}[first + k] = buffer{i}[k]" for i in outputs],
            "store_fence()",
        ]

    # --- the whole function ---------------------------------------------------------------------------------------

    def function(self, name: str) -> str:
        """Return the text of the function that runs this part.

        From place ``first`` on its parameters are a handle of each output and input, and one of scratch memory if it
        needs some; from place ``given`` on `numbers`.
        """
        count = len(self.operands)
        lines = []
        for i, o in enumerate(self.operands):
            start = f"{_start(i)} + parameters[given + {1 + i}] * {o.dtype.itemsize}"
            lines.append(f"p{i} = pointer({start}, {memory_dtype(o.dtype).__name__})")
        words = [f"n{axis}" for axis in range(self.rank)]
        words += [f"s{i}_{axis}" for i in range(count) for axis in range(self.rank)]
        words += ["ragged", "tail", "row_size"]
        own = self.loop.dtype.name, self.loop.dtype.itemsize
        for n, (scratch, _) in enumerate(self.scratches.values()):
            at = f"{_start(count)} + (ordinal * {len(self.scratches)} + {n}) * row_size * {own[1]}"
            lines.append(
                f"{scratch} = local_buffer({own[0]}, {SCRATCH})"
                if self.stacked
                else f"{scratch} = pointer({at}, {own[0]})"
            )
        used = set(re.findall(r"\w+", "\n".join([*lines, *self.body])))
        read = [f"{word} = parameters[given + {1 + count + n}]" for n, word in enumerate(words) if word in used]
        head = f"def {name}(start, stop, ordinal, first, given, parameters):  # in {self.loop.dtype}"
        return "\n".join([head, *indent([*read, *lines, *self.body])])


def _start(place: int) -> str:
    """Return the text of the address of an array whose handle is a parameter."""
    handle = f"parameters[first + {place}]"
    return handle if HEADER is None else f"pointer({handle} + {HEADER}, int64)[0]"
