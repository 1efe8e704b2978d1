"""Cases are asked one by one, and the result's level decides."""

def lifted(x, level):
    if level_of(x) == level:
        return x
    return Dual(value=x, tangent=zero(x), level=level)


def same_level(x, y):
    a, b = level_of(x), level_of(y)
    if a == b:
        return x, y
    if a > b:
        return x, lifted(y, a)
    return lifted(x, b), y


def jvp(f, primals, tangents):
    level = new_level()
    arguments = []
    for i in range(len(primals)):
        arguments.append(Dual(primals[i], tangents[i], level))
    result = f(*arguments)
    if level_of(result) == level:
        return result.value, result.tangent
    return result, zero(result)
