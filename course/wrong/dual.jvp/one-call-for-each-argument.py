"""Each argument moves alone, in a call of its own, and the tangents are added up."""

def lifted(x, level):
    return x if level_of(x) == level else Dual(x, zero(x), level)


def same_level(x, y):
    level = max(level_of(x), level_of(y))
    return lifted(x, level), lifted(y, level)


def jvp(f, primals, tangents):
    total = None
    for i, dx in enumerate(tangents):
        level = new_level()
        given = list(primals)
        given[i] = Dual(given[i], dx, level)
        y = lifted(f(*given), level)
        total = y.tangent if total is None else total + y.tangent
    return y.value, total
