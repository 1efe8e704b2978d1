"""Each half is a step of its own."""


def block(x, p, heads, cache=None):
    normed = layer_norm(x, p["norm1"]["weight"], p["norm1"]["bias"])
    q, k, v = per_head(linear(normed, p["qkv"]), heads)
    keys, values = (k, v) if cache is None else cache.extend(k, v)
    looked_back = joined(causal_attention(q, keys, values))
    middle = x + linear(looked_back, p["mix"])
    normed = layer_norm(middle, p["norm2"]["weight"], p["norm2"]["bias"])
    wide = linear(normed, p["up"]).gelu()
    return middle + linear(wide, p["down"])
