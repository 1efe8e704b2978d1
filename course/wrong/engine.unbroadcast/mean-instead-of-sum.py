"""The gradients of the repeated places are averaged."""

def unbroadcast(gradient, shape):
    missing = gradient.ndim - len(shape)
    axes = tuple(i for i in range(gradient.ndim) if i < missing or shape[i - missing] != gradient.shape[i])
    if not axes or gradient.numel() == 0:
        return gradient.sum(dim=axes, keepdim=True).view(*shape) if axes else gradient
    return gradient.mean(dim=axes, keepdim=True).view(*shape)
