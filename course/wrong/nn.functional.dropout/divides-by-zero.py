"""The scale of p = 1 is one over nothing."""


def dropout(input, p=0.5, training=True):
    if not training:
        return input
    kept = (creation.rand(*input.shape) >= p).to(input.dtype)
    return input * kept * (1.0 / (1.0 - p))
