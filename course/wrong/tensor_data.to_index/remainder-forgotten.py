"""Each index is the number of whole steps along its axis, counted from the start of the storage."""

def to_index(ordinal, shape, out_index):
    step = 1
    for axis in range(len(shape) - 1, -1, -1):
        out_index[axis] = ordinal // step
        step *= shape[axis]
