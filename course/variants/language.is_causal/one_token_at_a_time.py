"""Tokens are put behind each other, and the outputs of the text so far are kept."""


def is_causal(attention):
    tokens = np.random.default_rng(1).normal(size=(3, 3, 7, 2)) * 2.0
    for skipped in (0, 4):
        q, k, v = tokens
        whole = attention(minigrad.tensor(q[:, skipped:]), minigrad.tensor(k), minigrad.tensor(v)).numpy()
        for length in range(skipped + 1, 7):
            q, k, v = (minigrad.tensor(each[:, :length]) for each in tokens)
            found = attention(q[:, skipped:], k, v).numpy()
            if np.abs(found - whole[:, : length - skipped]).max() > 1e-8:
                return False
    return True
