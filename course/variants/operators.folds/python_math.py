"""Python's own exact sum and product."""


def negList(values: Iterable[float]) -> list[float]:
    return list(reversed([-x for x in reversed(list(values))]))


def addLists(left: Iterable[float], right: Iterable[float]) -> list[float]:
    return zipWith(add)(left, right)


def sum(values: Iterable[float]) -> float:
    return math.fsum(values)


def prod(values: Iterable[float]) -> float:
    return float(math.prod(values))
