"""The weights of later keys are set to 0 after the softmax."""


def attention_weights(q, k):
    n, m = q.shape[-2], k.shape[-2]
    scores = (q * (1.0 / math.sqrt(q.shape[-1]))) @ k.mT
    later = np.arange(m) > np.arange(m - n, m)[:, None]
    return scores.softmax(-1).masked_fill(q.from_host(later), 0.0)


def causal_attention(q, k, v):
    return attention_weights(q, k) @ v
