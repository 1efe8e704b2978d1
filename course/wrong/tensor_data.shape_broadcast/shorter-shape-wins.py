"""zip ends with the shorter shape, so that the longer one loses its first axes."""

def shape_broadcast(shape1, shape2):
    sizes = []
    for a, b in zip(reversed(shape1), reversed(shape2)):
        if a != b and a != 1 and b != 1:
            raise IndexingError(f"cannot broadcast {shape1} with {shape2}")
        sizes.append(b if a == 1 else a)
    return tuple(reversed(sizes))
