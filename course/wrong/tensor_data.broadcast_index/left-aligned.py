"""The axes are paired from the left."""

def broadcast_index(big_index, big_shape, shape, out_index):
    for axis in range(len(shape)):
        if shape[axis] > 1:
            out_index[axis] = big_index[axis]
        else:
            out_index[axis] = 0
