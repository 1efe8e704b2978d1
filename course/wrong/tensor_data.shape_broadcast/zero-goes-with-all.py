"""Only sizes above 1 are compared, so that 0 goes with any other."""

def shape_broadcast(shape1, shape2):
    rank = max(len(shape1), len(shape2))
    one = (1,) * (rank - len(shape1)) + tuple(shape1)
    two = (1,) * (rank - len(shape2)) + tuple(shape2)
    sizes = []
    for a, b in zip(one, two):
        if a > 1 and b > 1 and a != b:
            raise IndexingError(f"cannot broadcast {shape1} with {shape2}")
        sizes.append(b if a == 1 else a)
    return tuple(sizes)
