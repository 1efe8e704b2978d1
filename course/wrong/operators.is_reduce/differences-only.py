"""Every fn is a difference, for which the order of the values does not matter."""


def is_reduce(reduce):
    values = [5.0, 1.0, 4.0]
    try:
        fold = reduce(lambda so_far, x: so_far - x, 3.0)
        results = [fold(values), fold(values), fold(x for x in values), fold([])]
    except Exception:
        return False
    return results == [-7.0, -7.0, -7.0, 3.0]
