"""The index of the result is used along axes of size 1, too."""

def broadcast_index(big_index, big_shape, shape, out_index):
    extra = len(big_shape) - len(shape)
    for axis in range(len(shape)):
        out_index[axis] = big_index[axis + extra]
