"""training is not looked at."""


def dropout(input, p=0.5, training=True):
    if p == 1.0:
        return input * 0.0
    kept = (creation.rand(*input.shape) >= p).to(input.dtype)
    return input * kept * (1.0 / (1.0 - p))
