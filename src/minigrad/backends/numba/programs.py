"""Programs: one kernel of many fused loops, so that all of a graph is compiled at once.

A call runs one loop, of which threads take shares, or several small loops, one after the other. Its parameters say
which, so that the kernel grows with the loops that differ and not with the calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.backends.fused import Loop
from minigrad.backends.geometry import blocks, collapse
from minigrad.backends.numba import compiler
from minigrad.backends.numba.elementwise import indent
from minigrad.backends.numba.expressions import Formula
from minigrad.backends.numba.fused import Part


def parts_of(loop: Loop) -> list[Part]:
    """Return the parts of a loop: one, or two where an array runs across the rows and is walked in blocks."""
    operands = (*loop.outputs, *loop.inputs)
    kept = len(loop.shape) - loop.folded
    strides = tuple(o.strides for o in operands)
    if loop.folded:
        outer = collapse(loop.shape[:kept], tuple(s[:kept] for s in strides))
        inner = collapse(loop.shape[kept:], tuple(s[kept:] for s in strides))
        return [Part(loop, outer, inner, [0] * len(operands))]
    axes = collapse(loop.shape, strides)
    return [Part(loop, each[:-1], each[-1:], shifts) for each, shifts in blocks(axes)]


class Loops:
    """The loops of a graph and the kernel that calls them; equal ones are compiled once.

    The kernel's parameters are the place of what `add` returns, the handles of all parts of the call, and that.

    Attributes:
        formulas: What each loop computes, by its text.
    """

    def __init__(self) -> None:
        self.formulas: dict[str, Formula] = {}

    def add(self, parts: Sequence[Part]) -> list[int]:
        """Add a call of parts: a single one of which threads may take shares, or several small ones.

        Returns:
            How many parts there are; for each the number of its loop, the places of its first handle and of its first
            number; and the numbers of all.
        """
        first, numbers = 1, [n for part in parts for n in part.numbers]
        given = 1 + sum(part.handles for part in parts) + 1 + 3 * len(parts)
        table = [len(parts)]
        for part in parts:
            text = part.formula.described + part.function("loop")
            self.formulas.setdefault(text, part.formula)
            table += [list(self.formulas).index(text), first, given]
            first, given = first + part.handles, given + len(part.numbers)
        return [*table, *numbers]

    @property
    def text(self) -> str:
        """The text of the loops and of the kernel."""
        return "\n\n\n".join([*self.functions, self.entry, ""])

    @property
    def entry(self) -> str:
        """The text of the kernel."""
        lines = [
            "start, stop, ordinal = item[0][0], item[0][1], item[0][2]",
            "table = parameters[0]",
            "for place in range(table + 1, table + 1 + 3 * parameters[table], 3):",
            "    loop, first, given = parameters[place], parameters[place + 1], parameters[place + 2]",
            "    end = select(stop > 0, stop, parameters[given])",
        ]
        for number in range(len(self.formulas)):
            lines.append(f"    {'el' if number else ''}if loop == {number}:")
            lines.append(f"        loop_{number}(start, end, ordinal, first, given, parameters)")
        return "\n".join(["def kernel(item, dimensions, steps, parameters):", *indent(lines)])

    @property
    def functions(self) -> list[str]:
        """The texts of the loops."""
        return [text.replace("def loop(", f"def loop_{n}(", 1) for n, text in enumerate(self.formulas)]

    def load(self) -> compiler.Kernel:
        """Return the kernel, compiled if it was not yet."""
        keep = all(formula.complete for formula in self.formulas.values())
        return compiler.kernel("graph", self.text, self._names, keep=keep)

    def _names(self) -> dict[str, Any]:
        return {f"loop_{n}": formula.scope() for n, formula in enumerate(self.formulas.values())}


def is_shared(parts: Sequence[Part]) -> bool:
    """Return whether a call's work is worth more than one thread."""
    return len(parts) == 1 and parts[0].worth > 1
