"""The step of Adam is written out."""


def optimizer_state(worker, weights):
    size = len(np.array_split(weights, worker.workers)[worker.rank])
    return tuple(np.zeros(size, weights.dtype) for _ in range(2))


def sharded_adam_step(worker, weights, gradient, state, step, lr=1e-3):
    g = reduce_scatter(worker, gradient) / worker.workers
    mean = 0.9 * state[0] + 0.1 * g
    square = 0.999 * state[1] + 0.001 * g * g
    move = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    own = np.array_split(weights, worker.workers)[worker.rank]
    return all_gather(worker, own - lr * move), (mean, square)
