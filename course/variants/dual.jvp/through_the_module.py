"""The helpers are called through their module."""

def lifted(x, level):
    return Dual(x, dual.zero(x), level) if dual.level_of(x) < level else x


def same_level(x, y):
    highest = max(map(dual.level_of, (x, y)))
    return tuple(lifted(each, highest) for each in (x, y))


def jvp(f, primals, tangents):
    level = dual.new_level()
    y = f(*(Dual(*pair, level) for pair in zip(primals, tangents)))
    y = dual.lifted(y, level)
    return y.value, y.tangent
