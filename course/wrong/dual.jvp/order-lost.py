"""The number of the higher level comes first."""

def lifted(x, level):
    return x if level_of(x) == level else Dual(x, zero(x), level)


def same_level(x, y):
    if level_of(x) < level_of(y):
        x, y = y, x
    return x, lifted(y, level_of(x))


def jvp(f, primals, tangents):
    level = new_level()
    duals = [Dual(x, dx, level) for x, dx in zip(primals, tangents)]
    y = lifted(f(*duals), level)
    return y.value, y.tangent
