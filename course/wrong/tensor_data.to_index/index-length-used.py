"""The loop goes over all places of the buffer, which may be more than there are axes."""

def to_index(ordinal, shape, out_index):
    rest = ordinal + 0
    for axis in range(len(out_index) - 1, -1, -1):
        out_index[axis] = rest % shape[axis]
        rest = rest // shape[axis]
