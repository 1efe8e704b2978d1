"""The strides of the axes after the first one, with one more in front."""

def strides_from_shape(shape):
    if not shape:
        return ()
    rest = strides_from_shape(shape[1:])
    return (rest[0] * shape[1] if rest else 1, *rest)
