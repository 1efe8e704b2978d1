"""Modulo 1 everything is 0, and modulo its own size an index stays as it is."""

def broadcast_index(big_index, big_shape, shape, out_index):
    extra = len(big_shape) - len(shape)
    for axis in range(len(shape)):
        out_index[axis] = big_index[axis + extra] % shape[axis]
