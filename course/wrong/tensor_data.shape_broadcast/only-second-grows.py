"""Only the second shape's ones may grow."""

def shape_broadcast(shape1, shape2):
    rank = max(len(shape1), len(shape2))
    one = (1,) * (rank - len(shape1)) + tuple(shape1)
    two = (1,) * (rank - len(shape2)) + tuple(shape2)
    sizes = []
    for axis, (a, b) in enumerate(zip(one, two)):
        if axis < rank - len(shape1):
            sizes.append(b)
        elif a != b and b != 1:
            raise IndexingError(f"cannot broadcast {shape1} with {shape2}")
        else:
            sizes.append(a)
    return tuple(sizes)
