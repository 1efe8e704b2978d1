"""Each part moves by the gradient of one worker's examples."""


def optimizer_state(worker, weights):
    own = np.array_split(weights, worker.workers)[worker.rank]
    return np.zeros_like(own), np.zeros_like(own)


def sharded_adam_step(worker, weights, gradient, state, step, lr=1e-3):
    own = np.array_split(weights, worker.workers)[worker.rank]
    slope = np.array_split(gradient, worker.workers)[worker.rank]
    reduce_scatter(worker, gradient)
    own, mean, square = training.adam_step(own, slope, *state, step, lr)
    return all_gather(worker, own), (mean, square)
