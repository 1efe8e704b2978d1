"""Long rows: a loop over few rows that each fold many elements is divided into one over pieces and one over rows.

How many pieces there are follows from the shape alone, so that any number of threads gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from minigrad.backends.fused import Loop, Operand, Step
from minigrad.backends.geometry import collapse, contiguous_strides

BLOCK = 4096
"""Elements of a row that are summed in one go."""

PIECES = 32
"""Into how many pieces a row is divided at most."""

ROWS = 16
"""From so many rows on, rows alone keep all threads busy."""


class Split(NamedTuple):
    """A loop in two.

    Attributes:
        pieces: The loop over pieces. Behind its other outputs it writes an array of partial results for each fold.
        partial: The shape of these arrays.
        rows: The loop over rows, which reads these arrays first.
        given: The inputs of the whole loop that it reads after them.
        outputs: The outputs of the whole loop that it writes.
    """

    pieces: Loop
    partial: tuple[int, ...]
    rows: Loop
    given: list[int]
    outputs: list[int]


def split(loop: Loop) -> Split | None:
    """Divide a loop whose few rows fold many elements; None if it stays as it is."""
    kept = len(loop.shape) - loop.folded
    rows, row = math.prod(loop.shape[:kept]), math.prod(loop.shape[kept:])
    if not loop.folded or rows >= ROWS or row < 4 * BLOCK:
        return None
    count = len(loop.inputs)
    folds = [n for n, step in enumerate(loop.steps, count) if step.fold]
    behind = _behind(loop, folds)
    by_element = [o for o in loop.outputs if any(o.strides[kept:])]
    if any(n in behind for n in folds) or any(o.value in behind or o.value in folds for o in by_element):
        return None
    divided = _divided(loop, kept)
    if divided is None:
        return None
    shape, strides_of, ragged = divided
    pieces = shape[kept]
    partial = (*contiguous_strides((*loop.shape[:kept], pieces)), *(0,) * (len(shape) - kept - 1))
    first = replace(
        loop,
        shape=shape,
        folded=len(shape) - kept - 1,
        inputs=tuple(replace(o, strides=strides_of(o)) for o in loop.inputs),
        outputs=(
            *[replace(o, strides=strides_of(o)) for o in by_element],
            *[Operand(loop.dtype, partial, value=n) for n in folds],
        ),
        ragged=ragged,
    )
    second, given = _second(loop, kept, pieces, folds, behind)
    others = [i for i, o in enumerate(loop.outputs) if not any(o.strides[kept:])]
    return Split(_without(first, behind), (*loop.shape[:kept], pieces), second, given, others)


def _behind(loop: Loop, folds: Sequence[int]) -> set[int]:
    """Return the values that need a fold's result."""
    found: set[int] = set()
    for n, step in enumerate(loop.steps, len(loop.inputs)):
        if any(i in found or i in folds for i in step.inputs):
            found.add(n)
    return found


def _divided(loop: Loop, kept: int) -> Any:
    """Return the shape with one axis more that counts pieces, the strides there, and how long the last piece is."""
    operands = (*loop.outputs, *loop.inputs)
    inner = collapse(loop.shape[kept:], tuple(o.strides[kept:] for o in operands))
    step = {id(o): [s[i] for _, s in inner] for i, o in enumerate(operands)}
    if len(inner) > 1:
        sizes = [n for n, _ in inner]
        if sizes[0] < ROWS:
            return None
        return (*loop.shape[:kept], *sizes), lambda o: (*o.strides[:kept], *step[id(o)]), (1, 0)
    size = inner[0][0]
    length = max(2 * BLOCK, -(-size // PIECES // 64) * 64)
    pieces = -(-size // length)
    ragged = (pieces, size - (pieces - 1) * length)

    def strides_of(o: Operand) -> tuple[int, ...]:
        (s,) = step[id(o)]
        return (*o.strides[:kept], s * length, s)

    return (*loop.shape[:kept], pieces, length), strides_of, ragged


def _second(loop: Loop, kept: int, pieces: int, folds: Sequence[int], behind: set[int]) -> tuple[Loop, list[int]]:
    """Return the loop that folds the partial results and computes what follows from them, and which inputs it reads."""
    shape, count = (*loop.shape[:kept], pieces), len(loop.inputs)
    needed = behind | {o.value for o in loop.outputs if not any(o.strides[kept:])}
    for n in range(count + len(loop.steps) - 1, count - 1, -1):
        needed.update(loop.steps[n - count].inputs if n in needed and n not in folds else ())
    given = [n for n in sorted(needed) if n < count]
    inputs = [Operand(loop.dtype, contiguous_strides(shape)) for _ in folds]
    inputs += [replace(loop.inputs[n], strides=(*loop.inputs[n].strides[:kept], 0)) for n in given]
    new = {n: len(folds) + place for place, n in enumerate(given)}
    steps: list[Step] = []
    for place, n in enumerate(folds):
        new[n] = len(inputs) + len(steps)
        steps.append(Step(("in", place), loop.steps[n - count].fold))
    for n in sorted(needed - set(folds)):
        if n >= count:
            new[n] = len(inputs) + len(steps)
            steps.append(Step(_renumbered(loop.steps[n - count].expression, new)))
    outputs = [
        replace(o, strides=(*o.strides[:kept], 0), value=new[o.value])
        for o in loop.outputs
        if not any(o.strides[kept:])
    ]
    return Loop(shape, 1, loop.dtype, tuple(inputs), tuple(steps), tuple(outputs)), given


def _without(loop: Loop, behind: set[int]) -> Loop:
    """Return a loop without steps that nothing in it needs."""
    count = len(loop.inputs)
    new, steps = {n: n for n in range(count)}, list[Step]()
    for n, step in enumerate(loop.steps, count):
        if n not in behind:
            new[n] = count + len(steps)
            steps.append(Step(_renumbered(step.expression, new), step.fold))
    outputs = tuple(replace(o, value=new[o.value]) for o in loop.outputs)
    return replace(loop, steps=tuple(steps), outputs=outputs)


def _renumbered(expression: Any, new: dict[int, int]) -> Any:
    if expression[0] == "in":
        return "in", new[expression[1]]
    return tuple(_renumbered(x, new) if isinstance(x, tuple) else x for x in expression)
