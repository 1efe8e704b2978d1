"""Layer norm and attention of `minigrad.nn` are quick forms of those of `minigrad.language`, for more inputs."""

from __future__ import annotations

import math

from minigrad import language
from minigrad.machine import overrides
from minigrad.nn import attention_functions, layer_functions
from minigrad.nn.attention_functions import attention_weights
from minigrad.nn.layer_functions import normalized
from minigrad.tensors import Tensor


def _normalized(x: Tensor, axes: tuple[int, ...], weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    size = math.prod(x.shape[axes[0] :])
    vectors = x if len(axes) == 1 else x.reshape(*x.shape[: -len(axes)], size)
    factors = x.new_ones(1) if weight is None else weight.reshape(size)
    shifts = x.new_zeros(1) if bias is None else bias.reshape(size)
    out = language.layer_norm(vectors, factors, shifts, eps)
    return out if len(axes) == 1 else out.reshape(*x.shape)


def _attention_weights(query: Tensor, key: Tensor, is_causal: bool, scale: float | None) -> Tensor:
    if is_causal and scale is None and query.shape[-1] and query.shape[-2] == key.shape[-2]:
        return language.attention_weights(query, key)
    return attention_weights(query, key, is_causal, scale)


overrides.twin(layer_functions, "normalized", normalized, specified=_normalized, unless=("language",))
overrides.twin(
    attention_functions, "attention_weights", attention_weights, specified=_attention_weights, unless=("language",)
)
