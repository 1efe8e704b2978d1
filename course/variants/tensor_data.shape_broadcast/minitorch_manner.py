"""Both shapes turned round, gone through by number, with room for the longer one."""

def shape_broadcast(shape1: UserShape, shape2: UserShape) -> UserShape:
    a, b = shape1, shape2
    m = max(len(a), len(b))
    c_rev = [0] * m
    a_rev = list(reversed(a))
    b_rev = list(reversed(b))
    for i in range(m):
        if i >= len(a):
            c_rev[i] = b_rev[i]
        elif i >= len(b):
            c_rev[i] = a_rev[i]
        elif a_rev[i] == 1:
            c_rev[i] = b_rev[i]
        else:
            c_rev[i] = a_rev[i]
            if b_rev[i] != 1 and b_rev[i] != a_rev[i]:
                raise IndexingError(f"The sizes of {a} and {b} do not match.")
    return tuple(reversed(c_rev))
