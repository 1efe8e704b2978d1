"""Visible tests of attention in blocks."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from minigrad.attention import begin, scores_of
from minigrad.checks.expectation import expect, expect_that
from minigrad.checks.runner import visible

PIECES = "11b 'A softmax in pieces'"


def after(student: SimpleNamespace, *scores: float) -> list[float]:
    """Return the state of one row, after blocks of one score each, with the values 1, 2, ..."""
    state = begin(1, 1, np.float64)
    with np.errstate(all="ignore"):
        for i, score in enumerate(scores):
            state = student.online_softmax(state, np.array([[score]]), np.array([[1.0 + i]]))
    return [float(part.item()) for part in state]


@visible("attention.online_softmax", section=PIECES)
def a_larger_score(student: SimpleNamespace) -> None:
    """The scores 1 and then 3 leave the maximum 3, the sum e^-2 + 1, and the values e^-2 * 1 + 1 * 2."""
    e = math.exp(-2.0)
    hint = "make both sums smaller by e to the power of (old maximum - new maximum)"
    expect(after(student, 1.0, 3.0), [3.0, e + 1.0, e + 2.0], hint=hint)


@visible("attention.online_softmax", section=PIECES)
def far_apart(student: SimpleNamespace) -> None:
    """Scores of 1000 and -1000 do not overflow, in either order."""
    expect(after(student, 1000.0, -1000.0), [1000.0, 1.0, 1.0], hint="the maximum is that of all blocks so far")
    expect(after(student, -1000.0, 1000.0), [1000.0, 1.0, 2.0], hint="subtract the new maximum from the scores")


@visible("attention.online_softmax", section=PIECES)
def nothing_seen(student: SimpleNamespace) -> None:
    """A score of -inf at first has the weight 0, and leaves no nan behind."""
    expect(after(student, -math.inf, 2.0), [2.0, 1.0, 2.0], hint="-inf - (-inf) is nan: subtract 0 there")


@visible("attention.online_softmax", section=PIECES)
def in_blocks(student: SimpleNamespace) -> None:
    """Seven keys in blocks of three, of float32, give what the formula gives, with and without hidden keys."""
    q = np.sin(np.arange(28.0)).reshape(7, 4).astype(np.float32)
    state = begin(7, 4, np.float32)
    student.online_softmax(state, q @ q.T, q)
    stays = float(state[1].sum()) == 0.0
    expect_that(
        stays, "online_softmax has changed the state that it was given", "make new arrays: `a * b`, no `a *= b`"
    )
    for causal in (False, True):
        found = student.attend(q, q, q, block=3, causal=causal)
        expect(str(found.dtype), "float32", hint="q.dtype is the type of the state")
        weights = np.exp(scores_of(q, q, 0, causal))
        wanted = (weights / weights.sum(axis=1, keepdims=True) @ q).tolist()
        hint = "k[first : first + block] is a block of keys, also at the end, where fewer are left"
        if causal:
            hint = "scores_of wants the number of the block's first key among all keys"
        expect(found.tolist(), wanted, hint=hint, tolerance=1e-5)


@visible("attention.online_softmax", section=PIECES)
def no_table(student: SimpleNamespace) -> None:
    """No more than a block of scores is there at a time."""
    sizes: list[int] = []

    class Watched(np.ndarray):
        def __array_finalize__(self, origin: object) -> None:
            sizes.append(self.size)

    q = np.zeros((40, 2))
    student.attend(q.view(Watched), q, q, block=8)
    hint = "take `block` keys at a time: 40 x 8 scores"
    expect_that(max(sizes) <= 320, f"there was an array of {max(sizes)} elements, expected at most 320", hint)
