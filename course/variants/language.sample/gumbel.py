"""The largest of logits with Gumbel's noise is drawn by the softmax."""


def sample(logits, rng, temperature=1.0, top_k=None):
    best = np.argsort(-np.asarray(logits, float), kind="stable")
    if temperature == 0.0:
        return int(best[0])
    best = best if top_k is None else best[:top_k]
    noise = rng.gumbel(size=len(best))
    return int(best[np.argmax(np.asarray(logits, float)[best] / temperature + noise)])
