"""From equations to loops: what `fuse` may put together, and what a back end then generates code for.

The values of a group stand in one shape. Where trailing axes are folded, a value has one of four frames:

    full      the shape itself: one element for each place              (4, 3)
    kept      one for each row, the folded axes there with size 1       (4, 1)
    dropped   one for each row, without the folded axes                 (4,)
    single    one in all
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from minigrad import tensor_functions
from minigrad.backends.fused import Loop, Operand, Step
from minigrad.backends.geometry import contiguous_strides
from minigrad.graph.elements import element_of, fold_of, is_view, looked_at, operands_of
from minigrad.graph.program import Equation, Var

MOST_STEPS, MOST_ARRAYS = 64, 24
"""Up to which a loop is generated: a longer one has more values than a processor has registers."""

Space = tuple[tuple[int, ...], int]
"""The shape of a loop, and how many trailing axes are folded."""


class Lowered(NamedTuple):
    """A loop without its outputs.

    Attributes:
        loop: The loop.
        inputs: The value of the graph that each input of the loop looks at, in row-major order.
        values: The number of each value that the loop computes.
    """

    loop: Loop
    inputs: tuple[Var, ...]
    values: dict[Var, int]

    def walks_once(self, outputs: Iterable[Var]) -> bool:
        """Return whether a row is walked only once: nothing that is written or folded needs a fold's result."""
        count, behind = len(self.inputs), set[int]()
        for n, step in enumerate(self.loop.steps, count):
            if any(i in behind for i in step.inputs):
                if step.fold:
                    return False
                behind.add(n)
            if step.fold:
                behind.add(n)
        full = [v for v in outputs if _frame(v.shape, (self.loop.shape, self.loop.folded)) == "full"]
        return not any(self.values[v] in behind for v in full)

    def writing(self, outputs: Iterable[Var]) -> Loop:
        """Return the loop that writes some of its values, each to an array in row-major order."""
        space = self.loop.shape, self.loop.folded
        written = [Operand(v.dtype, _written(v.shape, space), value=self.values[v]) for v in outputs]
        return Loop(*space, self.loop.dtype, self.loop.inputs, self.loop.steps, tuple(written))


def space_of(equation: Equation) -> Space | None:
    """Return the shape of the loop that computes an equation; None if no loop does.

    >>> from minigrad.graph.lowering import space_of
    >>> space_of(minigrad.graph.trace(lambda x: x.sum(1), minigrad.zeros(4, 3)).equations[0])
    ((4, 3), 1)
    """
    fold = fold_of(equation)
    if fold is not None:
        shape, axes = equation.operands[0].shape, fold[1]
        trailing = axes == tuple(range(len(shape) - len(axes), len(shape)))
        if not trailing or 0 in shape or math.prod(shape[i] for i in axes) == 1:
            return None
        return shape, len(axes)
    shape = equation.outputs[0].shape
    return (shape, 0) if 0 not in shape and element_of(equation) is not None else None


def _frame(shape: tuple[int, ...], space: Space) -> str:
    whole, folded = space
    if shape == whole:
        return "full"
    rows = whole[: len(whole) - folded]
    if folded and shape == (*rows, *(1,) * folded):
        return "kept"
    if folded and shape == rows:
        return "dropped"
    return "single" if math.prod(shape) == 1 else ""


_MEET = {("full", "kept"), ("full", "full"), ("kept", "kept"), ("dropped", "dropped")}
_VIEWED = {("dropped", "kept"), ("kept", "dropped")}


def _written(shape: tuple[int, ...], space: Space) -> tuple[int, ...]:
    whole, folded = space
    frame = _frame(shape, space)
    if frame == "full":
        return contiguous_strides(whole)
    if frame in ("kept", "dropped"):
        return (*contiguous_strides(whole[: len(whole) - folded]), *(0,) * folded)
    return (0,) * len(whole)


@lru_cache(maxsize=1024)
def stand_in(shape: tuple[int, ...]) -> Any:
    """Return an array of bytes whose strides count elements; nobody may look at its elements.

    >>> from minigrad.graph.lowering import stand_in
    >>> stand_in((2, 3)).T.strides
    (1, 3)
    """
    return np.lib.stride_tricks.as_strided(np.empty(1, np.int8), shape, contiguous_strides(shape))


def _start(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


class _Lowering:
    def __init__(self, space: Space) -> None:
        self.space = space
        self.dtype: Any = None
        self.loads: dict[tuple[Var, tuple[int, ...], int], int] = {}
        self.steps: list[tuple[Any, str, list[Any]]] = []
        self.views: dict[Var, tuple[Var, Any]] = {}
        self.values: dict[Var, int] = {}  # of steps, counted from 0

    def add(self, equation: Equation) -> bool:
        """Add an equation; return whether that is possible."""
        if is_view(equation):
            return self._view(equation)
        fold = fold_of(equation)
        out = equation.outputs[0]
        frame = _frame(out.shape, self.space)
        if fold is not None:
            return self._fold(equation, *fold)
        element = element_of(equation)
        if element is None or not frame or not self._takes(element[0]):
            return False
        operands = operands_of(equation)
        places = [self._place(x, out.shape, frame) if isinstance(x, Var) else None for x in operands]
        if any(place is None and isinstance(x, Var) for x, place in zip(operands, places, strict=True)):
            return False
        self.values[out] = len(self.steps)
        self.steps.append((element[1], "", places))
        return True

    def _takes(self, dtype: Any) -> bool:
        self.dtype = self.dtype if dtype is None else self.dtype or dtype
        return dtype is None or dtype == self.dtype

    def _fold(self, equation: Equation, kernel: str, axes: tuple[int, ...]) -> bool:
        (x,), out, (shape, folded) = equation.operands, equation.outputs[0], self.space
        if x.shape != shape or len(axes) != folded or not self._takes(x.dtype):
            return False
        place = self._place(x, shape, "full")
        if place is None:
            return False
        self.values[out] = len(self.steps)
        self.steps.append((("in", 0), kernel, [place]))
        return True

    def _view(self, equation: Equation) -> bool:
        x, out = equation.operands[0], equation.outputs[0]
        if x in self.values:
            frames = _frame(x.shape, self.space), _frame(out.shape, self.space)
            stays = math.prod(x.shape) == 1 and frames[1] != ""
            widens = equation.op is tensor_functions.Expand and frames == ("kept", "full")
            moves = equation.op is tensor_functions.View and frames in _VIEWED
            if not (stays or widens or moves):
                return False
            self.values[out] = self.values[x]
            return True
        root, array = self.views.get(x) or (x, stand_in(x.shape))
        seen = looked_at(equation, array)
        if seen is None:
            return False
        self.views[out] = root, seen
        return True

    def _place(self, x: Var, shape: tuple[int, ...], frame: str) -> Any:
        """Return where an operand comes from, for a result of a shape: a step or a load; None if from neither."""
        if x in self.values:
            meets = (frame, _frame(x.shape, self.space)) in _MEET or math.prod(x.shape) == 1
            return ("step", self.values[x]) if meets else None
        if x.dtype.kind not in "bfi" or x.dtype.itemsize not in (1, 4, 8) or x.dtype == np.int32:
            return None
        root, array = self.views.get(x) or (x, stand_in(x.shape))
        strides = [0 if n == 1 else s for n, s in zip(array.shape, array.strides, strict=True)]
        strides = [0] * (len(shape) - len(strides)) + strides
        if frame == "dropped":
            strides += [0] * self.space[1]
        elif frame == "single":
            strides = [0] * len(self.space[0])
        key = (root, tuple(strides), _start(array) - _start(stand_in(root.shape)))
        return "load", self.loads.setdefault(key, len(self.loads))

    def result(self) -> Lowered | None:
        count = len(self.loads)
        if not self.steps or len(self.steps) > MOST_STEPS or count > MOST_ARRAYS:
            return None
        dtype = self.dtype or np.dtype(np.float32)  # of truth values alone
        steps = []
        for expression, fold, places in self.steps:
            numbers = [place and place[1] + (count if place[0] == "step" else 0) for place in places]
            steps.append(Step(_numbered(expression, numbers), fold))
        inputs = [Operand(root.dtype, strides, offset) for root, strides, offset in self.loads]
        loop = Loop(*self.space, dtype, tuple(inputs), tuple(steps), ())
        values = {v: n + count for v, n in self.values.items()}
        return Lowered(loop, tuple(root for root, _, _ in self.loads), values)


def _numbered(expression: Any, numbers: Sequence[Any]) -> Any:
    if expression[0] == "in":
        return "in", numbers[expression[1]]
    return tuple(_numbered(x, numbers) if isinstance(x, tuple) else x for x in expression)


def lower(equations: Iterable[Equation], space: Space) -> Lowered | None:
    """Return the loop that computes equations; None if no single loop does.

    Args:
        equations: In an order in which they can run; views of other values among them.
        space: The shape of the loop, and how many trailing axes it folds.

    >>> from minigrad.graph.lowering import lower, space_of
    >>> graph = minigrad.graph.trace(lambda x: (x * 2.0).exp(), minigrad.zeros(3))
    >>> lower(graph.equations, space_of(graph.equations[0])).loop.steps[1].expression
    ('exp', ('in', 1))
    """
    lowering = _Lowering(space)
    return lowering.result() if all(lowering.add(each) for each in equations) else None
