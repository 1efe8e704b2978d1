"""Fused loops: several results and reductions from one walk over memory, as a compiler of graphs asks for them.

A `Loop` says what to compute for each element of a shape. Some of its trailing axes may be folded: then each row is
walked as often as its folds depend on each other. A softmax walks three times. `Walks` says what each walk computes.
`backends.numba.fused` writes a loop for processors, `backends.gpu.fused` for CUDA devices.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from minigrad.operators import Expression

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

    >>> from minigrad.backends.fused import Step
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


class Walks:
    """When each value of a loop is known, and what each walk over a row computes.

    Args:
        loop: The loop.
        inner: For each input, whether it changes within a row.
        outer: For each input, whether it changes from row to row.
        by_element: For each output, whether it is written for each element of a row.

    Attributes:
        level: How often each value changes: `ONCE` in all, with each `ROW`, with each `ELEMENT`.
        ready: How many folds of a row must come before each value.
        step_of: The step of each value that is computed.
        count: How often a row is walked.
    """

    def __init__(self, loop: Loop, inner: Sequence[bool], outer: Sequence[bool], by_element: Sequence[bool]) -> None:
        self.level = [ELEMENT if i else ROW if o else ONCE for i, o in zip(inner, outer, strict=True)]
        self.ready = [0] * len(loop.inputs)
        for step in loop.steps:
            level = max((self.level[i] for i in step.inputs), default=ONCE)
            ready = max((self.ready[i] for i in step.inputs), default=0)
            self.level.append(ROW if step.fold else level)
            self.ready.append(ready + 1 if step.fold else ready)
        self.step_of = dict(enumerate(loop.steps, len(loop.inputs)))
        self._written = [o.value for o, each in zip(loop.outputs, by_element, strict=True) if each]
        ends = [self.ready[i] for i, step in self.step_of.items() if step.fold]
        self.count = max([*ends, *[self.ready[n] + 1 for n in self._written]], default=0)

    def folds(self, walk: int) -> list[int]:
        """Return the folds that a walk computes."""
        return [n for n, step in self.step_of.items() if step.fold and self.ready[n] == walk + 1]

    def needed(self, walk: int, kept: Container[int] = ()) -> list[int]:
        """Return the values that a walk computes for each element, in order.

        Args:
            walk: The number of the walk.
            kept: The values that an earlier walk has kept: what only they need is left out.
        """
        roots = [i for n in self.folds(walk) for i in self.step_of[n].inputs]
        roots += [n for n in self._written if self.ready[n] == walk]
        found: set[int] = set()
        stack = [i for i in roots if self.level[i] == ELEMENT]
        while stack:
            n = stack.pop()
            if n in found:
                continue
            found.add(n)
            if n in self.step_of and n not in kept:
                stack += [i for i in self.step_of[n].inputs if self.level[i] == ELEMENT]
        return sorted(found)

    def between(self, level: int, ready: int) -> list[int]:
        """Return the values of a level that can be computed after so many folds, and not before; no folds."""
        steps = self.step_of
        return [
            n
            for n in range(len(self.level))
            if (self.level[n], self.ready[n]) == (level, ready) and not (n in steps and steps[n].fold)
        ]
