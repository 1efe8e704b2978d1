"""len() and values[i] work for lists only, not for everything that can be walked through."""


def map(fn: Callable[[float], float]) -> Callable[[Iterable[float]], list[float]]:
    def apply(values: Iterable[float]) -> list[float]:
        results = []
        for i in range(len(values)):
            results.append(fn(values[i]))
        return results

    return apply


def zipWith(fn: Callable[[float, float], float]) -> Callable[[Iterable[float], Iterable[float]], list[float]]:
    def apply(left: Iterable[float], right: Iterable[float]) -> list[float]:
        return [fn(x, y) for x, y in zip(left, right)]

    return apply


def reduce(fn: Callable[[float, float], float], start: float) -> Callable[[Iterable[float]], float]:
    def fold(values: Iterable[float]) -> float:
        result = start
        for x in values:
            result = fn(result, x)
        return result

    return fold
