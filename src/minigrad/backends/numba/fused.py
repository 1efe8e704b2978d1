"""Fused loops on a processor: the text of a function for each. A folded row is walked while it lies in the cache.

A softmax walks three times:

    for row in range(start, stop):
        for j in range(n): t1 = maximum(t1, load(p1, o1 + j))
        for j in range(n): t3 = exp(v0 - t1); t4 = add_any_order(t4, t3); scratch0[j] = t3
        for j in range(n): store(p0, o0 + j, scratch0[j] / t4)
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from minigrad import operators
from minigrad.backends.fused import ELEMENT, ONCE, ROW, Loop, Operand, Walks
from minigrad.backends.geometry import Axis, kind
from minigrad.backends.guarded import HEADER
from minigrad.backends.numba import threads
from minigrad.backends.numba.elementwise import (
    STREAM_BUFFER,
    STREAM_FROM,
    indent,
    index,
    memory_dtype,
    offsets,
)
from minigrad.backends.numba.expressions import Formula
from minigrad.backends.splitting import BLOCK

SCRATCH = 2048
"""The longest row of which values are kept on the stack."""


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
        self.opaque: dict[str, str] = {}
        self._levels()
        body = self._body()
        self.worth = threads.worth(self.rows * row * self.formula.weight, self.formula.dtype.itemsize)
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
        """Find out what each walk computes, and give the values their names."""
        loop, first = self.loop, len(self.loop.outputs)
        inner = [any(steps[first + i] for _, steps in self.inner) for i in range(len(loop.inputs))]
        outer = [any(steps[first + i] for _, steps in self.outer) for i in range(len(loop.inputs))]
        self.walks = Walks(loop, inner, outer, [self._is_element(o) for o in loop.outputs])
        self.name = [f"v{i}" for i in range(len(loop.inputs))] + [f"t{i}" for i in self.walks.step_of]
        for i, name in enumerate(self.name):
            self.formula.names["in", i] = name
        self.constant = {}
        for step in loop.steps:  # constants and functions get their names in the order of the steps
            if step.fold:
                start = operators.FORMS[step.fold].start
                self.constant[step.fold] = self.formula.write(("const", start))

    def _is_element(self, output: Operand) -> bool:
        """Return whether an output is written in the innermost loop."""
        return any(steps[self.loop.outputs.index(output)] for _, steps in self.inner) or not self.loop.folded

    def _needed(self, walk: int) -> list[int]:
        """Return the values that are computed for each element in a walk, in order."""
        return self.walks.needed(walk, [n for n in self.scratches if self._is_kept(n, walk)])

    def _is_dear(self, n: int) -> bool:
        expression = self.walks.step_of[n].expression
        return bool(operators.FORMS.get(expression[0], operators.Form(is_dear=True)).is_dear)

    def _keep_dear_values(self) -> None:
        """Choose which values are kept for a later walk instead of being computed again: the last of a chain first."""
        while True:
            walks: dict[int, list[int]] = {}
            for walk in range(self.walks.count):
                for n in self._needed(walk):
                    if n in self.walks.step_of and n not in self.scratches and self._is_dear(n):
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
        kernel, *args = self.walks.step_of[n].expression
        form = self.formula.form(kernel, args).format(*[self._argument(a) for a in args])
        assert len(self.formula.lines) == before
        self.formula.lines.append(form)
        return [f"{self.name[n]} = {form}"]

    def _argument(self, expression: operators.Expression) -> str:
        """Return the name of an argument's value.

        LLVM would not take an infinity into a largest number: ``maximum(t, select(masked, -inf, v))`` would become
        ``select(masked, t, maximum(t, v))``, which it does not know as a reduction, and computes one by one.
        """
        name = self.formula.write(expression)
        if expression[0] != "const" or not math.isinf(expression[1]):
            return name
        self.opaque[f"opaque_{name}"] = name
        return f"opaque_{name}"

    def _load(self, i: int, base: str) -> str:
        place = len(self.loop.outputs) + i
        how = self.layout[place] if self.walks.level[i] == ELEMENT else "0"
        return f"v{i} = number(load(p{place}, {self._index(how, place, base)}))"

    def _index(self, how: str, place: int, base: str) -> str:
        return index(how, place, self.rank, base) if self.rank > 1 else index(how, place, 1)

    def _before(self, level: int, ready: int) -> list[str]:
        """Return the loads and steps of a level that are possible after so many folds, and not before."""
        lines = []
        for n in self.walks.between(level, ready):
            lines += self._compute(n) if n in self.walks.step_of else [self._load(n, "o")]
        return lines

    def _written(self, o: Operand) -> str:
        name = self.name[o.value]
        return f"uint8({name} != zero)" if o.dtype == np.bool_ else f"{o.dtype.name}({name})"

    def _element(self, walk: int, base: str, prefix: str) -> list[str]:
        """Return the lines for one element in a walk. The folds' names start with a prefix."""
        lines = []
        for n in self._needed(walk):
            if n not in self.walks.step_of:
                lines.append(self._load(n, base))
            elif self._is_kept(n, walk):
                lines.append(f"{self.name[n]} = {self.scratches[n][0]}[{self._place()}]")
            else:
                lines += self._compute(n)
                if n in self.scratches:
                    lines.append(f"{self.scratches[n][0]}[{self._place()}] = {self.name[n]}")
        for place, o in enumerate(self.loop.outputs):
            if self._is_element(o) and self.walks.ready[o.value] == walk:
                where = (
                    f"buffer{place}, k" if self.stream else f"p{place}, {self._index(self.layout[place], place, base)}"
                )
                lines.append(f"store({where}, {self._written(o)})")
        for n in self.walks.folds(walk):
            combine, name = operators.FORMS[self.walks.step_of[n].fold].fold, f"{prefix}{n}"
            lines.append(f"{name} = {combine}({name}, {self.name[self.walks.step_of[n].inputs[0]]})")
        return lines

    def _place(self) -> str:
        """Return where an element of a row is in scratch memory."""
        return "j" if len(self.inner) == 1 else "at + j"

    def _walk(self, walk: int) -> list[str]:
        """Return a walk over the inner axes of one row."""
        folds, first = self.walks.folds(walk), len(self.outer)
        starts = {n: self.constant[self.walks.step_of[n].fold] for n in folds}
        combined = [f"t{n} = {operators.FORMS[self.walks.step_of[n].fold].fold}(t{n}, b{n})" for n in folds]
        begin = [f"t{n} = {start}" for n, start in starts.items()]
        again = [f"b{n} = {start}" for n, start in starts.items()]
        last = f"n{self.rank - 1}" if self.loop.ragged == (1, 0) else "length"
        if len(self.inner) == 1:
            if folds and self.size >= 2 * BLOCK:
                # The blocks' sums are added in float64: there may be many, one behind the other.
                wide = [n for n in folds if self.walks.step_of[n].fold == "add" and self.loop.dtype == np.float32]
                combined = [
                    f"w{n} += float64(b{n})" if n in wide else text for n, text in zip(folds, combined, strict=True)
                ]
                loop = [
                    *again,
                    f"for j in range(first, min(first + {BLOCK}, {last})):",
                    *indent(self._element(walk, "o", "b")),
                    *combined,
                ]
                begin = [f"w{n} = 0.0" if n in wide else text for n, text in zip(folds, begin, strict=True)]
                whole = [f"for first in range(0, {last}, {BLOCK}):", *indent(loop)]
                return [*begin, *whole, *[f"t{n} = number(w{n})" for n in wide]]
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
            lines.append(f"length = select(row % ragged == ragged - 1, tail, n{self.rank - 1})")
        for walk in range(self.walks.count):
            lines += self._before(ROW, walk) + self._walk(walk)
        lines += self._before(ROW, self.walks.count)
        for place, o in enumerate(self.loop.outputs):
            if not self._is_element(o):
                lines.append(f"store(p{place}, o{place}, {self._written(o)})")
        return [*self._once(), "for row in range(start, stop):", *indent(lines)]

    def _once(self) -> list[str]:
        """Return the loads and steps before all loops, of arrays that no axis moves along."""
        lines = self._before(ONCE, 0)
        used = dict.fromkeys(re.findall(r"\bo\d+\b", "\n".join(lines)))
        return [*[f"{offset} = 0" for offset in used], *lines]

    def _elements(self) -> list[str]:
        """Return the loop over elements where nothing is folded."""
        once = self._once()
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
            dtype = memory_dtype(o.dtype).__name__
            lines.append(f"p{i} = array_at(parameters, first + {i}, given + {1 + i}, {dtype})")
        lines += [f"{name} = opaque({constant})" for name, constant in self.opaque.items()]
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
