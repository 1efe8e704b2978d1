"""What the first half computes takes the place of its input."""


def block(x, p, heads, cache=None):
    q, k, v = per_head(linear(layer_norm(x, **p["norm1"]), p["qkv"]), heads)
    if cache is not None:
        k, v = cache.extend(k, v)
    x = linear(joined(causal_attention(q, k, v)), p["mix"])
    return x + linear(linear(layer_norm(x, **p["norm2"]), p["up"]).gelu(), p["down"])
