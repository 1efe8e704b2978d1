"""Mistakes that pass MiniTorch's own tests, and how to see them.

MiniTorch's tests compare by the answer's own `is_close`, draw small numbers, and check gradients by way of `out.sum()`,
whose gradient is all ones. What that leaves unseen is looked for here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from minigrad import exercises
from minigrad.checks import standins
from minigrad.checks.runner import SECONDS, _time_limit, _TooSlow

__all__ = ["PROBES", "Probe", "shows"]


@dataclass(frozen=True)
class Probe:
    """A mistake, and how to see it.

    Attributes:
        name: A short name.
        exercise: Where it is made.
        sentence: What is wrong, and why MiniTorch's tests pass.
        is_made: Whether an answer makes it.
    """

    name: str
    exercise: str
    sentence: str
    is_made: Callable[[Mapping[str, Any]], bool]


def shows(probe: Probe, objects: Mapping[str, Any], seconds: float = SECONDS) -> bool:
    """Return whether an answer makes a mistake; one that is not written, does not end or breaks otherwise does not."""
    try:
        with _time_limit(seconds), exercises.install(exercises.collect(probe.exercise, objects)):
            return probe.is_made(objects)
    except (Exception, SystemExit, _TooSlow):
        return False


def _wide(answer: Mapping[str, Any]) -> bool:
    return bool(answer["is_close"](0.0, 0.5)) and not answer["is_close"](0.0, 100.0)


def _overflows(answer: Mapping[str, Any]) -> bool:
    try:
        return not 0.0 <= float(answer["sigmoid"](-1000.0)) < 1e-9
    except OverflowError:
        return True


def _one_sided(answer: Mapping[str, Any]) -> bool:
    slope = float(answer["central_difference"](lambda x: x**3, 3.0, epsilon=0.5))
    forward, backward = (3.5**3 - 27.0) / 0.5, (27.0 - 2.5**3) / 0.5
    return min(abs(slope - forward), abs(slope - backward)) < 1e-9


def _left_aligned(answer: Mapping[str, Any]) -> bool:
    import numpy as np

    index = np.zeros(1, dtype=np.int32)
    answer["broadcast_index"](np.array([0, 2]), np.array([2, 3]), np.array([3]), index)
    return int(index[0]) == 0


def _leaf_overwritten(answer: Mapping[str, Any]) -> bool:
    x = standins.leaf("x")
    for _ in range(2):
        answer["backpropagate"](standins.result("y", (x, 3.0)), 1.0)
    return bool(x.derivative == 3.0)


def _recursive(answer: Mapping[str, Any]) -> bool:
    node = standins.leaf("x")
    for _ in range(3000):
        node = standins.result("y", (node, 1.0))
    try:
        list(answer["topological_sort"](node))
    except RecursionError:
        return True
    return False


def _permuted_wrongly(answer: Mapping[str, Any]) -> bool:
    """Hand back a gradient whose elements all differ, and which does not lie row by row."""
    import numpy as np

    from minigrad.tensor_functions import Permute
    from minigrad.tensors import Tensor

    order, values = (1, 2, 0), np.arange(24.0).reshape(3, 4, 2)
    upstream = Tensor(np.asfortranarray(values))
    ctx = Permute.apply(Tensor(np.zeros((2, 3, 4)), requires_grad=True), order=order).history.ctx
    found = np.asarray(Permute.backward(ctx, upstream).detach().numpy())
    return found.shape != (2, 3, 4) or not np.array_equal(found, values.transpose(2, 0, 1))


PROBES = (
    Probe(
        "is_close-too-wide",
        "operators.comparison",
        "is_close calls 0 and 0.5 close. MiniTorch's assert_close asks this very function, so that every later test "
        "passes with an error of that size.",
        _wide,
    ),
    Probe(
        "sigmoid-overflows",
        "operators.elementary",
        "sigmoid overflows for large negative numbers: exp(-x) is beyond all floats. MiniTorch's tests draw no such "
        "numbers.",
        _overflows,
    ),
    Probe(
        "difference-to-one-side",
        "derivatives.central_difference",
        "the difference is taken to one side. At epsilon 1e-6 its error is smaller than what is_close lets pass, so "
        "that MiniTorch's tests see none.",
        _one_sided,
    ),
    Probe(
        "leaf-overwritten",
        "autodiff.backpropagate",
        "a second backward overwrites what a leaf has collected, instead of adding to it. MiniTorch's tests never go "
        "backward twice to one leaf.",
        _leaf_overwritten,
    ),
    Probe(
        "recursive-order",
        "autodiff.topological_sort",
        "the order is found by a function that calls itself: it fails on a graph 3,000 deep, such as a long sum. "
        "MiniTorch's tests have none.",
        _recursive,
    ),
    Probe(
        "broadcast-left-aligned",
        "tensor_data.broadcast_index",
        "shapes are aligned at their first axes instead of their last. MiniTorch's tests pass all the same.",
        _left_aligned,
    ),
    Probe(
        "permute-backward",
        "tensor_functions.Permute",
        "the gradient of permute has the right shape and wrong elements. grad_check goes backward from out.sum(), so "
        "that the gradient from above is all ones, and any order of ones is right.",
        _permuted_wrongly,
    ),
)
