"""The answer of a student of MiniTorch."""


def negList(values: Iterable[float]) -> list[float]:
    negated = map(neg)
    return negated(values)


def addLists(left: Iterable[float], right: Iterable[float]) -> list[float]:
    return zipWith(add)(left, right)


def sum(values: Iterable[float]) -> float:
    return reduce(lambda x, y: x + y, 0.0)(values)


def prod(values: Iterable[float]) -> float:
    return reduce(lambda x, y: x * y, 1.0)(values)
