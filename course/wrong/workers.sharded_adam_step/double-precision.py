"""The running means are float64, whatever the weights are."""


def optimizer_state(worker, weights):
    size = len(np.array_split(weights, worker.workers)[worker.rank])
    return np.zeros(size), np.zeros(size)


def sharded_adam_step(worker, weights, gradient, state, step, lr=1e-3):
    own = np.array_split(weights, worker.workers)[worker.rank]
    slope = reduce_scatter(worker, gradient) / worker.workers
    own, mean, square = training.adam_step(own, slope, *state, step, lr)
    return all_gather(worker, own), (mean, square)
