"""The axes of size 1 are summed away instead of kept."""

def unbroadcast(gradient, shape):
    missing = gradient.ndim - len(shape)
    axes = tuple(i for i in range(gradient.ndim) if i < missing or shape[i - missing] != gradient.shape[i])
    return gradient.sum(dim=axes) if axes else gradient
