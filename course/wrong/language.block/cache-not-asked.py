"""The cache is there, and nobody asks it."""


def block(x, p, heads, cache=None):
    q, k, v = per_head(linear(layer_norm(x, **p["norm1"]), p["qkv"]), heads)
    x = x + linear(joined(causal_attention(q, k, v)), p["mix"])
    return x + linear(linear(layer_norm(x, **p["norm2"]), p["up"]).gelu(), p["down"])
