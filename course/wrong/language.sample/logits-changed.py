"""The logits are divided in place."""


def sample(logits, rng, temperature=1.0, top_k=None):
    if temperature == 0.0:
        return int(np.argmax(logits))
    logits /= temperature
    scaled = np.asarray(logits, np.float64)
    best = np.argsort(-scaled, kind="stable")[:top_k]
    powers = np.exp(scaled[best] - scaled.max())
    return int(best[rng.choice(len(best), p=powers / powers.sum())])
