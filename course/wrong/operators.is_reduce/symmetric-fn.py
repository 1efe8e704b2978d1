"""Every fn is a mean of two numbers, which may be exchanged."""


def is_reduce(reduce):
    values = [5.0, 1.0, 4.0]
    try:
        fold = reduce(lambda x, y: (x + y) / 2.0, 3.0)
        results = [fold(values), fold(values), fold(x for x in values), fold([])]
    except Exception:
        return False
    return results == [3.25, 3.25, 3.25, 3.0]
