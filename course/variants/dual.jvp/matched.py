"""Duals are known by their class and level, by match."""

def lifted(x, level):
    match x:
        case Dual(level=l) if l == level:
            return x
        case _:
            return Dual(x, zero(x), level)


def same_level(x, y):
    return tuple(lifted(z, max(map(level_of, (x, y)))) for z in (x, y))


def jvp(f, primals, tangents):
    level = new_level()
    y = lifted(f(*(Dual(p, t, level) for p, t in zip(primals, tangents, strict=True))), level)
    return y.value, y.tangent
