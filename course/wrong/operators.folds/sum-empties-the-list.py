"""The elements are taken out of the caller's list."""


def negList(values: Iterable[float]) -> list[float]:
    return map(neg)(values)


def addLists(left: Iterable[float], right: Iterable[float]) -> list[float]:
    return zipWith(add)(left, right)


def sum(values: Iterable[float]) -> float:
    total = 0.0
    while values:
        total += values.pop()
    return total


def prod(values: Iterable[float]) -> float:
    return reduce(mul, 1.0)(values)
