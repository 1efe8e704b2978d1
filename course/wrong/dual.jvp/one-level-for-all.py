"""Every derivative works at level 1."""

def lifted(x, level):
    return x if level_of(x) else Dual(x, zero(x), 1)


def same_level(x, y):
    return lifted(x, 1), lifted(y, 1)


def jvp(f, primals, tangents):
    level = 1
    duals = [Dual(x, dx, level) for x, dx in zip(primals, tangents)]
    y = lifted(f(*duals), level)
    return y.value, y.tangent
