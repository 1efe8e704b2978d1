"""All that equal the k-th largest are kept."""


def sample(logits, rng, temperature=1.0, top_k=None):
    if temperature == 0.0:
        return int(np.argmax(logits))
    scaled = logits / temperature
    if top_k is not None:
        edge = np.sort(scaled)[-min(top_k, len(scaled))]
        scaled = np.where(scaled < edge, -np.inf, scaled)
    powers = np.exp(scaled - scaled.max())
    return int(rng.choice(len(powers), p=powers / powers.sum()))
