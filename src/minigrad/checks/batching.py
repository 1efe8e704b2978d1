"""Visible tests of batching by rules."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.batching import Batched
from minigrad.checks.expectation import Expectation, expect, expect_that
from minigrad.checks.runner import visible
from minigrad.tensors import Tensor

BATCH = "10b 'A batch without a loop'"


def counted(*shape: int) -> Tensor:
    """Return a tensor of a shape with the elements 1, 2, 3, ..."""
    return Tensor(np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape))


@visible("batching.vmap", section=BATCH)
def inner_axes_shift(student: SimpleNamespace) -> None:
    """Of three axes of one example, axis 0 is axis 1 of all examples, and axis -1 is axis 3."""
    seen = [student.moved_axis(axis, 3) for axis in (0, 1, 2, -1, -3)]
    when = {(1, 2, 3, 0, -2): "an axis counted from the back has to be counted from the front first"}
    expect(seen, [1, 2, 3, 3, 1], hint="count from the front, and add one for the axis of the examples", when=when)


@visible("batching.vmap", section=BATCH)
def missing_axes(student: SimpleNamespace) -> None:
    """(5, 3) and (5, 2, 3) are tensors of five examples: the first becomes (5, 1, 3)."""
    seen = student.aligned(Batched(counted(5, 3)), Batched(counted(5, 2, 3)))
    shapes = [list(each.shape) for each in seen]
    when = {((5, 3), (5, 2, 3)): "aligned at the right, the 5 would meet the 2: put the missing axis behind axis 0"}
    expect(shapes, [[5, 1, 3], [5, 2, 3]], hint="view(examples, 1, 3)", when=when)


@visible("batching.vmap", section=BATCH)
def shared_values(student: SimpleNamespace) -> None:
    """An argument that all examples share stays as it is."""
    shared = counted(2, 3)
    left, right = student.aligned(Batched(counted(5, 3)), shared)
    expect(list(left.shape), [5, 1, 3], hint="only a Batched gets further axes")
    expect_that(
        right is shared, "what all examples share is another value than before", "only a Batched gets further axes"
    )
    left, right = student.aligned(2.0, Batched(counted(5, 3)))
    expect([left, list(right.shape)], [2.0, [5, 3]], hint="a number has no axes")


@visible("batching.vmap", section=BATCH)
def as_a_loop(student: SimpleNamespace) -> None:
    """The sums of squares of three examples, counted along axis 0 and along axis 1."""
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return (x * x).sum()

    x = counted(3, 2)
    expect(student.vmap(f)(x).tolist(), [5.0, 25.0, 61.0], hint="one call of f, with a Batched")
    hint = "call f once, with a Batched for each argument, and not in a loop"
    expect_that(len(calls) == 1, f"f was called {len(calls)} times", hint)
    hint = "axis_to_front(x, 1) makes axis 1 count the examples"
    expect(student.vmap(f, in_axes=1)(x).tolist(), [35.0, 56.0], hint=hint)


@visible("batching.vmap", section=BATCH)
def shared_arguments(student: SimpleNamespace) -> None:
    """With in_axes (None, 0) all examples share the first argument."""
    w, x = counted(2), counted(3, 2)
    kinds: list[str] = []

    def f(w: Any, x: Any) -> Any:
        kinds.append(type(w).__name__)
        return (w * x).sum()

    seen = student.vmap(f, in_axes=(None, 0))(w, x)
    expect(seen.tolist(), [5.0, 11.0, 17.0], hint="x.expand(examples, *x.shape)")
    hint = "a Batched for this argument too, so that each example has a gradient of its own in it"
    expect_that(kinds == ["Batched"], f"f got for the shared argument: {', '.join(kinds) or 'nothing'}", hint)


@visible("batching.vmap", section=BATCH)
def no_common_size(student: SimpleNamespace) -> None:
    """Three examples of one argument and two of another are a ValueError."""
    try:
        seen = student.vmap(lambda x, y: x * y)(counted(3), counted(2))
    except ValueError as error:
        if "broadcast" in str(error):
            hint = "compare the sizes before the call"
            raise Expectation(error, None, f"the error came from inside: {error}", hint, None) from error
        return
    raise Expectation(seen, None, f"3 examples met 2 of them, and gave {seen}", "compare the sizes", None)
