"""Scaled dot-product attention as a function. `minigrad.nn.functional` exports it."""

from __future__ import annotations

import math

import numpy as np

from minigrad import language
from minigrad.machine import overrides
from minigrad.nn.checking import check_probability
from minigrad.tensors import Tensor, need_tensors


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return, for each query, the mean of the values with the weights softmax(query key^T * scale).

    Args:
        query: Of shape (..., queries, size).
        key: Of shape (..., keys, size). Leading axes broadcast.
        value: Of shape (..., keys, width).
        attn_mask: Of a shape that broadcasts to (..., queries, keys): booleans that are true where a query may see a
            key, or floats that are added to the scores.
        dropout_p: The probability with which a weight is dropped. Give 0 in evaluation.
        is_causal: Whether query i sees the keys up to number i only.
        scale: The factor of the scores; None takes 1 / sqrt(size).
        enable_gqa: Whether keys and values may have fewer heads, in the third axis from behind, each for as many
            queries' heads in a row.

    Returns:
        A tensor of shape (..., queries, width). A query that may see no key gets zeros, and no gradient.

    Raises:
        ValueError: If shapes do not match.

    >>> q, k = minigrad.ones(1, 4), minigrad.ones(2, 4)
    >>> minigrad.nn.functional.scaled_dot_product_attention(q, k, minigrad.tensor([[1.0], [3.0]]))
    tensor([[2.]])
    >>> q = minigrad.ones(2, 4)
    >>> minigrad.nn.functional.scaled_dot_product_attention(q, k, minigrad.tensor([[1.0], [3.0]]), is_causal=True)
    tensor([[1.],
            [2.]])
    """
    name = "scaled_dot_product_attention"
    need_tensors(name, query, key, value)
    check_probability(f"{name}: dropout_p", dropout_p)
    if (
        min(query.ndim, key.ndim, value.ndim) < 2
        or query.shape[-1] != key.shape[-1]
        or key.shape[-2] != value.shape[-2]
    ):
        raise ValueError(
            f"{name}: a query of shape {query.shape}, a key of {key.shape} and a value of {value.shape}; query and key "
            "need one last size, key and value one length"
        )
    if enable_gqa:
        key, value = (_for_each_head(name, x, query) for x in (key, value))
    is_plain = is_causal and attn_mask is None and scale is None and query.shape[-1]
    if is_plain and query.shape[-2] == key.shape[-2]:
        weights = language.attention_weights(query, key)
    elif attn_mask is None:  # then every query sees a key
        weights = attention_scores(query, key, None, is_causal, scale).softmax(-1)
    else:
        scores = attention_scores(query, key, attn_mask, is_causal, scale)
        blind = (scores == -math.inf).all(-1, keepdim=True)
        weights = scores.masked_fill(blind, 0.0).softmax(-1).masked_fill(blind, 0.0)
    if dropout_p:
        weights = overrides.exercise("nn.functional.dropout")(weights, dropout_p)
    return weights @ value


def attention_scores(
    query: Tensor, key: Tensor, attn_mask: Tensor | None = None, is_causal: bool = False, scale: float | None = None
) -> Tensor:
    """Return the scaled products of queries and keys, of shape (..., queries, keys); hidden ones are -inf.

    >>> from minigrad.nn.attention_functions import attention_scores
    >>> attention_scores(minigrad.ones(2, 4), minigrad.ones(2, 4), is_causal=True)
    tensor([[  2., -inf],
            [  2.,   2.]])
    """
    factor = scale if scale is not None else 1.0 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    scores = (query * factor) @ key.mT
    if is_causal:
        seen = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        scores = scores.masked_fill(query.from_host(~seen), -math.inf)
    if attn_mask is None:
        return scores
    if attn_mask.dtype.kind == "b":
        return scores.masked_fill(~attn_mask, -math.inf)
    return scores + attn_mask.to(scores.dtype)


def _for_each_head(name: str, x: Tensor, query: Tensor) -> Tensor:
    """Return keys or values with as many heads as the queries have."""
    heads, own = (query.shape[-3], x.shape[-3]) if min(query.ndim, x.ndim) > 2 else (0, 0)
    if not own or heads % own:
        raise ValueError(
            f"{name}: enable_gqa with a query of shape {query.shape} and keys or values of shape {x.shape}; the "
            "queries' heads, in the third axis from behind, must be a multiple of these"
        )
    *batch, n, size = x.shape
    wide = x.reshape(*batch, 1, n, size).expand(*batch, heads // own, n, size)
    return wide.reshape(*batch[:-1], heads, n, size)
