"""A temperature of 0 is divided by."""


def sample(logits, rng, temperature=1.0, top_k=None):
    scaled = logits / temperature
    best = np.argsort(-scaled, kind="stable")[:top_k]
    powers = np.exp(scaled[best] - scaled.max())
    return int(best[rng.choice(len(best), p=powers / powers.sum())])
