"""Sizes that differ are never refused; the larger one is taken."""

def shape_broadcast(shape1, shape2):
    rank = max(len(shape1), len(shape2))
    one = (1,) * (rank - len(shape1)) + tuple(shape1)
    two = (1,) * (rank - len(shape2)) + tuple(shape2)
    return tuple(0 if 0 in (a, b) else max(a, b) for a, b in zip(one, two))
