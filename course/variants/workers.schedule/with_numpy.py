"""Running sums come from NumPy; a bucket is collected before it is put down."""


def buckets(sizes, most):
    found, now, held = [], [], 0
    for i, size in enumerate(sizes):
        if now and held + size > most:
            found.append(now)
            now, held = [], 0
        now = [*now, i]
        held += size
    return [*found, now] if now else found


def schedule(seconds, sizes, grouped, cost):
    ready, free, found = np.cumsum(seconds), 0.0, []
    for group in grouped:
        begin = float(max(ready[list(group)].max(), free))
        free = begin + cost(int(np.sum([sizes[i] for i in group])))
        found.append((begin, free))
    return found
