"""The signs are changed in the caller's list."""


def negList(values: Iterable[float]) -> list[float]:
    for i in range(len(values)):
        values[i] = -values[i]
    return values


def addLists(left: Iterable[float], right: Iterable[float]) -> list[float]:
    return zipWith(add)(left, right)


def sum(values: Iterable[float]) -> float:
    return reduce(add, 0.0)(values)


def prod(values: Iterable[float]) -> float:
    return reduce(mul, 1.0)(values)
