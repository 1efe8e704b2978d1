"""All parts are kept in a list, and the round says which one travels."""


def reduce_scatter(worker, array):
    n, rank = worker.workers, worker.rank
    parts = [each.copy() for each in np.array_split(array, n)]
    for step in range(n - 1):
        worker.send(parts[(rank - step - 1) % n])
        parts[(rank - step - 2) % n] += worker.receive()
    return parts[rank]


def all_gather(worker, part):
    n, rank = worker.workers, worker.rank
    parts = [None] * n
    parts[rank] = part
    for step in range(n - 1):
        worker.send(parts[(rank - step) % n])
        parts[(rank - step - 1) % n] = worker.receive()
    return np.concatenate(parts)
