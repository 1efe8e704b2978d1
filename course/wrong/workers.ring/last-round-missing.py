"""The parts come together in one round less than needed."""


def reduce_scatter(worker, array):
    parts = np.array_split(array, worker.workers)
    total = parts[worker.rank - 1]
    for back in range(2, worker.workers):
        worker.send(total)
        total = worker.receive() + parts[worker.rank - back]
    return total


def all_gather(worker, part):
    parts = {worker.rank: part}
    for back in range(1, worker.workers):
        worker.send(part)
        part = worker.receive()
        parts[(worker.rank - back) % worker.workers] = part
    return np.concatenate([parts[rank] for rank in range(worker.workers)])
