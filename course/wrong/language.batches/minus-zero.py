"""A part of 0 tokens is taken for the whole text."""


def split(tokens, share):
    kept = round(share * len(tokens))
    return tokens[:-kept], tokens[-kept:]


def batches(tokens, length, rng, size=16):
    while True:
        places = rng.integers(0, len(tokens) - length, size)[:, None] + np.arange(length)
        yield tokens[places], tokens[places + 1]
