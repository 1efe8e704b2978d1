"""One array is made first, and filled place by place."""


def mean_gradients(worker, gradients, examples):
    ends = [0]
    for each in gradients:
        ends.append(ends[-1] + each.size)
    flat = np.zeros(ends[-1] + 1, gradients[0].dtype)
    if examples > 0:
        for begin, end, each in zip(ends, ends[1:], gradients):
            flat[begin:end] = examples * each.reshape(-1)
    flat[-1] = examples
    flat = all_reduce(worker, flat)
    return [
        (flat[begin:end] / flat[-1]).reshape(each.shape) for begin, end, each in zip(ends, ends[1:], gradients)
    ]
