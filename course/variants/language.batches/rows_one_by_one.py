"""The pieces are cut out one by one."""


def split(tokens, share):
    kept = round(share * len(tokens))
    return tokens[: len(tokens) - kept], tokens[len(tokens) - kept :]


def batches(tokens, length, rng, size=16):
    while True:
        places = [int(place) for place in rng.integers(0, len(tokens) - length, size)]
        inputs = np.stack([tokens[place : place + length] for place in places])
        targets = np.stack([tokens[place + 1 : place + 1 + length] for place in places])
        yield inputs, targets
