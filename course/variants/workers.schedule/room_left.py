"""It is noted how much room the last bucket has left."""


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
    found = []
    for group in grouped:
        ready = sum(seconds[: max(group) + 1])
        begin = ready if not found else max(ready, found[-1][1])
        found.append((begin, begin + cost(sum(sizes[i] for i in group))))
    return found
