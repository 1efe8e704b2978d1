"""One axis after the other."""

def unbroadcast(gradient, shape):
    for _ in range(gradient.ndim - len(shape)):
        gradient = gradient.sum(0)
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(axis, keepdim=True)
    return gradient
