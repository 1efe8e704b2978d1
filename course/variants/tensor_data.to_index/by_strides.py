"""Whole steps along each axis from the front, each as long as the product of the sizes after it."""

def to_index(ordinal, shape, out_index):
    step = 1
    for size in shape:
        step *= size
    rest = ordinal
    for axis in range(len(shape)):
        step //= shape[axis]
        out_index[axis] = rest // step
        rest -= out_index[axis] * step
