"""Programs: one kernel of many fused loops, so that all of a graph is compiled at once.

A program is given the number of a call. A call runs one loop, of which threads take shares, or several small loops,
one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.backends.fused import Loop
from minigrad.backends.numba import compiler
from minigrad.backends.numba.elementwise import indent
from minigrad.backends.numba.expressions import Formula
from minigrad.backends.numba.fused import Part
from minigrad.backends.numba.geometry import blocks, collapse

__all__ = ["is_shared", "parts_of", "program"]


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


def program(calls: Sequence[Sequence[Part]]) -> tuple[str, Callable[[], compiler.Kernel]]:
    """Return the text of one kernel for several calls, and what loads or compiles it.

    A call's parameters are its number, the handles of all its parts, and the numbers of all its parts.

    Args:
        calls: For each call the parts that it runs: one of which threads take shares, or several small ones in a row.
    """
    loops: dict[tuple[str, str], tuple[str, Formula]] = {}  # equal ones are compiled once
    lines = ["call = parameters[0]"]
    for number, parts in enumerate(calls):
        lines.append(f"if call == {number}:")
        first, given = 1, 1 + sum(part.handles for part in parts)
        for part in parts:
            span = "item[0][0], item[0][1], item[0][2]" if is_shared(parts) else f"0, parameters[{given}], 0"
            key = (part.function("loop"), _notes(part.formula))
            name, _ = loops.setdefault(key, (f"loop_{len(loops)}", part.formula))
            lines.append(f"    {name}({span}, {first}, {given}, parameters)")
            first, given = first + part.handles, given + len(part.numbers)
    entry = "\n".join(["def kernel(item, dimensions, steps, parameters):", *indent(lines)])
    functions = {name: text.replace("def loop(", f"def {name}(", 1) for (text, _), (name, _) in loops.items()}
    notes = [note for _, note in loops]
    texts = [note + function for note, function in zip(notes, functions.values(), strict=True)]
    text = "\n\n\n".join([*texts, entry, ""])

    def make() -> Any:
        from minigrad.backends.numba.vector import inner

        known: dict[str, Any] = {}
        for name, formula in loops.values():
            scope = formula.scope() | {"uint8": np.uint8}
            scope |= {np.dtype(d).name: np.dtype(d).type for d in ("float32", "float64", "int32", "int64")}
            exec(functions[name], scope)
            known[name] = inner()(scope[name])
        exec(entry, known)
        return known["kernel"]

    keep = all(formula.complete for _, formula in loops.values())
    return text, lambda: compiler.kernel("graph", text, make, keep=keep)


def _notes(formula: Formula) -> str:
    """Return a comment that says what the names of numbers and functions in a loop stand for."""
    facts = [line for line in (formula.describe_constants(), formula.describe_functions()) if line]
    return f"# where {', '.join(facts)}\n".replace("\n", ", ", ", ".join(facts).count("\n")) if facts else ""


def is_shared(parts: Sequence[Part]) -> bool:
    """Return whether a call's work is worth more than one thread."""
    return len(parts) == 1 and parts[0].worth > 1
