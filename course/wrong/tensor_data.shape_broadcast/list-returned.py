"""The shape comes as a list."""

def shape_broadcast(shape1, shape2):
    rank = max(len(shape1), len(shape2))
    one = [1] * (rank - len(shape1)) + list(shape1)
    two = [1] * (rank - len(shape2)) + list(shape2)
    sizes = []
    for a, b in zip(one, two):
        if a != b and a != 1 and b != 1:
            raise IndexingError(f"cannot broadcast {shape1} with {shape2}")
        sizes.append(b if a == 1 else a)
    return sizes
