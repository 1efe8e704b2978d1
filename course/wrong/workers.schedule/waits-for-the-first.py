"""A bucket begins when its first gradient is there."""


def buckets(sizes, most):
    grouped, room = [], 0
    for i, size in enumerate(sizes):
        if not grouped or size > room:
            grouped.append([])
            room = most
        grouped[-1].append(i)
        room -= size
    return grouped


def schedule(seconds, sizes, grouped, cost):
    ready = list(accumulate(seconds))
    found, end = [], 0.0
    for group in grouped:
        begin = max(ready[group[0]], end)
        end = begin + cost(sum(sizes[i] for i in group))
        found.append((begin, end))
    return found
