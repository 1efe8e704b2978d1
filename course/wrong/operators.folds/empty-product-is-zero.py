"""An empty list is given the product 0."""


def negList(values: Iterable[float]) -> list[float]:
    return map(neg)(values)


def addLists(left: Iterable[float], right: Iterable[float]) -> list[float]:
    return zipWith(add)(left, right)


def sum(values: Iterable[float]) -> float:
    return reduce(add, 0.0)(values)


def prod(values: Iterable[float]) -> float:
    values = list(values)
    if not values:
        return 0.0
    return reduce(mul, 1.0)(values)
