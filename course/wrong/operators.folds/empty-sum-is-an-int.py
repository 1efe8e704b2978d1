"""The folds begin with the ints 0 and 1."""


def negList(values: Iterable[float]) -> list[float]:
    return map(neg)(values)


def addLists(left: Iterable[float], right: Iterable[float]) -> list[float]:
    return zipWith(add)(left, right)


def sum(values: Iterable[float]) -> float:
    return reduce(add, 0)(values)


def prod(values: Iterable[float]) -> float:
    return reduce(mul, 1)(values)
