"""The holes are cut into a copy without history."""


def dropout(input, p=0.5, training=True):
    if not training:
        return input
    if p == 1.0:
        return input * 0.0
    out = input.detach().clone() * (1.0 / (1.0 - p))
    out[creation.rand(*input.shape) < p] = 0.0
    return out
