"""numpy's rule, with the error that is asked for."""

def shape_broadcast(shape1, shape2):
    try:
        return np.broadcast_shapes(tuple(shape1), tuple(shape2))
    except ValueError as error:
        raise IndexingError(str(error)) from None
