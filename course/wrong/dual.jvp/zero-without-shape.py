"""What does not move has the tangent 0.0, also where it is a tensor."""

def lifted(x, level):
    return x if level_of(x) == level else Dual(x, 0.0, level)


def same_level(x, y):
    level = max(level_of(x), level_of(y))
    return lifted(x, level), lifted(y, level)


def jvp(f, primals, tangents):
    level = new_level()
    duals = [Dual(x, dx, level) for x, dx in zip(primals, tangents)]
    y = lifted(f(*duals), level)
    return y.value, y.tangent
