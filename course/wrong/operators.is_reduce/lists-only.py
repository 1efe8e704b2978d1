"""The values are lists, and never a generator."""


def is_reduce(reduce):
    values = [5.0, 1.0, 4.0]
    try:
        fold = reduce(lambda so_far, x: 2.0 * so_far + x, 3.0)
        results = [fold(values), fold(values), fold([])]
    except Exception:
        return False
    return results == [50.0, 50.0, 3.0]
