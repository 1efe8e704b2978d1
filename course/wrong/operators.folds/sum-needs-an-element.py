"""The sum begins with the first element, which an empty list does not have."""


def negList(values: Iterable[float]) -> list[float]:
    return map(neg)(values)


def addLists(left: Iterable[float], right: Iterable[float]) -> list[float]:
    return zipWith(add)(left, right)


def sum(values: Iterable[float]) -> float:
    values = list(values)
    return reduce(add, values[0])(values[1:])


def prod(values: Iterable[float]) -> float:
    return reduce(mul, 1.0)(values)
