"""The shorter shape gets its ones on the right."""

def shape_broadcast(shape1, shape2):
    rank = max(len(shape1), len(shape2))
    one = tuple(shape1) + (1,) * (rank - len(shape1))
    two = tuple(shape2) + (1,) * (rank - len(shape2))
    sizes = []
    for a, b in zip(one, two):
        if a != b and a != 1 and b != 1:
            raise IndexingError(f"cannot broadcast {shape1} with {shape2}")
        sizes.append(b if a == 1 else a)
    return tuple(sizes)
