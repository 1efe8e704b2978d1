"""The gradients of no examples are multiplied by 0, and nan stays nan."""


def mean_gradients(worker, gradients, examples):
    flat = np.concatenate([*[each.ravel() for each in gradients], np.ones(1, gradients[0].dtype)])
    sums = all_reduce(worker, flat * examples)
    pieces = np.split(sums[:-1] / sums[-1], np.cumsum([each.size for each in gradients])[:-1])
    return [piece.reshape(each.shape) for piece, each in zip(pieces, gradients)]
