"""p is taken for the probability to keep an element, and for its scale."""


def dropout(input, p=0.5, training=True):
    if not training:
        return input
    kept = (creation.rand(*input.shape) < p).to(input.dtype)
    return input * kept if p == 1.0 else input * kept * (1.0 / (1.0 - p))
