"""The result of f is taken for a Dual of this level."""

def lifted(x, level):
    return x if level_of(x) == level else Dual(x, zero(x), level)


def same_level(x, y):
    level = max(level_of(x), level_of(y))
    return lifted(x, level), lifted(y, level)


def jvp(f, primals, tangents):
    level = new_level()
    duals = [Dual(x, dx, level) for x, dx in zip(primals, tangents)]
    y = f(*duals)
    return getattr(y, 'value', y), getattr(y, 'tangent', 0.0)
