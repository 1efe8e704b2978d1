"""The gradient of the first of the repeated places is taken for that of all."""

def unbroadcast(gradient, shape):
    missing = gradient.ndim - len(shape)
    for axis in range(missing):
        gradient = gradient.sum(0)
    for axis, n in enumerate(shape):
        if n == 1 and gradient.shape[axis] > 1:
            gradient = gradient[(slice(None),) * axis + (slice(0, 1),)]
        elif n == 1:
            gradient = gradient.sum(axis, keepdim=True)
    return gradient
