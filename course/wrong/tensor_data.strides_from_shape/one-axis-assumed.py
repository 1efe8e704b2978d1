"""The last axis gets its 1 before the loop, even where there is no axis."""

def strides_from_shape(shape):
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return tuple(strides)
