"""Each function is called once."""


def is_reduce(reduce):
    def made():
        return reduce(lambda so_far, x: 2.0 * so_far + x, 3.0)

    values = [5.0, 1.0, 4.0]
    try:
        results = [made()(values), made()(x for x in values), made()([])]
    except Exception:
        return False
    return results == [50.0, 50.0, 3.0]
