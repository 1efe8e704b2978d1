"""Each stride has the axis's own size in its product."""

def strides_from_shape(shape):
    strides, step = [], 1
    for size in reversed(shape):
        step *= size
        strides.append(step)
    return tuple(reversed(strides))
