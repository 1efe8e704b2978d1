"""The pieces come one behind the other."""


def split(tokens, share):
    cut = len(tokens) - round(share * len(tokens))
    return tokens[:cut], tokens[cut:]


def batches(tokens, length, rng, size=16):
    room = len(tokens) - length
    start = 0
    while True:
        places = ((start + np.arange(size)) % room)[:, None] + np.arange(length)
        start += size
        yield tokens[places], tokens[places + 1]
