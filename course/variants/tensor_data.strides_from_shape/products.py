"""Each stride is the product of what stands after it."""

def strides_from_shape(shape):
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
