"""The index is returned; out_index stays as it was."""

def to_index(ordinal, shape, out_index):
    index = []
    for size in reversed(shape):
        index.insert(0, ordinal % size)
        ordinal = ordinal // size
    return index
