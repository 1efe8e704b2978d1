"""Attention without its table of scores, to be read: the softmax of numbers that come in blocks.

Source: Maxim Milakov and Natalia Gimelshein, Online normalizer calculation for softmax, 2018; Tri Dao and others,
FlashAttention: Fast and memory-efficient exact attention with IO-awareness, NeurIPS 2022
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["attend", "begin", "online_softmax", "plain_attention", "scores_of"]


def begin(rows: int, width: int, dtype: Any) -> tuple[Any, Any, Any]:
    """Return the state of `online_softmax` before the first block.

    Args:
        rows: The number of queries.
        width: The number of elements of a value.
        dtype: The type of the numbers.

    Returns:
        For each row the largest score so far (-inf, shape (rows,)), the sum of the exponentials so far (0, shape
        (rows,)), and the sum of the values, each times its exponential (0, shape (rows, width)).

    >>> minigrad.attention.begin(1, 2, np.float32)
    (array([-inf], dtype=float32), array([0.], dtype=float32), array([[0., 0.]], dtype=float32))
    """
    return np.full(rows, -np.inf, dtype), np.zeros(rows, dtype), np.zeros((rows, width), dtype)


def scores_of(q: Any, k: Any, first: int, causal: bool) -> Any:
    """Return the scores of all queries with a block of keys.

    Args:
        q: The queries, an array of shape (n, d).
        k: The keys of the block, of shape (b, d).
        first: The number of the block's first key, counted among all keys.
        causal: Whether a query sees the keys up to its own number only: a later one scores -inf.

    Returns:
        An array of shape (n, b): the product of query and key, divided by the root of d.

    >>> minigrad.attention.scores_of(np.ones((2, 4)), np.ones((1, 4)), first=1, causal=True).tolist()
    [[-inf], [2.0]]
    """
    scores = q @ k.T / np.sqrt(q.shape[-1]).astype(q.dtype)
    hidden = np.arange(len(q))[:, None] < first + np.arange(len(k))
    return np.where(hidden, -np.inf, scores).astype(q.dtype) if causal else scores


def plain_attention(q: Any, k: Any, v: Any, causal: bool = False) -> Any:
    """Return attention by its formula, with a table of all scores: softmax(q k^T / sqrt(d)) v.

    >>> minigrad.attention.plain_attention(np.ones((1, 2)), np.ones((2, 2)), np.array([[1.0], [3.0]]))
    array([[2.]])
    """
    scores = scores_of(q, k, 0, causal)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def online_softmax(
    state: tuple[Any, Any, Any],
    scores: Any,
    values: Any,
) -> tuple[Any, Any, Any]:
    """Take a block of scores into the state: the running maximum, the rescaled sums.

    Exponentials are of scores less the largest one so far. If a block has a larger one,
    what was summed up before is made smaller by e to the power of (old maximum - new
    maximum).

    Args:
        state: Of the blocks so far, as `begin` gives it: largest scores (n,), sums
            (n,), weighted values (n, w).
        scores: Of the block, an array of shape (n, b), any floats. A score of -inf has
            the weight 0; a row may have no other, in this block and in all before.
        values: Of the block, of shape (b, w).

    Returns:
        The state after the block, of the same shapes and types; the given one is not
        changed. In a row of which all scores so far are -inf, the sums are still 0.
    """
    ### BEGIN SOLUTION
    largest, total, weighted = state
    new = np.maximum(largest, scores.max(axis=1))
    shift = np.where(new == -np.inf, 0, new)
    scale = np.exp(largest - shift)
    weights = np.exp(scores - shift[:, None])
    return new, total * scale + weights.sum(axis=1), weighted * scale[:, None] + weights @ values
    ### END SOLUTION


def attend(q: Any, k: Any, v: Any, block: int = 64, causal: bool = False) -> Any:
    """Return attention without the table of all scores.

    Args:
        q: The queries, an array of floats of shape (n, d).
        k: The keys, of shape (m, d).
        v: The values, of shape (m, w).
        block: How many keys are looked at together, by `scores_of` and
            `online_softmax`; the last block may be shorter.
        causal: As for `scores_of`.

    Returns:
        An array of shape (n, w), of the type that all three have: for each query the
        mean of the values with the weights of softmax. No array on the way has more
        than n times ``max(block, d, w)`` elements.

    >>> values = np.array([[1.0], [3.0], [5.0]])
    >>> minigrad.attention.attend(np.ones((1, 2)), np.ones((3, 2)), values, block=2)
    array([[3.]])
    """
    ### BEGIN SOLUTION
    state = begin(len(q), v.shape[1], q.dtype)
    for first in range(0, len(k), block):
        keys, values = k[first : first + block], v[first : first + block]
        state = online_softmax(state, scores_of(q, keys, first, causal), values)
    _, total, weighted = state
    return weighted / total[:, None]
    ### END SOLUTION
