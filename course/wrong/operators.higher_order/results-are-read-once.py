"""The results come as generators, which are empty after the first reading."""


def map(fn: Callable[[float], float]) -> Callable[[Iterable[float]], list[float]]:
    def apply(values: Iterable[float]) -> list[float]:
        return (fn(x) for x in values)

    return apply


def zipWith(fn: Callable[[float, float], float]) -> Callable[[Iterable[float], Iterable[float]], list[float]]:
    def apply(left: Iterable[float], right: Iterable[float]) -> list[float]:
        for x, y in zip(left, right):
            yield fn(x, y)

    return apply


def reduce(fn: Callable[[float, float], float], start: float) -> Callable[[Iterable[float]], float]:
    def fold(values: Iterable[float]) -> float:
        result = start
        for x in values:
            result = fn(result, x)
        return result

    return fold
