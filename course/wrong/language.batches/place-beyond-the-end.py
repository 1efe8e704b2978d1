"""The target of the last token may lie beyond the end."""


def split(tokens, share):
    cut = len(tokens) - round(share * len(tokens))
    return tokens[:cut], tokens[cut:]


def batches(tokens, length, rng, size=16):
    while True:
        places = rng.integers(0, len(tokens) - length + 1, size)[:, None] + np.arange(length)
        yield tokens[places], tokens[places + 1]
