"""The sums over all examples are returned."""


def mean_gradients(worker, gradients, examples):
    flat = np.concatenate([each.ravel() for each in gradients])
    sums = all_reduce(worker, flat * examples if examples else np.zeros_like(flat))
    pieces = np.split(sums, np.cumsum([each.size for each in gradients])[:-1])
    return [piece.reshape(each.shape) for piece, each in zip(pieces, gradients)]
