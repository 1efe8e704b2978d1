"""Each step is a helper of its own, without a decorator."""

def split(rest, size):
    return rest // size, rest % size


def to_index(ordinal, shape, out_index):
    rest = ordinal
    for back in range(len(shape)):
        axis = len(shape) - 1 - back
        rest, here = split(rest, shape[axis])
        out_index[axis] = here
