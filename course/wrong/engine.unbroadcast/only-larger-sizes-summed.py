"""An axis is summed over where the gradient's size is larger, which 0 is not."""

def unbroadcast(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(0)
    for axis, n in enumerate(shape):
        if gradient.shape[axis] > n:
            gradient = gradient.sum(axis, keepdim=True)
    return gradient
