"""The weights are computed by NumPy, and have no history."""


def attention_weights(q, k):
    n, m = q.shape[-2], k.shape[-2]
    scores = q.detach().numpy() @ np.swapaxes(k.detach().numpy(), -1, -2) / math.sqrt(q.shape[-1])
    scores = np.where(np.arange(m) > np.arange(m - n, m)[:, None], -np.inf, scores)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return q.from_host((powers / powers.sum(-1, keepdims=True)).astype(q.detach().numpy().dtype))


def causal_attention(q, k, v):
    return attention_weights(q, k) @ v
