"""The axes are aligned at the ends of the buffers instead of the ends of the shapes."""

def broadcast_index(big_index, big_shape, shape, out_index):
    extra = len(big_index) - len(out_index)
    for axis in range(len(shape)):
        out_index[axis] = big_index[axis + extra] if shape[axis] > 1 else 0
