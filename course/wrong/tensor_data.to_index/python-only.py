"""numpy's unravel_index, which Numba does not compile."""

def to_index(ordinal, shape, out_index):
    for axis, i in enumerate(np.unravel_index(ordinal, tuple(shape))):
        out_index[axis] = i
