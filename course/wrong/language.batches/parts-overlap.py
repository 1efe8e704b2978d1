"""The part to learn from is the whole text."""


def split(tokens, share):
    cut = len(tokens) - round(share * len(tokens))
    return tokens, tokens[cut:]


def batches(tokens, length, rng, size=16):
    while True:
        places = rng.integers(0, len(tokens) - length, size)[:, None] + np.arange(length)
        yield tokens[places], tokens[places + 1]
