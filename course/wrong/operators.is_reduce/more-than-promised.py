"""fn must be called before the next value is read, which nobody has promised."""


def is_reduce(reduce):
    log = []

    def double_and_add(so_far, x):
        log.append("fn")
        return 2.0 * so_far + x

    def numbers():
        for x in (5.0, 1.0, 4.0):
            log.append("read")
            yield x

    values = [5.0, 1.0, 4.0]
    try:
        fold = reduce(double_and_add, 3.0)
        results = [fold(values), fold(values), fold([])]
        log.clear()
        results.append(fold(numbers()))
    except Exception:
        return False
    return results == [50.0, 50.0, 3.0, 50.0] and log == ["read", "fn"] * 3
