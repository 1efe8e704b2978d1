"""The first axis runs fastest."""

def to_index(ordinal, shape, out_index):
    rest = ordinal + 0
    for axis in range(len(shape)):
        out_index[axis] = rest % shape[axis]
        rest = rest // shape[axis]
