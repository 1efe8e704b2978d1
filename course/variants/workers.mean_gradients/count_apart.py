"""The number of examples is joined after the gradients are weighted."""


def mean_gradients(worker, gradients, examples):
    dtype = gradients[0].dtype
    own = [each.ravel() * examples if examples else np.zeros(each.size, dtype) for each in gradients]
    total = all_reduce(worker, np.concatenate([*own, np.array([examples], dtype)]))
    means, found = total[:-1] / total[-1], []
    for each in gradients:
        found.append(means[: each.size].reshape(each.shape))
        means = means[each.size :]
    return found
