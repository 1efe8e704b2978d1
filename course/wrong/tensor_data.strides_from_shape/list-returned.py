"""The strides come as a list."""

def strides_from_shape(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return strides
