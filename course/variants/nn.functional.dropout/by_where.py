"""Zeros and scaled elements, chosen by a condition."""


def dropout(input, p=0.5, training=True):
    if not training:
        return input
    if p >= 1.0:
        return input * 0.0
    lost = creation.rand(*input.shape) < p
    return (input / (1.0 - p)).masked_fill(lost, 0.0)
