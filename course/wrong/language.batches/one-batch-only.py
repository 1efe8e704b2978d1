"""There is one batch, and then no more."""


def split(tokens, share):
    cut = len(tokens) - round(share * len(tokens))
    return tokens[:cut], tokens[cut:]


def batches(tokens, length, rng, size=16):
    places = rng.integers(0, len(tokens) - length, size)[:, None] + np.arange(length)
    yield tokens[places], tokens[places + 1]
