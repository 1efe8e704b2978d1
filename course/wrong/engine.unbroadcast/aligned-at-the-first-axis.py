"""The shapes are aligned at their first axes."""

def unbroadcast(gradient, shape):
    padded = tuple(shape) + (1,) * (gradient.ndim - len(shape))
    axes = tuple(i for i, n in enumerate(padded) if n != gradient.shape[i] or i >= len(shape))
    return gradient.sum(dim=axes, keepdim=True).view(*shape) if axes else gradient
