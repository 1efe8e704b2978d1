"""Of several repeated axes only the first one is summed over."""

def unbroadcast(gradient, shape):
    missing = gradient.ndim - len(shape)
    for axis in range(gradient.ndim):
        if axis < missing or shape[axis - missing] != gradient.shape[axis]:
            gradient = gradient.sum(axis, keepdim=True)
            break
    if gradient.numel() == 0:
        return gradient.sum(dim=None, keepdim=True).view(*shape)
    return gradient.view(*gradient.shape[missing:])
