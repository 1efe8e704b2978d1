"""The indices are aligned on the right, the sizes that are compared are not."""

def broadcast_index(big_index, big_shape, shape, out_index):
    extra = len(big_shape) - len(shape)
    for axis in range(len(shape)):
        if shape[axis] == big_shape[axis]:
            out_index[axis] = big_index[axis + extra]
        else:
            out_index[axis] = 0
