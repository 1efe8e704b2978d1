"""A loop inside a loop combines every element with every other."""


def map(fn: Callable[[float], float]) -> Callable[[Iterable[float]], list[float]]:
    def apply(values: Iterable[float]) -> list[float]:
        return [fn(x) for x in values]

    return apply


def zipWith(fn: Callable[[float, float], float]) -> Callable[[Iterable[float], Iterable[float]], list[float]]:
    def apply(left: Iterable[float], right: Iterable[float]) -> list[float]:
        return [fn(x, y) for x in left for y in right]

    return apply


def reduce(fn: Callable[[float, float], float], start: float) -> Callable[[Iterable[float]], float]:
    def fold(values: Iterable[float]) -> float:
        result = start
        for x in values:
            result = fn(result, x)
        return result

    return fold
