"""Every start is 0, which fn does not see."""


def is_reduce(reduce):
    values = [5.0, 1.0, 4.0]
    try:
        fold = reduce(lambda so_far, x: 2.0 * so_far + x, 0.0)
        results = [fold(values), fold(values), fold(x for x in values), fold([])]
    except Exception:
        return False
    return results == [26.0, 26.0, 26.0, 0.0]
