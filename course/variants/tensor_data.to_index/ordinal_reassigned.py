"""The parameter itself is divided, which is harmless as long as it is not inlined."""

def to_index(ordinal, shape, out_index):
    for i in range(len(shape) - 1, -1, -1):
        out_index[i] = ordinal % shape[i]
        ordinal //= shape[i]
