"""The last token alone changes, and all outputs in front of it are looked at."""


def is_causal(attention):
    rng = np.random.default_rng(0)

    def outputs(tokens, n):
        q, k, v = map(creation.tensor, tokens)
        return attention(q[:, -n:], k, v).numpy()

    for n in (6, 2):
        tokens = rng.normal(size=(3, 2, 6, 4))
        others = tokens.copy()
        others[:, :, -1:] = rng.normal(size=(3, 2, 1, 4))
        if not np.allclose(outputs(tokens, n)[:, :-1], outputs(others, n)[:, :-1], 1e-7, 1e-7):
            return False
    return True
