"""Each worker divides its gradient before it is added up."""


def optimizer_state(worker, weights):
    parts = np.array_split(np.zeros_like(weights), worker.workers)
    return parts[worker.rank].copy(), parts[worker.rank].copy()


def sharded_adam_step(worker, weights, gradient, state, step, lr=1e-3):
    slope = workers.reduce_scatter(worker, gradient / worker.workers)
    parts = np.array_split(weights, worker.workers)
    moved, mean, square = training.adam_step(parts[worker.rank], slope, state[0], state[1], step, lr=lr)
    return workers.all_gather(worker, moved), (mean, square)
