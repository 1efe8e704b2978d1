"""An empty cache is taken for none: its length is 0, and what has the length 0 counts as false."""


def block(x, p, heads, cache=None):
    q, k, v = per_head(linear(layer_norm(x, **p["norm1"]), p["qkv"]), heads)
    if cache:
        k, v = cache.extend(k, v)
    x = x + linear(joined(causal_attention(q, k, v)), p["mix"])
    return x + linear(linear(layer_norm(x, **p["norm2"]), p["up"]).gelu(), p["down"])
