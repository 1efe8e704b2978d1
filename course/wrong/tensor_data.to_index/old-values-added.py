"""Each number is added to what the buffer holds, as if it held zeros."""

def to_index(ordinal, shape, out_index):
    rest = ordinal + 0
    for axis in range(len(shape) - 1, -1, -1):
        out_index[axis] += rest % shape[axis]
        rest = rest // shape[axis]
