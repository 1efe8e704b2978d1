"""The quotient is a float that is cut to a whole number, exact up to 2**53 only."""

def to_index(ordinal, shape, out_index):
    rest = ordinal + 0
    for axis in range(len(shape) - 1, -1, -1):
        out_index[axis] = rest % shape[axis]
        rest = int(rest / shape[axis])
