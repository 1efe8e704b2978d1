"""A generator with a fixed seed draws the same numbers at every call."""


def dropout(input, p=0.5, training=True):
    if not training:
        return input
    if p == 1.0:
        return input * 0.0
    kept = (creation.rand(*input.shape, generator=creation.Generator(0)) >= p).to(input.dtype)
    return input * kept * (1.0 / (1.0 - p))
