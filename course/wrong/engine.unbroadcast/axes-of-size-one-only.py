"""The axes of size 1 are summed over, but not those that the input does not have."""

def unbroadcast(gradient, shape):
    missing = gradient.ndim - len(shape)
    axes = tuple(i + missing for i, n in enumerate(shape) if n == 1)
    return gradient.sum(dim=axes, keepdim=True) if axes else gradient
