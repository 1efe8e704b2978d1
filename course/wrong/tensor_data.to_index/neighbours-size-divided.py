"""The remainder belongs to one axis, the quotient to the one before it."""

def to_index(ordinal, shape, out_index):
    rest = ordinal + 0
    for axis in range(len(shape) - 1, -1, -1):
        out_index[axis] = rest % shape[axis]
        rest = rest // shape[axis - 1]
