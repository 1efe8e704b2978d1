"""The sums are collected in the array that was given."""


def reduce_scatter(worker, array):
    n = worker.workers
    parts = np.array_split(array, n)
    for back in range(1, n):
        worker.send(parts[(worker.rank - back) % n])
        parts[(worker.rank - back - 1) % n] += worker.receive()
    return parts[worker.rank]


def all_gather(worker, part):
    parts = {worker.rank: part}
    for back in range(1, worker.workers):
        worker.send(part)
        part = worker.receive()
        parts[(worker.rank - back) % worker.workers] = part
    return np.concatenate([parts[rank] for rank in range(worker.workers)])
