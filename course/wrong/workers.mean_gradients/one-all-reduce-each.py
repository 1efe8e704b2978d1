"""Each gradient travels alone, and the number of examples as well."""


def mean_gradients(worker, gradients, examples):
    count = all_reduce(worker, np.array([examples], gradients[0].dtype))[0]
    own = [each * examples if examples else np.zeros_like(each) for each in gradients]
    return [np.asarray(all_reduce(worker, each) / count) for each in own]
