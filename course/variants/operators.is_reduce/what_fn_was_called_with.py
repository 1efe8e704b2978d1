"""The calls of fn are written down."""


def is_reduce(reduce):
    calls = []

    def fn(so_far, x):
        calls.append((so_far, x))
        return so_far * 10.0 + x

    values = [1.0, 2.0, 3.0]
    try:
        fold = reduce(fn, 7.0)
        results = [fold(values), fold(value for value in [1.0, 2.0, 3.0]), fold(())]
    except Exception:
        return False
    once = [(7.0, 1.0), (71.0, 2.0), (712.0, 3.0)]
    return calls == once * 2 and results == [7123.0, 7123.0, 7.0] and values == [1.0, 2.0, 3.0]
