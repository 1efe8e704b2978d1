"""The list of results is made outside the inner function, so that all calls share it."""


def map(fn: Callable[[float], float]) -> Callable[[Iterable[float]], list[float]]:
    results = []

    def apply(values: Iterable[float]) -> list[float]:
        for x in values:
            results.append(fn(x))
        return list(results)

    return apply


def zipWith(fn: Callable[[float, float], float]) -> Callable[[Iterable[float], Iterable[float]], list[float]]:
    results = []

    def apply(left: Iterable[float], right: Iterable[float]) -> list[float]:
        for x, y in zip(left, right):
            results.append(fn(x, y))
        return list(results)

    return apply


def reduce(fn: Callable[[float, float], float], start: float) -> Callable[[Iterable[float]], float]:
    def fold(values: Iterable[float]) -> float:
        result = start
        for x in values:
            result = fn(result, x)
        return result

    return fold
