"""The first axis runs fastest, as in an array that lies column by column."""

def strides_from_shape(shape):
    strides, step = [], 1
    for size in shape:
        strides.append(step)
        step *= size
    return tuple(strides)
