"""The zeros are written into the index of the result before it is copied."""

def broadcast_index(big_index, big_shape, shape, out_index):
    extra = len(big_shape) - len(shape)
    for axis in range(len(shape)):
        if shape[axis] == 1:
            big_index[axis + extra] = 0
        out_index[axis] = big_index[axis + extra]
