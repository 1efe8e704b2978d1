"""numpy is asked, which raises ValueError."""

def shape_broadcast(shape1, shape2):
    return np.broadcast_shapes(tuple(shape1), tuple(shape2))
