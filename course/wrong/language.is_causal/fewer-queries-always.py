"""There are always fewer queries than keys."""


def is_causal(attention):
    rng = np.random.default_rng(0)

    def outputs(tokens, n):
        q, k, v = map(creation.tensor, tokens)
        return attention(q[:, -n:], k, v).numpy()

    for n in (3, 5):
        tokens = rng.normal(size=(3, 2, 6, 4))
        for known in range(1, n):
            others = tokens.copy()
            others[:, :, known - n :] = rng.normal(size=(3, 2, n - known, 4))
            if not np.allclose(outputs(tokens, n)[:, :known], outputs(others, n)[:, :known], 1e-7, 1e-7):
                return False
    return True
