"""The last axis comes before the loop, even where there is no axis."""

def broadcast_index(big_index, big_shape, shape, out_index):
    extra = len(big_shape) - len(shape)
    last = len(shape) - 1
    out_index[last] = big_index[last + extra] if shape[last] > 1 else 0
    for axis in range(last):
        out_index[axis] = big_index[axis + extra] if shape[axis] > 1 else 0
