"""The first axis gets what is left after the loop, even where there is no axis."""

def to_index(ordinal, shape, out_index):
    rest = ordinal + 0
    for axis in range(len(shape) - 1, 0, -1):
        out_index[axis] = rest % shape[axis]
        rest = rest // shape[axis]
    out_index[0] = rest
