"""Whole arrays go round the ring, and each worker keeps its part of their sum."""


def reduce_scatter(worker, array):
    total = passed = array
    for _ in range(worker.workers - 1):
        worker.send(passed)
        passed = worker.receive()
        total = total + passed
    return np.array_split(total, worker.workers)[worker.rank]


def all_gather(worker, part):
    parts = {worker.rank: part}
    for back in range(1, worker.workers):
        worker.send(part)
        part = worker.receive()
        parts[(worker.rank - back) % worker.workers] = part
    return np.concatenate([parts[rank] for rank in range(worker.workers)])
