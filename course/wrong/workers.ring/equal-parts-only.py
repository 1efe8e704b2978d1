"""The array is cut into rows of equal length, and what is left over is lost."""


def reduce_scatter(worker, array):
    size = len(array) // worker.workers
    parts = [array[i * size : (i + 1) * size] for i in range(worker.workers)]
    total = parts[worker.rank - 1]
    for back in range(2, worker.workers + 1):
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
