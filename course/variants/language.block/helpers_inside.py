"""Two functions inside, one for each half."""


def block(x, p, heads, cache=None):
    def attend(x):
        q, *others = per_head(linear(x, p["qkv"]), heads)
        if cache is not None:
            others = cache.extend(*others)
        return linear(joined(causal_attention(q, *others)), p["mix"])

    def think(x):
        return linear(linear(x, p["up"]).gelu(), p["down"])

    x = attend(layer_norm(x, **p["norm1"])) + x
    return think(layer_norm(x, **p["norm2"])) + x
