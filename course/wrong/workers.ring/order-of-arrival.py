"""The parts are joined in the order in which they came."""


def reduce_scatter(worker, array):
    parts = np.array_split(array, worker.workers)
    total = parts[worker.rank - 1]
    for back in range(2, worker.workers + 1):
        worker.send(total)
        total = worker.receive() + parts[worker.rank - back]
    return total


def all_gather(worker, part):
    parts = [part]
    for _ in range(worker.workers - 1):
        worker.send(parts[-1])
        parts.append(worker.receive())
    return np.concatenate(parts)
