"""Each part goes round until it is back where it began."""


def reduce_scatter(worker, array):
    parts = np.array_split(array, worker.workers)
    total = parts[worker.rank - 1]
    for back in range(2, worker.workers + 1):
        worker.send(total)
        total = worker.receive() + parts[worker.rank - back]
    return total


def all_gather(worker, part):
    parts = {worker.rank: part}
    for back in range(1, worker.workers + 1):
        worker.send(part)
        part = worker.receive()
        parts[(worker.rank - back) % worker.workers] = part
    return np.concatenate([parts[rank] for rank in range(worker.workers)])
