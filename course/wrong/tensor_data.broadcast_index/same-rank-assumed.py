"""The loop goes over the axes of the result, as if the small array had as many."""

def broadcast_index(big_index, big_shape, shape, out_index):
    for axis in range(len(big_shape)):
        if shape[axis] > 1:
            out_index[axis] = big_index[axis]
        else:
            out_index[axis] = 0
