"""A number between 0 and 1 is looked up among cumulative sums."""


def sample(logits, rng, temperature=1.0, top_k=None):
    logits = np.array(logits, dtype=np.float64)
    if temperature == 0:
        return int(logits.argmax())
    if top_k is not None:
        order = sorted(range(len(logits)), key=lambda i: (-logits[i], i))
        logits[order[top_k:]] = -np.inf
    powers = np.exp((logits - logits.max()) / temperature)
    limits = np.cumsum(powers / powers.sum())
    return min(int(np.searchsorted(limits, rng.random(), side="right")), len(limits) - 1)
