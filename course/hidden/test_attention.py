"""Hidden tests of attention in blocks."""

import functools

import numpy as np
import pytest

from autograder import expect

online = functools.partial(pytest.mark.exercise, "attention.online_softmax")


def formula(q, k, v, causal=False):
    """Compute attention with a table of all scores."""
    scores = q @ k.T / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.arange(len(q))[:, None] < np.arange(len(k)), -np.inf, scores)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


@online(group="values", because="attention.online_softmax: 'what was summed up before is made smaller'")
def test_a_larger_score_later(student):
    """If a later block has a larger score, both sums of before are made smaller."""

    def observe(mg, scores, values):
        state = mg.attention.begin(2, 1, np.float64)
        for start in (0, 2):
            state = mg.attention.online_softmax(state, scores[:, start : start + 2], values[start : start + 2])
        return [part.tolist() for part in state]

    scores, values = np.array([[0.0, 1.0, 2.0, 3.0], [3.0, 2.0, 1.0, 5.0]]), np.array([[1.0], [2.0], [3.0], [4.0]])
    weights = np.exp(scores - scores.max(1, keepdims=True))
    expect(
        student(observe, scores, values),
        [scores.max(1).tolist(), weights.sum(1).tolist(), (weights @ values).tolist()],
        hint="multiply both sums by e to the power of (old maximum - new maximum)",
        misconception="sums-not-rescaled",
    )


@online(group="types", because="attention.online_softmax: 'The state after the block, of the same shapes and types'")
def test_types_of_the_state(student):
    """float32 stays float32, and the given state is not changed; the new one has another maximum."""

    def observe(mg, scores, values):
        state = mg.attention.begin(1, 1, np.float32)
        before = [part.tolist() for part in state]
        found = mg.attention.online_softmax(state, scores, values)
        types, is_kept = [str(part.dtype) for part in found], [part.tolist() for part in state] == before
        return [types, is_kept, found[0].tolist()]

    expect(
        student(observe, np.array([[1.0, 2.0]], np.float32), np.array([[1.0], [2.0]], np.float32)),
        [["float32"] * 3, True, [2.0]],
        hint="make new arrays, of the types of the old ones",
        misconception="state-changed",
        when={
            (("float64",) * 3, True, (2.0,)): ("double-precision", "a number of NumPy with 64 bits widens the result")
        },
    )


@online(group="values", because="attention.attend: 'the mean of the values with the weights of softmax'")
def test_attend(student):
    """Attention in blocks gives what the formula gives, whatever the blocks; the last one may be shorter."""

    def observe(mg, q, k, v):
        return [mg.attention.attend(q, k, v, block=block).tolist() for block in (1, 3, 7, 100)]

    q, k, v = np.random.default_rng(1).normal(size=(3, 7, 4))
    expect(
        student(observe, q[:5], k, v[:, :2]),
        [formula(q[:5], k, v[:, :2]).tolist()] * 4,
        hint="range(0, len(k), block) begins a block for what is left, too",
        misconception="last-block-dropped",
    )


@online(
    group="stability", because="attention.online_softmax: 'Exponentials are of scores less the largest one so far.'"
)
def test_large_scores(student):
    """Scores of a thousand do not overflow."""

    def observe(mg, scores, values):
        state = mg.attention.begin(1, 1, np.float64)
        with np.errstate(all="ignore"):
            for start in (0, 1):
                state = mg.attention.online_softmax(state, scores[:, start : start + 1], values[start : start + 1])
        return [part.tolist() for part in state]

    expect(
        student(observe, np.array([[1000.0, 1001.0]]), np.array([[1.0], [2.0]])),
        [[1001.0], [1.0 + np.exp(-1.0)], [[np.exp(-1.0) + 2.0]]],
        hint="e to the power of (score - largest)",
        misconception="nothing-subtracted",
    )


@online(group="stability", because="attention.begin: 'For each row the largest score so far'")
def test_smaller_scores_later(student):
    """The maximum is that of all blocks so far, also where the present block has smaller scores only."""

    def observe(mg, scores, values):
        state = mg.attention.begin(1, 1, np.float64)
        with np.errstate(all="ignore"):
            for start in (0, 1):
                state = mg.attention.online_softmax(state, scores[:, start : start + 1], values[start : start + 1])
        return [part.tolist() for part in state]

    expect(
        student(observe, np.array([[800.0, -800.0]]), np.array([[1.0], [2.0]])),
        [[800.0], [1.0], [[1.0]]],
        hint="np.maximum of the old maximum and that of the block",
        misconception="maximum-of-the-block",
    )


@online(
    group="stability", because="attention.online_softmax: 'a row may have no other, in this block and in all before'"
)
def test_hidden_rows(student):
    """A row that sees nothing yet has sums of 0, not nan, and goes on later as if nothing had been."""

    def observe(mg, scores, values):
        state = mg.attention.begin(2, 1, np.float64)
        found = []
        with np.errstate(all="ignore"):
            for start in (0, 1):
                state = mg.attention.online_softmax(state, scores[:, start : start + 1], values[start : start + 1])
                found.append([str(part.tolist()) for part in state])
        return found

    expect(
        student(observe, np.array([[-np.inf, 2.0], [1.0, -np.inf]]), np.array([[3.0], [4.0]])),
        [["[-inf, 1.0]", "[0.0, 1.0]", "[[0.0], [3.0]]"], ["[2.0, 1.0]", "[1.0, 1.0]", "[[4.0], [3.0]]"]],
        hint="-inf - (-inf) is nan: subtract 0 where the maximum is still -inf",
        misconception="nan-in-hidden-rows",
    )


@online(group="blocks", because="attention.scores_of: 'Whether a query sees the keys up to its own number only'")
def test_causal(student):
    """With causal a query sees the keys up to its own number, counted over all blocks."""

    def observe(mg, q, k, v):
        with np.errstate(all="ignore"):
            return [mg.attention.attend(q, k, v, block=block, causal=True).tolist() for block in (1, 2, 6)]

    q, k, v = np.random.default_rng(2).normal(size=(3, 6, 4))
    expect(
        student(observe, q, k, v),
        [formula(q, k, v, causal=True).tolist()] * 3,
        hint="scores_of has to know the number of the block's first key",
        misconception="first-key-not-told",
    )


@online(group="blocks", because="attention.attend: 'No array on the way has more than n times ``max(block, d, w)``'")
def test_memory(student):
    """The table of all scores is never there."""

    def observe(mg, q, block):
        seen = []

        class Watched(np.ndarray):
            def __array_finalize__(self, origin):
                seen.append(self.size)

        mg.attention.attend(q.view(Watched), q, q, block=block)
        return max(seen) <= len(q) * block

    expect(
        student(observe, np.zeros((40, 2)), 16),
        True,
        hint="take block keys at a time",
        misconception="whole-table",
    )
