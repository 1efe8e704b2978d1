"""Attention: the mean of values, weighed by how well their keys fit a query; and the layers that are made of it.

Source: Vaswani and others, "Attention is all you need", 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from numpy.typing import DTypeLike

from minigrad.nn import checking, functional, init
from minigrad.nn.attention_functions import attention_scores
from minigrad.nn.layers import Dropout, Linear
from minigrad.nn.module import Module
from minigrad.nn.normalization import LayerNorm
from minigrad.nn.parameter import Parameter
from minigrad.tensors import Tensor, creation


class MultiheadAttention(Module):
    """Attention in several heads, each of which sees a part of the features.

    Args:
        embed_dim: The size of the last axis of queries, keys, values and outputs.
        num_heads: How many heads; it divides embed_dim.
        dropout: The probability with which training drops a weight of the attention.
        bias: Whether to add biases.
        batch_first: Whether inputs have the shape (batch, length, embed_dim), else (length, batch, embed_dim).
        dtype: Of the parameters. None takes the default float dtype.

    Attributes:
        in_proj_weight: Of shape (3 * embed_dim, embed_dim): what makes queries, keys and values.
        in_proj_bias: Of shape (3 * embed_dim,), starting at 0, or None without bias.
        out_proj: The layer that mixes what the heads have found.

    >>> layer = minigrad.nn.MultiheadAttention(8, num_heads=2, batch_first=True)
    >>> x = minigrad.randn(3, 5, 8)
    >>> output, weights = layer(x, x, x)
    >>> output.shape, weights.shape
    ((3, 5, 8), (3, 5, 5))
    """

    in_proj_weight: Parameter
    in_proj_bias: Parameter | None
    out_proj: Linear

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        *,
        batch_first: bool = False,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if embed_dim < 1 or num_heads < 1 or embed_dim % num_heads:
            raise ValueError(
                f"MultiheadAttention: embed_dim {embed_dim} does not split into {num_heads} heads of one size"
            )
        checking.check_probability("MultiheadAttention: dropout", dropout)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.dropout, self.batch_first = dropout, batch_first
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype)  # first, as PyTorch draws its random numbers
        table = creation.zeros(3 * embed_dim, embed_dim, dtype=dtype)
        self.in_proj_weight = Parameter(init.xavier_uniform_(table))
        self.in_proj_bias = Parameter(creation.zeros(3 * embed_dim, dtype=dtype)) if bias else None
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend with queries to keys and values.

        Args:
            query: Of shape (length, batch, embed_dim), with batch_first (batch, length, embed_dim); or without batch.
            key: Likewise, with a length of its own.
            value: Of the shape of key.
            key_padding_mask: Of shape (batch, keys), or (keys,) without batch. Booleans are true at keys that nobody
                may see; floats are added to the scores.
            need_weights: Whether to return the weights, too.
            attn_mask: Of shape (queries, keys), or (batch * num_heads, queries, keys): booleans that are true where a
                query may **not** see a key, or floats that are added to the scores.
            average_attn_weights: Whether the weights are the mean over the heads.
            is_causal: A hint that attn_mask is the causal mask, as in PyTorch, which wants the mask beside it.

        Returns:
            The outputs in the shape of query, and the weights of shape (batch, queries, keys), or
            (batch, heads, queries, keys) if they are not averaged; None without need_weights.

        Raises:
            ValueError: If shapes do not match, or is_causal comes without attn_mask.

        >>> layer = minigrad.nn.MultiheadAttention(4, num_heads=2)
        >>> x, mask = minigrad.randn(3, 4), minigrad.ones(3, 3).triu(1).bool()
        >>> _, weights = layer(x, x, x, attn_mask=mask)
        >>> weights[0].detach()
        tensor([1., 0., 0.])
        """
        if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
            raise ValueError(
                f"MultiheadAttention: a query of shape {query.shape}, a key of {key.shape} and a value of "
                f"{value.shape}; all need 3 axes, or 2 without batch"
            )
        if is_causal and attn_mask is None:
            raise ValueError("MultiheadAttention: is_causal only says what attn_mask is; give attn_mask, too")
        without_batch, batch_axis = query.ndim == 2, 0 if self.batch_first else 1
        if without_batch:
            batch_axis = 0
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        q, k, v = (x.unsqueeze(0) if without_batch else x.transpose(0, batch_axis) for x in (query, key, value))
        queries, keys, values = (self._heads(x, number) for number, x in enumerate((q, k, v)))
        mask = self._mask(attn_mask, key_padding_mask, q, k)
        dropped = self.dropout if self.training else 0.0
        if need_weights:
            weights = attention_scores(queries, keys, mask).softmax(-1)
            found = (functional.dropout(weights, dropped) if dropped else weights) @ values
            shown = weights.mean(1) if average_attn_weights else weights
        else:
            found, shown = functional.scaled_dot_product_attention(queries, keys, values, mask, dropped), None
        joined = found.transpose(1, 2).reshape(*q.shape[:2], self.embed_dim)
        output = self.out_proj(joined)
        if without_batch:
            return output.squeeze(0), None if shown is None else shown.squeeze(0)
        return output.transpose(0, batch_axis), shown

    def _heads(self, x: Tensor, number: int) -> Tensor:
        """Return queries (0), keys (1) or values (2), of shape (batch, heads, length, head_dim)."""
        n, width = self.embed_dim, self.num_heads
        rows = slice(number * n, (number + 1) * n)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        y = functional.linear(x, self.in_proj_weight[rows], bias)
        return y.reshape(*y.shape[:2], width, self.head_dim).transpose(1, 2)

    def _mask(self, mask: Tensor | None, padding: Tensor | None, q: Tensor, k: Tensor) -> Tensor | None:
        """Return what is added to the scores, of a shape that broadcasts to (batch, heads, queries, keys)."""
        if mask is not None:
            if mask.ndim == 3:
                mask = mask.reshape(q.shape[0], self.num_heads, *mask.shape[1:])
            mask = _added(mask, q)
        if padding is None:
            return mask
        if padding.shape != (k.shape[0], k.shape[1]):
            raise ValueError(
                f"MultiheadAttention: a key_padding_mask of shape {padding.shape} for {k.shape[0]} times {k.shape[1]} "
                "keys"
            )
        hidden = _added(padding, q).reshape(k.shape[0], 1, 1, k.shape[1])
        return hidden if mask is None else mask + hidden

    def extra_repr(self) -> str:
        """Return nothing, as in PyTorch: the layer shows its parts.

        >>> minigrad.nn.MultiheadAttention(4, 2)
        MultiheadAttention(
          (out_proj): Linear(in_features=4, out_features=4, bias=True)
        )
        """
        return ""


def _added(mask: Tensor, like: Tensor) -> Tensor:
    """Return a mask as numbers that are added: -inf where booleans are true."""
    if mask.dtype.kind != "b":
        return mask.to(like.dtype)
    return like.new_zeros(1).expand(*mask.shape).masked_fill(mask, -math.inf)


class TransformerEncoderLayer(Module):
    """A block of a transformer: attention of a sequence to itself, then two linear layers, each with a way around it.

    Args:
        d_model: The size of the last axis.
        nhead: How many heads the attention has.
        dim_feedforward: The size between the two linear layers.
        dropout: The probability of each dropout.
        activation: Between the linear layers: "relu", "gelu", or a function.
        layer_norm_eps: Added to the variance in both layer norms.
        batch_first: Whether inputs have the shape (batch, length, d_model), else (length, batch, d_model).
        norm_first: Whether each half normalises its input, else the sum of input and output.
        bias: Whether layers add biases.
        dtype: Of the parameters. None takes the default float dtype.

    >>> block = minigrad.nn.TransformerEncoderLayer(8, nhead=2, dim_feedforward=16, batch_first=True, norm_first=True)
    >>> block(minigrad.randn(3, 5, 8)).shape
    (3, 5, 8)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        named: dict[str, Callable[[Tensor], Tensor]] = {"relu": functional.relu, "gelu": functional.gelu}
        if isinstance(activation, str) and activation not in named:
            raise ValueError(f"TransformerEncoderLayer: activation is {activation!r}; it must be 'relu' or 'gelu'")
        self.activation = named[activation] if isinstance(activation, str) else activation
        self.norm_first = norm_first
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype)
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the block's output, in the shape of src.

        Args:
            src: Of shape (length, batch, d_model), with batch_first (batch, length, d_model); or without batch.
            src_mask: As attn_mask of `MultiheadAttention`.
            src_key_padding_mask: As its key_padding_mask.
            is_causal: As there: a hint that src_mask is the causal mask.

        >>> minigrad.nn.TransformerEncoderLayer(4, 2, 8)(minigrad.randn(5, 3, 4)).shape
        (5, 3, 4)
        """
        if self.norm_first:
            x = src + self._attend(self.norm1(src), src_mask, src_key_padding_mask, is_causal)
            return x + self._feed_forward(self.norm2(x))
        x = self.norm1(src + self._attend(src, src_mask, src_key_padding_mask, is_causal))
        normed: Tensor = self.norm2(x + self._feed_forward(x))
        return normed

    def _attend(self, x: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool) -> Tensor:
        found, _ = self.self_attn(
            x, x, x, key_padding_mask=padding, need_weights=False, attn_mask=mask, is_causal=is_causal
        )
        dropped: Tensor = self.dropout1(found)
        return dropped

    def _feed_forward(self, x: Tensor) -> Tensor:
        dropped: Tensor = self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        return dropped
