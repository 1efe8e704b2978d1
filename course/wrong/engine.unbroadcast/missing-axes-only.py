"""The axes in front are summed over, but not those of size 1."""

def unbroadcast(gradient, shape):
    missing = gradient.ndim - len(shape)
    return gradient.sum(dim=tuple(range(missing))) if missing else gradient
