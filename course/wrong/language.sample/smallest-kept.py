"""The smallest logits are kept."""


def sample(logits, rng, temperature=1.0, top_k=None):
    if temperature == 0.0:
        return int(np.argmax(logits))
    scaled = logits / temperature
    best = np.argsort(scaled, kind="stable")[:top_k]
    powers = np.exp(scaled[best] - scaled.max())
    return int(best[rng.choice(len(best), p=powers / powers.sum())])
