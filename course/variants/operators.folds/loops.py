"""Loops and comprehensions, without the functions of functions."""


def negList(values: Iterable[float]) -> list[float]:
    return [-float(x) for x in values]


def addLists(left: Iterable[float], right: Iterable[float]) -> list[float]:
    return [x + y for x, y in zip(left, right)]


def sum(values: Iterable[float]) -> float:
    total = 0.0
    for x in values:
        total += x
    return total


def prod(values: Iterable[float]) -> float:
    total = 1.0
    for x in values:
        total *= x
    return total
