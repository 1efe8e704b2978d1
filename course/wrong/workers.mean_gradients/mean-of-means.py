"""The means are averaged over the workers."""


def mean_gradients(worker, gradients, examples):
    flat = np.concatenate([each.ravel() for each in gradients])
    flat = flat if examples else np.zeros_like(flat)
    count = np.ones(1, flat.dtype) if examples else np.zeros(1, flat.dtype)
    sums = all_reduce(worker, np.concatenate([flat, count]))
    pieces = np.split(sums[:-1] / sums[-1], np.cumsum([each.size for each in gradients])[:-1])
    return [piece.reshape(each.shape) for piece, each in zip(pieces, gradients)]
