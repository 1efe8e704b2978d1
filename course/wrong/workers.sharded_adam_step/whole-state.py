"""Each worker keeps the running means of all weights, and uses its part of them."""


def optimizer_state(worker, weights):
    return np.zeros_like(weights), np.zeros_like(weights)


def sharded_adam_step(worker, weights, gradient, state, step, lr=1e-3):
    own = np.array_split(weights, worker.workers)[worker.rank]
    slope = reduce_scatter(worker, gradient) / worker.workers
    if len(state[0]) == len(weights):
        state = [np.array_split(each, worker.workers)[worker.rank] for each in state]
    own, mean, square = training.adam_step(own, slope, *state, step, lr)
    return all_gather(worker, own), (mean, square)
