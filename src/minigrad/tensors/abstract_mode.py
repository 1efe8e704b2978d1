"""The abstract mode of tensors: which `vmap` and `trace` are running, and whether a tensor is one of theirs.

A batched tensor stands for one element of a batch, a traced tensor for a value that a graph will compute. Their
classes are in `minigrad.transforms` and `minigrad.graph`, which stand above this folder; both say so by the attribute
`abstract`.

While a trace runs, a tensor that is older than the trace counts as a traced one, for its elements may be others at the
next run. An operation on it is an equation of the graph: `Tensor._apply`, and the few methods that compute without a
function, ask `answering` first. What needs the elements at once gets them from `elements` or `memory`, which tell the
trace that its graph holds for these values alone. Nothing else may look into the array of a tensor that it was given.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from minigrad.backends import arrays
from minigrad.errors import BatchingError


class _Depth(list[None]):
    """How many vmaps and traces run, in all threads; true if any does.

    A list, since `append` and `pop` are atomic, and an operation on tensors can ask for its truth in no time.
    """

    __slots__ = ()

    def enter(self, times: int = 1) -> None:
        """Count vmaps or traces that begin."""
        self.extend([None] * times)

    def leave(self, times: int = 1) -> None:
        """Count vmaps or traces that end."""
        for _ in range(times):
            self.pop()


depth = _Depth()
"""Of this process: while it is false, no operation looks for abstract tensors."""


class Running(NamedTuple):
    """A vmap that is running.

    Attributes:
        level: How it is told apart: one that started later has a higher level.
        size: The number of examples.
        randomness: What a random function does: "different" numbers for each example, the "same", or an "error".
        hide: Makes a batched tensor of this vmap from a tensor whose first axis counts the examples.
    """

    level: int
    size: int
    randomness: str
    hide: Callable[[Any], Any]


class _Stack(threading.local):
    """What is running in this thread.

    Attributes:
        maps: The vmaps, the innermost one last.
        draw: While a trace runs: records that random numbers of a shape are drawn, and returns a traced tensor.
        since: While a trace runs: the reading of the clock of `backward.changes` when it began.
        refuse: While a trace runs: makes the error for something that it cannot do.
        trace: While a trace runs: the outermost one, which an operation on tensors from outside belongs to.
        branch: While a function runs that some examples of a vmap have not chosen: what keeps its derivatives off them.
    """

    def __init__(self) -> None:
        self.maps: list[Running] = []
        self.draw: Callable[[Any, tuple[int, ...]], Any] | None = None
        self.since: int | None = None
        self.refuse: Callable[[str], Exception] | None = None
        self.trace: Any = None
        self.branch: Any = None


running = _Stack()


@contextmanager
def within(maps: Sequence[Running]) -> Iterator[None]:
    """Let vmaps run, or run again for a rule of something that was computed inside them."""
    before = running.maps
    running.maps = sorted({each.level: each for each in (*maps, *before)}.values(), key=lambda each: each.level)
    depth.enter(len(maps))
    try:
        yield
    finally:
        running.maps = before
        depth.leave(len(maps))


@contextmanager
def only(maps: Sequence[Running], branch: Any = None) -> Iterator[None]:
    """Let no vmaps and no branch run but these: as it was when something was computed that is now computed again."""
    before = running.maps, running.branch
    running.maps, running.branch = list(maps), branch
    try:
        yield
    finally:
        running.maps, running.branch = before


def among(values: Iterable[Any]) -> Any:
    """Return the first abstract tensor of some values, or None."""
    return next((x for x in values if getattr(x, "abstract", False)), None)


def answering(values: Sequence[Any]) -> Any:
    """Return what applies a function to some values, if they are not computed now: None if they are.

    An abstract tensor does, or the running trace where a tensor among the values is older than the trace. The graph
    computes with such a tensor at each run, so that a run sees what the tensor has become. The answer has `_apply` for
    a function and `_call` for a method.
    """
    found = among(values)
    trace = running.trace
    return trace if found is None and trace is not None and any(map(trace.is_outside, values)) else found


def current(x: Any) -> Any:
    """Return the traced tensor that stands for a tensor which is older than the running trace; else the tensor."""
    trace = running.trace
    return trace.standing_for(x) if trace is not None and trace.is_outside(x) else x


def memory(x: Any) -> Any:
    """Return the array of a tensor. A running trace notes that its graph depends on the elements' values."""
    if running.trace is not None:
        running.trace.note_read(x)
    return x._array


def elements(x: Any) -> Any:
    """Return the elements of a tensor on the host; for a running trace see `memory`."""
    return arrays.to_host(memory(x))


def draw(numbers: Callable[[tuple[int, ...]], Any], shape: Sequence[int], wrap: Callable[[Any], Any]) -> Any:
    """Return a tensor of random numbers: inside vmap a batched one, each example with its own.

    Args:
        numbers: Draws an array of a shape.
        shape: The shape, of one example's numbers.
        wrap: Makes a tensor of the array.

    Raises:
        BatchingError: If vmap was told that random numbers are an error.
    """
    if any(each.randomness == "error" for each in running.maps):
        raise BatchingError(
            "vmap: the function draws random numbers; say with randomness='different' or 'same' what each example gets"
        )
    own = [each for each in running.maps if each.randomness == "different"]
    sizes = (*[each.size for each in own], *shape)
    tensor = wrap(numbers(sizes)) if running.draw is None else running.draw(numbers, sizes)
    for each in own:
        tensor = each.hide(tensor)
    return tensor
