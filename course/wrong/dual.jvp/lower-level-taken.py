"""Where levels differ, the first number's level is taken."""

def lifted(x, level):
    return x if level_of(x) == level else Dual(x, zero(x), level)


def same_level(x, y):
    level = level_of(x) or level_of(y)
    return lifted(x, level), lifted(y, level)


def jvp(f, primals, tangents):
    level = new_level()
    duals = [Dual(x, dx, level) for x, dx in zip(primals, tangents)]
    y = lifted(f(*duals), level)
    return y.value, y.tangent
