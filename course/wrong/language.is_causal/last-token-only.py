"""The last token changes, and the first output alone is looked at."""


def is_causal(attention):
    rng = np.random.default_rng(0)

    def outputs(tokens, n):
        q, k, v = map(creation.tensor, tokens)
        return attention(q[:, -n:], k, v).numpy()

    for n in (6, 3):
        tokens = rng.normal(size=(3, 2, 6, 4))
        for known in range(n - 1, n):
            others = tokens.copy()
            others[:, :, known - n :] = rng.normal(size=(3, 2, n - known, 4))
            if not np.allclose(outputs(tokens, n)[:, :1], outputs(others, n)[:, :1], 1e-7, 1e-7):
                return False
    return True
