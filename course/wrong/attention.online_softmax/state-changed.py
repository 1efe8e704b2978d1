"""The given state is changed."""


def online_softmax(state, scores, values):
    largest, total, weighted = state
    new = np.maximum(largest, scores.max(axis=1))
    shift = np.where(new == -np.inf, 0, new)
    scale = np.exp(largest - shift)
    weights = np.exp(scores - shift[:, None])
    total *= scale
    total += weights.sum(axis=1)
    weighted *= scale[:, None]
    weighted += weights @ values
    largest[...] = new
    return (largest, total, weighted)


def attend(q, k, v, block=64, causal=False):
    state = begin(len(q), v.shape[1], q.dtype)
    for first in range(0, len(k), block):
        keys, values = (k[first:first + block], v[first:first + block])
        state = online_softmax(state, scores_of(q, keys, first, causal), values)
    _, total, weighted = state
    return weighted / total[:, None]
