"""Each sum is normed (post-norm), and the inputs of the halves are not."""


def block(x, p, heads, cache=None):
    q, k, v = per_head(linear(x, p["qkv"]), heads)
    if cache is not None:
        k, v = cache.extend(k, v)
    x = layer_norm(x + linear(joined(causal_attention(q, k, v)), p["mix"]), **p["norm1"])
    return layer_norm(x + linear(linear(x, p["up"]).gelu(), p["down"]), **p["norm2"])
