"""Each call gets a copy of the list, so that a change of it does not show."""


def is_reduce(reduce):
    values = [5.0, 1.0, 4.0]
    try:
        fold = reduce(lambda so_far, x: 2.0 * so_far + x, 3.0)
        results = [fold(list(values)), fold(list(values)), fold(x for x in values), fold([])]
    except Exception:
        return False
    return results == [50.0, 50.0, 50.0, 3.0]
