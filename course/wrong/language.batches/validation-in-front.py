"""The beginning is kept for validation."""


def split(tokens, share):
    cut = round(share * len(tokens))
    return tokens[cut:], tokens[:cut]


def batches(tokens, length, rng, size=16):
    while True:
        places = rng.integers(0, len(tokens) - length, size)[:, None] + np.arange(length)
        yield tokens[places], tokens[places + 1]
