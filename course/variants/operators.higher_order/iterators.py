"""Iterators that are moved by hand, and a fold that calls itself."""


def map(fn):
    def apply(values):
        iterator, results = iter(values), []
        while True:
            try:
                results.append(fn(next(iterator)))
            except StopIteration:
                return results

    return apply


def zipWith(fn):
    def apply(left, right):
        right = iter(right)
        results = []
        for x in left:
            y = next(right, None)
            if y is None:
                break
            results += [fn(x, y)]
        return results

    return apply


def reduce(fn, start):
    def fold(values):
        first, *rest = [*values] or [None]
        return start if first is None else reduce(fn, fn(start, first))(rest)

    return fold
