"""The first bucket is closed empty if the first gradient is too large for it."""


def buckets(sizes, most):
    grouped, held = [[]], 0
    for i, size in enumerate(sizes):
        if held + size > most:
            grouped.append([])
            held = 0
        grouped[-1].append(i)
        held += size
    return grouped


def schedule(seconds, sizes, grouped, cost):
    ready = list(accumulate(seconds))
    found, end = [], 0.0
    for group in grouped:
        begin = max(ready[group[-1]], end)
        end = begin + cost(sum(sizes[i] for i in group))
        found.append((begin, end))
    return found
