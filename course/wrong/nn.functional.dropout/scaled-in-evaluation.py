"""Training does not scale, and evaluation does: the way of the first paper."""


def dropout(input, p=0.5, training=True):
    if not training:
        return input * (1.0 - p)
    return input * (creation.rand(*input.shape) >= p).to(input.dtype)
