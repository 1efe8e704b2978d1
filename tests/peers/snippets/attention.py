"""Attention by hand, by its function, and as a layer."""

import math

import torch
import torch.nn.functional as F
from torch import nn

q, k, v = (torch.randn(2, 4, 5, 8) for _ in range(3))
scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
mask = torch.tril(torch.ones(5, 5, dtype=torch.bool))
weights = F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
by_hand = weights @ v
by_function = F.scaled_dot_product_attention(q, k, v, is_causal=True)
same = torch.allclose(by_hand, by_function, atol=1e-5)
layer = nn.MultiheadAttention(16, num_heads=4, batch_first=True)
x = torch.randn(2, 5, 16)
attended, averages = layer(x, x, x)
block = nn.TransformerEncoderLayer(16, 4, dim_feedforward=32, dropout=0.0, batch_first=True)
encoded = block(x, src_mask=torch.triu(torch.full((5, 5), float("-inf")), diagonal=1))
