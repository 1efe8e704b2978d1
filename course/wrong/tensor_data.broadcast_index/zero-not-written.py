"""Axes of size 1 are passed over, as if the buffer held zeros."""

def broadcast_index(big_index, big_shape, shape, out_index):
    extra = len(big_shape) - len(shape)
    for axis in range(len(shape)):
        if shape[axis] > 1:
            out_index[axis] = big_index[axis + extra]
