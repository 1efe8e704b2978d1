"""Pieces of one token more are drawn, and cut twice."""


def split(tokens, share):
    first, last = np.split(tokens, [len(tokens) - round(share * len(tokens))])
    return first, last


def batches(tokens, length, rng, size=16):
    while True:
        pieces = [tokens[p : p + length + 1] for p in rng.integers(0, len(tokens) - length - 1, size, endpoint=True)]
        both = np.array(pieces)
        yield both[:, :-1], both[:, 1:]
