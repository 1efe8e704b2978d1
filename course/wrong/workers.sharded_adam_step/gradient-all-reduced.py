"""All workers get the whole gradient, and each moves its part."""


def optimizer_state(worker, weights):
    own = np.array_split(weights, worker.workers)[worker.rank]
    return np.zeros_like(own), np.zeros_like(own)


def sharded_adam_step(worker, weights, gradient, state, step, lr=1e-3):
    own = np.array_split(weights, worker.workers)[worker.rank]
    slope = all_gather(worker, reduce_scatter(worker, gradient))
    slope = np.array_split(slope, worker.workers)[worker.rank] / worker.workers
    own, mean, square = training.adam_step(own, slope, *state, step, lr)
    return all_gather(worker, own), (mean, square)
