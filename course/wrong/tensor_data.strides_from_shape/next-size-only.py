"""A stride is the size of the next axis, not the product of all later ones."""

def strides_from_shape(shape):
    if len(shape) == 0:
        return ()
    return tuple(shape[1:]) + (1,)
